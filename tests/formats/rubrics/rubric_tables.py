"""A plain rubric, and tables of rubrics as rows of cells."""

from __future__ import annotations

import csv
import io

from core.domain.rubric import Criterion, Option, Rubric
from core.formats.rubrics.forms import read_rubrics

#: The first line of the template that Canvas offers (reference: adjudication.md 4.1).
TEMPLATE = (
    "Rubric Name,Criteria Name,Criteria Description,Criteria Enable Range,"
    "Rating Name,Rating Description,Rating Points,Rating Name,Rating Description,Rating Points,"
    "Rating Name,Rating Description,Rating Points"
)


PLAIN = Rubric(
    name="Lab report",
    criteria=(
        Criterion(
            name="Method",
            requirement="Is the method told so that it can be repeated?",
            weight=8,
            scale="ordinal",
            options=(
                Option(label="Missing", value=0.0),
                Option(label="Sketchy", description="Steps are missing.", value=0.5),
                Option(label="Whole", description="All steps, in order.", value=1.0),
            ),
        ),
        Criterion(name="Units", requirement="Has every number its unit?", weight=2),
    ),
)


def grid(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def one(text: str, name: str = "x.csv", scaling: str = "ratio") -> Rubric:
    (read,) = read_rubrics(text, name, scaling)  # type: ignore[arg-type]
    return read.value
