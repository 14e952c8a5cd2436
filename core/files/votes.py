"""votes.csv of the common layout: who chose which label for which criterion of which item."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.dataset import Item
from core.domain.rubric import CANNOT_ASSESS, Rubric, fold
from core.domain.votes import Cell
from core.errors import InputError, Problem
from core.files.parsed import Parsed, refusal
from core.files.text import MAX_DATASET_BYTES, read_text

REQUIRED = ("item_id", "criterion", "rater_id", "rater_kind", "label")
KINDS = ("human", "llm", "offline")


@dataclass(frozen=True, slots=True)
class ImportedVote:
    """One row. ``failed`` is an empty label: the rater gave no usable answer.

    ``option`` indexes ``Criterion.choices``; ``None`` for a failure, and for an abstention on a
    criterion that forces a choice. ``order`` names the order in which options were shown, where
    the file has that column.
    """

    cell: Cell
    kind: str
    option: int | None
    abstained: bool
    failed: bool
    reason: str
    order: str = ""

    @property
    def criterion(self) -> str:
        """The criterion's name."""
        return self.cell.criterion

    @property
    def rater(self) -> str:
        """The rater's id."""
        return self.cell.judge

    @property
    def replicate(self) -> int:
        """Which of the rater's answers to this cell it is, from 0."""
        return self.cell.replicate


@dataclass(frozen=True)
class ImportedVotes:
    """All rows in the file's order, and the raters' weights where the file gives them."""

    rows: tuple[ImportedVote, ...]
    weights: Mapping[str, float]

    def by_item(self) -> dict[str, list[ImportedVote]]:
        """The rows of each item."""
        found: dict[str, list[ImportedVote]] = {}
        for row in self.rows:
            found.setdefault(row.cell.item, []).append(row)
        return found


def read_votes(path: Path, rubric: Rubric, items: Sequence[Item]) -> Parsed[ImportedVotes]:
    """The votes of a folder (its votes.csv) or file, checked against rubric and items.

    An empty label is a failure; the label of an ``na`` option, or CANNOT_ASSESS, an abstention. A
    rater who answers a cell several times without a ``replicate`` gets one replicate per answer.

    Raises:
        InputError: no such file, missing columns, unknown items, criteria or labels; every problem
            with its line.
    """
    file = path / "votes.csv" if path.is_dir() else path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}).", where=str(file)) from None
    text = read_text(data, str(file), "file of votes", MAX_DATASET_BYTES)
    return Parsed(_Reader(rubric, items, str(file)).read(text))


class _Reader:
    def __init__(self, rubric: Rubric, items: Sequence[Item], where: str) -> None:
        self._rubrics = {item.id: item.rubric or rubric for item in items}
        self._where = where
        self._problems: list[Problem] = []
        self._answers: dict[tuple[str, str, str], int] = {}
        self._weights: dict[str, float] = {}

    def read(self, text: str) -> ImportedVotes:
        reader = csv.DictReader(io.StringIO(text, newline=""))
        missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
        if missing:
            mend = f"The first line must name at least {', '.join(REQUIRED)}."
            problem = Problem(f"lacks the columns {', '.join(missing)}.", mend, (), 1)
            raise refusal("file of votes", [problem], self._where)
        rows = tuple(self._rows(reader))
        if self._problems:
            raise refusal("file of votes", self._problems, self._where)
        return ImportedVotes(rows, self._weights)

    def _rows(self, reader: csv.DictReader[str]) -> Iterator[ImportedVote]:
        for row in reader:
            vote = self._vote(row, reader.line_num)
            if vote is not None:
                yield vote

    def _vote(self, row: dict[str, str], line: int) -> ImportedVote | None:
        if None in row or None in row.values():
            self._wrong(line, "has another number of cells than the first line.", "")
            return None
        item, name = row["item_id"], row["criterion"]
        if item not in self._rubrics:
            self._wrong(line, f"names the item {item!r}, which does not exist.", "item_id")
            return None
        criterion = next((c for c in self._rubrics[item].criteria if c.name == name), None)
        if criterion is None:
            known = ", ".join(c.name for c in self._rubrics[item].criteria)
            self._wrong(
                line,
                f"names the criterion {name!r}, which does not exist.",
                "criterion",
                f"Use one of {known}.",
            )
            return None
        if row["rater_kind"] not in KINDS:
            self._wrong(
                line, f"is {row['rater_kind']!r}.", "rater_kind", f"Use one of {', '.join(KINDS)}."
            )
            return None
        label, option = row["label"].strip(), criterion.index_of(row["label"])
        if label and option is None and fold(label) != fold(CANNOT_ASSESS):
            known = ", ".join(o.label for o in criterion.choices)
            self._wrong(
                line, f"is {label!r}, no option of {name!r}.", "label", f"Use one of {known}."
            )
            return None
        if not self._weigh(row, line):
            return None
        away = bool(label) and (option is None or criterion.choices[option].na)
        cell = Cell(item, name, row["rater_id"], self._replicate(row, line))
        reason = row.get("reason") or ""
        order = row.get("order") or ""
        return ImportedVote(cell, row["rater_kind"], option, away, not label, reason, order)

    def _weigh(self, row: dict[str, str], line: int) -> bool:
        given = row.get("weight")
        if not given:
            return True
        try:
            weight = float(given)
        except ValueError:
            weight = math.nan
        if not (math.isfinite(weight) and weight > 0):
            self._wrong(line, f"is {given!r}.", "weight", "Use a positive number.")
            return False
        self._weights[row["rater_id"]] = weight
        return True

    def _replicate(self, row: dict[str, str], line: int) -> int:
        given = row.get("replicate")
        if given:
            if given.isdigit():
                return int(given)
            self._wrong(line, f"is {given!r}.", "replicate", "Use a whole number from 0.")
        key = (row["item_id"], row["criterion"], row["rater_id"])
        self._answers[key] = self._answers.get(key, -1) + 1
        return self._answers[key]

    def _wrong(self, line: int, message: str, column: str, mend: str = "") -> None:
        self._problems.append(Problem(message, mend, (column,) if column else (), line))
