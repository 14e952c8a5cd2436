"""Results of reading a file: text, plain data with lines, or an error."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from core.domain.base import Path
from core.errors import InputError, Problem

#: The deepest nesting, which limits recursion elsewhere.
MAX_DEPTH = 64
#: The most digits of an integer; more overflow a float or are an attack.
MAX_DIGITS = 30

_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z|-?Infinity\Z|NaN\Z")

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep."


@dataclass(frozen=True)
class Document:
    """Plain data (dict, list, str, int, float, bool, None) with line numbers.

    ``line_of(path)`` is the 1-based line of the place, or of the nearest enclosing place. A faulty
    document may have a value, too, for lenient readers.
    """

    value: Any
    line_of: Callable[[Path], int | None]
    faults: Callable[[], Sequence[Problem]] | None = None

    def require_valid(self, what: str, name: str) -> Document:
        """Return the document. Raises ``InputError`` with its faults, if any."""
        if self.faults is not None:
            raise refusal(what, self.faults(), name)
        return self


class BadNumber(ValueError):
    """A number that is not finite or too large; ``str(error)`` says which."""


def number(text: str) -> int | float | None:
    """Return the number that ``text`` means in JSON or YAML, or ``None``.

    Raises:
        BadNumber: it is infinite, not a number, or has more digits than ``MAX_DIGITS``.

    >>> number("-3"), number("1e3"), number("1:30")
    (-3, 1000.0, None)
    """
    if _INT.match(text):
        # Python refuses thousands of digits, zeros in front among them.
        digits = text.lstrip("-+0")
        if len(digits) > MAX_DIGITS:
            raise BadNumber(f"is a whole number of {len(text)} digits.")
        return int(digits or 0) * (-1 if text[0] == "-" else 1)
    if _NOT_FINITE.match(text):
        raise BadNumber(f"is {text}, which is not a finite number.")
    if _FLOAT.match(text):
        value = float(text)
        if not math.isfinite(value):
            raise BadNumber(f"is {text[:40]}, which is too large.")
        return value
    return None


def finite(value: Any) -> float | None:
    """Return a text or a number as a finite number, or ``None``.

    >>> finite("2.5"), finite("nan"), finite("two"), finite(None)
    (2.5, None, None, None)
    """
    try:
        value = float(value)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def nearest_line(places: dict[Path, int], path: Path) -> int | None:
    """Return the line of ``path`` or of the nearest enclosing place."""
    for end in range(len(path), -1, -1):
        if path[:end] in places:
            return places[path[:end]]
    return None


def kind_of(value: Any) -> str:
    """Return the kind of a value as text.

    >>> kind_of([]), kind_of(None), kind_of(True)
    ('a list', 'empty', 'a yes/no value')
    """
    names = {bool: "a yes/no value", int: "a number", float: "a number", str: "text"}
    names |= {list: "a list", tuple: "a list", dict: "a mapping"}
    return "empty" if value is None else names.get(type(value), type(value).__name__)


T = TypeVar("T")

#: The most problems to list; the rest are counted.
MAX_PROBLEMS = 50
#: Reading stops after this many problems: the file is of another kind, or an attack.
ENOUGH = 1000


@dataclass(frozen=True)
class ColumnRole:
    """A column of a table: its role and why, three values, and the number of filled cells.

    Roles are `item`, `text`, `prompt`, `reference`, `context`, `rater`, `criterion`, `label`,
    `score`, `system`, `split` and other fields, `note`, `ignored`. `label:tone` is a label of the
    criterion tone, `rater:ann` the answers of ann.
    """

    column: str
    role: str
    why: str
    samples: tuple[str, ...]
    filled: int

    def data(self) -> dict[str, Any]:
        """Return the role as `--json` shows it."""
        return {**self.__dict__, "samples": list(self.samples)}


class TableRows(NamedTuple):
    """Columns, rows, the first line of each row if known, and notices.

    ``questions`` are a survey's texts by the name that the headings of their answers begin with.
    ``above`` are the prompt and the reference that lines above the table give, ``told`` the lines
    of words beside it.
    """

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    lines: tuple[int | None, ...]
    notices: tuple[Problem, ...]
    questions: Mapping[str, str] = MappingProxyType({})
    above: Mapping[str, str] = MappingProxyType({})
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """A parsed value, and notices about it (unused keys ...).

    ``line_of`` gives the 1-based line of a place in ``value``, if the source has lines. ``roles``
    says how each column of a table was used.
    """

    value: T
    notices: tuple[Problem, ...] = ()
    line_of: Callable[[Path], int | None] = field(
        default=lambda path: None, repr=False, compare=False
    )
    roles: tuple[ColumnRole, ...] = field(default=(), compare=False)


def limited(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the first ``MAX_PROBLEMS`` problems, and one that counts the rest.

    >>> [str(p) for p in limited([Problem("is bad.")] * 52)][-1]
    'and 2 more.'
    """
    head = tuple(problems[:MAX_PROBLEMS])
    remaining = len(problems) - len(head)
    if not remaining:
        return head
    if too_many(problems):
        return (*head, Problem(f"and at least {remaining:,} more; reading stopped there."))
    return (*head, Problem(f"and {remaining:,} more."))


def too_many(problems: Sequence[Problem]) -> bool:
    """Return whether there are too many problems to read on."""
    return len(problems) >= ENOUGH


def refusal(what: str, problems: Sequence[Problem], where: str) -> InputError:
    """Return the error that rejects a file, with its name and all problems."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    return InputError(f"This {what} is not valid ({count}).", limited(problems), where)


def stem(name: str, otherwise: str) -> str:
    """Return a file's name without folder and ending, shortened; ``otherwise`` if empty.

    >>> stem("in/essay.v2.yaml", "Untitled"), stem(".yaml", "Untitled")
    ('essay.v2', 'Untitled')
    """
    text = PurePath(name.replace("\\", "/")).name
    text = text.rpartition(".")[0] if "." in text else text
    return text.strip()[:200] or otherwise


MEGABYTE = 1_000_000
MAX_RUBRIC_BYTES = 5 * MEGABYTE
MAX_DATASET_BYTES = 100 * MEGABYTE
#: The limit for JSON and YAML datasets, which are in memory while they are read; CSV and JSONL are
#: not.
MAX_DOCUMENT_BYTES = 20 * MEGABYTE
#: The most rows, refused before any is stored: a small machine could not hold more.
MAX_ROWS = 2_000_000

_SURROGATE = re.compile("[\ud800-\udfff]")


class Lines:
    """The offsets of lines in a text, to turn an offset into a line number from 1."""

    def __init__(self, text: str) -> None:
        self._starts = array("L", [0])
        self._starts.extend(match.end() for match in re.finditer("\n", text))

    def at(self, offset: int) -> int:
        r"""Return the line of the character at ``offset``.

        >>> Lines("a\nb").at(2)
        2
        """
        return bisect_right(self._starts, offset)


#: Repeated texts (field names, labels) are short and few.
LONGEST_WORD, _MOST_WORDS = 40, 5_000


class SharedWords(dict[str, str]):
    """Short texts that repeat, such as field names and labels, each stored once, up to a number.

    >>> words = SharedWords()
    >>> words["MET"] is words["".join(["M", "ET"])]
    True
    """

    def __missing__(self, word: str) -> str:
        is_stored = len(self) < _MOST_WORDS and len(word) <= LONGEST_WORD
        return self.setdefault(word, word) if is_stored else word


def too_many_rows() -> Problem:
    """The problem of a file with more rows than ``MAX_ROWS``."""
    return Problem(f"has more than {MAX_ROWS:,} rows, which is the limit.", "Split it.")


def half_character(text: str) -> re.Match[str] | None:
    """Return the first half of a surrogate pair, which cannot be stored, or ``None``."""
    return None if text.isascii() else _SURROGATE.search(text)
