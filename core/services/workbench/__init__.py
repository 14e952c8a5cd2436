"""The workbench of a rubric: test rows, answers known, what to ask again.

May import review and spot and what is below. An answer counts while the judge would be sent the
same question.
"""

__all__ = ["asking", "bench_rows", "bench_state", "rows_in_out"]
