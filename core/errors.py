"""Everything Rubric Studio raises on purpose. Every message is fit to show to a person.

    RubricStudioError
    ├── InputError        the person can fix it: what, where, how
    ├── NotFound          no such rubric, dataset, run ...
    ├── Conflict          it changed under you; nothing was overwritten
    ├── NotAllowed        this person may not do that; it says who may
    └── StoreError        the data file is not ours, newer than us, gone, or out of reach
        ├── Damaged       its bytes are not what was written
        └── NotNow        it cannot be written now (locked, disk full) and may be later

Anything else is a bug and may crash. Trouble with one judge's call is never an exception across
a run: it is a ``VoteFailure`` value (``core.domain.votes``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """A problem with an input: what, where, and how to fix it.

    ``path`` is the place inside the document (``("criteria", 2, "weight")``), ``line`` its 1-based
    line if the document is a file.
    """

    message: str
    mend: str = ""
    path: tuple[str | int, ...] = ()
    line: int | None = None

    @property
    def place(self) -> str:
        """Return the place in words: ``line 12, criteria 3, weight`` (lists count from 1)."""
        words = ", ".join(_step_text(self.path))
        line = f"line {self.line}" if self.line is not None else ""
        return ", ".join(part for part in (line, words) if part)

    def __str__(self) -> str:
        head = f"{self.place}: " if self.place else ""
        tail = f" {self.mend}" if self.mend else ""
        return f"{head}{self.message}{tail}"


def _step_text(path: tuple[str | int, ...]) -> list[str]:
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part + 1) if isinstance(part, int) else part)
    return words


#: The most lines for problems that differ only in the words they quote, and the most places of one.
_LINES, _PLACES = 6, 3
_QUOTED = re.compile(r"'[^']*'|\d+")


def _problem_lines(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield a line for each problem; an equal one elsewhere only adds its place.

    >>> bad = [Problem("is empty.", "Write it.", ("name",), line) for line in range(2, 9)]
    >>> [*_problem_lines(bad)]
    ['line 2, name (and 6 more: line 3, name; line 4, name; line 5, name ...): is empty. Write it.']
    """
    kinds = dict[tuple[str, str], dict[str, list[Problem]]]()
    for problem in problems:
        kind = kinds.setdefault((_QUOTED.sub("", problem.message), problem.mend), {})
        kind.setdefault(problem.message, []).append(problem)
    for kind in kinds.values():
        for equal in [*kind.values()][:_LINES]:
            first, *others = equal
            said = f"{first.message} {first.mend}".strip()
            more = "; ".join(problem.place for problem in others[:_PLACES])
            more += " ..." if len(others) > _PLACES else ""
            place = f"{first.place} (and {len(others)} more: {more})" if others else first.place
            yield f"{place}: {said}" if place else said
        if left := sum(map(len, [*kind.values()][_LINES:])):
            yield f"and {left} more of this kind."


class RubricStudioError(Exception):
    """The base of all errors. ``str(error)`` is a complete sentence for users."""


class InputError(RubricStudioError):
    """An error that the user can fix. Holds every problem found, not only the first."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = (), where: str = "") -> None:
        self.message, self.problems, self.where = message, problems, where
        super().__init__(message)

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        return "\n".join([head, *(f"  - {line}" for line in _problem_lines(self.problems))])

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain data, for ``--json``."""
        return {
            "error": self.message,
            "where": self.where,
            "problems": [
                {"message": p.message, "mend": p.mend, "place": p.place, "line": p.line}
                for p in self.problems
            ],
        }


class NotFound(RubricStudioError):
    """A record with that id or name does not exist."""


class Conflict(RubricStudioError):
    """The record changed meanwhile; nothing was overwritten."""


class NotAllowed(RubricStudioError):
    """The user lacks the permission."""


class StoreError(RubricStudioError):
    """The data file is foreign, newer than this program, missing, or unreachable."""


class Damaged(StoreError):
    """The bytes of the data file are not what was written."""


class WriteBlocked(StoreError):
    """The data file cannot be written now: it is locked, or its disk is full."""
