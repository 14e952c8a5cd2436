"""Does one impression colour all answers? Correlation between questions against a reference's."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from core.metrics.ailments.effect import FEW, BiasEffect, Null, jackknifed, too_few
from core.metrics.measure import ROUNDING, Array, ratio, root


class Halo(NamedTuple):
    """``own`` and ``reference`` are mean correlations; the effect is their difference."""

    effect: BiasEffect
    own: float | None
    reference: float | None


def halo(own: Array, reference: Array, null: Null | None = None) -> Halo:
    """How much closer a rater's answers to different questions go together than the reference's.

    The mean Pearson correlation over pairs of questions, of the rater less of the reference, both
    on the same items (Cooper 1981: a halo is observed correlation above the true one); interval and
    p by leaving out items. A rater's random errors only lower its correlations. Null: 0, above.

    Args:
        own: the rater's values, shape (items, questions); NaN where there is none.
        reference: the reference's, same shape.
        null: what a healthy rater has.

    A pair takes part with 20 items that both answered and no constant column. Undefined without
    such a pair.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.normal(size=(200, 3))
    >>> coloured = truth + 2 * rng.normal(size=(200, 1))
    >>> round(halo(coloured, truth).own, 1)
    0.8
    """
    both = ~np.isnan(own) & ~np.isnan(reference)
    total, n = np.zeros(2), len(own)
    left_out, used, pairs = np.zeros((2, n)), np.zeros(n, np.bool_), 0
    for a, b in combinations(range(own.shape[1]), 2):
        rows = both[:, a] & both[:, b]
        if rows.sum() < FEW:
            continue
        found = [_left_out(v[rows, a], v[rows, b]) for v in (own, reference)]
        if any(np.isnan(point) or np.isnan(without).any() for point, without in found):
            continue
        pairs, used = pairs + 1, used | rows
        for side, (point, without) in enumerate(found):
            total[side] += point
            left_out[side] += point
            left_out[side, rows] += without - point
    if not pairs:
        items = int((both.sum(axis=1) >= 2).sum())
        short = too_few(items) if items < FEW else None
        reason = "No two questions vary enough on items that both answered."
        return Halo(short or BiasEffect.undefined(reason, items), None, None)
    mine, theirs = total / pairs
    differences = (left_out[0] - left_out[1])[used] / pairs
    effect = jackknifed(float(mine - theirs), differences, null or Null(0.0, "above"))
    return Halo(effect, float(mine), float(theirs))


def _left_out(x: Array, y: Array) -> tuple[float, Array]:
    """Pearson's r, and r without each item; NaN where a column is constant."""
    x, y = x - x.mean(), y - y.mean()
    terms = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    whole = terms.sum(axis=1, keepdims=True)
    return float(_r(whole)[0]), _r(whole - terms)


def _r(sums: Array) -> Array:
    n, x, y, xx, yy, xy = sums
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    flat = (spread_x <= ROUNDING * n * xx) | (spread_y <= ROUNDING * n * yy)
    found = ratio(n * xy - x * y, root(spread_x * spread_y))
    return np.where(flat, np.nan, found)
