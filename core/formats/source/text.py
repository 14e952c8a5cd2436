"""Bytes to text: UTF-8, or UTF-16 with its mark; anything else is refused, never guessed.

Tables may also be Windows-1252, which spreadsheets write.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from core.errors import Problem
from core.formats.source.parsed import half_character

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAVE = "Save the file as UTF-8 (in a spreadsheet: 'CSV UTF-8') and try again."
_LOOK = "Look whether its letters are right; if not, save it as UTF-8."
_UTF8 = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: The largest share of letters beyond ASCII in a text of Western Europe.
_MOST_BEYOND = 0.35


class DecodedText(NamedTuple):
    """A text without its mark, errors (in general, and as a table), and notices of its encoding."""

    text: str
    fault: Problem | None = None
    table_fault: Problem | None = None
    notices: tuple[Problem, ...] = ()


def decoded_text(data: str | bytes) -> DecodedText:
    """Return the text of a file, or of a text.

    Bytes that are neither UTF-8 nor marked count as Windows-1252 if no other usual encoding is
    possible: no letter of UTF-8, no control character, and few letters beyond ASCII. Only tables
    may have that encoding.
    """
    text = _decoded(data) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if isinstance(text, str):
        fault = _unsound(text)
        marked = isinstance(data, bytes) and data.startswith(UTF16)
        notices = (Problem("The file is read as UTF-16."),) if marked else ()
        return DecodedText(text, fault, fault, notices)
    western = _western(data) if isinstance(data, bytes) else None
    if western is None:
        return DecodedText("", text, text)
    message = "The file is not UTF-8; it is read as Windows-1252 (Western European)."
    return DecodedText(western, text, _unsound(western), (Problem(message, _LOOK),))


def _western(data: bytes) -> str | None:
    if _UTF8.search(data) or _CONTROL.search(data):
        return None
    # Letters begin at 0xC0; below are signs.
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
    marked = data.startswith(UTF16)
    encoding, word = ("utf-16", "UTF-16") if marked else ("utf-8-sig", "UTF-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # Offsets in the error do not count the mark.
        offset = error.start
        line = data[:offset].count(b"\n") + 1
        bad = data[offset : offset + 1].hex()
        return Problem(f"is not {word}: byte 0x{bad} at offset {offset:,}.", _SAVE, (), line)


def _unsound(text: str) -> Problem | None:
    """Return the problem of a text that no format may hold: empty, a NUL, half a surrogate pair."""
    if not text or text.isspace():
        return Problem("is empty.", "Choose a file with something in it.")
    nul = text.find("\0")
    if nul >= 0:
        return Problem(
            f"holds a NUL character at offset {nul:,}.",
            f"It may be UTF-16 without a byte order mark, or not a text file. {_SAVE}",
            (),
            text.count("\n", 0, nul) + 1,
        )
    half = half_character(text)
    if half:
        line = text.count("\n", 0, half.start()) + 1
        return Problem("holds half of a surrogate pair.", _SAVE, (), line)
    return None
