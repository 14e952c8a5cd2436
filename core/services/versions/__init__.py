"""Runs under another version of their rubric: what changes, and which votes carry over.

May import review, spot and the layers below. Votes and plans are never changed.
"""

__all__ = ["carry_votes", "follow_version", "score_changes"]
