"""Alternative strengths: Elo ratings averaged over orders, and strengths at equal answer length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from core.metrics.estimate import USUAL, Estimate, Interval
from core.metrics.intervals.bootstrap import SMALL, percentile
from core.metrics.intervals.draws import resample_items
from core.metrics.intervals.means import jackknife_error, t_interval
from core.metrics.measure import Array
from core.metrics.ranking.bradley_terry import FEWEST

# Elo ratings averaged over orders. A single Elo rating depends on the order of contests.
#
# Elo (1978) updates after each contest, so a pass over the same contests in another order gives
# other ratings. Here every figure is a mean over seeded orders; all orders run in parallel.

START, SCALE, STEP = 1000.0, 400.0, 4.0
#: Each pass takes time per contest, so fewer orders are used with more contests than this.
_WORK = 4_000_000
#: Contests of every pass prepared at a time, to stay in the cache.
_BLOCK = 256


def elo_ratings(
    items: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    points: npt.ArrayLike,
    *,
    systems: int,
    rng: np.random.Generator,
    orders: int = 200,
    resamples: int = 200,
    step: float = STEP,
    level: float = USUAL.level,
) -> list[Estimate]:
    """Return ratings after all contests; ``points`` are those of ``first``: 1, 0.5 or 0.

    A rating is the mean over orders, in Elo points: 400 points are odds of 10 to 1. Systems without
    contests keep ``START``. Intervals are over items (by t if they are few) and include the effect
    of the order of contests.
    """
    item, a, b = (np.asarray(x, np.int64) for x in (items, first, second))
    won = np.asarray(points, np.float64)
    contests = len(item)
    orders = max(10, min(orders, _WORK // max(1, contests)))
    resamples = max(50, min(resamples, _WORK // max(1, contests))) if resamples else 0
    passes = [rng.permutation(contests) for _ in range(orders)]
    number = len(np.unique(item))
    if number >= FEWEST and resamples:
        passes += _resampled_contests(item, resamples, rng)
    # All passes run in parallel, because a step for all passes takes as long as a step for a single
    # pass.
    played = _ratings_after(_padded_rows(passes), (a, b, won), systems, step)
    ratings, drawn = played[:orders], played[orders:]
    rating = ratings.mean(axis=0)
    if len(drawn) and number < SMALL:
        # Resamples of n items vary as if they had n degrees of freedom instead of n - 1, so correct
        # the spread.
        spread = drawn.std(axis=0) * np.sqrt(number / (number - 1))
        intervals = tuple(
            t_interval(float(mean), error, number, level)
            for mean, error in zip(rating, spread.tolist(), strict=True)
        )
    elif len(drawn):
        intervals = tuple(percentile(column, level) for column in drawn.T)
    else:
        reason = f"There are {number} items; intervals need at least {FEWEST}."
        intervals = (Interval(None, None, "percentile", reason),) * systems
    return [
        Estimate(value).with_interval(interval)
        for value, interval in zip(rating.tolist(), intervals, strict=True)
    ]


def _resampled_contests(
    item: npt.NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """Return the contests of resampled items, each resample in a random order."""
    _, index = np.unique(item, return_inverse=True)
    members = [np.flatnonzero(index == i) for i in range(int(index.max()) + 1)]
    ratings = []
    for _ in range(resamples):
        drawn = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        ratings.append(rng.permutation(drawn))
    return ratings


def _padded_rows(passes: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Return the passes as rows of one table; shorter passes are padded with -1."""
    table = np.full((len(passes), max(map(len, passes))), -1)
    for row, contests in zip(table, passes, strict=True):
        row[: len(contests)] = contests
    return table


def _ratings_after(
    orders: npt.NDArray[np.int64],
    contests: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array],
    systems: int,
    step: float,
) -> Array:
    """Return ratings of shape (orders, systems) after the contests in each order."""
    a, b, won = contests
    ratings = np.full((len(orders), systems), START)
    flat, power = ratings.ravel(), np.log(10) / SCALE
    starts = systems * np.arange(len(orders))
    for begin in range(0, orders.shape[1], _BLOCK):
        contest = orders[:, begin : begin + _BLOCK].T
        # Positions of both systems in the flat array of ratings. Position -1 receives steps of 0.
        first_index, second_index, points = a[contest] + starts, b[contest] + starts, won[contest]
        steps = np.where(contest >= 0, step, 0.0)
        for first, second, points_won, far in zip(
            first_index, second_index, points, steps, strict=True
        ):
            better, worse = flat[first], flat[second]
            change = far * (points_won - 1 / (1 + np.exp(power * (worse - better))))
            flat[first] = better + change
            flat[second] = worse - change
    return ratings


# Length-controlled comparison: strengths of systems if all answers were equally long.
#
# Logistic regression of contests on the systems' strengths and the difference in length, as in
# AlpacaEval 2 (Dubois et al. 2024), without its term for the difficulty of an instruction.

#: Too small to move estimates, but keeps resamples finite if one side won everything.
_RIDGE = 0.01
_STEPS = 50


class LengthControlled(NamedTuple):
    """``strengths`` (systems,) at equal length, in natural log units, mean 0, with intervals.

    ``ignored`` (systems,) are strengths by the same model without length, for comparison: a tie is
    half a win here, so they are smaller than in Davidson's model.

    ``slope`` is the effect of length in log odds: the advantage of an answer much longer than
    usual compared to the other (tanh of the difference in standard deviations is 1). ``spread`` is
    that standard deviation. ``share`` (systems,) is the expected share of points against an
    average system at equal length. ``leads`` (systems,) are intervals, at equal length, of the lead
    over each of the system that is first regardless of length; empty without resamples.
    """

    strengths: Array
    ignored: Array
    intervals: tuple[Interval, ...]
    slope: Estimate
    spread: float
    share: Array
    leads: tuple[Interval, ...] = ()


def length_controlled_strengths(
    items: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    points: npt.ArrayLike,
    lengths: npt.ArrayLike,
    *,
    systems: int,
    rng: np.random.Generator,
    resamples: int = 200,
    level: float = USUAL.level,
) -> LengthControlled | str:
    """Return strengths at equal length, or the reason why there are none.

    ``lengths`` has shape (contests, 2): the lengths of first and second. A tie (0.5) counts as half
    a win: a quasi-likelihood (Wedderburn 1974), right for the mean, with intervals over items: by
    jackknife and t if they are few, otherwise by resamples.
    """
    item, a, b = (np.asarray(x, np.int64) for x in (items, first, second))
    won, size = np.asarray(points, np.float64), np.asarray(lengths, np.float64)
    gap = size[:, 0] - size[:, 1] if len(size) else np.zeros(0)
    spread = float(gap.std()) if len(gap) else 0.0
    if spread == 0:
        return "All answers differ in length by the same amount, so no result on it."
    number = int(item.max()) + 1
    design = np.zeros((len(item), systems + 1))
    rows = np.arange(len(item))
    design[rows, a], design[rows, b] = 1.0, -1.0
    design[:, systems] = np.tanh(gap / spread)
    ones = np.ones((len(item), 1))
    point = _newton_coefficients(design, won, ones)[:, 0]
    # A column of zeros has the slope 0.
    ignored = _newton_coefficients(design * (np.arange(systems + 1) < systems), won, ones)[
        :systems, 0
    ]
    unknown = Interval(None, None, "percentile", f"Intervals need at least {FEWEST} items.")
    intervals, slope = [unknown] * systems, unknown
    leader, leads = int(ignored.argmax()), tuple[Interval, ...]()
    if number >= FEWEST and resamples and number < SMALL:
        without = _newton_coefficients(design, won, (1.0 - np.eye(number))[item])
        *intervals, slope = (
            t_interval(float(strength), error, number, level)
            for strength, error in zip(point, jackknife_error(without).tolist(), strict=True)
        )
        ahead = point[leader] - point[:systems]
        lead_errors = jackknife_error(without[leader] - without[:systems])
        leads = tuple(
            t_interval(float(lead), error, number, level)
            for lead, error in zip(ahead, lead_errors.tolist(), strict=True)
        )
    elif number >= FEWEST and resamples:
        weights = resample_items(number, resamples, rng)[item]
        drawn = _newton_coefficients(design, won, weights)
        *intervals, slope = (percentile(row, level) for row in drawn)
        leads = tuple(percentile(drawn[leader] - row, level) for row in drawn[:systems])
    return LengthControlled(
        point[:systems],
        ignored,
        tuple(intervals),
        Estimate(float(point[systems])).with_interval(slope),
        spread,
        np.array(
            [expit(np.delete(s - point[:systems], i)).mean() for i, s in enumerate(point[:systems])]
        ),
        leads,
    )


def _newton_coefficients(design: Array, won: Array, weights: Array) -> Array:
    """Return coefficients (columns, resamples) by Newton's method; strengths have mean 0."""
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
