"""Results of reading a file: text, plain data with lines, or a refusal."""

from __future__ import annotations

import codecs
import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from core.domain.base import Path
from core.errors import InputError, Problem

#: Deeper nesting is refused, since recursion elsewhere must not meet it.
MAX_DEPTH = 64
#: Integers of more digits are refused: they overflow a float or are an attack.
MAX_DIGITS = 30

_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z|-?Infinity\Z|NaN\Z")

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep."


@dataclass(frozen=True)
class Document:
    """Plain data (dict, list, str, int, float, bool, None) with line numbers.

    ``line_of(path)`` is the 1-based line of the place, or of the nearest place around it.
    """

    value: Any
    line_of: Callable[[Path], int | None]


class BadNumber(ValueError):
    """A number that is not finite or too large; ``str(error)`` says which."""


def number(text: str) -> int | float | None:
    """Return the number that ``text`` spells in JSON or YAML, or ``None``.

    Raises:
        BadNumber: it is infinite, not a number, or has more digits than ``MAX_DIGITS``.

    >>> number("-3"), number("1e3"), number("1:30")
    (-3, 1000.0, None)
    """
    if _INT.match(text):
        if len(text.lstrip("-+0")) > MAX_DIGITS:
            raise BadNumber(f"is a whole number of {len(text)} digits.")
        return int(text)
    if _NOT_FINITE.match(text):
        raise BadNumber(f"is {text}, which is not a finite number.")
    if _FLOAT.match(text):
        value = float(text)
        if not math.isfinite(value):
            raise BadNumber(f"is {text[:40]}, which is too large.")
        return value
    return None


def nearest(places: dict[Path, int], path: Path) -> int | None:
    """Return the line of ``path`` or of the nearest place around it."""
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

#: No more problems than this are listed; the rest are counted.
MAX_PROBLEMS = 50
#: After this many, reading stops: the file is of another kind, or an attack.
ENOUGH = 1000


def _nowhere(path: Path) -> int | None:
    return None


@dataclass(frozen=True)
class ColumnRole:
    """A column of a table: its role, why it has it, three values, and how many cells are filled.

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


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """A value that was read, and notices about it (unused keys ...).

    ``line_of`` gives the 1-based line of a place in ``value``, where the source has lines.
    ``roles`` says of a table what each column was taken as.
    """

    value: T
    notices: tuple[Problem, ...] = ()
    line_of: Callable[[Path], int | None] = field(default=_nowhere, repr=False, compare=False)
    roles: tuple[ColumnRole, ...] = field(default=(), compare=False)


def shortened(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the first ``MAX_PROBLEMS`` problems, and one that counts the rest.

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
    """Return whether there are so many problems that reading on is useless."""
    return len(problems) >= ENOUGH


def refusal(what: str, problems: Sequence[Problem], where: str) -> InputError:
    """Return the error that refuses a file, with its name and all problems."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    return InputError(f"This {what} is not valid ({count}).", shortened(problems), where)


def stem(name: str, otherwise: str) -> str:
    """Return a file's name without folder and ending, shortened.

    Without one it is ``otherwise``.

    >>> stem("in/essay.v2.yaml", "Untitled"), stem(".yaml", "Untitled")
    ('essay.v2', 'Untitled')
    """
    text = PurePath(name.replace("\\", "/")).name
    text = text.rpartition(".")[0] if "." in text else text
    return text.strip()[:200] or otherwise


# Bytes to text: UTF-8, or UTF-16 with its mark; anything else is refused, never guessed.

MEGABYTE = 1_000_000
MAX_RUBRIC_BYTES = 5 * MEGABYTE
MAX_DATASET_BYTES = 100 * MEGABYTE
#: JSON and YAML datasets are held whole while they are read; CSV and JSONL are not.
MAX_DOCUMENT_BYTES = 20 * MEGABYTE
#: More rows are refused before any is kept: a small machine could not hold them.
MAX_ROWS = 2_000_000

_SAVE = "Save the file as UTF-8 (in a spreadsheet: 'CSV UTF-8') and try again."
_SURROGATE = re.compile("[\ud800-\udfff]")


class Lines:
    """The starts of lines in a text, to turn an offset into a line from 1."""

    def __init__(self, text: str) -> None:
        self._starts = array("L", [0])
        self._starts.extend(match.end() for match in re.finditer("\n", text))

    def at(self, offset: int) -> int:
        r"""Return the line of the character at ``offset``.

        >>> Lines("a\nb").at(2)
        2
        """
        return bisect_right(self._starts, offset)


def read_text(data: str | bytes, name: str, what: str, limit: int) -> str:
    r"""Return the text of a file without its mark; line breaks are unchanged.

    Args:
        data: the file's bytes, or text that was decoded already.
        name: the file's name, for messages.
        what: what the file holds ("rubric"), for messages.
        limit: the largest size, in bytes (for text: in characters).

    Raises:
        InputError: too large, empty, not UTF-8 or UTF-16, or holding a NUL; it names the line.

    >>> read_text("é".encode("utf-16"), "a.csv", "dataset", 100)
    'é'
    """
    if len(data) > limit:
        size, most = len(data) / MEGABYTE, limit / MEGABYTE
        mend = "Split it, or write JSONL or CSV." if what == "dataset" else "Shorten it."
        problem = Problem(f"has {size:,.1f} MB; {most:,.0f} MB is the limit.", mend)
        raise refusal(what, [problem], name)
    problem_or_text = _decoded(data) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if isinstance(problem_or_text, str):
        problem_or_text = _sound(problem_or_text) or problem_or_text
    if isinstance(problem_or_text, Problem):
        raise refusal(what, [problem_or_text], name)
    return problem_or_text


def read_table_text(
    data: str | bytes, name: str, what: str, limit: int
) -> tuple[str, tuple[Problem, ...]]:
    r"""The text of a table, which spreadsheets also write in UTF-16 or a Western encoding.

    What is neither UTF-8 nor marked is taken for Windows-1252 where it can be nothing else of the
    usual ones: no letter of UTF-8 in it, no control character, and few letters beyond ASCII. The
    encoding is said, where it is not UTF-8.

    Raises:
        InputError: like ``read_text``.

    >>> read_table_text("id;Stadt\n1;Köln\n".encode("cp1252"), "a.csv", "table", 100)[0]
    'id;Stadt\n1;Köln\n'
    """
    if isinstance(data, bytes) and len(data) <= limit:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return read_text(data, name, what, limit), (Problem("The file is read as UTF-16."),)
        western = _western(data)
        if western is not None:
            message = "The file is not UTF-8; it is read as Windows-1252 (Western European)."
            return read_text(western, name, what, limit), (Problem(message, _LOOK),)
    return read_text(data, name, what, limit), ()


_LOOK = "Look whether its letters are right; if not, save it as UTF-8."
_UTF8 = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: A text of Western Europe has fewer letters beyond ASCII; one in another script has more.
_MOST_BEYOND = 0.35


def _western(data: bytes) -> str | None:
    try:
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return None
    if _UTF8.search(data) or _CONTROL.search(data):
        return None
    # From 0xC0 on stand letters, before them signs.
    beyond = sum(byte >= 0xC0 for byte in data)
    letters = beyond + sum(chr(byte).isalpha() for byte in data if byte < 0x80)
    try:
        return data.decode("cp1252") if beyond <= _MOST_BEYOND * letters else None
    except UnicodeDecodeError:
        return None


def _decoded(data: bytes) -> str | Problem:
    if data.startswith(b"PK\x03\x04"):
        return Problem(
            "is a zip archive or a spreadsheet workbook, not a text file.",
            "Export it as CSV UTF-8, JSON, JSONL or YAML.",
        )
    if data.startswith(b"\x1f\x8b"):
        return Problem("is packed with gzip.", "Unpack it first.")
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return Problem("is UTF-32.", _SAVE)
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding, word = ("utf-16", "UTF-16") if marked else ("utf-8-sig", "UTF-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # With a mark, offsets in the error do not count it.
        offset = error.start
        line = data[:offset].count(b"\n") + 1
        bad = data[offset : offset + 1].hex()
        return Problem(f"is not {word}: byte 0x{bad} at offset {offset:,}.", _SAVE, (), line)


def _sound(text: str) -> Problem | None:
    """What no format of ours may hold: nothing at all, a NUL, half a surrogate pair."""
    if not text.strip():
        return Problem("is empty.", "Choose a file with something in it.")
    nul = text.find("\0")
    if nul >= 0:
        return Problem(
            f"holds a NUL character at offset {nul:,}.",
            f"It may be UTF-16 without a byte order mark, or not a text file. {_SAVE}",
            (),
            text.count("\n", 0, nul) + 1,
        )
    half = None if text.isascii() else _SURROGATE.search(text)
    if half:
        line = text.count("\n", 0, half.start()) + 1
        return Problem("holds half of a surrogate pair.", _SAVE, (), line)
    return None


def too_many_rows() -> Problem:
    """The problem of a file with more rows than ``MAX_ROWS``."""
    return Problem(f"has more than {MAX_ROWS:,} rows, which is the limit.", "Split it.")


def has_half_character(text: str) -> bool:
    r"""Whether ``text`` holds half of a surrogate pair, which no file or database can store.

    >>> has_half_character("\ud83d"), has_half_character("fine")
    (True, False)
    """
    return not text.isascii() and _SURROGATE.search(text) is not None
