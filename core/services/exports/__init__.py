"""A run in every form that leaves the app.

Nothing is asked, nothing is changed.
"""

__all__ = [
    "call_rows",
    "contest_export",
    "grade_lists",
    "grade_sheet",
    "judgement_rows",
    "run_export",
]
