"""Columns of marks: whether they are of raters who agree."""

from __future__ import annotations

from core.formats.tables.table import read_table
from core.formats.votes.structure.marks import raters_agree
from core.formats.votes.structure.values import Values


def test_marks_of_a_wide_scale_agree_if_they_are_near() -> None:
    rows = [(n * 17 % 43, n * 17 % 43 + 1 + n % 3, n * 5 % 41) for n in range(20)]
    text = "first,near,far\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    values = Values(read_table(text, "x.csv"))
    assert raters_agree(values, ["first", "near"])
    assert not raters_agree(values, ["first", "far"])
