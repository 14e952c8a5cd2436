"""Length-controlled comparison: how strong systems were if all answers were equally long.

Logistic regression of contests on the systems' strengths and the difference in length, as in
AlpacaEval 2 (Dubois et al. 2024), without its term for how hard an instruction is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from core.metrics.bootstrap import Interval, percentile, resample_items
from core.metrics.measure import Array
from core.metrics.ranking_strengths import FEWEST

#: So small that it moves nothing, and keeps resamples finite in which one side won everything.
_RIDGE = 0.01
_STEPS = 50


class LengthControlled(NamedTuple):
    """``strengths`` (systems,) at equal length, in natural log units, mean 0, with intervals.

    ``ignored`` (systems,) are strengths by the same model without length, to compare them with:
    a tie is half a win here, so they are smaller than those of Davidson's model.

    ``slope`` is the effect of length in log odds: what an answer gains that is longer than the
    other by much more than usual (tanh of the difference in standard deviations is 1). ``spread``
    is that standard deviation. ``share`` (systems,) is the expected share of points against an
    average system at equal length.
    """

    strengths: Array
    ignored: Array
    intervals: tuple[Interval, ...]
    slope: float
    slope_interval: Interval
    spread: float
    share: Array


def length_controlled(
    items: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    points: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    systems: int,
    rng: np.random.Generator,
    resamples: int = 200,
) -> LengthControlled | str:
    """Strengths at equal length, or the reason why there are none.

    ``lengths`` has shape (contests, 2): the lengths of first and second. A tie (0.5) counts as
    half a win: a quasi-likelihood (Wedderburn 1974), right for the mean, with intervals by
    bootstrap over items.
    """
    item, a, b = (np.asarray(x, np.int64) for x in (items, first, second))
    won, size = np.asarray(points, np.float64), np.asarray(lengths, np.float64)
    gap = size[:, 0] - size[:, 1] if len(size) else np.zeros(0)
    spread = float(gap.std()) if len(gap) else 0.0
    if spread == 0:
        return "All answers differ in length by the same amount, so nothing can be told of it."
    number = int(item.max()) + 1
    design = np.zeros((len(item), systems + 1))
    rows = np.arange(len(item))
    design[rows, a], design[rows, b] = 1.0, -1.0
    design[:, systems] = np.tanh(gap / spread)
    once = np.ones((len(item), 1))
    point = _fitted(design, won, once)[:, 0]
    # A column of zeros has the slope 0.
    ignored = _fitted(design * (np.arange(systems + 1) < systems), won, once)[:systems, 0]
    unknown = Interval(None, None, "percentile", f"Intervals need at least {FEWEST} items.")
    found, slope = (unknown,) * systems, unknown
    if number >= FEWEST and resamples:
        weights = resample_items(number, resamples, rng)[item]
        drawn = _fitted(design, won, weights)
        found = tuple(percentile(row) for row in drawn[:systems])
        slope = percentile(drawn[systems])
    return LengthControlled(
        point[:systems],
        ignored,
        found,
        float(point[systems]),
        slope,
        spread,
        np.array(
            [expit(np.delete(s - point[:systems], i)).mean() for i, s in enumerate(point[:systems])]
        ),
    )


def _fitted(design: Array, won: Array, weights: Array) -> Array:
    """Coefficients of shape (columns, resamples) by Newton's method; strengths have mean 0."""
    columns, resamples = design.shape[1], weights.shape[1]
    values = np.zeros((columns, resamples))
    products = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)
    for _ in range(_STEPS):
        chance = expit(design @ values)
        gradient = design.T @ (weights * (won[:, None] - chance)) - _RIDGE * values
        spread = weights * chance * (1 - chance)
        information = (products.T @ spread).T.reshape(resamples, columns, columns)
        information += _RIDGE * np.eye(columns)
        step = np.linalg.solve(information, gradient.T[:, :, None])[:, :, 0].T
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=0), 1e-300))
        values += step
        if np.abs(step).max() < 1e-10:
            break
    values[:-1] -= values[:-1].mean(axis=0)
    return values
