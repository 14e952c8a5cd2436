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
from core.metrics.measure import Array

Flags = npt.NDArray[np.bool_]
#: The thresholds that are tried.
THRESHOLDS = tuple(step / 50 for step in range(51))
#: How much less often right than the best threshold a cheaper one may be.
TOLERANCE = 0.01
SPLITS = 20


class Replayed(NamedTuple):
    """Cells with a label, shape (cells,) each.

    ``goes``: it goes on at any threshold (no verdict, an abstention, a split); ``sure`` how sure
    the first stage was, NaN where it did not say; ``first`` and ``then`` whether the verdict of
    each stage is the label; ``items`` the item of each.
    """

    goes: Flags
    sure: Array
    first: Flags
    then: Flags
    items: npt.NDArray[np.int64]


class CascadePoint(NamedTuple):
    """What a threshold does: the share of cells that go on, and the share that is right."""

    threshold: float
    goes_on: float
    right: BiasEffect


class HeldOut(NamedTuple):
    """What becomes of a threshold that was chosen on half of the items, on the other half."""

    goes_on: float
    right: float


def goes_on(cells: Replayed, threshold: float) -> Flags:
    """Which cells go on at a threshold; who does not say how sure it is stays.

    >>> split, all_right = np.array([False, False, True]), np.ones(3, bool)
    >>> sure = np.array([0.4, 0.6, 0.9])
    >>> goes_on(Replayed(split, sure, all_right, all_right, np.arange(3)), 0.5).tolist()
    [True, False, True]
    """
    return np.asarray(cells.goes | (np.nan_to_num(cells.sure, nan=1.0) < threshold), np.bool_)


def right(cells: Replayed, threshold: float) -> Flags:
    """Which cells are right at a threshold."""
    return np.where(goes_on(cells, threshold), cells.then, cells.first)


def curve(cells: Replayed, thresholds: Sequence[float] = THRESHOLDS) -> list[CascadePoint]:
    """Every threshold; an item's cells go together in the interval (``clustered_mean``)."""
    return [
        CascadePoint(
            threshold,
            float(goes_on(cells, threshold).mean()),
            clustered_mean(right(cells, threshold) * 1.0, cells.items),
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
    """The threshold chosen on a random half of the items and tried on the other, both ways.

    The mean over ``SPLITS`` such halves: what the figures at the chosen threshold, which were
    looked at to choose it, are too kind about. ``None`` with fewer than two items.
    """
    numbers = np.unique(cells.items)
    if len(numbers) < 2:
        return None
    rng, shares = np.random.default_rng(seed), list[tuple[float, float]]()
    for _ in range(SPLITS):
        half = np.isin(cells.items, rng.permutation(numbers)[: len(numbers) // 2])
        for mine in (half, ~half):
            threshold = cheapest(_of(cells, mine), tolerance)
            other = _of(cells, ~mine)
            shares.append(
                (
                    float(goes_on(other, threshold).mean()),
                    float(right(other, threshold).mean()),
                )
            )
    means = np.mean(shares, axis=0)
    return HeldOut(float(means[0]), float(means[1]))


def _of(cells: Replayed, which: Flags) -> Replayed:
    return Replayed(
        cells.goes[which],
        cells.sure[which],
        cells.first[which],
        cells.then[which],
        cells.items[which],
    )
