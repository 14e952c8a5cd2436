"""Merge one-hot columns: a column for each option, with its name in the rows that chose it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.heading_words import RATERS, has_word
from core.text.names import fold

Row = dict[str, Any]
Folded = tuple[tuple[str, ...], tuple[Row, ...], tuple[Problem, ...]]


def with_options_joined(columns: Sequence[str], rows: Sequence[Row]) -> Folded:
    """Return columns and rows with one column for the options of a question, and notices.

    >>> rows = [{"mood:glad": "glad", "mood:sad": ""}, {"mood:glad": "", "mood:sad": "sad"}]
    >>> with_options_joined(["mood:glad", "mood:sad"], rows)[:2]
    (('mood',), ({'mood': 'glad'}, {'mood': 'sad'}))
    """
    words = {column: _only_word(rows, column) for column in columns}
    stems = dict.fromkeys(filter(None, (_heading_stem(c, word or "") for c, word in words.items())))
    columns, kept, notices = tuple(columns), tuple(rows), list[Problem]()
    for stem, options in _one_hot_columns(columns, rows).items():
        name = stem.rstrip(_SIGNS)
        kept = tuple(
            _row_with_option(_row_with_names(row, options, stem), options, name) for row in kept
        )
        columns = tuple(dict.fromkeys(name if c in options else c for c in columns))
        notices.append(Problem(f"{len(options)} columns are the options of one answer, {name!r}."))
    for stem in stems:
        options = [c for c in columns if c.startswith(stem) and words.get(c) is not None]
        name = stem.rstrip(_SIGNS)
        named = all(not words[c] or _heading_stem(c, words[c] or "") == stem for c in options)
        if name in columns or not named or not _have_one_per_row(rows, options):
            continue
        kept = tuple(_row_with_option(row, options, name) for row in kept)
        columns = tuple(dict.fromkeys(name if c in options else c for c in columns))
        message = f"{len(options)} columns are the options of one answer, {name!r}."
        notices.append(Problem(message))
    return columns, kept, tuple(notices)


def _one_hot_columns(columns: Sequence[str], rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return columns of marks by the beginning of their headings, one mark in each row.

    Two columns must be headed for yes and for no.
    """
    marks = [c for c in columns if _are_marks(rows, c)]
    starts = dict.fromkeys(c[: m.end()] for c in marks for m in re.finditer(r"[ :_./\-[(]", c))
    found = dict[str, list[str]]()
    for stem in sorted(starts, key=len):
        options = [c for c in marks if c.startswith(stem)]
        stem = max((s for s in starts if all(c.startswith(s) for c in options)), key=len)
        one_each = all(sum(_is_mark(row.get(c)) for c in options) == 1 for row in rows)
        ends = {fold(c[len(stem) :].strip(_SIGNS + ")]")) for c in options}
        known = len(options) > 2 or (len(options) == 2 and all(ends & of for of in _YES_NO))
        free = stem.rstrip(_SIGNS) not in columns and not has_word(stem, RATERS)
        if known and len(rows) >= _SURE and one_each and free:
            found.setdefault(stem, options)
            marks = [c for c in marks if c not in options]
    return found


def _are_marks(rows: Sequence[Row], column: str) -> bool:
    """Return whether a column holds 0 and 1, or true and false, and nothing else."""
    cells = (str(row.get(column)).lower() for row in rows)
    only = all(cell in ("0", "1", "false", "true") for cell in cells)
    return only and len({str(row.get(column)).lower() for row in rows}) == 2


def _is_mark(cell: object) -> bool:
    return str(cell).lower() in ("1", "true")


#: Ends of the headings of two columns that are one question.
_YES_NO = (
    frozenset(
        {"yes", "true", "y", "ja", "oui", "si", "sí", "sim", "tak", "да", "はい", "是", "예"}
    ),
    frozenset(
        {"no", "false", "n", "nein", "non", "não", "nao", "nee", "nie", "нет", "いいえ", "否"}
    ),
)
#: From this many rows on, one mark in each row is no coincidence.
_SURE = 6


def _row_with_names(row: Row, options: Sequence[str], stem: str) -> Row:
    """Return the row with the options' names for their marks."""
    names = {c: c[len(stem) :].strip(_SIGNS + ")]") for c in options}
    return row | {c: names[c] if _is_mark(row.get(c)) else "" for c in options}


#: Separators between a question and its option.
_SIGNS = " :_./-[("


def _only_word(rows: Sequence[Row], column: str) -> str | None:
    """Return the only word in a column, "" if it is blank, ``None`` if it has several."""
    only = ""
    for row in rows:
        cell = row.get(column)
        if cell in (None, "", only):
            continue
        if only or not isinstance(cell, str):
            return None
        only = cell
    return only


def _heading_stem(heading: str, word: str) -> str:
    """Return a heading without its last ``word``, with the separator; "" if it ends otherwise."""
    stripped = heading.rstrip(")] ")
    before = stripped[: len(stripped) - len(word)]
    ends = bool(word) and fold(stripped).endswith(fold(word))
    return before if ends and before.rstrip(_SIGNS) and before[-1:] in _SIGNS else ""


def _have_one_per_row(rows: Sequence[Row], options: Sequence[str]) -> bool:
    """Return whether most rows have exactly one option, and not always the same."""
    chosen = [[c for c in options if row.get(c)] for row in rows]
    used = {options_used[0] for options_used in chosen if options_used}
    return len(used) > 1 and max(map(len, chosen)) == 1 and 2 * sum(map(len, chosen)) > len(rows)


def _row_with_option(row: Mapping[str, Any], options: Sequence[str], name: str) -> Row:
    chosen = next((row[c] for c in options if row.get(c)), "")
    return {column: cell for column, cell in row.items() if column not in options} | {name: chosen}
