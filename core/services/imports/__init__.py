"""Votes from elsewhere become a run.

May import agreement and what is below. Afterwards they are like any votes.
"""

__all__ = ["column_roles", "import_files", "said", "vote_import"]
