"""Rubrics and grades shared with other programs."""
