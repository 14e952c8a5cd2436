"""Try texts with some judges now; spot checks are trials of one text.

May import runs, rubrics and the layers below. A trial is a small run like any other.
"""

__all__ = ["request", "spot_check", "trials"]
