"""A cascade replayed at many thresholds: who decides alone, how often that is right.

Cells (answers to one criterion of one item) whose first judge is less sure than a threshold go on
to those who come after it. Votes of both are known, so every threshold can be tried on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.bias.effects import BiasEffect
from core.metrics.bias.judge_bias import clustered_mean
from core.metrics.intervals.clustered_share import clustered_share
from core.metrics.measure import Array

Flags = npt.NDArray[np.bool_]
#: The thresholds that are tried.
THRESHOLDS = tuple(step / 50 for step in range(51))
#: How much less often right than the best threshold a cheaper one may be.
TOLERANCE = 0.01
FOLDS = 10


class Replayed(NamedTuple):
    """Cells with a label, shape (cells,) each.

    ``goes``: it goes on at any threshold (no verdict, an abstention, a split); ``sure`` how sure
    the first stage was, NaN where it did not say; ``first`` and ``then`` whether the verdict of
    each stage is the label; ``items`` the item of each. ``decided``, shape (cells, 2): whether each
    stage gives an option at all.
    """

    goes: Flags
    sure: Array
    first: Flags
    then: Flags
    items: npt.NDArray[np.int64]
    decided: Flags


class CascadePoint(NamedTuple):
    """What a threshold does: the shares of cells that go on, are right, and are decided at all."""

    threshold: float
    goes_on: float
    right: BiasEffect
    decided: float


class HeldOut(NamedTuple):
    """What becomes of thresholds that were chosen without the items that they are tried on."""

    goes_on: float
    right: BiasEffect
    decided: float


def goes_on(cells: Replayed, threshold: float) -> Flags:
    """Which cells go on at a threshold; who does not say how sure it is stays.

    >>> split, all_right = np.array([False, False, True]), np.ones(3, bool)
    >>> sure = np.array([0.4, 0.6, 0.9])
    >>> cells = Replayed(split, sure, all_right, all_right, np.arange(3), np.ones((3, 2), bool))
    >>> goes_on(cells, 0.5).tolist()
    [True, False, True]
    """
    return np.asarray(cells.goes | (np.nan_to_num(cells.sure, nan=1.0) < threshold), np.bool_)


def right(cells: Replayed, threshold: float) -> Flags:
    """Which cells are right at a threshold."""
    return np.where(goes_on(cells, threshold), cells.then, cells.first)


def decided(cells: Replayed, threshold: float) -> Flags:
    """Which cells have an option at a threshold; the others are no right ones."""
    return np.where(goes_on(cells, threshold), cells.decided[:, 1], cells.decided[:, 0])


def share_right(which: Flags, items: npt.NDArray[np.int64]) -> BiasEffect:
    """The share of cells of which something holds; undefined for fewer than 20 items.

    With the interval of ``clustered_share``: that of ``clustered_mean`` is too short near 0 and 1.

    >>> found = share_right(np.ones(40, bool), np.repeat(np.arange(20), 2))
    >>> found.estimate, round(found.low, 2), found.high
    (1.0, 0.82, 1.0)
    """
    found = clustered_mean(which * 1.0, items)
    if found.estimate is None:
        return found
    share = clustered_share(which, items)
    return found._replace(low=share.low, high=share.high)


def curve(cells: Replayed, thresholds: Sequence[float] = THRESHOLDS) -> list[CascadePoint]:
    """Every threshold; an item's cells go together in the interval (``share_right``)."""
    return [
        CascadePoint(
            threshold,
            float(goes_on(cells, threshold).mean()),
            share_right(right(cells, threshold), cells.items),
            float(decided(cells, threshold).mean()),
        )
        for threshold in thresholds
    ]


def cheapest(
    cells: Replayed, tolerance: float = TOLERANCE, thresholds: Sequence[float] = THRESHOLDS
) -> float:
    """The lowest threshold that is right as often as the best one, but for ``tolerance``."""
    shares = [float(right(cells, one).mean()) for one in thresholds]
    best = max(shares)
    return next(
        one for one, share in zip(thresholds, shares, strict=True) if share >= best - tolerance
    )


def held_out(cells: Replayed, tolerance: float = TOLERANCE, *, seed: int = 0) -> HeldOut | None:
    """The threshold chosen on nine tenths of the items and tried on the last tenth, in turn.

    Figures at the chosen threshold were looked at to choose it and are too kind; these were not.
    ``None`` with fewer than two items.
    """
    numbers = np.unique(cells.items)
    if len(numbers) < 2:
        return None
    folds = np.random.default_rng(seed).permutation(np.arange(len(numbers)) % FOLDS)
    fold = folds[np.searchsorted(numbers, cells.items)]
    on, well, given = np.zeros((3, len(cells.items)), np.bool_)
    for at in range(int(folds.max()) + 1):
        mine = fold == at
        threshold = cheapest(_of(cells, ~mine), tolerance)
        on[mine] = goes_on(_of(cells, mine), threshold)
        well[mine] = right(_of(cells, mine), threshold)
        given[mine] = decided(_of(cells, mine), threshold)
    return HeldOut(float(on.mean()), share_right(well, cells.items), float(given.mean()))


def _of(cells: Replayed, which: Flags) -> Replayed:
    return Replayed._make(column[which] for column in cells)
