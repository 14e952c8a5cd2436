"""Tables that rank (orders, places, best and worst), as pairs, or that count raters' answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from core.errors import Problem
from core.formats.columns.answer_columns import columns_by_scale
from core.formats.columns.headings import is_sum, names_a_person
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PREFERENCES, RANKS, has_word, plain_heading
from core.formats.source.summary_rows import left_out_notices
from core.formats.tables.table import Table
from core.formats.votes.pairs.listed_answers import with_listed_answers
from core.formats.votes.pairs.named_ranks import named_ranks_as_pairs
from core.formats.votes.pairs.pair_columns import columns_by_stem, is_answer
from core.formats.votes.pairs.preference_words import heading_end, option_of
from core.formats.votes.structure.scale_ends import any_says_lowest_is_best
from core.formats.votes.structure.values import Values, values_of
from core.formats.votes.structure.word_scales import scale_order
from core.text.names import fold


def why_ranking_unread(table: Table) -> str:
    """Return why a table of rankings or counts is not read and what to do, or ""."""
    values = values_of(table)
    counts = _square_of_numbers(values)
    if _is_symmetric(counts):
        return (
            "Its numbers count how often two raters gave each pair of labels. It takes a row for "
            "each item, with the answer of each rater."
        )
    if _counts_wins(counts, values.columns[0] if counts else ""):
        return (
            "It is a table of wins, of each against each. Bring the single battles that it counts: "
            "a row for each, with the two that were compared and which was better."
        )
    if values.size < 3:
        return ""
    if tallies := _tally_columns(values):
        listed = ", ".join(map(repr, tallies[:6]))
        return (
            f"{listed} add up to the same number in each row: they count votes, or share points "
            "out. It takes a row for each vote, with a column for its rater."
        )
    return ""


def rankings_as_pairs(table: Table) -> Table:
    """Return a row for every pair of answers that a ranking, or a best or worst answer, compares.

    A table whose rows rank nothing is unchanged. The sides of a pair are in the order of the table.
    """
    table = named_ranks_as_pairs(with_listed_answers(table))
    judged = _without_totals(table)
    values = values_of(judged)
    if values.size < 3:
        return table
    orders, columns, texts = _orders(values, judged)
    if not columns or {*_PAIR_COLUMNS} & {*table.columns} - {*columns}:
        return table
    table, rows, lines = judged, list[dict[str, Any]](), list[int | None]()
    by_person = any(names_a_person(c) and values.uniqueness([c]) == 1 for c in values.columns)
    by_person = by_person and not any(has_word(c, ITEMS) for c in values.columns)
    for row, line, order in zip(table.rows, table.lines, orders, strict=True):
        kept = {c: cell for c, cell in row.items() if c not in (*columns, *texts.values())}
        for first, second in combinations(order, 2):
            if order[first] != order[second]:  # neither of two equals was named
                better = "first" if order[first] < order[second] else "second"
                sides = [row.get(texts[name]) for name in (first, second)] if texts else []
                cells = (first, second, better, *sides)
                pair = {"item": f"{first} / {second}"} if by_person else {}
                rows.append(kept | pair | dict(zip(_PAIR_COLUMNS, cells, strict=False)))
                lines.append(line)
    listed = ", ".join(map(repr, columns[:6]))
    said = [
        Problem(
            f"Each row ranks in {listed}: every pair of answers that it compares is a row.",
            "Pairs of one ranking depend on each other, so intervals are too narrow.",
        )
    ]
    if empty := sum(len({*order.values()}) < 2 for order in orders):
        what = "1 row ranks" if empty == 1 else f"{empty:,} rows rank"
        said.append(Problem(f"{what} no answer before another: left out."))
    heads = tuple(dict.fromkeys(c for row in rows for c in row))
    read = replace(table, columns=heads, rows=tuple(rows), lines=tuple(lines), document=None)
    return replace(read, notices=(*table.notices, *said))


#: `Rangsumme`, `Gesamtrang`: a total in one word.
_TOTAL = re.compile(r"rang(summe|mittel|punkte)|(gesamt|end|schluss|durchschnitts)rang|platzziffer")


def _without_totals(table: Table) -> Table:
    """Return the table without the sums of ranks and the final places below it."""
    size = len(table.rows) if table.columns else 0
    sums = dict[int, str]()
    for at in range(max(3, size - 3), size):
        head = str(table.rows[at].get(table.columns[0]) or "").strip()
        if has_word(head, RANKS) or is_sum(head) or _TOTAL.search(plain_heading(head)):
            sums[at] = head
    kept = [at for at in range(size) if at not in sums] if sums else []
    rows, lines = tuple(table.rows[at] for at in kept), tuple(table.lines[at] for at in kept)
    notices = (*table.notices, *left_out_notices(sums, table.lines))
    return replace(table, rows=rows, lines=lines, notices=notices) if sums else table


_PAIR_COLUMNS = ("first_system", "second_system", "preference", "first", "second")


def _orders(
    values: Values, table: Table
) -> tuple[list[dict[str, int]], Sequence[str], dict[str, str]]:
    """Return each row's answers with their places, the columns that say so, and those of texts."""
    rows = table.rows
    if places := _place_columns(values):
        cells = [[str(row.get(c) or "").strip() for c in places] for row in rows]
        numbers = [[number_of(cell) for cell in of_row] for of_row in cells]
        if any(n is not None for of_row in numbers for n in of_row):
            pairs = (zip(places, of_row, strict=True) for of_row in numbers)
            told = any_says_lowest_is_best(table.told, ())
            sign = -1 if told is False else 1
            orders = [{c: sign * int(n) for c, n in of_row if n is not None} for of_row in pairs]
        else:
            orders = [{name: at for at, name in enumerate(of_row) if name} for of_row in cells]
        return orders, places, _texts_of(values, places)
    if extremes := _best_and_worst(values):
        best, worst, options = extremes
        orders = []
        for row in rows:
            first, last = fold(str(row.get(best))), fold(str(row.get(worst)))
            names = [str(row[c]) for c in options if row.get(c)]
            orders.append(
                {n: 0 if fold(n) == first else 2 if fold(n) == last else 1 for n in names}
            )
        return orders, (best, worst, *options), {}
    choice, texts = _choice_column(values)
    picked = [row.get(choice) for row in rows] if choice else []
    orders = [_chosen_order("" if cell is None else str(cell), texts) for cell in picked]
    return orders, (choice,) if choice else (), {c: c for c in texts}


def _chosen_order(cell: str, texts: Sequence[str]) -> dict[str, int]:
    """Return the places of answers in `B > A > C`, or of the best alone; none for a tie."""
    parts = _parts_of_order(cell)
    named = [next((c for c in texts if p in (fold(c), heading_end(c))), "") for p in parts]
    if not named or "" in named:
        return {}
    return {c: named.index(c) if c in named else len(named) for c in texts}


def _texts_of(values: Values, ranked: Sequence[str]) -> dict[str, str]:
    """Return the column of each ranked answer's text, by the ends of the headings, or none."""
    texts = [c for c in values.columns if c not in ranked and is_answer(values.table, c)]
    text_of = {_last_part(c): c for c in texts}
    beside = {c: text_of.get(_last_part(c), "") for c in ranked}
    return beside if all(beside.values()) and len({*beside.values()}) == len(beside) else {}


def _last_part(heading: str) -> str:
    return heading_end(heading) or fold(heading).rpartition("_")[2]


def are_ranks(values: Values, columns: Sequence[str]) -> bool:
    """Return whether each column gives its rows the places 1 to n, each once."""
    places = [*map(float, range(1, values.size + 1))]
    numbers = ([number_of(word) or 0.0 for word in values.words[c]] for c in columns)
    return values.size > 2 and all(sorted(of) == places for of in numbers)


def _square_of_numbers(values: Values) -> list[list[float | None]]:
    """Return the rows of numbers of a table whose rows and columns have the same labels, or []."""
    columns = [c for c in values.columns[1:] if not is_sum(c)]
    labels = [_plain_label(c) for c in columns]
    heads = [_plain_label(word) for word in values.words[values.columns[0]]] if columns else []
    numbers = [[number_of(values.words[c][at]) for c in columns] for at in range(len(heads))]
    rows = {
        head: of
        for head, of in zip(heads, numbers, strict=True)
        if head in labels or not (is_sum(head) or {*of} == {None})
    }
    if len(columns) < 2 or len({*labels}) < len(labels) or rows.keys() != {*labels}:
        return []
    return [rows[label] for label in labels]


def _is_symmetric(counts: list[list[float | None]]) -> bool:
    """Return whether a square table of counts has most of them on its diagonal."""
    whole = [n for row in counts for n in row if n is not None and n >= 0 and n.is_integer()]
    agreed = [row[at] or 0.0 for at, row in enumerate(counts)]
    # Marks that people give each other are small numbers.
    full = len(whole) == len(counts) ** 2 > 0
    return full and max(whole) > 10 and 2 * sum(agreed) > sum(whole)


#: Headings of the corner of a table of wins.
_WINS = re.compile(
    r"\b(wins?|win ?rates?|won|beats?|sieg\w*|gewonnen|gewinn\w*|victoires?|victorias?|vittori[ae]"
    r"|vitorias?|zwyciest\w*|wygran\w*|row (over|vs|against) column)\b|胜|勝"
)


def _counts_wins(counts: list[list[float | None]], corner: str) -> bool:
    """Return whether a square table holds the wins of each row over each column.

    Its corner says so, or both shares of a pair add up to one whole.
    """
    pairs = [(counts[a][b], counts[b][a]) for a, b in combinations(range(len(counts)), 2)]
    shares = {round(a + b, 2) for a, b in pairs if a is not None and b is not None}
    named = bool(_WINS.search(plain_heading(corner))) and len({*pairs}) > 1
    return len(counts) > 2 and (named or shares in ({1.0}, {100.0}))


def _plain_label(heading: str) -> str:
    return plain_heading(heading.rpartition(":")[2])


def _place_columns(values: Values) -> Sequence[str]:
    """Return the columns whose rows each order the same words, or 1 to n."""
    for group in columns_by_scale(values.table, values.columns):
        rows = list(zip(*(values.words[c] for c in group), strict=True))
        full = [row for row in rows if all(row)]
        if len(group) < 3 or len(full) < 3:
            continue
        if _rank_in_numbers(rows):
            return group
        first = set(full[0])
        if len(full) * 10 < 9 * len(rows) or None not in map(number_of, first):
            continue
        orders = len(first) == len(group) and all(set(row) == first for row in full)
        orders = orders and not all(option_of(word, "", "") for word in first)  # L, R and =
        orders = orders and not _are_levels(first)
        if orders and len(set(full)) > 1:
            return group
    return ()


def _rank_in_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether most rows have the places 1 to n, each once, and no row has others.

    A row may lack some: somebody was absent, or ranked only the first few.
    """
    places = [sorted(n for word in row if (n := number_of(word)) is not None) for row in rows]
    whole = [[float(n) for n in range(1, len(of) + 1)] for of in places]
    full = [row for row, of in zip(rows, places, strict=True) if len(of) == len(row)]
    return places == whole and 3 * len(full) >= 2 * len(rows) and len({*map(tuple, full)}) > 1


def _tally_columns(values: Values) -> Sequence[str]:
    """Return at least three columns of whole numbers with the same sum in each row."""
    columns = [c for c in values.columns if values.is_number(c) and values.uniqueness([c]) < 1]
    rows = list(
        zip(*([number_of(w) or 0.0 for w in values.words[c]] for c in columns), strict=True)
    )
    counts_only = all(n >= 0 and n.is_integer() for row in rows for n in row)
    same = len(set(map(sum, rows))) == 1 and len(set(rows)) > 1 and len(rows) > 3
    return columns if len(columns) > 2 and counts_only and same else ()


def _choice_column(values: Values) -> tuple[str, list[str]]:
    """Return the column that names or orders three and more columns of texts, and these columns.

    The headings of the texts differ only in a letter or a number. Without such, return "" and none.
    """
    answers = [c for c in values.columns if is_answer(values.table, c)]
    texts = next((alike for alike in columns_by_stem(answers) if len(alike) > 2), [])
    names = {name for c in texts for name in (fold(c), heading_end(c))}
    for column in values.columns if texts else ():
        words = [_parts_of_order(word) for word in values.distinct[column]]
        orders = has_word(column, RANKS) and any(len(parts) > 1 for parts in words)
        named, parts = orders or has_word(column, PREFERENCES), {p for of in words for p in of}
        if named and column not in texts and parts <= names | _TIES:
            return column, texts
    return "", []


def _parts_of_order(word: str) -> list[str]:
    """Return the answers in `B > A > C`, or in `B`."""
    return [part for part in re.split(r"[\s>,;/|]+", fold(word)) if part]


_TIES = {"tie", "none", "all", "="}


def _best_and_worst(values: Values) -> tuple[str, str, list[str]] | None:
    """Return the columns of best and worst, each of which repeats one of the others in its row.

    The last part has these others, at least three.
    """
    for group in columns_by_scale(values.table, values.columns):
        if len(group) < 5 or _are_levels({w for c in group for w in values.distinct[c]}):
            continue
        if any(
            len({*row}) != len(group) - 2 for row in zip(*map(values.words.get, group), strict=True)
        ):
            continue  # two columns repeat others, which all differ
        for best, worst in combinations(group, 2):
            options = [c for c in group if c not in (best, worst)]
            cells = zip(*(values.words[c] for c in options), strict=True)
            rows = zip(values.words[best], values.words[worst], cells, strict=True)
            if all(_picks_among(*row) for row in rows):
                if _WORST.search(plain_heading(best)):
                    best, worst = worst, best
                return best, worst, options
    return None


def _are_levels(words: Collection[str]) -> bool:
    """Return whether these are words of a scale, as of answers to several questions."""
    return max(map(len, words)) > 1 and scale_order([*words]) is not None


def _picks_among(best: str, worst: str, others: Sequence[str]) -> bool:
    """Return whether two different words are among others, which all differ."""
    picked = bool(best and worst and best != worst and {best, worst} <= set(others))
    return picked and len(set(others)) == len(others)


#: Headings of the worst answer.
_WORST = re.compile(r"\b(worst|least|schlecht|pire|moins|peor|menos|peggio|slecht|najgorsz)")
