"""Bytes to plain data: strict, limited CSV, JSON and YAML with line numbers.

The lowest layer of ``formats``: imports none of the others.
"""
