"""Spot check: one submission, some judges, now.

May import runs and rubrics and what is below. A spot check is a small run like any other.
"""

__all__ = ["request_form", "spot_check"]
