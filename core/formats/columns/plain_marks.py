"""Numbers in cells that say more: `5?`, `4/5`, `Score: 4`, and errors of a program beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

from core.errors import Problem
from core.formats.columns.label_words import ABSENT, NO_ANSWER
from core.formats.source.csv_writer import number_of
from core.formats.tables.table import Table
from core.text.names import fold

#: `4`, `5?`, `5 (?)`, `4/5`, `3 out of 5`, `Score: 4`, `Rating: [[4]]`.
_MARK = re.compile(
    r"(?:(?:score|rating|grade|mark|points|punkte|note|nota|voto|ocena|оценка|评分|得分)"
    r" ?[:=：] ?)?(?:\[\[)?(?P<number>\d{1,3}(?:[.,]\d{1,2})?)(?:\]\])?"
    r"(?: ?(?:/|out of) ?(?P<most>\d{1,3}))?(?P<unsure> ?(?:\?{1,3}|\(\?\)))?",
    re.I,
)
#: What a program writes in place of a score.
_ERROR = re.compile(
    r"#?err(or)?(\W.*)?|exception\b.*|(parse|parsing|json|api|judge)[ _-]?(error|fail)\w*(\W.*)?"
    r"|failed (to|with|due) .*|failed: .*|time(d )?[ _-]?out\b.*|rate[ _-]?limit.*",
    re.I | re.S,
)


def with_plain_marks(table: Table, kept: Collection[str]) -> Table:
    """Return the table with only the numbers in columns of marks, and with blanks for errors.

    Cells in ``kept`` stay.

    >>> rows = tuple({"kim": mark} for mark in ("4/5", "3/5", "Score: 5", "2?", "parse_error"))
    >>> table = with_plain_marks(Table("x.csv", "csv", ("kim",), rows, (2, 3, 4, 5, 6)), ())
    >>> [row["kim"] for row in table.rows], table.scales
    (['4', '3', '5', '2', ''], {'kim': '0-5'})
    """
    able = [c for c in table.columns if table.flat and _may_hold_marks(table, c)]
    counts = {c: Counter(str(row.get(c) or "").strip() for row in table.rows) for c in able}
    plain = {c: numbers for c, words in counts.items() if (numbers := _numbers_in(words, kept))}
    if not plain:
        return table
    rows = tuple(
        row | {c: of[word] for c, of in plain.items() if (word := str(row[c] or "").strip()) in of}
        for row in table.rows
    )
    marks = (number_of(n) for of in plain.values() for n in of.values())
    lowest = min((n for n in marks if n is not None), default=0.0)
    most = {c: _most_of(counts[c]) for c in plain}
    scales = {c: f"{int(lowest == 1)}-{top}" for c, top in most.items() if top}
    changed = Counter[str]()
    for c, of in plain.items():
        changed.update({w: counts[c][w] for w in of})
    said = list[Problem]()
    for message, words in (
        ("These are read as the numbers in them", [w for w in changed if _is_sure(w)]),
        ("These numbers were given unsurely and are read as sure", [*filter(_is_unsure, changed)]),
        ("These are errors of a program and taken as no answer", [*filter(_is_error, changed)]),
    ):
        listed = ", ".join(f"{w[:60]!r} {changed[w]:,}" for w in words[:10])
        mend = f"If one is no number: --map-label {words[0]!r}=NA." if words else ""
        said += [Problem(f"{message}: {listed}.", mend * _is_unsure(words[0]))] if words else []
    notices = (*table.notices, *said)
    return replace(table, rows=rows, scales={**scales, **table.scales}, notices=notices)


def _may_hold_marks(table: Table, column: str) -> bool:
    """Return whether the first cells of a column are short, or say that there is no mark."""
    first = [str(row.get(column) or "").strip() for row in table.rows[:50]]
    return any(map(_MARK.fullmatch, first)) and all(_is_known(word) for word in first)


def _numbers_in(words: Mapping[str, int], kept: Collection[str]) -> dict[str, str]:
    """Return the number of each cell that says more, "" for errors; none of other columns.

    Of `4/5` and `3/10` neither is a mark, and where most are unsure a question mark means more.
    """
    marks = {word: mark for word in words if (mark := _MARK.fullmatch(word))}
    mosts = {mark["most"] for mark in marks.values()} - {None}
    numbers = {word: number_of(mark["number"]) or 0.0 for word, mark in marks.items()}
    beyond = any(n > float(top) for n in numbers.values() for top in mosts)
    unsure = sum(words[word] for word, mark in marks.items() if mark["unsure"])
    few = 2 * unsure <= sum(words[word] for word in marks)
    known = all(map(_is_known, words)) and few and len(mosts) < 2 and not beyond
    if not known or len({*numbers.values()}) < 2:
        return {}
    more = {word: mark["number"] for word, mark in marks.items() if mark["number"] != word}
    more |= {word: "" for word in words if _is_error(word)}
    return {word: number for word, number in more.items() if word not in kept}


def _most_of(words: Collection[str]) -> str:
    """Return what cells such as `4/5` are out of, or ""."""
    return next((m["most"] for word in words if (m := _MARK.fullmatch(word)) and m["most"]), "")


def _is_known(word: str) -> bool:
    empty = fold(word) in NO_ANSWER or fold(word) in ABSENT
    return empty or _MARK.fullmatch(word) is not None or _is_error(word)


def _is_error(word: str) -> bool:
    return len(word) < 200 and _ERROR.fullmatch(word) is not None


def _is_unsure(word: str) -> bool:
    return word.endswith(("?", "(?)")) and _MARK.fullmatch(word) is not None


def _is_sure(word: str) -> bool:
    return not (_is_unsure(word) or _is_error(word))
