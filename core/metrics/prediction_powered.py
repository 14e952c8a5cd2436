"""The mean over all items from judges' values for all and people's for some.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023): the mean of
what the judges say, corrected by how far they were off where people looked. However wrong the
judges are, the interval holds; the better they are, the narrower it is.

    estimate = lambda * mean(f over all) + sum(w (y - lambda f)) / sum(w)      w = 1 / chance

``lambda`` (Angelopoulos, Duchi and Zrnic 2023, PPI++, equation 11 for means) is how far the judges
are listened to: 0 is the labels alone, 1 plain prediction-powered inference. It is the value that
makes the variance least, kept within [0, 1].
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from core.metrics.figure import Figure
from core.metrics.selection import AUDIT, Mean


class Powered(NamedTuple):
    """``mean`` uses people's and judges' values, ``labels`` people's alone.

    ``raw`` is the plain mean of the judges' values, uncorrected. ``listened`` is lambda.
    """

    mean: Mean
    labels: Mean
    raw: float
    listened: float


def powered_mean(
    said: npt.ArrayLike,
    values: npt.ArrayLike,
    labelled: npt.ArrayLike,
    stratum: npt.ArrayLike | None = None,
    *,
    listen: float | None = None,
) -> Powered:
    """The mean of people's values over all items, with its 95 % interval.

    Args:
        said: the judges' value of every item, or their chance of being right, shape (items,).
        values: people's values of the labelled items, in [0, 1], shape (labelled,).
        labelled: which items have one, shape (items,).
        stratum: which items were drawn alike, any integers, shape (items,): the queue and the rest,
            say. Within a stratum the labelled items must be a random draw. One where not given.
        listen: lambda, in [0, 1]; chosen so that the variance is least where not given.

    The items are these and no others, so that a stratum labelled whole adds no uncertainty: the
    variance is sum (N_h / N)^2 (1 - n_h / N_h) s_h^2 / n_h with s_h^2 of y - lambda f (Cochran
    1977, sections 5.4 and 7.2), with t on as many degrees as there are random labels less strata
    and lambda. Where values are 0 or 1, or all y - lambda f are alike, four more at half a point
    above and below their mean keep s_h from 0 (Agresti and Coull 1998 add four to a share).

    Undefined with fewer than 10 labels drawn at random, or where a stratum has fewer than two.
    Raises ``ValueError`` for shapes that do not fit.

    >>> few = powered_mean([0.5, 1.0], [1.0], [True, False])
    >>> few.mean.figure.reason
    'Only 1 item was drawn at random; 10 are needed to speak of all items.'
    """
    sample = _sample(said, values, labelled, stratum)
    raw = float(sample.said.mean()) if len(sample.said) else 0.0
    why = _why_not(sample)
    if why:
        nothing = Mean(Figure.undefined(why, len(sample.values)), None, None)
        return Powered(nothing, nothing, raw, 0.0)
    chosen = _least_variance(sample) if listen is None else listen
    return Powered(
        _estimate(sample, chosen, fitted=listen is None), _estimate(sample, 0.0), raw, chosen
    )


class _Part(NamedTuple):
    """A stratum: its share of all items, what judges say of all, and of the labelled ones."""

    share: float
    all: npt.NDArray[np.float64]
    said: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    @property
    def left(self) -> float:
        """The share of its items that nobody labelled."""
        return 1 - len(self.values) / len(self.all)


class _Sample(NamedTuple):
    said: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    parts: tuple[_Part, ...]

    @property
    def random(self) -> int:
        """How many labels were drawn at random: those of strata that are not labelled whole."""
        return sum(len(part.values) for part in self.parts if part.left > 0)


def _sample(
    said: npt.ArrayLike,
    values: npt.ArrayLike,
    labelled: npt.ArrayLike,
    stratum: npt.ArrayLike | None,
) -> _Sample:
    f, y = np.asarray(said, np.float64), np.asarray(values, np.float64)
    known = np.asarray(labelled, np.bool_)
    kinds = np.zeros(len(f), np.int64) if stratum is None else np.asarray(stratum, np.int64)
    if f.shape != known.shape or f.shape != kinds.shape or len(y) != known.sum():
        raise ValueError("one judges' value, mark and stratum per item, one value per label")
    spread_out = np.zeros(len(f))
    spread_out[known] = y
    parts = tuple(
        _Part(
            float((kinds == kind).mean()),
            f[kinds == kind],
            f[known & (kinds == kind)],
            spread_out[known & (kinds == kind)],
        )
        for kind in np.unique(kinds)
    )
    return _Sample(f, y, parts)


def _why_not(sample: _Sample) -> str:
    drawn = sample.random
    whole = bool(sample.parts) and all(part.left == 0 for part in sample.parts)
    if drawn < AUDIT and not whole:
        what = "item was" if drawn == 1 else "items were"
        return f"Only {drawn} {what} drawn at random; {AUDIT} are needed to speak of all items."
    for part in sample.parts:
        if part.left > 0 and len(part.values) < 2:
            some = "only 1" if len(part.values) else "none"
            return (
                f"Of a group of {len(part.all)} items {some} is labelled; "
                "2 of each group are needed to speak of all."
            )
    return ""


def _least_variance(sample: _Sample) -> float:
    """The regression of people's values on the judges', within strata, as much as each counts."""
    together = alone = 0.0
    for part in sample.parts:
        n = len(part.values)
        if part.left == 0:
            continue
        weight = part.share**2 * part.left / (n * (n - 1))
        gap = part.said - part.said.mean()
        together += weight * float(gap @ (part.values - part.values.mean()))
        alone += weight * float(gap @ gap)
    return min(1.0, max(0.0, together / alone)) if alone > 0 else 0.0


def _estimate(sample: _Sample, listen: float, *, fitted: bool = False) -> Mean:
    mean = variance = 0.0
    for part in sample.parts:
        off = part.values - listen * part.said
        mean += part.share * (listen * float(part.all.mean()) + float(off.mean()))
        if part.left > 0:
            n = len(off)
            variance += part.share**2 * part.left * _square(off, part.values) / n
    open_parts = sum(part.left > 0 for part in sample.parts)
    degrees = max(1, sample.random - open_parts - fitted)
    reach = float(stdtrit(degrees, 0.975)) * sqrt(variance)
    figure = Figure.defined(mean, len(sample.values))
    return Mean(figure, max(0.0, mean - reach), min(1.0, mean + reach))


def _square(off: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> float:
    """s^2 of what judges were off by."""
    total = float(((off - off.mean()) ** 2).sum())
    if np.isin(values, (0.0, 1.0)).all() or total <= 1e-12:
        return (total + 4 * 0.25) / (len(off) + 3)
    return total / (len(off) - 1)
