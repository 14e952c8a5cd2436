"""Blocks of a result on the page, and every table to take home."""
