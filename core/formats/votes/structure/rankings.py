"""Tables that rank (orders, places, best and worst), or that count raters' answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from core.formats.datasets.answer_columns import columns_by_scale, is_sum
from core.formats.datasets.table import Table
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import PREFERENCES, RANKS, has_word, plain_heading
from core.formats.votes.structure.pair_columns import columns_by_stem, is_answer
from core.formats.votes.structure.preference_words import heading_end
from core.formats.votes.structure.values import Values
from core.text.names import fold

_PAIRS = "columns for both answers and for the better one (first, second, preference)"


def why_ranking_unread(table: Table) -> str:
    """Return why a table of rankings or counts is not read and what to do, or ""."""
    values = Values(table)
    if _is_symmetric(values):
        return (
            "Its numbers count how often two raters gave each pair of labels. It takes a row for "
            "each item, with the answer of each rater."
        )
    if values.size < 3:
        return ""
    if places := _place_columns(values):
        listed = ", ".join(map(repr, places[:6]))
        return (
            f"Each row ranks: {listed} hold the same names or places, each once. Rankings are not "
            f"read. It takes a row for each two that are compared, with {_PAIRS}."
        )
    if tallies := _tally_columns(values):
        listed = ", ".join(map(repr, tallies[:6]))
        return (
            f"{listed} add up to the same number in each row: they count votes, or share points "
            "out. It takes a row for each vote, with a column for its rater."
        )
    if choice := _choice_column(values):
        return (
            f"{choice!r} chooses among more than two answers, or ranks them, which is not read. It "
            f"takes a row for each two that are compared, with {_PAIRS}."
        )
    if extremes := _best_and_worst(values):
        best, worst = extremes
        return (
            f"Each row names one of its other columns twice, in {best!r} and {worst!r}: this looks "
            "like best-worst scaling, which is not read. It takes a row for each two that are "
            f"compared, with {_PAIRS}."
        )
    return ""


def are_ranks(values: Values, columns: Sequence[str]) -> bool:
    """Return whether each column gives its rows the places 1 to n, each once."""
    places = [*map(float, range(1, values.size + 1))]
    numbers = ([number_of(word) or 0.0 for word in values.words[c]] for c in columns)
    return values.size > 2 and all(sorted(of) == places for of in numbers)


def _is_symmetric(values: Values) -> bool:
    """Return whether rows and columns have the same labels, and most counts agree."""
    columns = [c for c in values.columns[1:] if values.is_number(c) and not is_sum(c)]
    labels = [_plain_label(c) for c in columns]
    heads = [_plain_label(word) for word in values.words[values.columns[0]]] if columns else []
    rows = {head: at for at, head in enumerate(heads) if not is_sum(head)}
    if len(columns) < 2 or len({*labels}) < len(labels) or rows.keys() != {*labels}:
        return False
    counts = [[number_of(values.words[c][at]) for at in rows.values()] for c in columns]
    whole = [n for of in counts for n in of if n is not None and n >= 0 and n.is_integer()]
    agreed = [number_of(values.words[c][rows[_plain_label(c)]]) or 0.0 for c in columns]
    # Marks that people give each other are small numbers.
    return len(whole) == len(columns) ** 2 and max(whole) > 10 and 2 * sum(agreed) > sum(whole)


def _plain_label(heading: str) -> str:
    return plain_heading(heading.rpartition(":")[2])


def _place_columns(values: Values) -> Sequence[str]:
    """Return the columns whose rows each order the same words, or 1 to n."""
    for group in columns_by_scale(values.table, values.columns):
        rows = list(zip(*(values.words[c] for c in group), strict=True))
        full = [row for row in rows if all(row)]
        if len(group) < 3 or len(full) < 3 or len(full) * 10 < 9 * len(rows):
            continue
        first = set(full[0])
        numbers = {number_of(word) for word in first}
        if None not in numbers and numbers != set(map(float, range(1, len(group) + 1))):
            continue
        orders = len(first) == len(group) and all(set(row) == first for row in full)
        if orders and len(set(full)) > 1:
            return group
    return ()


def _tally_columns(values: Values) -> Sequence[str]:
    """Return at least three columns of whole numbers with the same sum in each row."""
    columns = [c for c in values.columns if values.is_number(c) and values.uniqueness([c]) < 1]
    rows = list(
        zip(*([number_of(w) or 0.0 for w in values.words[c]] for c in columns), strict=True)
    )
    counts_only = all(n >= 0 and n.is_integer() for row in rows for n in row)
    same = len(set(map(sum, rows))) == 1 and len(set(rows)) > 1 and len(rows) > 3
    return columns if len(columns) > 2 and counts_only and same else ()


def _choice_column(values: Values) -> str:
    """Return the column that names or orders three and more columns of texts, or ""."""
    texts = [c for c in values.columns if is_answer(values.table, c)]
    many = next((alike for alike in columns_by_stem(texts) if len(alike) > 2), [])
    names = {name for c in many for name in (fold(c), heading_end(c))}
    for column in values.columns:
        words = [re.split(r"[\s>,;/|]+", fold(word)) for word in values.distinct[column]]
        orders = has_word(column, RANKS) and any(len(parts) > 1 for parts in words)
        named, parts = orders or has_word(column, PREFERENCES), {p for of in words for p in of}
        if many and named and column not in many and parts <= names | _TIES:
            return column
    return ""


_TIES = {"tie", "none", "all", "="}


def _best_and_worst(values: Values) -> tuple[str, str] | None:
    """Return the columns of best and worst: each repeats one of at least three others in a row."""
    for group in columns_by_scale(values.table, values.columns):
        if len(group) < 5:
            continue
        for best, worst in combinations(group, 2):
            options = [values.words[c] for c in group if c not in (best, worst)]
            rows = zip(
                values.words[best], values.words[worst], zip(*options, strict=True), strict=True
            )
            if all(_picks_among(*row) for row in rows):
                return best, worst
    return None


def _picks_among(best: str, worst: str, others: Sequence[str]) -> bool:
    """Return whether two different words are among others, which all differ."""
    picked = bool(best and worst and best != worst and {best, worst} <= set(others))
    return picked and len(set(others)) == len(others)
