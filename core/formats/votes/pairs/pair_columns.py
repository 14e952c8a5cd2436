"""Find the columns of two compared answers, by their headings and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from core.domain.rubric import A_BETTER, B_BETTER
from core.formats.columns.answer_columns import could_answer, words_in
from core.formats.columns.headings import names_a_person, plain_name, stem_of
from core.formats.columns.text_columns import heads_a_prompt, is_remark, text_shape
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PREFERENCES, has_word, plain_heading
from core.formats.source.summary_rows import left_out_notices
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table, with_paths
from core.formats.votes.pairs.decided import decided_sides
from core.formats.votes.pairs.preference_words import LEFT, RIGHT, heading_end, option_of
from core.formats.votes.structure.values import first_rows, values_of
from core.formats.votes.structure.vote_headings import names_a_system

#: The number of rows above a count that show whether its column holds words.
_NEAR = 1000


def answer_columns(table: Table) -> tuple[str, str] | None:
    """Return the columns of the two answers: by usual headings, by similar ones, by systems."""
    table = first_rows(table)
    table = with_paths(table, [path for c in table.columns for path in _two_texts_inside(table, c)])
    return (
        _named_or_similar(table)
        or _similar_text_columns(table)
        or _columns_named_by_preference(table)
    )


def _two_texts_inside(table: Table, column: str) -> list[str]:
    """Return the places of two texts in each cell: a list of two, or an object of two."""
    cells = [parsed_cell(row.get(column)) for row in table.rows if row.get(column)]
    if column not in table.nested or any(not isinstance(c, dict | list) for c in cells):
        return []
    keys = {tuple(range(len(c))) if isinstance(c, list) else tuple(c) for c in cells}
    texts = [part for c in cells for part in (c if isinstance(c, list) else c.values())]
    if (
        len(keys) != 1
        or len(found := keys.pop()) != 2
        or not all(isinstance(t, str) for t in texts)
    ):
        return []
    return [f"{column}[{key}]" if isinstance(key, int) else f"{column}.{key}" for key in found]


def columns_beside_baseline(table: Table) -> tuple[str, str] | None:
    """Return the only two columns of texts that are no prompts and no remarks."""
    texts = [c for c in table.columns if is_answer(table, c)]
    texts = [c for c in texts if not (heads_a_prompt(c) or is_remark(c))]
    return (texts[0], texts[1]) if len(texts) == 2 else None


def _named_or_similar(table: Table) -> tuple[str, str] | None:
    return decided_sides([c for c in table.columns if is_answer(table, c)])


def _similar_text_columns(table: Table) -> tuple[str, str] | None:
    """Return the only two columns of texts whose headings differ in a last letter or number."""
    for able in (is_answer, _is_mixed):
        pairs = columns_by_stem([c for c in table.columns if able(table, c)])
        if pairs:
            return (pairs[0][0], pairs[0][1]) if len(pairs) == 1 and len(pairs[0]) == 2 else None
    return None


def _columns_named_by_preference(table: Table) -> tuple[str, str] | None:
    """Return the only two columns of texts that are named by the words of a preference."""
    texts = [c for c in table.columns if is_answer(table, c)]
    if any(len(alike) > 2 for alike in columns_by_stem(texts)):
        return None
    able = [c for c in table.columns if c not in texts and has_word(c, PREFERENCES)]
    found = set[tuple[str, str]]()
    for words in (words_in(table, c) for c in able if could_answer(table, c)):
        for pair in combinations(texts, 2):
            said = {option_of(word, *pair) for word in words}
            own = {option_of(word, "", "") for word in words}
            alike = _parts(pair[0]) & _parts(pair[1])
            if alike and any(alike <= _parts(c) for c in texts if c not in pair):
                continue  # two of three or more answers
            if None not in said and {A_BETTER, B_BETTER} <= said and not own & {A_BETTER, B_BETTER}:
                found.add(pair)
    return found.pop() if len(found) == 1 else None


def columns_by_stem(columns: Sequence[str]) -> list[list[str]]:
    """Return the columns whose headings differ only in a side, a last letter or a number."""
    stems: dict[str, list[str]] = {}
    for column in columns:
        words = plain_name(column).split()
        rest = [word for word in words if word not in LEFT | RIGHT]
        if stem := f" {' '.join(rest)}" if len(rest) < len(words) else stem_of(column.rstrip("]")):
            stems.setdefault(stem, []).append(column)
    return [alike for alike in stems.values() if len(alike) > 1]


def task_column(table: Table, sides: Sequence[str], rater: str | None) -> str:
    """Return the column of the task: with both systems and the rater it identifies rows."""
    values = values_of(table)
    keys = [c for c in (*sides, rater) if c in values.columns]
    able = [c for c in values.columns if c not in keys and values.may_be_key(c)]
    return next((c for c in able if has_word(c, ITEMS) and values.uniqueness([c, *keys]) == 1), "")


def similar_system_columns(table: Table, *, loose: bool) -> tuple[str, str] | None:
    """Return the two columns of systems' names whose headings differ only in the last letter.

    Columns for the names of winner and loser count as well. ``None`` if there are several such
    pairs.
    """
    flat = [c for c in table.columns if c not in table.nested]
    if (decided := decided_sides(flat)) and are_system_names(table, *decided):
        return decided
    alike = columns_by_stem(flat)
    pairs = [(columns[0], columns[1]) for columns in alike if len(columns) == 2]
    pairs = [
        p
        for p in pairs
        if are_system_names(table, *p) and (loose or _on_sides(*p) or all(map(names_a_system, p)))
    ]
    return pairs[0] if len(pairs) == 1 else None


def are_system_names(table: Table, first: str, second: str) -> bool:
    """Return whether two columns hold system names: few, short, repeated, and two different names
    in each row. Columns of winners and losers need not repeat names, and may hold numbers.
    """
    cells = [(str(row.get(first) or ""), str(row.get(second) or "")) for row in table.rows]
    names = {name for pair in cells for name in pair}
    decided = decided_sides([first, second]) is not None
    short = all(0 < len(n.split()) < 4 and (decided or number_of(n) is None) for n in names)
    swapped = bool({a for a, _ in cells} & {b for _, b in cells})
    sides = _on_sides(first, second)
    named = swapped or sides or (names_a_system(first) and names_a_system(second))
    apart = all(a != b for a, b in cells)
    most = len(cells) if sides else len(cells) // 2
    return bool(short and apart and (decided or (named and 1 < len(names) <= most)))


def _on_sides(first: str, second: str) -> bool:
    """Return whether headings name the left and the right of two things."""
    words = ({*plain_name(first).split()}, {*plain_name(second).split()})
    return bool(words[0] & LEFT and words[1] & RIGHT)


def without_counts(table: Table) -> Table:
    """Return the table without last rows that only count the words above them, by column.

    >>> cells = (("a", "yes", "no"), ("b", "no", "no"), ("c", "yes", "no"), ("", "2", "0"))
    >>> rows = tuple(dict(zip(("id", "kim", "lee"), row)) for row in cells)
    >>> table = Table("x.csv", "csv", ("id", "kim", "lee"), rows, (2, 3, 4, 5))
    >>> len(without_counts(table).rows)
    3
    """
    size = len(table.rows) if table.flat else 0
    while size > 3 and _counts_words(table, size - 1):
        size -= 1
    if size == len(table.rows) or not table.flat:
        return table
    names = {at: _label_of(table, at) or "counts" for at in range(size, len(table.rows))}
    notices = (*table.notices, *left_out_notices(names, table.lines))
    return replace(table, rows=table.rows[:size], lines=table.lines[:size], notices=notices)


def _counts_words(table: Table, at: int) -> bool:
    """Return whether a row has whole numbers in two or more columns of words, and no text."""
    row, above = table.rows[at], table.rows[:at][-_NEAR:]
    filled = [c for c in table.columns if row.get(c)]
    counts = [c for c in filled if str(row[c]).isdecimal() and int(row[c]) <= at]
    if len(counts) < 2 or len(filled) - len(counts) > 1:
        return False
    words = ({str(r.get(c) or "") for r in above} - {""} for c in counts)
    gaps = any(all(r.get(c) for r in above) for c in table.columns if c not in filled)
    return gaps and all(w and not any(number_of(word) is not None for word in w) for w in words)


def _label_of(table: Table, at: int) -> str:
    cells = (str(table.rows[at].get(c) or "") for c in table.columns)
    return next((cell for cell in cells if cell and not cell.isdecimal()), "")


def is_answer(table: Table, column: str) -> bool:
    """Return whether a column holds sentences, of people only if they are more than titles."""
    shape = text_shape(table, column)
    return (
        shape is not None and shape.sentences and (shape.has_phrases or not names_a_person(column))
    )


def _is_mixed(table: Table, column: str) -> bool:
    """Return whether a column holds sentences among shorter answers."""
    shape = text_shape(table, column)
    repeats = 3 * len(words_in(table, column)) <= len(table.rows)
    return shape is not None and shape.words >= 3 and not repeats


def system_columns(sides: Sequence[str], free: dict[str, str]) -> list[str]:
    """Return the two columns that name the answers' authors, with the same side or last letter."""
    ends = [
        heading_end(side) or next(iter({*plain_name(side).split()} & (LEFT | RIGHT)), "")
        for side in sides
    ]
    for stem in ("model", "system", "generator", "source"):
        forms = [(f"{stem} {end}", f"{stem}{end}", f"{end} {stem}") for end in ends if end]
        columns = [next((free[f] for f in of_end if f in free), "") for of_end in forms]
        if len(columns) == 2 and all(columns):
            return columns
    return []


def scores_of_sides(
    table: Table, sides: Sequence[str | None], unused: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """Return each of two answers with the unused columns of numbers that are about it alone, or [].

    >>> cells = {"answer_a": "It is.", "answer_b": "No, it is not.", "score a": "3", "score b": "4"}
    >>> table = Table("x.csv", "csv", tuple(cells), (cells,), (2,))
    >>> scores_of_sides(table, ("answer_a", "answer_b"), ("score a", "score b"))
    [('answer_a', ['score a']), ('answer_b', ['score b'])]
    """
    names = [side for side in sides if side]
    words = [_parts(name) for name in names]
    numbers = [c for c in unused if None not in map(number_of, words_in(table, c))]
    about = [
        [c for c in numbers if (of - set[str]().union(*words[:at], *words[at + 1 :])) & _parts(c)]
        for at, of in enumerate(words)
    ]
    alike = len(about) == 2 and len(about[0]) == len(about[1]) > 0
    return [*zip(names, about, strict=True)] if alike else []


def _parts(heading: str) -> set[str]:
    return {*plain_heading(heading).split()}
