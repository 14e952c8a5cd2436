"""A fitted rule: what the votes of each judge say about the truth, learnt from labelled items.

Plain numbers, so that verdicts stay a pure function of votes and of what was fitted
(``core.metrics.calibrating`` fits, ``core.aggregate`` applies).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import exp, fsum
from typing import Annotated

from pydantic import Field

from core.domain.base import Noun
from core.domain.rubric import Criterion

#: A log-weight; those of a fit are far smaller.
Log = Annotated[float, Field(ge=-1e6, le=1e6)]


class Weights(Noun):
    """Log-weights over the scored options of a criterion, by their place among ``scored``.

    ``prior[t]`` speaks for option t before any vote; ``judges[name][v][t]`` is what a vote of that
    judge for option v adds to option t.
    """

    prior: tuple[Log, ...]
    judges: dict[str, tuple[tuple[Log, ...], ...]]

    def of(self, votes: Iterable[tuple[str, int]]) -> tuple[float, ...] | None:
        """The log-weight of every option after ``votes`` (judge, place of the option).

        Several votes of one judge count as their mean: a judge asked again is no second judge.
        ``None`` where no vote is of a judge that is known here.

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
        return tuple(
            fsum(
                [
                    start,
                    *(
                        self.judges[judge][vote][option] / len(given)
                        for judge, given in by_judge.items()
                        for vote in given
                    ),
                ]
            )
            for option, start in enumerate(self.prior)
        )


def shares(logs: tuple[float, ...]) -> tuple[float, ...]:
    """Log-weights as chances that add up to 1.

    >>> shares((0.0, 0.0))
    (0.5, 0.5)
    """
    top = max(logs)
    grown = [exp(log - top) for log in logs]
    total = fsum(grown)
    return tuple(each / total for each in grown)


class Fitted(Noun):
    """The rule ``calibrated`` for one criterion, and how it did on labels it had not seen.

    An item that was learnt from is settled by weights that were learnt without it: ``held`` says
    which of ``folds`` that is. Of ``labels`` labelled items, ``right`` is how many verdicts of the
    folds matched the label, ``plain_right`` how many of the rule ``plain``; ``gained`` and ``lost``
    are the items that only one of them had right.
    """

    criterion: str
    options: tuple[str, ...]
    weights: Weights
    folds: tuple[Weights, ...] = ()
    held: dict[str, int] = Field(default_factory=dict)
    plain: str
    labels: Annotated[int, Field(ge=0)]
    right: Annotated[int, Field(ge=0)]
    plain_right: Annotated[int, Field(ge=0)]
    gained: Annotated[int, Field(ge=0)]
    lost: Annotated[int, Field(ge=0)]
    reliance: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)

    @cached_property
    def better(self) -> bool:
        """Whether it beat the plain rule on labels it had not seen."""
        return self.right > self.plain_right

    def for_item(self, item_id: str) -> Weights:
        """The weights that did not learn from this item."""
        fold = self.held.get(item_id)
        return self.weights if fold is None else self.folds[fold]

    def fits(self, criterion: Criterion) -> bool:
        """Whether the criterion still has the options that this was fitted on."""
        return self.options == tuple(criterion.choices[i].label for i in criterion.scored)
