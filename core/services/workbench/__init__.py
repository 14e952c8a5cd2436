"""The workbench of a rubric: test rows, known answers, and questions to ask again.

May import review, spot and the layers below. An answer counts as long as the judge would get the
same question.
"""

__all__ = ["asking", "bench_rows", "bench_state", "rows_in_out"]
