"""A run under another version of its rubric: what changes, and votes carried over.

May import review and spot and what is below. Votes and plans are never touched.
"""

__all__ = ["carry_votes", "follow_version", "score_changes"]
