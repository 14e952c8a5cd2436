"""Judges asked twice about the same two answers, exchanged: of a folder, or of votes imported.

Contests held here have ``contest_position``; this reads votes that came from elsewhere, where a
rater's two answers to an item are two columns (``NAME|original``, ``NAME|swapped``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from core.metrics.figure import Figure
from core.metrics.measure import Ratings
from core.metrics.ranking_orders import accuracy, order_kappa, same_choice
from core.services.rated import read_source
from core.services.rated_matrix import Rated, RatedCriterion
from core.store.store import Store


class OrderCheck(NamedTuple):
    """One rater on one part of the items. Missing answers are left out of ``agreement`` and
    ``kappa`` and are wrong in ``accuracy``; ``as_published`` has LLMBar's conventions (two missing
    answers agree; kappa tells the first answer from all else).
    """

    rater: str
    criterion: str
    part: str
    items: int
    empty: int
    accuracy: Figure
    agreement: Figure
    kappa: Figure
    agreement_as_published: Figure
    kappa_as_published: Figure


def order_checks(
    open_store: Callable[[], Store], source: str, part_by: str = ""
) -> list[OrderCheck]:
    """The checks of every rater that answered in two orders, for a run's number or a folder.

    ``part_by`` is a key of the items' meta; its values are parts of their own.
    """
    return checks_of(read_source(open_store, source), part_by)


def checks_of(rated: Rated, part_by: str = "") -> list[OrderCheck]:
    """The checks of ratings that were read."""
    parts = [str(item.meta.get(part_by, "")) if part_by else "" for item in rated.items]
    found = []
    for criterion in rated.criteria:
        for rater, (one, two) in _twice(criterion).items():
            for part in dict.fromkeys(parts):
                rows = np.array([p == part for p in parts])
                found.append(_check(criterion, rater, part, rows, one, two))
    return found


def _twice(criterion: RatedCriterion) -> dict[str, tuple[int, int]]:
    """The two columns of every rater that has exactly two."""
    columns: dict[str, list[int]] = {}
    for at, rater in enumerate(criterion.raters):
        name, bar, _ = rater.name.rpartition("|")
        if bar:
            columns.setdefault(name, []).append(at)
    return {name: (c[0], c[1]) for name, c in columns.items() if len(c) == 2}


def _check(
    criterion: RatedCriterion, rater: str, part: str, rows: Ratings, one: int, two: int
) -> OrderCheck:
    a, b = criterion.levels[rows, one], criterion.levels[rows, two]
    k = len(criterion.labels)
    return OrderCheck(
        rater=rater,
        criterion=criterion.name,
        part=part,
        items=int(rows.sum()),
        empty=int((a < 0).sum() + (b < 0).sum()),
        accuracy=accuracy(a, b, criterion.gold[rows]),
        agreement=same_choice(a, b),
        kappa=order_kappa(a, b, k),
        agreement_as_published=same_choice(a, b, empty_counts=True),
        kappa_as_published=order_kappa(a, b, k, empty_is_second=True),
    )
