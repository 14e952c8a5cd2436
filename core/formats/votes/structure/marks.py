"""Columns of a person's marks of texts, without totals and percentages computed from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from statistics import fmean, pvariance

from core.formats.columns.answer_columns import columns_by_scale
from core.formats.columns.headings import is_sum, names_a_criterion
from core.formats.columns.label_words import is_yes
from core.formats.datasets.labels import WORD
from core.formats.source.csv_writer import number_of
from core.formats.source.heading import is_placed
from core.formats.source.heading_words import PEOPLE, RATERS, has_word, plain_heading
from core.formats.tables.table import Table
from core.formats.votes.structure.values import TRAITS, Values, first_rows
from core.formats.votes.structure.vote_headings import IDS, heads_label
from core.formats.votes.structure.word_scales import scale_order
from core.text.names import fold

#: `QA score %`, `Percent`: computed, if other answers stand beside it.
_PERCENT = re.compile(
    r"%|\b(per ?cent|pct|pro[zc]ent|porcenta|pourcentage|percentual)|процент|百分", re.I
)
#: Scores standardised by rater.
_STANDARD = re.compile(r"\bz ?scores?\b|standardi[sz]ed|normali[sz]ed|z skala|z wert")
#: How likely a rater thinks something is: given, not computed.
_CHANCE = re.compile(r"likelihood|probab|\bchance|wahrschein|vraisembl", re.I)
#: Headings of what follows from a total.
_OUTCOME = re.compile(
    r"\b(result|outcome|pass(ed)?|status|verdict|decision|ergebnis|bestanden|resultat|resultado"
    r"|esito|risultato|uitslag|wynik|sonuc)\b|результат|итог|结果|結果|결과"
)
#: How far a rounded number may be from the sum, and how many times wider its range must be.
_WHOLE, _PARTS, _WIDER = 0.51, 0.06, 20
#: More different marks than this are a wide scale.
_FINE = 12
#: A smaller weight counts as none.
_WEIGHT = 0.05


def columns_of_marks(values: Values, columns: Sequence[str]) -> list[str]:
    """Return the columns that look like one person's marks of the texts beside them.

    At least one needs a heading or three words of a scale; two such words, and numbers on the scale
    of such a column, join it. Attributes and statements of people are not marks.
    """
    able = [c for c in columns if c in values.columns and values.can_be_answers(c)]
    able = [c for c in able if len(values.distinct[c]) > 1 and not _is_background(c)]
    clear = [c for c in able if _is_scale_column(values, c)]
    alike = {
        c for group in columns_by_scale(values.table, able) if {*group} & {*clear} for c in group
    }
    marks = [c for c in able if c in clear or c in alike or is_either(values.distinct[c], c)]
    return without_derived(values, marks) if clear else []


def _is_background(column: str) -> bool:
    plain = plain_heading(column)
    told = has_word(column, PEOPLE) and not has_word(column, RATERS)
    told = told or bool(TRAITS.search(plain) or re.match(r"(customer|client|author)s? ", plain))
    return told or bool({*plain.split()[-1:]} & IDS)


def _is_scale_column(values: Values, column: str) -> bool:
    named = heads_label(column) or (names_a_criterion(column) and values.is_number(column))
    words = values.distinct[column]
    named = named or (is_placed(column) and values.is_number(column))
    return named or (len(words) > 2 and scale_order(words, column) is not None)


def is_either(words: Collection[str], column: str) -> bool:
    """Return whether these are yes and no, or two words of a scale."""
    return None not in map(is_yes, words) or (
        len(words) == 2 and scale_order(words, column) is not None
    )


def without_derived(values: Values, columns: Sequence[str]) -> list[str]:
    """Return the columns without weighted sums of the others, percentages, and their results."""
    derived = [c for c in columns if _is_derived(values, c, [o for o in columns if o != c])]
    left = [c for c in columns if c not in derived]
    return [c for c in left if len(left) < 3 or not _follows_from_number(values, c, left)]


def _is_derived(values: Values, column: str, others: Sequence[str]) -> bool:
    if others and values.is_number(column) and _STANDARD.search(plain_heading(column)):
        return True
    if len(others) < 2 or not values.is_number(column):
        return False
    computed = _PERCENT.search(column) and not _CHANCE.search(column)
    if computed and not any(map(_PERCENT.search, others)):
        return True
    goals = [*_numbers_of_words(values, column).values()]
    if max(goals, default=0) - min(goals, default=0) < _least_range(goals):
        return False
    places = [_numbers_of_words(values, c) for c in (column, *others)]
    cells = zip(*(values.words[c] for c in (column, *others)), strict=True)
    rows = [[of.get(cell) for of, cell in zip(places, row, strict=True)] for row in cells]
    return _is_weighted_sum([[n for n in row if n is not None] for row in rows if None not in row])


def _follows_from_number(values: Values, column: str, answers: Collection[str]) -> bool:
    """Return whether a result of two words follows from how high a total or percentage is."""
    if not _OUTCOME.search(plain_heading(column)) or len(values.distinct[column]) != 2:
        return False
    totals = [c for c in values.columns if c not in answers and values.is_number(c)]
    return any(_separates_totals(values, c, column) for c in totals if _is_total(values, c))


def _is_total(values: Values, column: str) -> bool:
    cells = [str(row.get(column) or "").strip() for row in values.rows]
    return is_sum(column) or bool(_PERCENT.search(column)) or any(c[-1:] == "%" for c in cells)


def _separates_totals(values: Values, total: str, column: str) -> bool:
    """Return whether every total of one word is below every total of the other."""
    sides: dict[str, list[float]] = {}
    for number, word in zip(values.words[total], values.words[column], strict=True):
        if word and (n := number_of(number)) is not None:
            sides.setdefault(word, []).append(n)
    if len(sides) != 2 or min(map(len, sides.values())) < 2:
        return False
    low, high = sorted(sides.values(), key=min)
    return max(low) < min(high)


def _numbers_of_words(values: Values, column: str) -> dict[str, float]:
    """Return a number for each word of a column, if it holds numbers, yes and no, or a scale."""
    words = values.distinct[column]
    numbers = {word: n for word in words if (n := number_of(word)) is not None}
    if len(numbers) == len(words):
        return numbers
    signs = {word: float(yes) for word in words if (yes := is_yes(word)) is not None}
    return signs if len(signs) == len(words) else scale_order(words, column) or {}


def _least_range(numbers: Iterable[float]) -> float:
    """Return how far apart the numbers of a weighted sum must be at least."""
    return _WIDER * (_PARTS if any(n % 1 for n in numbers) else _WHOLE)


def _is_weighted_sum(rows: Sequence[Sequence[float]]) -> bool:
    """Return whether the first number of each row is the same weighted sum of the others."""
    import numpy as np

    if not rows or len(rows) < len(rows[0]) + 3:
        return False
    table = np.array(rows)
    goal, parts = table[:, 0], np.column_stack([table[:, 1:], np.ones(len(rows))])
    near = _WHOLE if not (goal % 1).any() else _PARTS
    if np.ptp(goal) < _least_range(goal):
        return False
    weights = np.linalg.lstsq(parts, goal, rcond=None)[0]
    if weights[:-1].min() < -_WEIGHT:
        return False  # a part: the total without the others
    return bool(np.abs(parts @ weights - goal).max() <= near)


def raters_agree(values: Values, columns: Sequence[str]) -> bool:
    """Return whether columns agree more than by chance, as raters of the same items usually do. On
    a wide scale, such as 45 points, nearby marks count as equal; beside a cross a blank says no.
    """
    pairs, words = [*combinations(columns, 2)], values.words
    if len({word for c in columns for word in values.distinct[c]}) == 1:
        words = {c: [word or "no" for word in words[c]] for c in columns}
    if fmean(_kappa(words[a], words[b]) for a, b in pairs) > 0.1:
        return True
    fine = all(values.is_number(c) and len(values.distinct[c]) > _FINE for c in columns[:2])
    return fine and fmean(_concordance(values.words[a], values.words[b]) for a, b in pairs) > 0.6


def _concordance(left: Sequence[str], right: Sequence[str]) -> float:
    """Return how near two columns of numbers are, up to 1 if they are the same."""
    both = [(number_of(a), number_of(b)) for a, b in zip(left, right, strict=True)]
    pairs = [(a, b) for a, b in both if a is not None and b is not None]
    if len(pairs) < 3:
        return 0.0
    (a, b) = (list(side) for side in zip(*pairs, strict=True))
    spread = pvariance(a) + pvariance(b) + (fmean(a) - fmean(b)) ** 2
    apart = fmean((x - y) ** 2 for x, y in pairs)
    return 1 - apart / spread if spread else 0.0


def _kappa(left: Sequence[str], right: Sequence[str]) -> float:
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a and b]
    shares = [Counter(side) for side in zip(*pairs, strict=True)]
    if not pairs:
        return 0.0
    same = sum(a == b for a, b in pairs) / len(pairs)
    chance = sum(shares[0][word] * shares[1][word] for word in shares[0]) / len(pairs) ** 2
    return (same - chance) / (1 - chance) if chance < 1 else 1.0


#: Marks that mean yes if present and no if absent.
_TICKS = frozenset(
    {"x", "1", "yes", "ja", "si", "sí", "oui", "sim", "true", "✓", "✔", "√", "●", "•"}
)


def tick_changes(table: Table, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the changes that make a mark MET and a blank UNMET, if columns hold nothing else."""
    given = (row.get(c) for row in first_rows(table).rows for c in columns)
    cells = ["" if cell is None else str(cell).strip() for cell in given]
    marks = sorted({cell for cell in cells if cell})
    if "" not in cells or len({fold(m) for m in marks}) != 1 or fold(marks[0]) not in _TICKS:
        return ()
    return (*(f"{WORD}{mark}=MET" for mark in marks), f"{WORD}=UNMET")
