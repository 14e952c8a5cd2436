"""Replay a cascade at many thresholds: the share that the first judge decides, and its accuracy.

Cells (answers to one criterion of one item) escalate to the other judges if the first is less
confident than a threshold. Votes of both are known, so every threshold can be tried on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.bias.effects import BiasEffect
from core.metrics.bias.judge_bias import clustered_mean
from core.metrics.intervals.clustered_share import clustered_share
from core.metrics.measure import Array

Flags = npt.NDArray[np.bool_]
#: The thresholds to try.
THRESHOLDS = tuple(step / 50 for step in range(51))
#: How far the accuracy of a cheaper threshold may be below the best.
TOLERANCE = 0.01
FOLDS = 10


class ReplayedCells(NamedTuple):
    """Cells with a label, shape (cells,) each.

    ``goes``: the cell escalates at any threshold (no verdict, an abstention, a split); ``sure``:
    the first stage's confidence, NaN if unknown; ``first`` and ``then``: whether each stage's
    verdict is the label; ``items``: the item of each cell. ``decided``, shape (cells, 2): whether
    each stage gives an option at all.
    """

    goes: Flags
    sure: Array
    first: Flags
    then: Flags
    items: npt.NDArray[np.int64]
    decided: Flags


class CascadePoint(NamedTuple):
    """A threshold's result: the shares of cells that escalate, are right, and are decided."""

    threshold: float
    goes_on: float
    right: BiasEffect
    decided: float


def escalated_cells(cells: ReplayedCells, threshold: float) -> Flags:
    """Return which cells escalate at a threshold; cells without a confidence do not.

    >>> split, all_right = np.array([False, False, True]), np.ones(3, bool)
    >>> sure = np.array([0.4, 0.6, 0.9])
    >>> items, decided = np.arange(3), np.ones((3, 2), bool)
    >>> cells = ReplayedCells(split, sure, all_right, all_right, items, decided)
    >>> escalated_cells(cells, 0.5).tolist()
    [True, False, True]
    """
    return np.asarray(cells.goes | (np.nan_to_num(cells.sure, nan=1.0) < threshold), np.bool_)


def right_cells(cells: ReplayedCells, threshold: float) -> Flags:
    """Return which cells are right at a threshold."""
    return np.where(escalated_cells(cells, threshold), cells.then, cells.first)


def decided_cells(cells: ReplayedCells, threshold: float) -> Flags:
    """Return which cells are decided at a threshold; undecided cells do not count as right."""
    return np.where(escalated_cells(cells, threshold), cells.decided[:, 1], cells.decided[:, 0])


def share_right(which: Flags, items: npt.NDArray[np.int64]) -> BiasEffect:
    """Return the share of flagged cells; undefined for fewer than 20 items.

    With the interval of ``clustered_share``, because that of ``clustered_mean`` is too short near 0
    and 1.

    >>> share = share_right(np.ones(40, bool), np.repeat(np.arange(20), 2))
    >>> share.estimate, round(share.low, 2), share.high
    (1.0, 0.82, 1.0)
    """
    mean = clustered_mean(which * 1.0, items)
    if mean.estimate is None:
        return mean
    share = clustered_share(which, items)
    return mean._replace(low=share.low, high=share.high)


def cascade_curve(cells: ReplayedCells) -> list[CascadePoint]:
    """Return every threshold's result; an item's cells are clustered (``share_right``)."""
    return [
        CascadePoint(
            threshold,
            float(escalated_cells(cells, threshold).mean()),
            share_right(right_cells(cells, threshold), cells.items),
            float(decided_cells(cells, threshold).mean()),
        )
        for threshold in THRESHOLDS
    ]


def cheapest_threshold(cells: ReplayedCells, tolerance: float = TOLERANCE) -> float:
    """Return the lowest threshold whose accuracy is within ``tolerance`` of the best."""
    shares = [float(right_cells(cells, threshold).mean()) for threshold in THRESHOLDS]
    best = max(shares)
    return next(
        threshold
        for threshold, share in zip(THRESHOLDS, shares, strict=True)
        if share >= best - tolerance
    )


def held_out_result(
    cells: ReplayedCells, tolerance: float = TOLERANCE, *, seed: int = 0
) -> tuple[float, BiasEffect, float] | None:
    """Return the result of thresholds chosen on nine tenths of the items, tried on the others: the
    shares of cells that escalate, are right, and are decided.

    Figures at a chosen threshold are optimistic, since they determined the choice; these are not.
    ``None`` with fewer than two items.
    """
    numbers = np.unique(cells.items)
    if len(numbers) < 2:
        return None
    folds = np.random.default_rng(seed).permutation(np.arange(len(numbers)) % FOLDS)
    fold = folds[np.searchsorted(numbers, cells.items)]
    accepted, well, answered = np.zeros((3, len(cells.items)), np.bool_)
    for at in range(int(folds.max()) + 1):
        tried_here = fold == at
        threshold = cheapest_threshold(_cells_where(cells, ~tried_here), tolerance)
        accepted[tried_here] = escalated_cells(_cells_where(cells, tried_here), threshold)
        well[tried_here] = right_cells(_cells_where(cells, tried_here), threshold)
        answered[tried_here] = decided_cells(_cells_where(cells, tried_here), threshold)
    return float(accepted.mean()), share_right(well, cells.items), float(answered.mean())


def _cells_where(cells: ReplayedCells, flags: Flags) -> ReplayedCells:
    return ReplayedCells._make(column[flags] for column in cells)
