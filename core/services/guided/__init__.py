"""The path "Grade my texts": what was dropped, which texts, whose marks, who judges, the grades.

May import everything below; it decides nothing that a run, a review or an export would not decide.
"""

__all__ = ["dropped", "grading", "judging", "learning", "marks", "own_grades", "texts"]
