"""Export a run in every format.

Exports make no calls and change nothing.
"""

__all__ = [
    "call_rows",
    "contest_export",
    "grade_lists",
    "grade_sheet",
    "judgement_rows",
    "run_export",
    "written_back",
]
