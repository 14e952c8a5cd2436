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

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input: what, where, and how to fix it.

    ``path`` is the place inside the document (``("criteria", 2, "weight")``), ``line`` its 1-based
    line where a file is at hand.
    """

    message: str
    mend: str = ""
    path: tuple[str | int, ...] = ()
    line: int | None = None

    @property
    def place(self) -> str:
        """The place in words: ``line 12, criteria 3, weight`` (lists count from 1)."""
        words = ", ".join(_step(self.path))
        line = f"line {self.line}" if self.line is not None else ""
        return ", ".join(part for part in (line, words) if part)

    def __str__(self) -> str:
        head = f"{self.place}: " if self.place else ""
        tail = f" {self.mend}" if self.mend else ""
        return f"{head}{self.message}{tail}"


def _step(path: tuple[str | int, ...]) -> list[str]:
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part + 1) if isinstance(part, int) else part)
    return words


class RubricStudioError(Exception):
    """The root. ``str(error)`` is a complete sentence for a person."""


class InputError(RubricStudioError):
    """An error that the person can fix. Carries every problem found, not only the first."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = (), where: str = "") -> None:
        self.message, self.problems, self.where = message, problems, where
        super().__init__(message)

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        return "\n".join([head, *(f"  - {problem}" for problem in self.problems)])

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for ``--json``."""
        return {
            "error": self.message,
            "where": self.where,
            "problems": [
                {"message": p.message, "mend": p.mend, "place": p.place, "line": p.line}
                for p in self.problems
            ],
        }


class NotFound(RubricStudioError):
    """There is nothing with that id or name."""


class Conflict(RubricStudioError):
    """It changed under you. Nothing was overwritten."""


class NotAllowed(RubricStudioError):
    """This person may not do that."""


class StoreError(RubricStudioError):
    """The data file is not ours, newer than this program, gone, or out of reach."""


class Damaged(StoreError):
    """The bytes of the data file are not what was written."""


class NotNow(StoreError):
    """The data file cannot be written now: locked, or its disk is full. Later it may be."""
