"""What ratings are made of: where their differences come from, who is severe.

May import queueing and what is below; ratings come as a table.
"""

__all__ = ["rater_table", "severity", "variance"]
