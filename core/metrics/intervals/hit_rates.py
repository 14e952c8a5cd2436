"""The true share of yes, if judges answer yes or no and labels show their error rates.

If judges detect nine of ten true cases and also flag two of ten others, their share of yes is
biased. With both rates known from labels, the true share follows (Rogan and Gladen 1978). The
interval includes the uncertainty of both rates (Lang and Reiczigel 2014, recommended by Lee and
others 2025 for reporting the results of model judges).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate, normal_reach, wilson

#: The least number of labels of either answer.
FEWEST_OF_EACH = 5
#: Judges must distinguish the two answers with 95% confidence, whatever level the intervals have.
_SURE = normal_reach(0.95)


class HitRates(NamedTuple):
    """The corrected ``share`` of yes; ``said`` is the judges' share of yes.

    ``found`` (sensitivity): the share of true cases that judges call yes; ``cleared``
    (specificity): the share of the others that they call no.
    """

    share: Estimate
    said: float
    found: Estimate
    cleared: Estimate


class _Rate(NamedTuple):
    """A share, and the number of equally weighted labels that would be as precise."""

    value: float
    worth: float

    def estimate(self, z: float) -> Estimate:
        """Return the share with its interval (Wilson)."""
        n = max(1, round(self.worth))
        low, high = wilson(min(n, round(self.value * n)), n, z)
        return Estimate(self.value, min(low, self.value), max(high, self.value), n=n)


def corrected_share(
    judge_values: npt.ArrayLike,
    values: npt.ArrayLike,
    chances: npt.ArrayLike,
    level: float = USUAL.level,
) -> HitRates:
    """Return the true share of yes over the cells, with its interval.

    Args:
        judge_values: whether judges say yes, 0 or 1, shape (cells,).
        values: whether people do, 0 or 1, NaN without a label, same shape.
        chances: each cell's probability of being labelled, in (0, 1], same shape; only those of
            labelled cells count.
        level: the probability with which intervals hold the true value.

    It generalises to cells like these. Labels with unequal probabilities weigh 1 / probability, and
    count for as many as their weights are worth (Kish 1965). Undefined with fewer than
    ``FEWEST_OF_EACH`` labels of either answer, and if judges do not significantly distinguish the
    two.

    Lee and others: with a sensitivity of .9 and a specificity of .7, 60% yes means half:

    >>> so = np.r_[np.ones(100), np.zeros(100)]
    >>> says = np.r_[np.ones(90), np.zeros(10), np.ones(30), np.zeros(70)]
    >>> round(corrected_share(says, so, np.ones(200)).share.value, 3)
    0.5
    """
    f, y = np.asarray(judge_values, np.float64), np.asarray(values, np.float64)
    weights = 1 / np.asarray(chances, np.float64)
    labelled, z = np.isfinite(y), normal_reach(level)
    raw = float(f.mean()) if len(f) else 0.0
    yes, no = labelled & (y == 1), labelled & (y == 0)
    counts = int(yes.sum()), int(no.sum())
    detected, cleared = _weighted_rate(f[yes], weights[yes]), _weighted_rate(1 - f[no], weights[no])
    if min(counts) < FEWEST_OF_EACH:
        reason = (
            f"People said yes to {counts[0]} and no to {counts[1]} of the cells drawn; it takes "
            f"{FEWEST_OF_EACH} of each."
        )
        return _undefined_rates(reason, raw, (detected, cleared), sum(counts), z)
    if not _distinguishes_answers(detected, cleared):
        reason = "The votes do not significantly distinguish the two answers."
        return _undefined_rates(reason, raw, (detected, cleared), sum(counts), z)
    return HitRates(
        _corrected_share(raw, len(f), detected, cleared, z)._replace(n=sum(counts)),
        raw,
        detected.estimate(z),
        cleared.estimate(z),
    )


def _weighted_rate(hits: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> _Rate:
    total = float(weights.sum())
    if not total:
        return _Rate(0.0, 0.0)
    return _Rate(float(hits @ weights) / total, total**2 / float(weights @ weights))


def _undefined_rates(
    reason: str, raw: float, both_rates: tuple[_Rate, _Rate], n: int, z: float
) -> HitRates:
    rates = [
        rate.estimate(z) if rate.worth else Estimate.undefined("No label says so.")
        for rate in both_rates
    ]
    return HitRates(Estimate.undefined(reason, n), raw, *rates)


def _distinguishes_answers(detected: _Rate, cleared: _Rate) -> bool:
    sensitivity, specificity = _smoothed_rate(detected), _smoothed_rate(cleared)
    return sensitivity.value + specificity.value - 1 > _SURE * sqrt(
        _rate_variance(sensitivity) + _rate_variance(specificity)
    )


def _smoothed_rate(rate: _Rate) -> _Rate:
    """Return the rate with one more hit and one more miss."""
    return _Rate((rate.value * rate.worth + 1) / (rate.worth + 2), rate.worth + 2)


def _rate_variance(rate: _Rate) -> float:
    return rate.value * (1 - rate.value) / rate.worth


def _corrected_share(raw: float, n: int, detected: _Rate, cleared: _Rate, z: float) -> Estimate:
    """Return the value by Rogan and Gladen; the ends by Lang and Reiczigel's formula 6."""
    value = (raw + cleared.value - 1) / (detected.value + cleared.value - 1)
    sensitivity, specificity = _smoothed_rate(detected), _smoothed_rate(cleared)
    yes = _Rate((n * raw + z**2 / 2) / (n + z**2), n + z**2)
    informedness = sensitivity.value + specificity.value - 1
    middle = (yes.value + specificity.value - 1) / informedness
    shift = (
        2
        * z**2
        * (middle * _rate_variance(sensitivity) - (1 - middle) * _rate_variance(specificity))
    )
    square = (
        _rate_variance(yes)
        + middle**2 * _rate_variance(sensitivity)
        + (1 - middle) ** 2 * _rate_variance(specificity)
    )
    half_width = z * sqrt(square) / informedness
    low, high, value = (
        min(1.0, max(0.0, end))
        for end in (middle + shift - half_width, middle + shift + half_width, value)
    )
    return Estimate(value, min(low, value), max(high, value))
