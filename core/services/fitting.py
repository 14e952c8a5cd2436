"""Fits the rule ``calibrated`` for one criterion on labelled cells, and judges it out of fold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from core.aggregate import Ballot, settle
from core.domain.fitted import Fitted, Weights
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.identity import seeded

if TYPE_CHECKING:
    from core.metrics.calibrating import Fit, Levels


class Labelled(NamedTuple):
    """A cell whose truth is known: ``truth`` is the index of a scored choice."""

    item_id: str
    ballots: Sequence[Ballot]
    truth: int


def fit_criterion(criterion: Criterion, cells: Iterable[Labelled], rules: Rules) -> Fitted | str:
    """The rule fitted on labelled cells, judged out of fold; or a sentence why there is none.

    Folds are drawn from the items' ids alone, so that the same labels give the same rule.
    """
    import numpy as np

    from core.metrics import calibrating

    known = sorted(
        (c for c in cells if c.truth in criterion.scored and _votes(criterion, c.ballots)),
        key=lambda c: c.item_id,
    )
    few = _too_few(criterion, known)
    if few:
        return few
    judges, owner, votes = _matrix(criterion, known)
    truth = np.array([criterion.scored.index(c.truth) for c in known])
    seed = seeded("calibrated", criterion.name, *(c.item_id for c in known)).getrandbits(64)
    folds = calibrating.folds_of(len(known), np.random.default_rng(seed))
    k = len(criterion.scored)
    whole = calibrating.fit(votes, truth, k, owner)
    apart = calibrating.out_of_fold(votes, truth, k, owner, folds)
    fitted = Fitted(
        criterion=criterion.name,
        options=tuple(criterion.choices[i].label for i in criterion.scored),
        weights=_weights(whole, judges),
        folds=tuple(_weights(each, judges) for each in apart),
        held={c.item_id: int(fold) for c, fold in zip(known, folds, strict=True)},
        plain=criterion.aggregation or getattr(rules, criterion.scale),
        labels=len(known),
        right=0,
        plain_right=0,
        gained=0,
        lost=0,
        reliance={j: float(r) for j, r in zip(judges, whole.reliance, strict=True)},
    )
    return _judged(fitted, criterion, known, rules)


def _judged(
    fitted: Fitted, criterion: Criterion, known: Sequence[Labelled], rules: Rules
) -> Fitted:
    hits = []
    for cell in known:
        plain = settle(criterion, cell.ballots, rules)
        ours = settle(criterion, cell.ballots, rules, weights=fitted.for_item(cell.item_id))
        hits.append([v is not None and v.option == cell.truth for v in (ours, plain)])
    return fitted.model_copy(
        update={
            "right": sum(ours for ours, _ in hits),
            "plain_right": sum(plain for _, plain in hits),
            "gained": sum(ours and not plain for ours, plain in hits),
            "lost": sum(plain and not ours for ours, plain in hits),
        }
    )


def _too_few(criterion: Criterion, known: Sequence[Labelled]) -> str:
    from core.metrics.calibrating import FEWEST

    if len(known) < FEWEST:
        items = "item has" if len(known) == 1 else "items have"
        return (
            f"{len(known)} {items} a label and votes; {FEWEST} are needed. "
            f"Label {FEWEST - len(known)} more."
        )
    truths = {c.truth for c in known}
    if len(truths) == 1:
        label = criterion.choices[truths.pop()].label
        return f"All {len(known)} labels are {label!r}: label items that are not."
    return ""


def _votes(criterion: Criterion, ballots: Sequence[Ballot]) -> list[tuple[str, int]]:
    """Judge and level of every vote that is not an abstention."""
    return [
        (b.judge, criterion.scored.index(b.option))
        for b in ballots
        if not b.abstained and b.option in criterion.scored
    ]


def _matrix(criterion: Criterion, known: Sequence[Labelled]) -> tuple[list[str], list[int], Levels]:
    """Judges, the judge of every column, and levels; a judge has as many columns as votes."""
    import numpy as np

    cast = [_votes(criterion, c.ballots) for c in known]
    most: dict[str, int] = {}
    for votes in cast:
        for judge, _ in votes:
            most[judge] = max(most.get(judge, 0), sum(name == judge for name, _ in votes))
    judges = sorted(most)
    first, owner = dict[str, int](), list[int]()
    for place, judge in enumerate(judges):
        first[judge] = len(owner)
        owner += [place] * most[judge]
    levels = np.full((len(known), len(owner)), -1)
    for row, votes in enumerate(cast):
        used: dict[str, int] = {}
        for judge, level in votes:
            levels[row, first[judge] + used.get(judge, 0)] = level
            used[judge] = used.get(judge, 0) + 1
    return judges, owner, levels


def _weights(fit: Fit, judges: Sequence[str]) -> Weights:
    tables = (tuple(tuple(map(float, row)) for row in table) for table in fit.evidence)
    return Weights(
        prior=tuple(map(float, fit.prior)), judges=dict(zip(judges, tables, strict=True))
    )


def in_words(fitted: Fitted) -> str:
    """What a person is told of a fit."""
    n = fitted.labels
    verdict = (
        "It is offered because it was right more often."
        if fitted.better
        else "It is not offered, because it was not right more often."
    )
    return (
        f"On {n} labelled items, each settled by weights that had not seen it, calibrated was "
        f"right on {fitted.right} ({fitted.right / n:.0%}) and {fitted.plain} on "
        f"{fitted.plain_right} ({fitted.plain_right / n:.0%}): {fitted.gained} mended, "
        f"{fitted.lost} spoilt. {verdict}"
    )


def heard(fitted: Fitted) -> Mapping[str, float]:
    """How far each judge is listened to, from 0 (indistinguishable from chance) to 1."""
    return dict(sorted(fitted.reliance.items(), key=lambda pair: (-pair[1], pair[0])))
