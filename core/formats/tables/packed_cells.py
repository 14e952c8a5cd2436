"""Cells with several scores, `Depth: 2; Style: 4`: each score becomes a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.heading_words import (
    PROMPTS,
    REFERENCES,
    WRITTEN_TEXTS,
    has_word,
    plain_heading,
)
from core.formats.source.one_hot import Folded, Row
from core.text.names import fold

_NUMBER = r"(?:[-–−+]?\d+(?:[.,]\d+)?(?: ?/ ?\d+)?|n/a|[-–—](?!\d))"
#: `Depth: 2`, `Depth = 2 (good)`, `Depth: n/a`.
_SCORE = re.compile(rf"([^\W\d][^:=]{{0,80}}?) ?[:=] ?({_NUMBER}(?: ?\([^()]*\))?)", re.I)
#: Between two scores; a comma only where the next one begins, as others are part of a number.
_BETWEEN = re.compile(rf"\s*(?:[;\n|]|,(?= *[^\W\d][^:=,;\n|]*[:=] ?{_NUMBER}))\s*", re.I)
#: The fewest filled cells, and the longest one, of a column of scores.
_LEAST, _LONGEST = 3, 2_000


def with_scores_apart(columns: Sequence[str], rows: Sequence[Row]) -> Folded:
    """Return columns and rows with a column for each score of packed cells, and notices.

    >>> rows = [{"id": n, "marks": f"Depth: {n}, Style: 4"} for n in range(3)]
    >>> with_scores_apart(["id", "marks"], rows)[1][2]
    {'id': 2, 'Depth': '2', 'Style': '4'}
    """
    heads, kept, notices = tuple(columns), tuple(rows), list[Problem]()
    able = [c for c in columns if not _heads_a_text(c)]
    packed = {c: scores for c in able if (scores := _scores_in(rows, c))}
    uses = Counter(name for scores in packed.values() for name in _names_in(scores))
    for column, scores in packed.items():
        names, beside = _names_in(scores), {fold(c): c for c in heads if c != column}
        again = [n for n in names if fold(n) in beside]
        if any(not _are_equal(scores, n, kept, beside[fold(n)]) for n in again):
            continue  # a heading that stands for something else
        several = any(uses[n] > 1 for n in names)
        new = {n: f"{column} / {n}" if several else n for n in names if n not in again}
        kept = tuple(
            _row_apart(row, column, {head: of_row.get(n, "") for n, head in new.items()})
            for row, of_row in zip(kept, scores, strict=True)
        )
        heads = tuple(part for c in heads for part in (new.values() if c == column else (c,)))
        message = f"Each score in the cells of {column!r} is a column: {', '.join(new)}."
        if again:
            message += f" Columns of their own have the same: {', '.join(again)}."
        notices.append(Problem(message[:1000]))
    return heads, kept, tuple(notices)


def _heads_a_text(heading: str) -> bool:
    """Return whether a heading ends as that of a text, which may list numbers: `expected output`.

    >>> _heads_a_text("expected_output"), _heads_a_text("Answer.scores")
    (True, False)
    """
    last = plain_heading(heading).rpartition(" ")[2]
    return any(has_word(last, words) for words in (WRITTEN_TEXTS, PROMPTS, REFERENCES))


def _scores_in(rows: Sequence[Row], column: str) -> list[dict[str, str]]:
    """Return the scores of each row by name; nothing if a cell holds anything else.

    The names repeat, and most cells have several; most columns end at their first cell.
    """
    found, spelt = list[dict[str, str]](), dict[str, str]()
    for row in rows:
        cell = row.get(column) or ""
        if not isinstance(cell, str) or len(cell) > _LONGEST:
            return []
        parts = _BETWEEN.split(cell.strip(" \n;,|"))
        matches = [_SCORE.fullmatch(part) for part in parts if part]
        if None in matches:
            return []
        scores = {spelt.setdefault(fold(m[1]), m[1]): m[2] for m in matches if m}
        if len(scores) < len(matches):
            return []
        found.append(scores)
    filled = [scores for scores in found if scores]
    uses = Counter(name for scores in filled for name in scores)
    several = 2 * sum(len(scores) > 1 for scores in filled) > len(filled)
    repeat = len(uses) > 1 and 2 * len(uses) * min(uses.values()) > len(filled)
    return found if len(filled) >= _LEAST and several and min(uses.values()) > 1 and repeat else []


def _names_in(scores: Sequence[Mapping[str, str]]) -> list[str]:
    return [*dict.fromkeys(name for of_row in scores for name in of_row)]


def _are_equal(
    scores: Sequence[Mapping[str, str]], name: str, rows: Sequence[Row], column: str
) -> bool:
    """Return whether a column has the same cells as the scores of a name."""
    pairs = zip(scores, rows, strict=True)
    return all(of_row.get(name, "") == str(row.get(column) or "").strip() for of_row, row in pairs)


def _row_apart(row: Row, column: str, scores: Mapping[str, Any]) -> Row:
    """Return a row with scores in the place of a column."""
    apart = dict[str, Any]()
    for c, cell in row.items():
        apart |= scores if c == column else {c: cell}
    return apart
