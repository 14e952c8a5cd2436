"""Fits the rule ``calibrated`` for one criterion on labelled cells.

Several kinds of rule are tried, the plain one among them, and compared on labels that each had not
seen. What is printed is better yet: how the whole of it, choosing and fitting, did on labels that
neither had seen (nested cross-validation; Varma and Simon 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from math import sqrt
from typing import TYPE_CHECKING

from core.aggregate import settle
from core.domain.fitted import Fitted, Kind, Weights
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.identity import seeded
from core.services.fitting_kinds import Labelled, Lesson, votes_of

if TYPE_CHECKING:
    from core.metrics.calibrating import Floats, Levels

__all__ = ["Labelled", "fit_criterion", "heard", "in_words"]

#: By how many standard errors a kind must be ahead of the plain rule to be chosen. Where only
#: right answers count a panel gains much by labels; a mean of several ordered votes is hard to
#: beat, least of all by a rule with many numbers. Tried in ``bench/calibrated.py``.
AHEAD_ORDERED: Mapping[Kind, float] = {"line": 1.3, "weights": 2.5, "judge": 2.5}
AHEAD_ONE_JUDGE = 1.0


def fit_criterion(criterion: Criterion, cells: Iterable[Labelled], rules: Rules) -> Fitted | str:
    """The rule fitted on labelled cells, judged on what it had not seen; or why there is none.

    Folds are drawn from the items' ids alone, so that the same labels give the same rule; items
    that say the same are in one fold.
    """
    known = sorted(
        (c for c in cells if c.truth in criterion.scored and votes_of(criterion, c.ballots)),
        key=lambda c: c.item_id,
    )
    few = _too_few(criterion, known)
    return few or _Trial(criterion, known, rules).fitted()


class _Trial:
    """All kinds on all folds of one criterion's labels; nothing is fitted twice."""

    def __init__(self, criterion: Criterion, known: Sequence[Labelled], rules: Rules) -> None:
        import numpy as np

        self.criterion, self.known, self.rules = criterion, known, rules
        self.lesson = Lesson(criterion, known)
        self.fold = _folds(criterion, known)
        self.folds = range(int(self.fold.max()) + 1)
        self.plain = np.array([self._loss(cell, None) for cell in known])
        self._apart = cache(self._rule_without)
        self._lost = cache(self._losses)

    def fitted(self) -> Fitted:
        """The rule of the kind that all labels choose."""
        import numpy as np

        choice = self._chosen(None)
        kind = choice or self._closest
        folds = tuple(self._fold_rule(at) for at in self.folds)
        by_cell = [folds[at] for at in self.fold]
        hits = np.array([self._right(*pair) for pair in zip(self.known, by_cell, strict=True)])
        plain_hits = np.array([self._right(cell, None) for cell in self.known])
        losses = [self._loss(*pair) for pair in zip(self.known, by_cell, strict=True)]
        far, plain_far = float(np.mean(losses)), float(self.plain.mean())
        ordinal = self.lesson.ordinal
        return Fitted(
            criterion=self.criterion.name,
            options=tuple(self.criterion.choices[i].label for i in self.criterion.scored),
            kind=kind,
            weights=self._apart(kind, frozenset()),
            folds=folds,
            held={c.item_id: int(at) for c, at in zip(self.known, self.fold, strict=True)},
            plain=self.criterion.aggregation or getattr(self.rules, self.criterion.scale),
            labels=len(self.known),
            right=int(hits.sum()),
            plain_right=int(plain_hits.sum()),
            gained=int((hits & ~plain_hits).sum()),
            lost=int((plain_hits & ~hits).sum()),
            far=far if ordinal else None,
            plain_far=plain_far if ordinal else None,
            offered=choice is not None and (not ordinal or far < plain_far),
            reliance=self.lesson.reliance() if kind == "weights" else {},
        )

    @cached_property
    def _closest(self) -> Kind:
        """The kind that came nearest where none is ahead."""
        return min(self.lesson.kinds, key=lambda kind: float(self._lost(kind, None).mean()))

    def _chosen(self, without: int | None) -> Kind | None:
        """The kind that labels choose, those of one fold left out; ``None`` for the plain rule."""
        import numpy as np

        best, least = None, float("inf")
        here = self.fold != without if without is not None else np.ones(len(self.known), bool)
        for kind in self.lesson.kinds:
            lost = self._lost(kind, without)[here]
            gain = self.plain[here] - lost
            error = float(gain.std(ddof=1)) / sqrt(len(gain))
            ahead = float(gain.mean())
            if ahead > max(self._ahead(kind) * error, 1e-9) and lost.mean() < least - 1e-9:
                best, least = kind, float(lost.mean())
        return best

    def _ahead(self, kind: Kind) -> float:
        if not self.lesson.ordinal:
            return 0.0
        return AHEAD_ONE_JUDGE if len(self.lesson.judges) == 1 else AHEAD_ORDERED[kind]

    def _fold_rule(self, at: int) -> Weights | None:
        kind = self._chosen(at)
        return None if kind is None else self._apart(kind, frozenset({at}))

    def _losses(self, kind: Kind, without: int | None) -> Floats:
        """What each cell costs, settled by a rule from the folds that are neither its own nor
        ``without``.
        """
        import numpy as np

        left = frozenset() if without is None else frozenset({without})
        return np.array(
            [
                self._loss(cell, self._apart(kind, left | {int(at)}))
                for cell, at in zip(self.known, self.fold, strict=True)
            ]
        )

    def _rule_without(self, kind: Kind, left: frozenset[int]) -> Weights:
        import numpy as np

        return self.lesson.fit(kind, np.flatnonzero(~np.isin(self.fold, list(left))))

    def _option(self, cell: Labelled, weights: Weights | None) -> int | None:
        verdict = settle(self.criterion, cell.ballots, self.rules, weights=weights)
        return verdict.option if verdict else None

    def _loss(self, cell: Labelled, weights: Weights | None) -> float:
        return self.lesson.loss(self._option(cell, weights), cell.truth)

    def _right(self, cell: Labelled, weights: Weights | None) -> bool:
        return self._option(cell, weights) == cell.truth


def _folds(criterion: Criterion, known: Sequence[Labelled]) -> Levels:
    """The fold of every cell; those of one group have one."""
    import numpy as np

    from core.metrics import calibrating

    seed = seeded("calibrated", criterion.name, *(c.item_id for c in known)).getrandbits(64)
    groups: dict[str, int] = {}
    of = [groups.setdefault(c.group or c.item_id, len(groups)) for c in known]
    return calibrating.folds_of(len(groups), np.random.default_rng(seed))[of]


def _too_few(criterion: Criterion, known: Sequence[Labelled]) -> str:
    from core.metrics.calibrating import FEWEST

    if len(known) < FEWEST:
        items = "item has" if len(known) == 1 else "items have"
        return (
            f"{len(known)} {items} a label and votes; {FEWEST} are needed. "
            f"Label {FEWEST - len(known)} more."
        )
    different = len({c.group or c.item_id for c in known})
    if different < FEWEST:
        return (
            f"The {len(known)} labelled items are {different} different texts; {FEWEST} are needed."
        )
    truths = {c.truth for c in known}
    if len(truths) == 1:
        label = criterion.choices[truths.pop()].label
        return f"All {len(known)} labels are {label!r}: label items that are not."
    return ""


def how(fitted: Fitted) -> str:
    """What the fitted rule does, in a few words.

    >>> how(Fitted.model_construct(kind="judge", weights=Weights(prior=(), judges={"ann": ()})))
    "ann's votes alone"
    """
    judges = list(fitted.weights.judges)
    if fitted.kind == "judge":
        return f"{judges[0]}'s votes alone"
    if fitted.kind == "line":
        return "the mean of the votes, moved and stretched to the labels"
    if len(judges) == 1:
        return f"{judges[0]}'s votes, read as what they meant on labelled items"
    return "every judge's votes, weighted by what they said of the labels"


def in_words(fitted: Fitted) -> str:
    """What a person is told of a fit: what was estimated, and how."""
    n = fitted.labels
    ours, plain = fitted.right, fitted.plain_right
    far = ""
    if fitted.far is not None and fitted.plain_far is not None:
        far = (
            f"missed by {fitted.far:.2f} levels on average and {fitted.plain} by "
            f"{fitted.plain_far:.2f}; it "
        )
    return (
        f"On {n} labelled items, each settled by a rule that was chosen and fitted without it, "
        f"calibrated {far}was right on {ours} ({ours / n:.0%}) and {fitted.plain} on {plain} "
        f"({plain / n:.0%}): {fitted.gained} mended, {fitted.lost} spoilt. {_offer(fitted)}"
    )


def _offer(fitted: Fitted) -> str:
    ordinal = fitted.far is not None
    if not fitted.better:
        return "It is not offered, because it was not " + (
            "surely nearer to the labels." if ordinal else "right more often."
        )
    if ordinal:
        return f"Offered: {how(fitted)}, because that was nearer to the labels."
    if fitted.right > fitted.plain_right:
        return f"Offered: {how(fitted)}, because that was right more often."
    return (
        f"Offered: {how(fitted)}, which is ahead when all labels choose; on so few it is not sure."
    )


def heard(fitted: Fitted) -> Mapping[str, float]:
    """How far each judge is listened to, from 0 (indistinguishable from chance) to 1."""
    return dict(sorted(fitted.reliance.items(), key=lambda pair: (-pair[1], pair[0])))
