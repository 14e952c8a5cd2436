"""Votes from elsewhere, checked: who chose which label for which criterion of which item.

Whatever shape a file has, its rows come here in the words of the common layout's votes.csv.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.dataset import Item
from core.domain.rubric import CANNOT_ASSESS, Criterion, Rubric, fold
from core.domain.votes import Cell
from core.errors import InputError, Problem
from core.files.parsed import Parsed, enough, refusal
from core.files.text import MAX_DATASET_BYTES, read_text

REQUIRED = ("item_id", "criterion", "rater_id", "rater_kind", "label")
KINDS = ("human", "llm", "offline")
#: Columns that hold the probability of a label begin like this.
PROBABILITY = "p_"
#: A replicate beyond this is no number of a repetition.
MOST_REPLICATES = 100_000

#: One row in the words of the common layout, with its line where the file has lines.
VoteLine = tuple[int | None, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ImportedVote:
    """One row. ``failed`` is an empty label: the rater gave no usable answer.

    ``option`` indexes ``Criterion.choices``; ``None`` for a failure, and for an abstention on a
    criterion that forces a choice. ``order`` names the order in which options were shown, where
    the file has that column. ``probabilities`` run along ``choices``, where the file gives one for
    every option that is not ``na``.
    """

    cell: Cell
    kind: str
    option: int | None
    abstained: bool
    failed: bool
    reason: str
    order: str = ""
    probabilities: tuple[float, ...] | None = None
    line: int | None = None

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
    return parse_votes(data, str(file), rubric, items)


def parse_votes(
    data: str | bytes, name: str, rubric: Rubric, items: Sequence[Item]
) -> Parsed[ImportedVotes]:
    """The same for the content of a votes.csv that is at hand."""
    text = read_text(data, name, "file of votes", MAX_DATASET_BYTES)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [column for column in REQUIRED if column not in (reader.fieldnames or ())]
    if missing:
        mend = f"The first line must name at least {', '.join(REQUIRED)}."
        problem = Problem(f"lacks the columns {', '.join(missing)}.", mend, (), 1)
        raise refusal("file of votes", [problem], name)
    checker = VoteChecker(rubric, items, name)
    return Parsed(checker.read(_records(reader, checker.problems, name)))


def _records(reader: csv.DictReader[str], problems: list[Problem], name: str) -> Iterator[VoteLine]:
    try:
        for row in reader:
            if None in row or None in row.values():
                message = "has another number of cells than the first line."
                problems.append(Problem(message, "", (), reader.line_num))
            elif any(cell.strip() for cell in row.values()):
                yield reader.line_num, row
    except csv.Error as error:
        problem = Problem(f"is not valid CSV: {error}.", "", (), reader.line_num + 1)
        raise refusal("file of votes", [*problems, problem], name) from None


class VoteChecker:
    """Checks rows of votes against a rubric and items; ``problems`` collects what is wrong."""

    def __init__(self, rubric: Rubric, items: Iterable[Item], where: str) -> None:
        self.problems: list[Problem] = []
        shared = {c.name: _Labels(c) for c in rubric.criteria}
        self._criteria = {
            item.id: {c.name: _Labels(c) for c in item.rubric.criteria} if item.rubric else shared
            for item in items
        }
        self._where = where
        self._answers: dict[tuple[str, str, str], int] = {}
        self._weights: dict[str, float] = {}

    def read(self, lines: Iterable[VoteLine]) -> ImportedVotes:
        """All votes, or ``InputError`` with every problem."""
        rows = list[ImportedVote]()
        for line, row in lines:
            vote = self._vote(row, line)
            if vote is not None:
                rows.append(vote)
            if enough(self.problems):
                break
        if self.problems:
            raise refusal("file of votes", self.problems, self._where)
        return ImportedVotes(tuple(rows), self._weights)

    def _vote(self, row: Mapping[str, str], line: int | None) -> ImportedVote | None:
        labels = self._labels(row, line)
        if labels is None or not self._kind_and_rater(row, line) or not self._weigh(row, line):
            return None
        label, name = row["label"].strip(), row["criterion"]
        option, known = labels.find(label)
        if not known:
            self._wrong(line, f"is {label!r}, no option of {name!r}.", "label", labels.known)
            return None
        away = bool(label) and (option is None or labels.choices[option].na)
        cell = Cell(row["item_id"], name, row["rater_id"], self._replicate(row, line))
        return ImportedVote(
            cell=cell,
            kind=row["rater_kind"],
            option=option,
            abstained=away,
            failed=not label,
            reason=row.get("reason") or "",
            order=row.get("order") or "",
            probabilities=self._probabilities(row, labels, line),
            line=line,
        )

    def _labels(self, row: Mapping[str, str], line: int | None) -> _Labels | None:
        item, name = row["item_id"], row["criterion"]
        criteria = self._criteria.get(item)
        if criteria is None:
            self._wrong(line, f"names the item {item!r}, which does not exist.", "item_id")
            return None
        if name not in criteria:
            self._wrong(
                line,
                f"names the criterion {name!r}, which does not exist.",
                "criterion",
                f"Use one of {', '.join(criteria)}.",
            )
            return None
        return criteria[name]

    def _kind_and_rater(self, row: Mapping[str, str], line: int | None) -> bool:
        kind = row["rater_kind"]
        if kind not in KINDS:
            self._wrong(line, f"is {kind!r}.", "rater_kind", f"Use one of {', '.join(KINDS)}.")
        if not row["rater_id"].strip():
            self._wrong(line, "is empty.", "rater_id", "Say who answered.")
        return kind in KINDS and bool(row["rater_id"].strip())

    def _weigh(self, row: Mapping[str, str], line: int | None) -> bool:
        given = row.get("weight")
        if not given:
            return True
        weight = _number(given)
        if weight is None or weight <= 0:
            self._wrong(line, f"is {given!r}.", "weight", "Use a positive number.")
            return False
        self._weights[row["rater_id"]] = weight
        return True

    def _probabilities(
        self, row: Mapping[str, str], labels: _Labels, line: int | None
    ) -> tuple[float, ...] | None:
        given = {key: row[key] for key in labels.probabilities if row.get(key)}
        if not given:
            return None
        found = {key: _number(text) for key, text in given.items()}
        for key, number in found.items():
            if number is None or not 0 <= number <= 1:
                self._wrong(line, f"is {given[key]!r}.", key, "Use a number from 0 to 1.")
        whole = all(key in found for key in labels.needed)
        return tuple(found.get(key) or 0.0 for key in labels.probabilities) if whole else None

    def _replicate(self, row: Mapping[str, str], line: int | None) -> int:
        given = row.get("replicate")
        if given:
            if given.isascii() and given.isdigit() and int(given[:9]) <= MOST_REPLICATES:
                return int(given)
            mend = f"Use a whole number from 0 to {MOST_REPLICATES:,}."
            self._wrong(line, f"is {given!r}.", "replicate", mend)
        key = (row["item_id"], row["criterion"], row["rater_id"])
        self._answers[key] = self._answers.get(key, -1) + 1
        return self._answers[key]

    def _wrong(self, line: int | None, message: str, column: str, mend: str = "") -> None:
        self.problems.append(Problem(message, mend, (column,) if column else (), line))


class _Labels:
    """The labels of one criterion; each spelling is looked up once."""

    def __init__(self, criterion: Criterion) -> None:
        self.choices = criterion.choices
        self.probabilities = tuple(PROBABILITY + o.label for o in criterion.choices)
        self.needed = tuple(PROBABILITY + o.label for o in criterion.choices if not o.na)
        self._criterion = criterion
        self._found: dict[str, tuple[int | None, bool]] = {"": (None, True)}

    @property
    def known(self) -> str:
        """What would be a label, as a hint."""
        return f"Use one of {', '.join(o.label for o in self.choices)}."

    def find(self, label: str) -> tuple[int | None, bool]:
        """The option of a label, and whether the label means anything here."""
        if label not in self._found:
            option = self._criterion.index_of(label)
            self._found[label] = option, option is not None or fold(label) == fold(CANNOT_ASSESS)
        return self._found[label]


def _number(text: str) -> float | None:
    """A finite number, or ``None``."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
