"""Bytes to text: UTF-8, or UTF-16 with its mark; anything else is refused, never guessed."""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right

from core.errors import Problem
from core.files.parsed import refusal

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
    """Where lines begin in a text, to turn an offset into a 1-based line."""

    def __init__(self, text: str) -> None:
        self._starts = array("L", [0])
        self._starts.extend(match.end() for match in re.finditer("\n", text))

    def at(self, offset: int) -> int:
        r"""The line that holds the character at ``offset``.

        >>> Lines("a\nb").at(2)
        2
        """
        return bisect_right(self._starts, offset)


def read_text(data: str | bytes, name: str, what: str, limit: int) -> str:
    r"""The text of a file, its byte order mark removed; line breaks are kept as they are.

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


def _decoded(data: bytes) -> str | Problem:
    if data.startswith(b"PK\x03\x04"):
        return Problem(
            "is a zip archive or a spreadsheet workbook, not a text file.",
            "Export it as CSV UTF-8, JSON, JSONL or YAML.",
        )
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
