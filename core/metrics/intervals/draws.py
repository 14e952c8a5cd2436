"""Draw resamples of items, or of patterns of equal ratings, with replacement."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from core.metrics.measure import Array


def resample_items(items: int, resamples: int, rng: np.random.Generator) -> Array:
    """Return how often each item is drawn, shape (items, resamples); columns add up to ``items``.

    The bootstrap of Efron (1979). All criteria share the draws, so that figures over several
    criteria keep their correlation.

    >>> resample_items(3, 2, np.random.default_rng(0)).sum(axis=0).tolist()
    [3.0, 3.0]
    """
    drawn = rng.integers(0, items, size=(items, resamples))
    drawn *= resamples
    drawn += np.arange(resamples)
    counts = np.bincount(drawn.ravel(), minlength=resamples * items)
    return counts.reshape(items, resamples).astype(np.float64)


def resample_patterns(
    times: npt.NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> Array:
    """Return how often each pattern is drawn, shape (patterns, resamples).

    Drawing n items with replacement is drawing patterns from Multinomial(n, times / n), exactly
    (Efron and Tibshirani 1993, section 6.2).

    >>> resample_patterns(np.array([2, 1]), 2, np.random.default_rng(0)).sum(axis=0).tolist()
    [3.0, 3.0]
    """
    n = int(times.sum())
    return rng.multinomial(n, times / n, size=resamples).T.astype(np.float64, order="C")


#: With at least ``MANY`` items, patterns of at least ``OFTEN`` items are drawn from a normal
#: distribution.
MANY, OFTEN = 5_000, 25
#: Rarer patterns are drawn separately if at most this share of all items has such a pattern.
APART = 0.05
#: Resamples drawn at a time, to fit the processor's cache.
_PORTION = 500


def resample_many(times: npt.NDArray[np.int64], resamples: int, rng: np.random.Generator) -> Array:
    """Return the draws of ``resample_patterns``, ten times as fast with many items, and as
    accurate.

    Patterns with fewer than ``OFTEN`` items are drawn from their own binomial distributions, all
    others together get the remainder. It is divided by a normal draw with the mean and covariance
    of the multinomial (McCullagh and Nelder 1989, section 5.3.3), so columns add up, but counts are
    not whole numbers. Figures are sums of many counts (docs/decisions/0008, bench/drawn.py).

    >>> times = np.array([60_000, 40_000, 3])
    >>> drawn = resample_many(times, 4, np.random.default_rng(0))
    >>> drawn.sum(axis=0).round(1).tolist(), (drawn[2] % 1).tolist()
    ([100003.0, 100003.0, 100003.0, 100003.0], [0.0, 0.0, 0.0, 0.0])
    """
    n, often = int(times.sum()), np.flatnonzero(times >= OFTEN)
    if n < MANY or not len(often):
        return resample_patterns(times, resamples, rng)
    sampled = np.empty((len(times), resamples))
    rare = np.flatnonzero(times < OFTEN)
    sampled[rare] = _rare_draws(times[rare], n, resamples, rng)
    remainder = n - sampled[rare].sum(axis=0)
    shares = (times[often] / times[often].sum())[:, None]
    small, roots = shares.astype(np.float32), np.sqrt(shares).astype(np.float32)
    spread = np.sqrt(remainder).astype(np.float32)
    for start in range(0, resamples, _PORTION):
        part = slice(start, min(start + _PORTION, resamples))
        noise = rng.standard_normal((len(often), part.stop - start), np.float32)
        noise *= roots
        noise -= small * noise.sum(axis=0)
        noise *= spread[part]
        drawn = shares * remainder[part]
        drawn += noise
        sampled[often, part] = np.maximum(drawn, 0.0, out=drawn)
    return sampled


def _rare_draws(
    times: npt.NDArray[np.int64], n: int, resamples: int, rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Return how often patterns of few of the ``n`` items are drawn, shape (patterns, resamples).

    Patterns with a small share of all items are almost independent. Probabilities are multiples of
    2 ** -16.
    """
    total = int(times.sum())
    if total > APART * n:
        shares = np.append(times, n - total) / n
        return rng.multinomial(n, shares, size=resamples).T[:-1]
    drawn = np.zeros((len(times), resamples), np.uint8)
    for size in np.unique(times[times > 0]).tolist():
        of_size = np.flatnonzero(times == size)
        cumulative = np.rint(bdtr(np.arange(128), n, size / n) * 2**16).astype(np.int64)
        outcome = np.repeat(np.arange(128, dtype=np.uint8), np.diff(cumulative, prepend=0))
        drawn[of_size] = outcome[rng.integers(0, 2**16, (len(of_size), resamples), np.uint16)]
    return drawn
