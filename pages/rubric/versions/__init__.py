"""Versions of a rubric, and the effect of a newer one on graded runs."""
