"""Votes from elsewhere become a run.

May import agreement and the layers below. Imported votes are treated like any votes.
"""

__all__ = ["column_roles", "import_files", "said", "vote_import"]
