"""Grades from a table at hand: a label per criterion and a total, with or without the texts."""

from __future__ import annotations

from dataclasses import replace

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files.datasets import build_dataset
from core.files.mapping import guess_mapping
from core.files.tables import read_table

_TEXT = "submission"


def read_grades(data: bytes, name: str, rubric: Rubric) -> tuple[Item, ...]:
    """The rows as items: labels from columns named like criteria, numbers elsewhere in ``meta``.

    A gradebook has no texts; none is needed here, and none is made up.

    Raises:
        InputError: no column is named like a criterion, a label that is none of its options, or
            what the file itself has wrong, with lines.
    """
    table = read_table(data, name)
    mapping = guess_mapping(table, rubric)
    if not mapping.labels:
        wanted = ", ".join(repr(c.name) for c in rubric.criteria[:5])
        raise InputError(
            "No column is named like a criterion.",
            (Problem(f"The criteria are {wanted}.", "Name a column like each of them."),),
            name,
        )
    if mapping.submission is None:
        rows = tuple({**row, _TEXT: None} for row in table.rows)
        table = replace(table, columns=(*table.columns, _TEXT), rows=rows)
        mapping = mapping.model_copy(update={"submission": _TEXT})
    return build_dataset(table, mapping, name, rubric).value.items
