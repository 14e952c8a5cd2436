"""Trying texts: some texts, some judges, now; spot checks are the trials of one text.

May import runs and rubrics and what is below. A trial is a small run like any other.
"""

__all__ = ["request", "spot_check", "trials"]
