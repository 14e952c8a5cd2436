"""Does a longer text get more for the same truth? A slope within strata, which shows no cause."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.ailments.effect import EXACT, FEW, BiasEffect, Null, alike, judged, too_few


def length_slope(
    values: npt.ArrayLike,
    log_length: npt.ArrayLike,
    strata: npt.ArrayLike,
    items: npt.ArrayLike,
    null: Null | None = None,
) -> BiasEffect:
    """How much a value rises per unit of ``log_length`` among cells of the same stratum.

    With strata (question x true level) and lengths as log2, the estimate is what a doubling of the
    length goes with in the answers to texts of the same level: a judge whose errors depend on the
    level only has slope 0 however truth and length go together. Where the level is a label that
    errs, or tells less than the judge sees, longer texts that are better have a slope without any
    regard for length. Least squares with an effect of
    each stratum; the standard error leaves out one item at a time (Cameron and Miller 2015,
    section VI.B, the jackknife form), so cells of one item may go together.

    Args:
        values: the value of each answer, shape (cells,).
        log_length: the logarithm of the text's length, shape (cells,).
        strata: what was asked and is true, shape (cells,), whole numbers.
        items: the item of each cell, shape (cells,), whole numbers.
        null: what a healthy rater has; 0 on both sides by default.

    Undefined for fewer than 20 items, and where lengths do not vary within any stratum.

    >>> length = np.tile(np.arange(10.0), 10)
    >>> noise = np.tile([0.1, -0.1, -0.1, 0.1, 0.0], 20)
    >>> effect = length_slope(0.2 * length + noise, length, np.zeros(100, int), np.arange(100))
    >>> round(effect.estimate, 2), effect.p < 1e-9
    (0.2, True)
    """
    stratum = np.unique(np.asarray(strata), return_inverse=True)[1]
    codes = np.unique(np.asarray(items), return_inverse=True)[1]
    n = int(codes.max()) + 1 if len(codes) else 0
    if n < FEW:
        return too_few(n)
    x = _within(np.asarray(log_length, np.float64), stratum)
    y = _within(np.asarray(values, np.float64), stratum)
    cross, square = np.bincount(codes, x * y), np.bincount(codes, x * x)
    if square.sum() - square.max() <= EXACT:
        return BiasEffect.undefined("Texts that deserve the same all have the same length.", n)
    slope = float(cross.sum() / square.sum())
    left_out = (cross.sum() - cross) / (square.sum() - square)
    error = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    against = null or Null()
    return judged(slope, error, n, against) if error > EXACT else alike(slope, n, against)


def _within(
    values: npt.NDArray[np.float64], stratum: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    means = np.bincount(stratum, values) / np.maximum(np.bincount(stratum), 1)
    found: npt.NDArray[np.float64] = values - means[stratum]
    return found
