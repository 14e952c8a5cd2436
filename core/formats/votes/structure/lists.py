"""Cells that list the answers of several raters, as in exports and in datasets on hubs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from core.errors import Problem
from core.formats.columns.answer_columns import MOST_MARK, MOST_SHARED, is_index
from core.formats.columns.headings import is_quantity
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import PEOPLE, RATERS, REMARKS, has_word, plain_heading
from core.formats.source.parsed import refusal
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table, with_paths
from core.formats.votes.structure.key_answers import author_of
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.record_states import are_states
from core.formats.votes.structure.texts import best_texts
from core.formats.votes.structure.values import values_of
from core.formats.votes.structure.vote_headings import item_changes
from core.text.parser import parsed

#: Headings of lists of answers, if no other column lists their raters.
_MARKS = frozenset({"ratings", "scores", "marks", "grades", "points"})
_ANSWERS = _MARKS | {"votes", "annotations", "judgments", "judgements", "responses"}
#: Words of headings that say only that the cells list answers.
_LISTED = frozenset({*_ANSWERS, "labels", "evaluations", "assessments", "annotation"})
#: Keys of spans, boxes and ids, whose numbers are no marks.
_PLACES = frozenset(
    {"start", "end", "begin", "stop", "from", "to", "offset", "length", "x", "y", "w", "h", "width"}
    | {"height", "id", "index", "page", "line", "position", "top", "left", "bottom", "right"}
)
_ROWS = 1000
#: `[87 80 86]`
_BY_NUMPY = re.compile(r"\[ *\d+\.?( +\d+\.?)* *\]")


def list_answer_changes(table: Table) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the changes for a table whose cells list answers, next to cells that list raters.

    Each with whether it is sure: lists beside one of raters, or of several unnamed raters.
    """
    inside = [f"{c}[].{key}" for c in table.columns for key in _keys_in(table, c)]
    of_criteria = [f"{c}.{key}" for c in table.columns for key in _criteria_in(table, c)]
    table = with_paths(table, [*inside, *of_criteria])
    lists = {c: of for c in table.columns if (of := _lists_in(table, c))}
    if not lists:
        return
    able = [c for c, of in lists.items() if _are_answers(c, of)]
    who = next((c for c in lists if c not in able and _are_people(c, lists[c])), "")
    if who:
        able = [c for c in able if list(map(len, lists[c])) == list(map(len, lists[who]))]
    else:
        named = (
            c for c in able if {*plain_heading(c).split()} & _ANSWERS or _is_headed_for_people(c)
        )
        able = [c for c in able if c in of_criteria] or list(named)
        able = [c for c in able if not _are_of_texts(table, lists[c])]
    if not able:
        return
    values = values_of(table)
    item = () if {*(key := item_columns(values))} & {*lists} else key
    numbered = tuple(c for c in table.columns if is_index(table, c))[:1]
    sure = has_word(who, RATERS) or all(_are_of_several(c, lists[c]) for c in able)
    raters = [f"rater={who}"] if who else []
    name = "criteria" if len(able) > 1 else "label"
    varying = [c for c in values.columns if item and values.varies(item, c)]
    author = author_of(values, item, (*item, *varying)) if item else ""
    raters += [f"system={author}"] if author else []
    for texts in best_texts(values, values.text_columns(), item).readings():
        is_own = texts.text in values.columns and values.uniqueness([texts.text]) == 1
        keys = item or numbered or ((texts.text,) if is_own else ())
        changes = (*item_changes(keys), *texts.changes(keys), *raters)
        yield (*changes, *(f"{name}={c}" for c in able)), sure and bool(keys) and not texts.second


def _are_of_texts(table: Table, lists: Sequence[Sequence[Any]]) -> bool:
    """Return whether another column lists a text for each answer: choices, passages, turns."""
    sizes = [*map(len, lists)]
    for column in table.columns:
        texts = [list_in(row.get(column)) for row in table.rows[:_ROWS]]
        every = [text for of in texts for text in of]
        if [*map(len, texts)] == sizes and all(isinstance(text, str) for text in every):
            return 2 * len({*every}) > len(every)
    return False


def _are_of_several(column: str, lists: Sequence[Sequence[Any]]) -> bool:
    """Return whether lists are headed for people, equally long, and some repeat an answer.

    Lists of marks that are not equally long are of raters, too: each criterion would have one.
    """
    sizes = {len(of) for of in lists if of}
    if len(sizes) > 1 and {*plain_heading(column).split()} <= _MARKS:
        return min(sizes) > 1
    alike = len(sizes) == 1 and _is_headed_for_people(column)
    return alike and any(len({*map(str, of)}) < len(of) for of in lists)


def with_object_keys(table: Table) -> Table:
    """Return the table with a column for each key of objects that hold one answer each."""
    paths = list[str]()
    for column in table.columns:
        cells = [parsed_cell(row.get(column)) for row in table.rows[:_ROWS]]
        objects = [cell for cell in cells if isinstance(cell, dict) and cell]
        values = [value for cell in objects for value in cell.values()]
        plain = all(isinstance(value, str | int | float | None) for value in values)
        keys = list(dict.fromkeys(key for cell in objects for key in cell))
        words = [{str(cell[key]) for cell in objects if key in cell} for key in keys]
        of_keys = [*zip(words, [len(objects)] * len(keys), strict=True)]
        of_keys.append(({str(value) for value in values}, len(values)))
        few = any(len(w) <= MOST_SHARED and len(w) < times for w, times in of_keys)
        few = few and 1 < len(keys) < 50
        if plain and few and 2 * len(objects) > len(cells):
            paths += [f"{column}.{key}" for key in keys]
    known, whole = {*table.columns}, with_paths(table, paths)
    copies = _copies(whole, [c for c in whole.columns if c not in known])
    return replace(whole, columns=tuple(c for c in whole.columns if c not in copies))


def _copies(table: Table, paths: Sequence[str]) -> set[str]:
    """Return the paths into cells of text whose values another path with the same key has, too."""
    rows = table.rows[:_ROWS]
    as_text = {c for c in table.columns if any(isinstance(row.get(c), str) for row in rows)}
    own = [path for path in paths if path.partition(".")[0] not in as_text]
    of_key = {path.partition(".")[2]: path for path in own}
    twice = {p: of_key.get(p.partition(".")[2], "") for p in paths if p not in own}
    return {
        path
        for path, other in twice.items()
        if other and all(r.get(path) == r.get(other) for r in rows if path in r and other in r)
    }


def unnamed_raters_as_rows(table: Table) -> Table:
    """Return a row for each object in lists of marks by the same criteria, without raters' names.

    Raters are named after the column and numbered by their place in the list: the first of
    `expert_annotations` is `expert 1`. The first of several references is kept as `reference`.
    """
    criteria = {c: keys for c in table.columns if (keys := _marked_criteria(table, c))}
    named = {key for keys in criteria.values() for key in keys}
    if len({tuple(sorted(keys)) for keys in criteria.values()}) != 1 or {*named, "rater"} & {
        *table.columns
    }:
        return table
    heads = [c for c in table.columns if c not in criteria]
    whose = {c: " ".join(w for w in plain_heading(c).split() if w not in _LISTED) for c in criteria}
    several = [c for c in heads if plain_heading(c) == "references"][: "reference" not in heads]
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for at, row in enumerate(table.rows):
        about = {c: row.get(c) for c in heads if c not in several}
        if several:
            of = row.get(several[0])
            about["reference"] = next(iter(list_in(of)), of)
        for column, group in whose.items():
            for n, marks in enumerate(list_in(row.get(column)), 1):
                rows.append({**about, "rater": f"{group or 'rater'} {n}", **marks})
                lines.append(table.lines[at])
    listed = " and ".join(map(repr, criteria))
    message = f"Each entry of {listed} is a row; its rater is told by its place alone."
    mend = "The first rater of one item need not be the first of another."
    said = [Problem(message, mend)]
    said += [Problem(f"The first entry of {c!r} is the reference.") for c in several]
    heads = ["reference" if c in several else c for c in heads]
    columns = (*heads, "rater", *next(iter(criteria.values())))
    return replace(
        table, columns=columns, rows=tuple(rows), lines=tuple(lines), places=(), document=None,
        notices=(*table.notices, *said),
    )  # fmt: skip


def _marked_criteria(table: Table, column: str) -> tuple[str, ...]:
    """Return the criteria if every cell lists objects of a few numbers, several a row, or ()."""
    if column not in table.nested:
        return ()
    cells = [list_in(row.get(column)) for row in table.rows]
    objects = [entry for of in cells for entry in of]
    if not any(len(of) > 1 for of in cells) or not all(isinstance(e, dict) for e in objects):
        return ()
    first, keys = tuple(objects[0]), {tuple(sorted(entry)) for entry in objects}
    if (
        len(keys) > 1
        or len(first) < 2
        or any(is_quantity(k) or plain_heading(k) in _PLACES for k in first)
    ):
        return ()
    marks = [mark for entry in objects for mark in entry.values() if mark is not None]
    numbers = all(isinstance(m, int | float) and not isinstance(m, bool) for m in marks)
    return first if numbers and 1 < len({*marks}) <= MOST_SHARED else ()


def one_row_per_answer(
    table: Table, columns: Sequence[str], rater: str | None
) -> tuple[Table, str | None]:
    """Return a table with a row for each answer of lists, and the column of its rater.

    If no column lists the raters, they are numbered.

    Raises:
        InputError: lists of different length in a row.
    """
    listed = [c for c in dict.fromkeys((*columns, rater)) if c and _lists_in(table, c)]
    if not set(listed) & set(columns):
        return table, rater
    rows, lines, places, problems = [], list[int | None](), [], list[Problem]()
    for at, row in enumerate(table.rows):
        cells = {c: list_in(row.get(c)) for c in listed}
        sizes = {len(of) for of in cells.values() if of}
        if len(sizes) > 1:
            message = f"{' and '.join(map(repr, listed))} list different numbers of entries."
            mend = "Each answer needs its rater."
            problems.append(Problem(message, mend, (listed[0],), table.line_of(at)))
        for n in range(max(sizes, default=0)):
            own = {c: of[n] if n < len(of) else None for c, of in cells.items()}
            rows.append({**row, **own} | ({} if rater else {_NUMBERED: f"rater {n + 1}"}))
            lines.append(table.lines[at] if table.lines else None)
            places.append(table.places[at] if table.places else ())
    if problems:
        raise refusal("table of votes", problems[:50], table.name)
    more = () if rater else (_NUMBERED,)
    return (
        replace(
            table,
            columns=(*table.columns, *more),
            rows=tuple(rows),
            lines=tuple(lines),
            places=tuple(places),
        ),
        rater or _NUMBERED,
    )


_NUMBERED = "rater (by its place)"


def _keys_in(table: Table, column: str) -> list[str]:
    """Return the keys of the objects in a column of lists with several objects a row."""
    cells = [list_in(row.get(column)) for row in table.rows[:20]]
    objects = [entry for of in cells for entry in of]
    if not any(len(of) > 1 for of in cells) or not all(isinstance(e, dict) for e in objects):
        return []
    return list(dict.fromkeys(key for entry in objects for key in entry))


def _criteria_in(table: Table, column: str) -> list[str]:
    """Return the keys of objects that hold lists of equal length with several entries a row."""
    cells = [cell for row in table.rows[:20] if (cell := parsed_cell(row.get(column)))]
    if not cells or not all(isinstance(cell, dict) for cell in cells):
        return []
    sizes = [{len(v) if isinstance(v, list) else 0 for v in cell.values()} for cell in cells]
    whole = all(len(of) == 1 and max(of) > 1 for of in sizes)
    return list(dict.fromkeys(key for cell in cells for key in cell)) if whole else []


def _lists_in(table: Table, column: str) -> list[list[Any]]:
    """Return the lists in a column of short values and nulls, or [] for any other column."""
    cells = [list_in(row.get(column)) for row in table.rows[:_ROWS]]
    filled = [
        row.get(column) for row in table.rows[:_ROWS] if row.get(column) not in (None, "", [])
    ]
    lists = [cell for cell in cells if cell]
    values = [v for of in lists for v in of if v is not None]
    plain = bool(values) and all(isinstance(v, str | int | float) for v in values)
    plain = plain and all(len(str(v)) < 80 for v in values)
    many = any(len(of) > 1 for of in lists)
    return cells if plain and many and len(lists) == len(filled) else []


def list_in(cell: Any) -> list[Any]:
    """Return the list in a cell, also one that Python or NumPy wrote as text, or []."""
    value = parsed_cell(cell)
    if isinstance(value, str) and _BY_NUMPY.fullmatch(value):
        return [number_of(part) for part in value[1:-1].split()]
    if isinstance(value, str) and value.startswith("['") and value.endswith("]"):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = parsed(ast.literal_eval, value)
    return value if isinstance(value, list) else []


def _are_answers(column: str, lists: Sequence[Sequence[Any]]) -> bool:
    words = [str(value) for of in lists for value in of if value is not None]
    repeat = 1 < len(set(words)) <= MOST_SHARED and len(set(words)) < len(words)
    repeat = repeat or ({*plain_heading(column).split()} <= _MARKS and _are_marks(words))
    is_remark = has_word(column, REMARKS) or are_states(words)
    return repeat and not is_remark and not _are_people(column, lists)


def _are_marks(words: Sequence[str]) -> bool:
    """Return whether words are whole numbers up to a hundred, of which some repeat."""
    numbers = {number_of(word) for word in words}
    whole = all(n is not None and n.is_integer() and 0 <= n <= MOST_MARK for n in numbers)
    return whole and 1 < len(numbers) < len(words)


def _are_people(column: str, lists: Sequence[Sequence[Any]]) -> bool:
    apart = all(len(set(map(str, of))) == len(of) for of in lists)
    return (
        apart
        and _is_headed_for_people(column)
        and plain_heading(column).rpartition(" ")[2] not in _ANSWERS_OF
    )


_ANSWERS_OF = frozenset(
    {"label", "labels", "score", "scores", "rating", "ratings", "vote", "votes"}
)


def _is_headed_for_people(column: str) -> bool:
    return has_word(column, RATERS) or has_word(column, PEOPLE)
