"""Incoming files: the role of each column of a table."""
