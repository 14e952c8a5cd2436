"""Position bias of judges, in contests held here and in imported votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.metrics.estimate import Estimate
from core.metrics.measure import Ratings
from core.metrics.ranking.contests import accuracy, order_kappa, same_choice_share
from core.services.agreement.ratings import CriterionRatings, Rated
from core.services.pairwise.contest_votes import Contest, Contests, winner_of
from core.services.pairwise.design import Choice


class SwappedOrderCheck(NamedTuple):
    """How a judge answered when the same two answers were swapped.

    ``rate`` is the share of pairs (both orders of one contest, without abstentions) with the same
    winner, or a tie twice. ``first`` pairs chose the answer shown first in both orders, ``last``
    the answer shown last. ``shown_first`` is the share of choices that went to A: a half without
    position bias, if every answer is shown first and second equally often.
    """

    judge: str
    first: int
    last: int
    rate: Estimate
    shown_first: Estimate

    @property
    def biased(self) -> bool:
        """Return whether the share of A differs from a half."""
        low, high = self.shown_first.low, self.shown_first.high
        return low is not None and high is not None and not low <= 0.5 <= high

    def as_data(self) -> dict[str, object]:
        """Return the figures as JSON."""
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


def position_figures(contests: Contests, question: str | None = None) -> list[SwappedOrderCheck]:
    """Return the position figures of every judge, in the panel's order."""
    chosen: dict[str, list[dict[bool, Choice]]] = {j.name: [] for j in contests.judges}
    for contest in contests.held:
        if question is None or contest.question == question:
            for (judge, _), answers in _choices_by_judge(contests, contest).items():
                chosen.setdefault(judge, []).append(answers)
    return [_position_figure(judge, answers) for judge, answers in chosen.items()]


def _choices_by_judge(
    contests: Contests, contest: Contest
) -> dict[tuple[str, int], dict[bool, Choice]]:
    """Return every judge's (and replicate's) choice by whether the answers were swapped."""
    choices: dict[tuple[str, int], dict[bool, Choice]] = {}
    for shown in contest.shown:
        for row in shown.rows:
            choice = contests.choice(contest, row)
            if choice != "none":
                choices.setdefault((row.judge, row.replicate), {})[shown.swapped] = choice
    return choices


def _position_figure(judge: str, answers: list[dict[bool, Choice]]) -> SwappedOrderCheck:
    pairs = [a for a in answers if len(a) == 2]
    winners = [(winner_of(a[False], False).points, winner_of(a[True], True).points) for a in pairs]
    agree = sum(listed == swapped for listed, swapped in winners)
    first = sum(a[False] == a[True] == "A" for a in pairs)
    last = sum(a[False] == a[True] == "B" for a in pairs)
    # Only pairs count, because in a pair every answer is shown first once, whatever its quality.
    named = [c for a in pairs for c in a.values() if c in ("A", "B")]
    rate, to_first = (agree, len(pairs)), (named.count("A"), len(named))
    return SwappedOrderCheck(judge, first, last, Estimate.share(*rate), Estimate.share(*to_first))


# Judges that answered twice about the same two answers, swapped: in a folder, or in imported votes.
#
# Contests held here use ``contest_position``. Imported votes have a rater's two answers to an item
# in two columns (``NAME|original``, ``NAME|swapped``).


class OrderCheck(NamedTuple):
    """How one rater answered in two orders, on one part of the items.

    Missing answers are excluded from ``agreement`` and ``kappa``, and count as wrong in
    ``accuracy``. ``as_published`` follows LLMBar: two missing answers agree, and kappa
    distinguishes only the first answer from all others.
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


def order_checks(rated: Rated, part_by: str = "") -> list[OrderCheck]:
    """Return the checks of every rater that answered in two orders.

    ``part_by`` is a key of the items' meta whose values split the items into parts.
    """
    parts = [str(item.meta.get(part_by, "")) if part_by else "" for item in rated.items]
    checks = []
    for criterion in rated.criteria:
        for rater, (original, swapped) in _column_pairs(criterion).items():
            for part in dict.fromkeys(parts):
                rows = np.array([p == part for p in parts])
                checks.append(_order_check(criterion, rater, part, rows, original, swapped))
    return checks


def _column_pairs(criterion: CriterionRatings) -> dict[str, tuple[int, int]]:
    """Return, by rater, the two columns of raters that have exactly two."""
    columns: dict[str, list[int]] = {}
    for index, rater in enumerate(criterion.raters):
        name, bar, _ = rater.name.rpartition("|")
        if bar:
            columns.setdefault(name, []).append(index)
    return {name: (c[0], c[1]) for name, c in columns.items() if len(c) == 2}


def _order_check(
    criterion: CriterionRatings, rater: str, part: str, rows: Ratings, original: int, swapped: int
) -> OrderCheck:
    a, b = criterion.levels[rows, original], criterion.levels[rows, swapped]
    k = len(criterion.labels)
    return OrderCheck(
        rater=rater,
        criterion=criterion.name,
        part=part,
        items=int(rows.sum()),
        empty=int((a < 0).sum() + (b < 0).sum()),
        accuracy=accuracy(a, b, criterion.gold[rows]),
        agreement=same_choice_share(a, b),
        kappa=order_kappa(a, b, k),
        agreement_as_published=same_choice_share(a, b, empty_counts=True),
        kappa_as_published=order_kappa(a, b, k, empty_is_second=True),
    )
