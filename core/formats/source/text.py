"""Bytes to text: UTF-8, or UTF-16 with its mark.

Tables may also be in an older encoding, which spreadsheets write. A notice names the encoding; if
several are likely, the file is refused.
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
#: The encodings that are recognised, by name in Python, and the name and languages for the notice.
_NAMES = {
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1252": "Windows-1252 (Western European)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "koi8_r": "KOI8-R (Cyrillic)",
}
#: The number of bytes to examine, and the least number of bytes beyond ASCII.
_FIRST, _LEAST = 100_000, 24
#: Two encodings are equally likely if the rates of implausible characters in their texts differ by
#: less than this.
_NEAR = 0.05
_WESTERN = _NAMES["cp1252"]


class DecodedText(NamedTuple):
    """A text without its mark, errors (in general, and as a table), and notices of its encoding."""

    text: str
    fault: Problem | None = None
    table_fault: Problem | None = None
    notices: tuple[Problem, ...] = ()


class OldText(NamedTuple):
    """A text, the name of its encoding, and the names of encodings that are as likely."""

    text: str
    name: str
    near: tuple[str, ...] = ()


def decoded_text(data: str | bytes) -> DecodedText:
    """Return the text of a file, or of a text.

    Bytes that are not UTF-8 and have no mark count as Windows-1252, unless another encoding is
    likelier. They must hold no UTF-8 letter, no control character, and few letters beyond ASCII.
    Only tables may have such an encoding.
    """
    text = _decode(data) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if isinstance(text, str):
        fault = _problem_of_text(text)
        marked = isinstance(data, bytes) and data.startswith(UTF16)
        notices = (Problem("The file is read as UTF-16."),) if marked else ()
        return DecodedText(text, fault, fault, notices)
    assert isinstance(data, bytes)
    western, old = _western_text(data), None if _CONTROL.search(data) else old_text(data)
    if western is not None and (old is None or western == old.text or _WESTERN in old.near):
        others = {old.name, *old.near} - {_WESTERN} if old and western != old.text else set()
        old = OldText(western, _WESTERN, tuple(sorted(others)))
    elif old is None:
        return DecodedText("", text, text)
    elif old.near:
        message = f"is not UTF-8: it may be {' or '.join((old.name, *old.near))}."
        return DecodedText("", text, Problem(message, _SAVE))
    message = f"The file is not UTF-8; it is read as {old.name}."
    if old.near:
        message += f" It may as well be {' or '.join(old.near)}."
    return DecodedText(old.text, text, _problem_of_text(old.text), (Problem(message, _LOOK),))


def old_text(data: bytes) -> OldText | None:
    """Return the text of bytes that are not UTF-8, or ``None`` if no encoding is likely.

    >>> old_text("川は砂を海へ運び、残った砂は平野になります。".encode("cp932")).name
    'Shift-JIS (Japanese)'
    """
    first = data[: data.rfind(b"\n", 0, _FIRST) + 1] if len(data) > _FIRST else data
    beyond = sum(byte >= 0x80 for byte in first)
    # If most characters are valid UTF-8, the text is UTF-8 with a few wrong bytes.
    kept = len(first.decode("utf-8", "ignore").encode()) - (len(first) - beyond)
    if beyond < _LEAST or 2 * kept > beyond:
        return None
    from charset_normalizer import from_bytes

    matches = [m for m in from_bytes(first, cp_isolation=[*_NAMES]) if m.encoding in _NAMES]
    if not matches or matches[0].language == "Unknown":
        return None
    best = matches[0]
    near = [m for m in matches[1:] if str(m) != str(best) and m.chaos - best.chaos < _NEAR]
    try:
        text = data.decode(best.encoding)
    except UnicodeDecodeError:
        return None
    return OldText(text, _NAMES[best.encoding], tuple(_NAMES[m.encoding] for m in near))


def _western_text(data: bytes) -> str | None:
    if _UTF8.search(data) or _CONTROL.search(data):
        return None
    # In these encodings letters begin at 0xC0; lower bytes are signs.
    beyond = sum(byte >= 0xC0 for byte in data)
    letters = beyond + sum(chr(byte).isalpha() for byte in data if byte < 0x80)
    try:
        return data.decode("cp1252") if beyond <= _MOST_BEYOND * letters else None
    except UnicodeDecodeError:
        return None


def _decode(data: bytes) -> str | Problem:
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


def _problem_of_text(text: str) -> Problem | None:
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
