"""A fitted rule: what each judge's votes say about the true label, learnt from labelled items.

Plain numbers, so verdicts stay a pure function of votes and fitted numbers
(``core.metrics.weight_fit`` fits, ``core.scoring.verdict`` applies).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import exp, fsum
from typing import Annotated, Literal

from pydantic import Field

from core.domain.base import Noun
from core.domain.rubric import Criterion

#: A log-weight; fitted log-weights are far smaller.
Log = Annotated[float, Field(ge=-1e6, le=1e6)]


class Weights(Noun):
    """Log-weights over the scored options of a criterion, by their index in ``scored``.

    ``prior[t]`` supports option t before any vote; ``judges[name][v][t]`` is what a vote of that
    judge for option v adds to option t: summed over judges, or averaged if ``pooled``.

    The rule takes the most likely option, or, if ``nearest``, the one with the smallest expected
    distance from the truth. ``overrules``: it may even overrule judges who all agree.
    """

    prior: tuple[Log, ...]
    judges: dict[str, tuple[tuple[Log, ...], ...]]
    pooled: bool = False
    nearest: bool = False
    overrules: bool = False

    def of(self, votes: Iterable[tuple[str, int]]) -> tuple[float, ...] | None:
        """Return the log-weight of every option after ``votes`` (judge, index of the option).

        Several votes of a judge count as their mean: asking again adds no judge. ``None`` if no
        vote is by a judge with weights here.

        >>> yes = ((-0.1, -2.3), (-2.3, -0.1))
        >>> Weights(prior=(0.0, 0.0), judges={"a": yes}).of([("a", 0), ("b", 1)])
        (-0.1, -2.3)
        """
        by_judge: dict[str, list[int]] = {}
        for judge, vote in votes:
            if judge in self.judges:
                by_judge.setdefault(judge, []).append(vote)
        if not by_judge:
            return None
        voices = len(by_judge) if self.pooled else 1
        return tuple(
            fsum(
                [
                    start,
                    *(
                        self.judges[judge][vote][option] / len(judge_votes) / voices
                        for judge, judge_votes in by_judge.items()
                        for vote in judge_votes
                    ),
                ]
            )
            for option, start in enumerate(self.prior)
        )


def weights_as_shares(logs: tuple[float, ...]) -> tuple[float, ...]:
    """Return log-weights as probabilities that add up to 1.

    >>> weights_as_shares((0.0, 0.0))
    (0.5, 0.5)
    """
    top = max(logs)
    grown = [exp(log - top) for log in logs]
    total = fsum(grown)
    return tuple(value / total for value in grown)


#: ``weights``: judges count for as much as their votes say about the true label. ``line``: the mean
#: of the votes, shifted and scaled. ``judge``: a single judge's votes. ``severity``: like ``line``,
#: corrected for judges who give more than others for the same work. ``latent``: the meaning of
#: votes inferred from agreement alone, without labels (Dawid and Skene).
Kind = Literal["weights", "line", "judge", "severity", "latent"]


class Fitted(Noun):
    """The rule ``calibrated`` for a criterion, and its performance on held-out labels.

    An item never influences the rule that settles it, nor that rule's ``kind``: ``held`` maps its
    id to the one of ``folds`` that was fitted and chosen without it. A fold is ``None`` if the rule
    ``plain`` was best there. Of ``labels`` labelled items, ``right`` is how many verdicts of
    the folds match the label, ``plain_right`` how many by the rule ``plain``; ``gained`` and
    ``lost`` are the items that only one of them got right. ``far`` and ``plain_far`` are their mean
    distances in levels, if levels are ordered; ``kappa`` and ``plain_kappa`` their agreement beyond
    chance (Cohen). ``constant`` is the option that the rule gives in every cell of the run,
    whatever the judges say; empty if there is none.

    ``offered`` is ``None`` in rules fitted when only right answers counted, ``kappa`` in rules
    fitted before it counted.
    """

    criterion: str
    options: tuple[str, ...]
    kind: Kind = "weights"
    weights: Weights
    folds: tuple[Weights | None, ...] = ()
    held: dict[str, int] = Field(default_factory=dict)
    plain: str
    labels: Annotated[int, Field(ge=0)]
    right: Annotated[int, Field(ge=0)]
    plain_right: Annotated[int, Field(ge=0)]
    gained: Annotated[int, Field(ge=0)]
    lost: Annotated[int, Field(ge=0)]
    far: Annotated[float, Field(ge=0)] | None = None
    plain_far: Annotated[float, Field(ge=0)] | None = None
    kappa: Annotated[float, Field(le=1)] | None = None
    plain_kappa: Annotated[float, Field(le=1)] | None = None
    constant: str = ""
    offered: bool | None = None
    reliance: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)

    @cached_property
    def better(self) -> bool:
        """Return whether it may be used instead of the plain rule."""
        return self.right > self.plain_right if self.offered is None else self.offered

    def for_item(self, item_id: str) -> Weights | None:
        """Return the weights fitted without this item; ``None`` if the plain rule settles it."""
        fold = self.held.get(item_id)
        return self.weights if fold is None else self.folds[fold]

    def fits(self, criterion: Criterion) -> bool:
        """Return whether the criterion still has the options of the fit."""
        return self.options == tuple(criterion.choices[i].label for i in criterion.scored)
