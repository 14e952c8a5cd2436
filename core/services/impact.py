"""What a person's decision on a cell could change: the order of a review queue.

For every option of the cell the item is scored anew, gates, abstentions, clamping and thresholds
included. How likely each option is comes from the votes, kept from certainty by one vote that says
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum, log
from typing import NamedTuple

from core.aggregate import Ballot
from core.domain.rubric import Criterion, Rubric
from core.scoring import MeasuredTexts, score_item
from core.scoring.trace import Outcome

#: The formulas in words, for a tooltip.
ORDERS: dict[str, str] = {
    "impact": (
        "Failed calls first. Then by the chance that a person's answer would change the outcome "
        "(pass, fail or review), then by the change of the score to expect, then by the chance of "
        "another verdict, then by entropy, then the oldest. An option's chance is "
        "(its votes + 1/K) / (all votes + 1), with K options."
    ),
    "entropy": "How mixed the votes are: -sum p ln p / ln K over the shares p of K options.",
    "margin": "The share of the first option minus that of the second, smallest first.",
    "spread": (
        "The mean distance between two votes of the cell, divided by the mean distance between any "
        "two votes on the criterion: what the cell adds to 1 - alpha. Distance: 1 for different "
        "options; of ordered options the squared number of steps."
    ),
    "change": (
        "The change of the score to expect: over all options, chance x |score with it - score now|,"
        " gates and limits included."
    ),
}


class Tally(NamedTuple):
    """The votes of one cell that are not abstentions.

    ``heads`` counts them by option, ``weights`` adds up the judges' weights.
    """

    heads: Mapping[int, int]
    weights: Mapping[int, float]

    @property
    def votes(self) -> int:
        """How many votes there are."""
        return sum(self.heads.values())


class Would(NamedTuple):
    """What becomes of the item if the cell is settled as ``option``, and how likely that is."""

    option: int
    chance: float
    score: float | None
    outcome: Outcome | None


class Impact(NamedTuple):
    """What settling one cell could change.

    ``flip``: the chance, in [0, 1], that a person's answer changes the item's outcome; 0 where the
    item has none whatever the answer. ``change``: the expected absolute change of the score, in its
    own units, at least 0. ``other``: the chance, in [0, 1], of another verdict. ``entropy`` and
    ``margin``: of the weighted shares, in [0, 1]; ``None`` without a vote. ``would``: every option,
    likeliest first.
    """

    flip: float
    change: float
    other: float
    entropy: float | None
    margin: float | None
    would: tuple[Would, ...]


def tally(criterion: Criterion, ballots: Iterable[Ballot]) -> Tally:
    """The votes that name an option with a value."""
    heads, weights = dict[int, int](), dict[int, float]()
    for option, abstained, weight, _ in ballots:
        if not abstained and option is not None and criterion.values[option] is not None:
            heads[option] = heads.get(option, 0) + 1
            weights[option] = weights.get(option, 0.0) + weight
    return Tally(heads, weights)


def chances(criterion: Criterion, votes: Tally) -> dict[int, float]:
    """How likely a person is to choose each scored option; they add up to 1.

    (n s_k + 1/K) / (n + 1) with n votes, of whose weight s_k is for option k: the mean of the
    posterior under a Dirichlet prior worth one vote in all (Perks 1947; with two options that of
    Jeffreys). Five judges who agree are so taken to be right with .92, three with .88; unanimous
    panels were measured to be right in .75 to .93 (docs/adjudication.md). The prior does not grow
    with the number of options, as Laplace's would.

    >>> from core.domain.rubric import Criterion
    >>> shares = chances(Criterion(name="a", requirement="Is it?"), Tally({0: 3}, {0: 3.0}))
    >>> {option: round(share, 3) for option, share in shares.items()}
    {0: 0.875, 1: 0.125}
    """
    n, total = votes.votes, fsum(votes.weights.values())
    even = 1 / len(criterion.scored)
    return {
        option: (n * votes.weights.get(option, 0.0) / total + even) / (n + 1) if n else even
        for option in criterion.scored
    }


class WhatIf:
    """Scores what-ifs of items under one rubric. Equal answers are scored once."""

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._names = [c.name for c in rubric.criteria]
        self._known: dict[tuple[object, ...], tuple[float | None, Outcome | None]] = {}

    def impact(
        self,
        name: str,
        answers: Mapping[str, int | None],
        votes: Tally,
        texts: MeasuredTexts | None = None,
        likely: Mapping[int, float] | None = None,
    ) -> Impact:
        """What settling criterion ``name`` of an item could change.

        Args:
            name: the criterion whose cell is looked at.
            answers: the item's verdicts now, as ``score_item`` takes them; this may be absent.
            votes: the cell's votes.
            texts: what ``core.scoring.measure`` made of the item's texts, where scores need them.
            likely: how likely each scored option is, where something better than ``chances`` is
                known (the fitted rule's).

        Where there is no score now, changes count from the mean of the scores that could be.
        """
        criterion = self._rubric.criterion(name)
        shares = chances(criterion, votes) if likely is None else likely
        now, outcome = self._score(answers, texts)
        would = []
        for option in sorted(shares, key=lambda o: (-shares[o], o)):
            found = self._score({**answers, name: option}, texts)
            would.append(Would(option, shares[option], *found))
        flip = fsum(each.chance for each in would if each.outcome != outcome)
        other = fsum(each.chance for each in would if each.option != answers.get(name))
        mixed = _mixed(criterion, votes)
        return Impact(min(1.0, flip), _change(now, would), min(1.0, other), *mixed, tuple(would))

    def _score(
        self, answers: Mapping[str, int | None], texts: MeasuredTexts | None
    ) -> tuple[float | None, Outcome | None]:
        # -1 stands for a criterion without a verdict; None is an abstention.
        key = (*(answers.get(name, -1) for name in self._names), texts)
        found = self._known.get(key)
        if found is None:
            scored = score_item(self._rubric, answers, texts=texts)
            found = self._known[key] = scored.score, scored.trace.outcome
        return found


def _change(now: float | None, would: Iterable[Would]) -> float:
    scores = [(each.chance, each.score) for each in would if each.score is not None]
    sure = fsum(chance for chance, _ in scores)
    if not sure:
        return 0.0
    start = fsum(chance * score for chance, score in scores) / sure if now is None else now
    return fsum(chance * abs(score - start) for chance, score in scores)


def _mixed(criterion: Criterion, votes: Tally) -> tuple[float | None, float | None]:
    """Entropy and margin of the weighted shares."""
    if not votes.heads:
        return None, None
    total = fsum(votes.weights.values())
    shares = sorted((w / total for w in votes.weights.values()), reverse=True)
    entropy = -fsum(p * log(p) for p in shares) / log(len(criterion.scored))
    second = shares[1] if len(shares) > 1 else 0.0
    return min(1.0, max(0.0, entropy)), shares[0] - second


def order_key(
    impact: Impact, *, failed: bool = False, age: float = 0.0
) -> tuple[bool, float, float, float, float, float]:
    """The queue's default order, for ``sorted``: what comes first has the smallest key.

    Failed calls, chance of flipping the outcome, expected change of the score, chance of another
    verdict, entropy, age (the oldest first; any unit). Rounded, so that noise in the last digit is
    a tie.
    """
    entropy = 1.0 if impact.entropy is None else impact.entropy
    flip, change, other, mixed = (
        -round(x, 9) for x in (impact.flip, impact.change, impact.other, entropy)
    )
    return (not failed, flip, change, other, mixed, -age)
