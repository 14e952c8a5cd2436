"""Models of ratings: sources of their variance, and severity of raters.

May import queueing and the layers below. Ratings come as a table.
"""

__all__ = ["rater_table", "severity", "variance"]
