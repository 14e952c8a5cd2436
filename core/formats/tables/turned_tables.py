"""Tables with texts as columns: a row of the texts below `Text 1`, `Text 2`, and rows of marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import (
    ASPECTS,
    RATERS,
    SUMMARIES,
    has_word,
    heads_a_summary,
    plain_heading,
)
from core.formats.source.parsed import TableRows
from core.formats.source.summary_rows import IMPORT_ID

#: The most columns before the texts, the fewest texts, and their fewest words on average.
_BEFORE, _LEAST, _WORDS = 3, 3, 5
#: Headings of questions, whose wording is no text to judge.
_ASKED = re.compile(r"(?:q|question|frage|item|pregunta|pergunta|domanda|vraag|問|问题?)? ?#")


def turned_rows(rows: TableRows) -> TableRows:
    """Return a row for each mark of a table that has its texts as columns; others unchanged.

    Rows of words, such as where a text is from, become columns. Where one column alone stands
    before the texts, and names neither raters nor criteria, each text is a row.
    """
    forms = Counter(re.sub(r"\d+", "#", plain_heading(c)) for c in rows.columns)
    form, times = forms.most_common(1)[0] if forms else ("", 0)
    texts = [c for c in rows.columns if re.sub(r"\d+", "#", plain_heading(c)) == form]
    before = [c for c in rows.columns if c not in texts]
    if "#" not in form or _ASKED.fullmatch(form) or times < _LEAST or len(before) > _BEFORE:
        return rows
    cells = [
        ["" if row.get(c) is None else str(row[c]).strip() for c in texts] for row in rows.rows
    ]
    names = [" / ".join(filter(None, (str(row.get(c) or "") for c in before))) for row in rows.rows]
    marks = [at for at, of in enumerate(cells) if any(of) and all(map(_is_mark, of))]
    words = [at for at, of in enumerate(cells) if any(of) and at not in marks]
    of_texts = [at for at, of in enumerate(cells) if _are_texts(of)]
    derived = [at for at in marks if _is_derived(names[at])]
    marks = [at for at in marks if at not in derived]
    if len(marks) < 2 or len(of_texts) not in (1, 2) or texts != [*rows.columns[len(before) :]]:
        return rows
    if len({names[at] for at in words} - {""}) < len(words) or len({*names}) < len(names):
        return rows
    of_row = [sum(bool(row.get(c)) for c in before) for row in rows.rows]
    if any(of_row[at] != 1 for at in words) or IMPORT_ID.search(str(rows.rows[:3])):
        return rows  # a survey's codes and questions
    named = names[of_texts[0]]
    if len(of_texts) == 1:
        names[of_texts[0]] = "text"
    told: list[dict[str, Any]] = [
        {"item": c} | {names[at]: cells[at][n] for at in words} for n, c in enumerate(texts)
    ]
    if len(before) < 2 and not any(has_word(c, RATERS) or has_word(c, ASPECTS) for c in before):
        turned = [row | {names[at]: cells[at][n] for at in marks} for n, row in enumerate(told)]
        lines = [rows.lines[marks[0]]] * len(texts)
    else:
        turned = [
            row | {c: rows.rows[at].get(c) for c in before} | {"score": cells[at][n]}
            for at in marks
            for n, row in enumerate(told)
        ]
        lines = [rows.lines[at] for at in marks for _ in texts]
    message = f"The texts are columns ({texts[0]!r} to {texts[-1]!r}), so the table is turned."
    if len(of_texts) == 1:
        message += f" The judged texts are in the row {named!r}."
    if left := [names[at] for at in range(len(cells)) if at not in (*marks, *words) and names[at]]:
        message += f" Rows without marks of their own are left out: {', '.join(map(repr, left))}."
    notices = (*rows.notices, Problem(message[:1000]))
    columns = tuple(turned[0])
    return rows._replace(columns=columns, rows=tuple(turned), lines=tuple(lines), notices=notices)


def _is_mark(cell: str) -> bool:
    return not cell or number_of(cell) is not None


def _are_texts(cells: Sequence[str]) -> bool:
    """Return whether a row holds a text of several words for each column, and no questions."""
    words = sum(len(cell.split()) for cell in cells)
    several = all(cells) and words >= _WORDS * len(cells) and len({*cells}) == len(cells)
    return several and 2 * sum(cell[-1] in "?？؟" for cell in cells) < len(cells)


def _is_derived(name: str) -> bool:
    return heads_a_summary(name) or has_word(name, SUMMARIES, whole=True)
