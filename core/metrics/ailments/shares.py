"""Shares that should be small (changed answers) or should not be (an option's use)."""

from __future__ import annotations

from math import floor

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc

from core.metrics.ailments.effect import FEW, BiasEffect, too_few
from core.metrics.wilson import wilson


def share_above(hits: npt.ArrayLike, items: npt.ArrayLike, limit: float) -> BiasEffect:
    """The share of ``hits``, and the p of it being at most ``limit``.

    Cells of one item may go together, so all counts are divided by the design effect (Kish 1965,
    section 8.2), taken as no less than 1; then the test is the exact binomial one and the interval
    Wilson's. Undefined for fewer than 20 items.

    Args:
        hits: one truth value per cell, shape (cells,).
        items: the item of each cell, shape (cells,).
        limit: the share that is still healthy, in (0, 1).

    >>> effect = share_above([1] * 30 + [0] * 70, np.arange(100), 0.1)
    >>> effect.estimate, effect.p < 1e-6
    (0.3, True)
    """
    hit, of = np.asarray(hits, np.float64), np.asarray(items, np.int64)
    codes = np.unique(of, return_inverse=True)[1]
    number = int(codes.max()) + 1 if len(codes) else 0
    if number < FEW:
        return too_few(number)
    share = float(hit.mean())
    spread = _design(hit - share, codes, share)
    cells, found = len(hit) / spread, float(hit.sum()) / spread
    whole, counted = round(cells), min(round(found), round(cells))
    low, high = wilson(counted, whole)
    p = float(bdtrc(floor(found) - 1, whole, limit)) if found >= 1 else 1.0
    return BiasEffect(share, min(low, share), max(high, share), number, p)


def _design(residuals: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], p: float) -> float:
    """How many times larger the variance is than that of independent cells; at least 1."""
    if not 0 < p < 1:
        return 1.0
    together = float((np.bincount(codes, residuals) ** 2).sum())
    return max(1.0, together / (len(residuals) * p * (1 - p)))


def hardly_used(picked: int, n: int, limit: float) -> BiasEffect:
    """The share of items for which an option was picked, and the p of it being ``limit`` or more.

    The exact binomial test; the interval is Wilson's. ``picked`` counts the items for which anybody
    picked it, of ``n`` that anybody answered. Undefined for fewer than 20 items.

    >>> effect = hardly_used(0, 200, 0.05)
    >>> effect.estimate, round(effect.high, 3), f"{effect.p:.1e}"  # 0.95^200
    (0.0, 0.019, '3.5e-05')
    """
    if n < FEW:
        return too_few(n)
    low, high = wilson(picked, n)
    return BiasEffect(picked / n, low, high, n, float(bdtr(picked, n, limit)))
