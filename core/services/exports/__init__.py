"""A run in every form that leaves the app.

The top of the services. Nothing is asked, nothing is changed.
"""

__all__ = ["call_rows", "contest_export", "grade_lists", "judgement_rows", "run_export"]
