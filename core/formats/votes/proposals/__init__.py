"""Possible readings of an unknown table, as changes of a mapping that pass validation."""
