"""Blocks of a result on a page, and every table to take home."""
