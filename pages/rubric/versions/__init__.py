"""Versions of a rubric, and what a newer one does to runs that are graded."""
