"""Rows for errors in texts: texts that differ in marks are one, and so are a rater's errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.errors import Problem
from core.formats.columns.headings import names_a_rater, plain_name
from core.formats.source.heading_words import REMARKS, has_word
from core.formats.tables.table import Table
from core.text.names import fold

#: What is put around a part of a text to show it.
_MARKED = re.compile(r"<(v|mark|hl|err|error|span)(?: [^<>]*)?>(.*?)</\1>|\*\*(.+?)\*\*", re.S)
_CATEGORIES = frozenset({"category", "error category", "mqm category", "error type", "issue type"})
_SEVERITIES = frozenset({"severity", "error severity", "mqm severity", "issue severity"})
_PLACES = frozenset({"start", "end", "begin", "stop", "offset", "span", "spans", "length"})
#: Severities, worst first; others are less.
_WORST = ("critical", "major", "minor")
#: The column of a rater's errors, each with its category, its severity and the marked words.
ERRORS = "remark: errors"


def errors_of_raters(table: Table) -> Table:
    """Return the table with unmarked texts, and one row for a rater's errors in a text.

    The row has the worst of the severities, with its category; the others are in a remark. Other
    tables, and those with other words for severities, are unchanged.
    """
    heads = {plain_name(c): c for c in reversed(table.columns)}
    category = next((c for name, c in heads.items() if name in _CATEGORIES), "")
    severity = next((c for name, c in heads.items() if name in _SEVERITIES), "")
    rated = bool(category and severity) and any(map(names_a_rater, table.columns))
    rated = rated and any(_rank(row.get(severity)) < len(_WORST) for row in table.rows)
    flat = [c for c in table.columns if c not in table.nested]
    marked = [c for c in flat if _is_marked(table, c, of_errors=rated)]
    if ERRORS in table.columns or not (marked or rated):
        return table
    remarks = [c for c in flat if rated and c not in marked and _is_about_errors(c)]
    own = {category, severity, *marked, *remarks}
    groups = dict[tuple[str, ...], list[int]]()
    for at, row in enumerate(table.rows):
        plain = [_unmarked(row.get(c)) for c in marked]
        key = (*plain, *(str(row.get(c)) for c in table.columns if c not in own))
        groups.setdefault(key if rated else (*key, str(at)), []).append(at)
    several = [of for of in groups.values() if len(of) > 1]
    if not (marked or several):
        return table
    kept = [c for c in table.columns if c not in remarks]
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for places in groups.values():
        of_group = [table.rows[at] for at in places]
        worst = min(of_group, key=lambda row: _rank(row.get(severity)))
        said = [_error_in_words(row, marked, (category, severity), remarks) for row in of_group]
        cells = {c: worst.get(c) for c in kept} | {c: _unmarked(worst.get(c)) for c in marked}
        rows.append(cells | {ERRORS: "; ".join(filter(None, said))})
        lines.append(table.lines[places[0]])
    return replace(
        table, columns=(*kept, ERRORS), rows=tuple(rows), lines=tuple(lines), places=(),
        document=None, notices=(*table.notices, *_notices(marked, several, severity)),
    )  # fmt: skip


def _rank(severity: Any) -> int:
    word = fold(str(severity or ""))
    return _WORST.index(word) if word in _WORST else len(_WORST)


def _is_about_errors(column: str) -> bool:
    """Return whether a heading is that of remarks, or of an error's place in the text."""
    return has_word(column, REMARKS) or bool({*plain_name(column).split()} & _PLACES)


def _is_marked(table: Table, column: str, *, of_errors: bool) -> bool:
    """Return whether marked texts of a column are in other rows with other marks, or none.

    So must most of them be, unless the rows are ``of_errors``.
    """
    texts = [row[column] for row in table.rows if isinstance(row.get(column), str)]
    marked = [text for text in texts if ("<" in text or "**" in text) and _MARKED.search(text)]
    if not marked:
        return False
    versions = dict[str, set[str]]()
    for text in texts:
        versions.setdefault(_unmarked(text), set()).add(text)
    several = sum(len(versions[_unmarked(text)]) > 1 for text in marked)
    return several > 0 if of_errors else several > 1 and 2 * several > len(marked)


def _unmarked(text: Any) -> str:
    """Return a text without marks.

    >>> _unmarked("A <v>blue</v> **lamp**.")
    'A blue lamp.'
    """
    return _MARKED.sub(lambda match: match[2] or match[3] or "", str(text or ""))


def _error_in_words(
    row: dict[str, Any], marked: Sequence[str], kinds: Sequence[str], remarks: Sequence[str]
) -> str:
    """Return the category, severity, marked words and remarks of an error, or ""."""
    spans = [m for c in marked for m in _MARKED.finditer(str(row.get(c) or ""))]
    named = ", ".join(str(row[c]) for c in kinds if row.get(c))
    parts = [" ... ".join(m[2] or m[3] or "" for m in spans)]
    parts += [str(row[c]) for c in remarks if row.get(c) not in (None, "")]
    return ": ".join(filter(None, (named, *parts))) if any(parts) or not marked else ""


def _notices(marked: Sequence[str], several: Sequence[list[int]], severity: str) -> list[Problem]:
    listed = ", ".join(map(repr, marked))
    said = [Problem(f"Texts of {listed} that differ in marks are one text, read without them; "
                    f"what is marked is in {ERRORS!r}.")] if marked else []  # fmt: skip
    if several:
        rows = sum(map(len, several))
        message = f"{rows:,} rows are several errors of one rater in one text, {len(several):,} "
        message += f"times: the worst of {severity!r} counts, with its category."
        said.append(Problem(message, f"All of them, with remarks, are in {ERRORS!r}."))
    return said
