"""Rows that name several systems, each beside its rank: `system1, rank1, system2, rank2`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import RANKS, has_word
from core.formats.tables.table import Table
from core.formats.votes.pairs.pair_columns import is_answer
from core.formats.votes.structure.scale_ends import any_says_lowest_is_best
from core.formats.votes.structure.values import Values, values_of

_NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")


def named_ranks_as_pairs(table: Table) -> Table:
    """Return a row for every two systems that a row ranks; equal ranks are a tie.

    Any other table is unchanged.
    """
    values = values_of(table)
    groups = _numbered_groups(values.columns)
    ranks = [of for stem, of in groups.items() if has_word(stem, RANKS) and _are_ranks(values, of)]
    if len(ranks) != 1 or not (of := ranks[0]):
        return table
    beside = [group for group in groups.values() if group.keys() == of.keys() and group != of]
    named = [group for group in beside if _are_names(values, [*group.values()])]
    if len(named) != 1:
        return table
    texts = [group for group in beside if all(is_answer(table, c) for c in group.values())]
    used = {column for group in (of, *beside) for column in group.values()}
    kept = [c for c in table.columns if c not in used]
    sign = -1 if any_says_lowest_is_best(table.told, ()) is False else 1
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for row, line in zip(table.rows, table.lines, strict=True):
        places = {n: number_of(str(row.get(column))) for n, column in of.items()}
        ranked = [n for n, place in places.items() if place and place > 0 and row[named[0][n]]]
        for sides in combinations(ranked, 2):
            first, second = (sign * (places[n] or 0) for n in sides)
            winner = "tie" if first == second else "first" if first < second else "second"
            pair = dict(
                zip(
                    ("first_system", "second_system"),
                    (row[named[0][n]] for n in sides),
                    strict=True,
                )
            )
            if len(texts) == 1:
                pair |= zip(("first", "second"), (row[texts[0][n]] for n in sides), strict=True)
            rows.append({c: row.get(c) for c in kept} | pair | {"preference": winner})
            lines.append(line)
    if not rows:
        return table
    best = "lowest" if sign > 0 else "highest"
    listed = ", ".join(map(repr, [*of.values()][:6]))
    notice = Problem(
        f"Each row ranks in {listed} what is beside: every two are a row, the {best} is best.",
        "Pairs of one ranking depend on each other, so intervals are too narrow.",
    )
    read = replace(table, columns=tuple(rows[0]), rows=tuple(rows), lines=tuple(lines))
    return replace(read, document=None, notices=(*table.notices, notice))


def _numbered_groups(columns: Sequence[str]) -> dict[str, dict[int, str]]:
    """Return the columns whose headings differ only in their number, at least three, by the rest.

    >>> [*_numbered_groups(["system1Id", "system2Id", "system3Id", "year"])]
    ['system Id']
    """
    groups = dict[str, dict[int, str]]()
    for column in columns:
        if match := _NUMBERED.fullmatch(column):
            groups.setdefault(f"{match[1]} {match[3]}", {})[int(match[2])] = column
    return {stem: of for stem, of in groups.items() if len(of) > 2}


def _are_ranks(values: Values, group: dict[int, str]) -> bool:
    """Return whether each row has whole numbers up to the size of the group, and some differ."""
    numbers = {number_of(word) for c in group.values() for word in values.distinct[c]}
    known = {n for n in numbers if n is not None and n.is_integer()}
    return len(known) == len(numbers) > 1 and max(known) <= len(group)


def _are_names(values: Values, columns: Sequence[str]) -> bool:
    """Return whether columns hold short names that repeat over rows, and never in one."""
    words = [values.words[c] for c in columns]
    names = {word for of in words for word in of if word}
    rows = ([*filter(None, row)] for row in zip(*words, strict=True))
    apart = all(len({*row}) == len(row) for row in rows)
    short = all(number_of(name) is None and len(name.split()) < 5 for name in names)
    return apart and short and 3 * len(names) <= sum(map(len, words))
