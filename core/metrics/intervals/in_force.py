"""The accuracy of verdicts in force: those settled by people, and an estimate for the rest.

Cells are given as levels of a criterion each, negative if missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.clustered_share import clustered_share

#: The code in ``settled`` for a cell that people have not settled. Other negative numbers mean that
#: people could not decide.
UNSETTLED = -1
Levels = npt.NDArray[np.int64]
NO_LABEL = "No cell with a verdict has a label."
ALL_PICKED = (
    "Every label came from a review, which picks doubtful cells, so that nothing is known of the "
    "others."
)


class VerdictsInForce(NamedTuple):
    """The share of ``right`` verdicts in force, and the share ``before``, by votes alone.

    ``decided`` cells have an option as their verdict in force; people ``settled`` some of them.
    Both shares rest on ``labels`` of cells; ``rest`` cells are decided by votes alone.
    """

    right: Estimate
    before: Estimate
    decided: int
    settled: int
    labels: int
    rest: int


def verdicts_in_force(
    verdicts: Levels,
    labels: Levels,
    settled: Levels,
    items: Levels,
    *,
    weights: npt.NDArray[np.float64] | None = None,
    audited: Estimate | None = None,
    reason: str = ALL_PICKED,
    level: float = USUAL.level,
) -> VerdictsInForce:
    """Return the shares of right verdicts by votes alone, and in force after people settled some.

    Settled verdicts count as right. The rest is estimated from its labels, or from ``audited``: how
    often people confirm the votes' verdicts on all cells, by a random audit.

    Args:
        verdicts: the votes' verdicts, shape (cells,).
        labels: the labels, same shape.
        settled: the settled levels; ``UNSETTLED`` without one.
        items: the number of each cell's item; the cells of an item are correlated.
        weights: how many cells each label stands for; equal by default.
        audited: see above; ``None`` without an audit.
        reason: why nothing is known of the rest if only settled cells have labels.
        level: the probability with which the intervals hold the true value.

    >>> never = np.full(4, UNSETTLED)
    >>> labels = np.array([0, 1, 1, 1])
    >>> result = verdicts_in_force(np.array([0, 0, 1, 1]), labels, never, np.arange(4))
    >>> result.right.value, result.right == result.before, result.decided
    (0.75, True, 4)
    """
    voted, chosen = verdicts >= 0, settled >= 0
    unsettled = voted & (settled == UNSETTLED)
    labelled = unsettled & (labels >= 0)
    decided, number = int((chosen | unsettled).sum()), int(unsettled.sum())
    is_common = voted & chosen
    confirmed = int((is_common & (verdicts == settled)).sum())
    corrected = int(chosen.sum()) - confirmed
    share = clustered_share(
        verdicts[labelled] == labels[labelled],
        items[labelled],
        None if weights is None else weights[labelled],
        level,
    )
    count = int(chosen.sum()) + (0 if audited is not None else int(labelled.sum()))
    if audited is not None:
        before = audited
    elif not number and decided:
        before = Estimate.undefined(NO_LABEL)
        if is_common.any():
            before = Estimate.defined(confirmed / int(is_common.sum()), int(is_common.sum()))
    elif share.value is None:
        before = Estimate.undefined(reason if chosen.any() else NO_LABEL)
    else:
        before = _extended_share(share, number, confirmed, number + int(is_common.sum()))
    if not chosen.any():
        return VerdictsInForce(before, before, decided, 0, count, number)
    right = before
    if not number:
        right = Estimate.defined(1.0, count)
    elif before.value is not None:
        right = _extended_share(
            before, number + int(is_common.sum()), corrected, decided, int(chosen.sum())
        )
    return VerdictsInForce(
        right._replace(n=count), before, decided, int(chosen.sum()), count, number
    )


def _extended_share(
    share: Estimate, size: int, n_more: int, n_from: int, n_known: int = 0
) -> Estimate:
    """Return a share of cells, extended by ``n_more`` cells, of which ``n_known`` are right."""
    if size != n_from or n_more:
        share = share._replace(hits=None)
    # Settled verdicts are right, even if an audit's interval says otherwise.
    ends = [
        None if end is None else min(1.0, max(n_known / n_from, (end * size + n_more) / n_from))
        for end in (share.value, share.low, share.high)
    ]
    return share._replace(value=ends[0], low=ends[1], high=ends[2])
