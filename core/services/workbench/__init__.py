"""The workbench of a rubric: test rows, known answers, and what to ask again.

May import review, spot and what is below them. An answer counts as long as the judge would be sent
the same question.
"""

__all__ = ["asking", "bench_rows", "bench_state", "rows_in_out"]
