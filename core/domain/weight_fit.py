"""A fitted rule: what the votes of each judge say about the truth, learnt from labelled items.

Plain numbers, so that verdicts stay a pure function of votes and of what was fitted
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

#: A log-weight; those of a fit are far smaller.
Log = Annotated[float, Field(ge=-1e6, le=1e6)]


class Weights(Noun):
    """Log-weights over the scored options of a criterion, by their place among ``scored``.

    ``prior[t]`` speaks for option t before any vote; ``judges[name][v][t]`` is what a vote of that
    judge for option v adds to option t: all judges' together, or ``pooled`` their mean.

    The likeliest option is taken, or the ``nearest``: the one that is expected to be least far
    from the truth in value. ``overrules``: also where all judges agree, who else are taken at
    their word.
    """

    prior: tuple[Log, ...]
    judges: dict[str, tuple[tuple[Log, ...], ...]]
    pooled: bool = False
    nearest: bool = False
    overrules: bool = False

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
        voices = len(by_judge) if self.pooled else 1
        return tuple(
            fsum(
                [
                    start,
                    *(
                        self.judges[judge][vote][option] / len(given) / voices
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


#: ``weights``: every judge's votes count as much as they said of the truth. ``line``: the mean of
#: the votes, moved and stretched. ``judge``: one judge's votes alone. ``severity``: as ``line``,
#: less what each judge gives more than others for the same work. ``latent``: what votes mean by who
#: agrees with whom, learnt from no label (Dawid and Skene).
Kind = Literal["weights", "line", "judge", "severity", "latent"]


class Fitted(Noun):
    """The rule ``calibrated`` for one criterion, and how it did on labels it had not seen.

    Neither what an item is settled by nor which ``kind`` of rule that is was learnt from it:
    ``held`` says with which of ``folds`` it was left out, choice and all; a fold is ``None`` where
    the rule ``plain`` was best without it. Of ``labels`` labelled items, ``right`` is how many
    verdicts of the folds matched the label, ``plain_right`` how many of the rule ``plain``;
    ``gained`` and ``lost`` are the items that only one of them had right. ``far`` and
    ``plain_far`` are by how many levels they missed on average, where the levels have an order;
    ``kappa`` and ``plain_kappa`` how much less than by chance, Cohen's. ``constant`` is the option
    that the rule gives on every cell of the run, whatever the judges say; empty where there is
    none.

    ``offered`` is ``None`` in rules that were fitted when only right answers counted, and
    ``kappa`` in those fitted before it did.
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
        """Whether it may be used instead of the plain rule."""
        return self.right > self.plain_right if self.offered is None else self.offered

    def for_item(self, item_id: str) -> Weights | None:
        """The weights that did not learn from this item; ``None``: the plain rule settles it."""
        fold = self.held.get(item_id)
        return self.weights if fold is None else self.folds[fold]

    def fits(self, criterion: Criterion) -> bool:
        """Whether the criterion still has the options that this was fitted on."""
        return self.options == tuple(criterion.choices[i].label for i in criterion.scored)
