"""The file votes.csv of the common layout: a judgement a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files.csv_source import DELIMITERS, records, refuse_too_many
from core.files.folder import read_bytes
from core.files.parsed import Parsed, refusal
from core.files.text import MAX_DATASET_BYTES, read_text
from core.files.votes import ImportedVotes, VoteChecker, VoteLine

REQUIRED = ("item_id", "criterion", "rater_id", "rater_kind", "label")
_MEND = f"The first line must name at least {', '.join(REQUIRED)}."


def read_votes(path: Path, rubric: Rubric, items: Sequence[Item]) -> Parsed[ImportedVotes]:
    """The votes of a folder (its votes.csv) or file, checked against rubric and items.

    ``VoteChecker`` says what a row means; notices tell of answers that are there twice.

    Raises:
        InputError: no such file, missing columns, unknown items, criteria or labels; every problem
            with its line.
    """
    file = path / "votes.csv" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        mend = f"Put the votes there; its first line names {', '.join(REQUIRED)}."
        raise InputError(f"This folder has no votes.csv. {mend}", (), str(path))
    return parse_votes(read_bytes(file, MAX_DATASET_BYTES), str(file), rubric, items)


def parse_votes(
    data: str | bytes, name: str, rubric: Rubric, items: Sequence[Item]
) -> Parsed[ImportedVotes]:
    """The same for the content of a votes.csv that is at hand."""
    text = read_text(data, name, "file of votes", MAX_DATASET_BYTES)
    columns, delimiter = _header(text, name)
    checker = VoteChecker(rubric, items, name)
    votes = checker.read(_judgements(text, delimiter, columns, checker.problems, name))
    return Parsed(votes, checker.notices)


def _header(text: str, name: str) -> tuple[list[str], str]:
    """The columns, and the delimiter under which they are the ones that are needed."""
    for delimiter in DELIMITERS:
        every = (cells for _, cells in records(text, delimiter, []))
        columns = [cell.strip() for cell in next((c for c in every if any(c)), [])]
        if set(REQUIRED) <= set(columns):
            break
    else:
        every = (cells for _, cells in records(text, DELIMITERS[0], []))
        columns = [cell.strip() for cell in next((c for c in every if any(c)), [])]
        gone = ", ".join(column for column in REQUIRED if column not in columns)
        problem = Problem(f"lacks the columns {gone}.", _MEND, (), 1)
        raise refusal("file of votes", [problem], name)
    twice = [column for column in REQUIRED if columns.count(column) > 1]
    if twice:
        problem = Problem(f"names {', '.join(twice)} twice.", "Keep one of the two.", (), 1)
        raise refusal("file of votes", [problem], name)
    return columns, delimiter


def _judgements(
    text: str, delimiter: str, columns: Sequence[str], problems: list[Problem], name: str
) -> Iterator[VoteLine]:
    header = True
    refuse_too_many(text, delimiter, name)
    for line, cells in records(text, delimiter, problems):
        if not any(cell.strip() for cell in cells):
            continue
        if header:
            header = False
        elif len(cells) != len(columns):
            message = f"has {len(cells)} cells, but the first line names {len(columns)} columns."
            mend = "Put cells that hold the delimiter or a line break in double quotes."
            problems.append(Problem(message, mend, (), line))
        else:
            yield line, dict(zip(columns, cells, strict=True))
