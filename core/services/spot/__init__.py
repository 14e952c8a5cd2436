"""Try texts with a few judges at once; a spot check is a trial of one text.

May import runs, rubrics and the layers below. A trial is a small run like any other.
"""

__all__ = ["request", "spot_check", "trials"]
