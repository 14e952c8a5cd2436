"""What reading a file gives: a value with notices, or one refusal that names every problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Generic, TypeVar

from core.domain.base import Path
from core.errors import InputError, Problem

T = TypeVar("T")

#: No more problems than this are listed; the rest are counted.
MAX_PROBLEMS = 50
#: After so many, reading stops: the file is of another kind, or an attack.
ENOUGH = 1000


def _nowhere(path: Path) -> int | None:
    return None


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """A value that was read, and what a person should know about how (kept but unused keys ...).

    ``line_of`` gives the 1-based line of a place in ``value``, where the source has lines.
    """

    value: T
    notices: tuple[Problem, ...] = ()
    line_of: Callable[[Path], int | None] = field(default=_nowhere, repr=False, compare=False)


def shortened(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first ``MAX_PROBLEMS`` problems, and one more that counts the rest.

    >>> [str(p) for p in shortened([Problem("is bad.")] * 52)][-1]
    'and 2 more.'
    """
    head = tuple(problems[:MAX_PROBLEMS])
    more = len(problems) - len(head)
    if not more:
        return head
    if enough(problems):
        return (*head, Problem(f"and at least {more:,} more; reading stopped there."))
    return (*head, Problem(f"and {more:,} more."))


def enough(problems: Sequence[Problem]) -> bool:
    """Whether so many problems were found that reading on would help nobody."""
    return len(problems) >= ENOUGH


def refusal(what: str, problems: Sequence[Problem], where: str) -> InputError:
    """The error that refuses a file: ``what`` it is, every problem, and ``where`` (its name)."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    return InputError(f"This {what} is not valid ({count}).", shortened(problems), where)


def stem(name: str, otherwise: str) -> str:
    """A file's name without folder and ending, at most 200 characters, or ``otherwise``.

    >>> stem("in/essay.v2.yaml", "Untitled"), stem(".yaml", "Untitled")
    ('essay.v2', 'Untitled')
    """
    text = PurePath(name.replace("\\", "/")).name
    text = text.rpartition(".")[0] if "." in text else text
    return text.strip()[:200] or otherwise
