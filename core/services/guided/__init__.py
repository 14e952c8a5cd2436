"""The path "Grade my texts": dropped files, texts, marks, judges, grades.

May import everything below. Its decisions are those of a run, a review or an export.
"""

__all__ = ["dropped", "grading", "judging", "learning", "marks", "own_grades", "ten_more", "texts"]
