"""The share that is truly so, where judges say yes or no and people tell how often that is right.

Judges who find nine of ten that are so, and take two of ten others for it, say yes to a share that
is neither. With both rates known from labels, the true share follows (Rogan and Gladen 1978); its
interval holds what is not known of either (Lang and Reiczigel 2014, as Lee and others 2025 advise
for reporting what a model judged).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate, normal_reach, wilson

#: So many labels of either answer are the least.
FEWEST_OF_EACH = 5
#: Votes must surely tell the two apart, at 95%, whichever level intervals have.
_SURE = normal_reach(0.95)


class HitRates(NamedTuple):
    """``share`` is the true share of yes, corrected; ``said`` what judges say, in [0, 1].

    ``found`` (sensitivity): of what is so, the share that judges say is; ``cleared``
    (specificity): of what is not so, the share that they say is not.
    """

    share: Estimate
    said: float
    found: Estimate
    cleared: Estimate


class _Rate(NamedTuple):
    """A share, and how many equal labels it is worth."""

    value: float
    worth: float

    def estimate(self, z: float) -> Estimate:
        """The share with its interval (Wilson)."""
        n = max(1, round(self.worth))
        low, high = wilson(min(n, round(self.value * n)), n, z)
        return Estimate(self.value, min(low, self.value), max(high, self.value), n=n)


def corrected_share(
    said: npt.ArrayLike,
    values: npt.ArrayLike,
    chances: npt.ArrayLike,
    level: float = USUAL.level,
) -> HitRates:
    """The share of cells that are truly so, with its interval.

    Args:
        said: whether judges say so, 0 or 1, shape (cells,).
        values: whether people do, 0 or 1, NaN where nobody looked, same shape.
        chances: the chance each cell had of being labelled, in (0, 1], same shape; only that of
            labelled ones counts.
        level: how often intervals shall hold the true value.

    It speaks of cells like these. Labels with other chances weigh 1 / chance, and count as many as
    their weights are worth (Kish 1965). Undefined with fewer than ``FEWEST_OF_EACH`` labels of
    either answer, and where judges do not surely tell the two apart.

    Lee and others: with a sensitivity of .9 and a specificity of .7, 60 % said yes mean half:

    >>> so = np.r_[np.ones(100), np.zeros(100)]
    >>> says = np.r_[np.ones(90), np.zeros(10), np.ones(30), np.zeros(70)]
    >>> round(corrected_share(says, so, np.ones(200)).share.value, 3)
    0.5
    """
    f, y = np.asarray(said, np.float64), np.asarray(values, np.float64)
    weights = 1 / np.asarray(chances, np.float64)
    known, z = np.isfinite(y), normal_reach(level)
    raw = float(f.mean()) if len(f) else 0.0
    yes, no = known & (y == 1), known & (y == 0)
    counts = int(yes.sum()), int(no.sum())
    found, cleared = _rate(f[yes], weights[yes]), _rate(1 - f[no], weights[no])
    if min(counts) < FEWEST_OF_EACH:
        why = (
            f"People said yes to {counts[0]} and no to {counts[1]} of the cells drawn; it takes "
            f"{FEWEST_OF_EACH} of each."
        )
        return _undefined(why, raw, (found, cleared), sum(counts), z)
    if not _tells_apart(found, cleared):
        why = "The votes do not surely tell the one answer from the other."
        return _undefined(why, raw, (found, cleared), sum(counts), z)
    return HitRates(
        _share(raw, len(f), found, cleared, z)._replace(n=sum(counts)),
        raw,
        found.estimate(z),
        cleared.estimate(z),
    )


def _rate(hits: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> _Rate:
    total = float(weights.sum())
    if not total:
        return _Rate(0.0, 0.0)
    return _Rate(float(hits @ weights) / total, total**2 / float(weights @ weights))


def _undefined(why: str, raw: float, both: tuple[_Rate, _Rate], n: int, z: float) -> HitRates:
    rates = [
        one.estimate(z) if one.worth else Estimate.undefined("Nobody said so.") for one in both
    ]
    return HitRates(Estimate.undefined(why, n), raw, *rates)


def _tells_apart(found: _Rate, cleared: _Rate) -> bool:
    one, other = _smooth(found), _smooth(cleared)
    return one.value + other.value - 1 > _SURE * sqrt(_variance(one) + _variance(other))


def _smooth(rate: _Rate) -> _Rate:
    """With one hit and one miss more."""
    return _Rate((rate.value * rate.worth + 1) / (rate.worth + 2), rate.worth + 2)


def _variance(rate: _Rate) -> float:
    return rate.value * (1 - rate.value) / rate.worth


def _share(raw: float, n: int, found: _Rate, cleared: _Rate, z: float) -> Estimate:
    """The value as Rogan and Gladen have it; the ends by Lang and Reiczigel's formula 6."""
    value = (raw + cleared.value - 1) / (found.value + cleared.value - 1)
    one, other = _smooth(found), _smooth(cleared)
    said = _Rate((n * raw + z**2 / 2) / (n + z**2), n + z**2)
    apart = one.value + other.value - 1
    middle = (said.value + other.value - 1) / apart
    shift = 2 * z**2 * (middle * _variance(one) - (1 - middle) * _variance(other))
    square = _variance(said) + middle**2 * _variance(one) + (1 - middle) ** 2 * _variance(other)
    reach = z * sqrt(square) / apart
    low, high, value = (
        min(1.0, max(0.0, end)) for end in (middle + shift - reach, middle + shift + reach, value)
    )
    return Estimate(value, min(low, value), max(high, value))
