"""Blocks of a result on a page, and the buttons to copy or download every table."""
