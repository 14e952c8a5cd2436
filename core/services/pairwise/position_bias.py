"""Does the place of an answer matter? Of contests held here, and of votes imported."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.metrics.estimate import Estimate
from core.metrics.measure import Ratings
from core.metrics.ranking.contests import accuracy, order_kappa, same_choice
from core.services.agreement.ratings import CriterionRatings, Rated
from core.services.pairwise.contest_votes import Contests, HeldContest, winner_of
from core.services.pairwise.design import Choice


class Position(NamedTuple):
    """How a judge answered when the same two answers were exchanged.

    ``rate`` is the share of pairs (two answers to one contest in both orders, abstentions apart)
    that named the same winner, or none; ``first`` pairs took the answer shown first in both orders
    and ``last`` the one shown last. ``shown_first`` is the share of all choices of a winner that
    went to A; where answers stand first and second equally often, and place does not matter, it is
    a half.
    """

    judge: str
    first: int
    last: int
    rate: Estimate
    shown_first: Estimate

    @property
    def biased(self) -> bool:
        """Whether the share that went to A cannot be a half."""
        low, high = self.shown_first.low, self.shown_first.high
        return low is not None and high is not None and not low <= 0.5 <= high

    def as_data(self) -> dict[str, object]:
        """It as JSON."""
        names = "rate", "rate_low", "rate_high"
        to_first = "shown_first", "first_low", "first_high"
        return {
            "judge": self.judge,
            "pairs": self.rate.n,
            "agree": self.rate.hits,
            "first": self.first,
            "last": self.last,
            **dict(zip(names, self.rate[:3], strict=True)),
            "choices": self.shown_first.n,
            **dict(zip(to_first, self.shown_first[:3], strict=True)),
            "biased": self.biased,
        }


def positions(contests: Contests, question: str | None = None) -> list[Position]:
    """The position figures of every judge, in the panel's order."""
    chosen: dict[str, list[dict[bool, Choice]]] = {j.name: [] for j in contests.judges}
    for held in contests.held:
        if question is None or held.question == question:
            for (judge, _), answers in _answers(contests, held).items():
                chosen.setdefault(judge, []).append(answers)
    return [_position(judge, answers) for judge, answers in chosen.items()]


def _answers(contests: Contests, held: HeldContest) -> dict[tuple[str, int], dict[bool, Choice]]:
    """Every judge's (and replicate's) choice by whether the answers were exchanged."""
    found: dict[tuple[str, int], dict[bool, Choice]] = {}
    for shown in held.shown:
        for row in shown.rows:
            choice = contests.choice(held, row)
            if choice != "none":
                found.setdefault((row.judge, row.replicate), {})[shown.swapped] = choice
    return found


def _position(judge: str, answers: list[dict[bool, Choice]]) -> Position:
    both = [a for a in answers if len(a) == 2]
    winners = [(winner_of(a[False], False).points, winner_of(a[True], True).points) for a in both]
    agree = sum(one == two for one, two in winners)
    first = sum(a[False] == a[True] == "A" for a in both)
    last = sum(a[False] == a[True] == "B" for a in both)
    # Only pairs: there both answers stood first equally often, whatever they are worth.
    named = [c for a in both for c in a.values() if c in ("A", "B")]
    rate, to_first = (agree, len(both)), (named.count("A"), len(named))
    return Position(judge, first, last, Estimate.share(*rate), Estimate.share(*to_first))


# Judges asked twice about the same two answers, exchanged: of a folder, or of votes imported.
#
# Contests held here have ``contest_position``; this reads votes that came from elsewhere, where a
# rater's two answers to an item are two columns (``NAME|original``, ``NAME|swapped``).


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
    accuracy: Estimate
    agreement: Estimate
    kappa: Estimate
    agreement_as_published: Estimate
    kappa_as_published: Estimate


def checks_of(rated: Rated, part_by: str = "") -> list[OrderCheck]:
    """The checks of every rater that answered in two orders.

    ``part_by`` is a key of the items' meta; its values are parts of their own.
    """
    parts = [str(item.meta.get(part_by, "")) if part_by else "" for item in rated.items]
    found = []
    for criterion in rated.criteria:
        for rater, (one, two) in _twice(criterion).items():
            for part in dict.fromkeys(parts):
                rows = np.array([p == part for p in parts])
                found.append(_check(criterion, rater, part, rows, one, two))
    return found


def _twice(criterion: CriterionRatings) -> dict[str, tuple[int, int]]:
    """The two columns of every rater that has exactly two."""
    columns: dict[str, list[int]] = {}
    for at, rater in enumerate(criterion.raters):
        name, bar, _ = rater.name.rpartition("|")
        if bar:
            columns.setdefault(name, []).append(at)
    return {name: (c[0], c[1]) for name, c in columns.items() if len(c) == 2}


def _check(
    criterion: CriterionRatings, rater: str, part: str, rows: Ratings, one: int, two: int
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
