"""Bytes to plain data: CSV, JSON and YAML, strict and bounded, with the line of every place.

The lowest of ``formats``: knows none of the others.
"""
