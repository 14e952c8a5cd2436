"""Models of ratings: sources of their variance, and severity of raters.

May import queueing and what is below it. Ratings come as a table.
"""

__all__ = ["rater_table", "severity", "variance"]
