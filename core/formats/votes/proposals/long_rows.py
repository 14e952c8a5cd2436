"""Tables with a row for each item and rater, and perhaps criterion, told by their values alone."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

from core.formats.source.heading import is_placed
from core.formats.source.heading_words import ASPECTS, has_word
from core.formats.tables.table import Table
from core.formats.votes.structure.key_answers import RowKeys, answer_keys
from core.formats.votes.structure.texts import TextColumns
from core.formats.votes.structure.values import Values, values_of

#: The most criteria and words of a scale, and the fewest rows of each criterion and each rater.
_MOST, _WORDS, _ROWS = 12, 7, 3
#: The least share of criteria that a rater answered of an item.
_WHOLE = 0.8


def long_rows(table: Table) -> tuple[RowKeys, ...]:
    """Return the readings of rows that each give one rater's mark of one item by one criterion.

    Three columns tell the rows apart, and no two of them do: one has few words, one few names, and
    for each value of the third a long text is the same. Where every rater marked each item by each
    criterion, either may be the criterion.
    """
    values = values_of(table)
    texts = values.text_columns()
    words = [c for c in values.columns if values.may_be_key(c)]
    few = [c for c in words if _ROWS * len(values.distinct[c]) <= values.size]
    few = [c for c in few if not (values.is_number(c) or c in texts)]
    told = [c for c in (*words, *texts) if any(not values.varies([c], t) for t in texts)]
    found = list[tuple[float, int, RowKeys]]()
    for rater, asked in permutations(few, 2):
        if len(values.distinct[asked]) > _MOST or values.size < _ROWS * 4:
            continue
        items = (c for c in told if _are_three_keys(values, c, rater, asked))
        keys = (answer_keys(values, (c,), rater, asked, texts) for c in items)
        likely = next((k for k in keys if k and _are_marks(values, k.answers[0])), None)
        if likely is not None:
            pairs = values.uniqueness([*likely.item, rater])
            whole = 1 / (pairs * len(values.distinct[asked]))
            found += [(whole, _changes(values, asked), likely)] if whole >= _WHOLE else []
    found.sort(key=lambda of: (-of[0], not has_word(of[2].criterion, ASPECTS), -of[1]))
    return tuple(keys for whole, _, keys in found if whole == found[0][0])[:2]


def rows_without_header(table: Table) -> tuple[RowKeys, ...]:
    """Return the reading of a table without headings: numbers of people who judged texts, or ().

    The fewest columns that repeat with the text are the item; a column of few names tells its rows
    apart. The item's names of more than two words are a system's.
    """
    values = values_of(table)
    texts = sorted(values.text_columns(), key=lambda t: -len(values.distinct[t]))
    if not texts or not all(map(is_placed, table.columns)):
        return ()
    keys = [c for c in values.columns if values.may_be_key(c) and c not in texts]
    names = [c for c in keys if not values.is_number(c)]
    names = [c for c in names if _ROWS * len(values.distinct[c]) <= values.size]
    marks = [c for c in values.columns if values.is_number(c) and values.can_be_answers(c)]
    marks.sort(key=lambda c: -len(values.distinct[c]))
    for label, size in ((label, size) for label in marks for size in (1, 2, 3)):
        for item in combinations([c for c in keys if c != label], size):
            if values.varies(item, texts[0]) or not values.varies(item, label):
                continue
            raters = [c for c in names if values.varies([c], texts[0]) and c not in item]
            for rater in (c for c in raters if values.uniqueness([*item, c]) == 1):
                asked = [t for t in texts[1:] if not values.varies(item, t)]
                systems = [c for c in item if c in names and len(values.distinct[c]) > 2]
                system = systems[0] if len(item) > 1 and systems else ""
                judged = TextColumns(texts[0], next(iter(asked), ""))
                return (RowKeys(item, rater, (label,), texts=judged, system=system),)
    return ()


def flags_of(table: Table, item: tuple[str, ...]) -> tuple[str, ...]:
    """Return what two words in a column of the item tell apart: control items, perhaps."""
    values = values_of(table)
    flags = [c for c in item if len(values.distinct[c]) == 2 and not values.is_number(c)]
    words = {c: dict.fromkeys(str(row[c]) for row in table.rows if row.get(c)) for c in flags}
    return tuple(f"{c!r} tells {' and '.join(map(repr, of))} apart" for c, of in words.items())


def _are_three_keys(values: Values, item: str, rater: str, asked: str) -> bool:
    """Return whether three columns tell the rows apart together, and no two of them do."""
    if item in (rater, asked) or values.uniqueness([item, rater, asked]) < 1:
        return False
    pairs = ([item, rater], [item, asked], [rater, asked])
    more = len(values.distinct[item]) >= len(values.distinct[asked])
    return more and all(values.uniqueness(pair) < 1 for pair in pairs)


def _are_marks(values: Values, column: str) -> bool:
    return values.is_number(column) or len(values.distinct[column]) <= _WORDS


def _changes(values: Values, column: str) -> int:
    """Return how often a column differs from the row above."""
    return sum(above != below for above, below in pairwise(values.words[column]))
