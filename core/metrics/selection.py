"""Estimates for all items from labels of some, where the labelled ones were not drawn alike.

A review queue holds the hard items, so what is seen there says nothing of the rest by itself. With
the chance that each item had of being labelled, the labelled ones stand for all. A part drawn from
everything (the audit) is what carries the easy items; with too few of it there is no headline.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from core.metrics.figure import Figure

#: Fewer audited items than this give no headline.
AUDIT = 10


class Mean(NamedTuple):
    """A mean with its 95 % interval, which is undefined where the mean is."""

    figure: Figure
    low: float | None
    high: float | None


class SelectedMeans(NamedTuple):
    """``weighted`` speaks of all items; ``naive`` only of those labelled, ``hard`` of the queue's.

    ``naive`` is there to be shown beside, never as a headline.
    """

    weighted: Mean
    naive: Mean
    hard: Mean


def inclusion(queue: npt.ArrayLike, audit: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The chance of being labelled through the queue or the audit, drawn independently.

    >>> inclusion([0.5, 0.0], [0.05, 0.05]).round(3).tolist()
    [0.525, 0.05]
    """
    first, second = np.asarray(queue, np.float64), np.asarray(audit, np.float64)
    found: npt.NDArray[np.float64] = 1 - (1 - first) * (1 - second)
    return found


def honest_mean(
    values: npt.ArrayLike, chances: npt.ArrayLike, audited: npt.ArrayLike, hard: npt.ArrayLike
) -> SelectedMeans:
    """The mean over all items, from the labelled ones and the chance each had of being labelled.

    ``weighted`` is sum(y / pi) / sum(1 / pi) (Hajek 1971), its variance that of independent
    draws, sum((1 - pi) ((y - mean) / pi)^2) / sum(1 / pi)^2 (Saerndal, Swensson and Wretman 1992,
    equation 5.5.14 for Poisson sampling), with t on as many items as the weights are worth
    (Kish 1965: sum(w)^2 / sum(w^2)). Two items more, one 0 and one 1, at the audit's weight, keep
    the variance of shares from vanishing where all audited items are alike (Agresti and Coull
    1998 do so for a plain share).

    Args:
        values: what is averaged, in [0, 1] (1: right, 0: wrong, or a score), shape (labelled,).
        chances: the chance each had of being labelled, in (0, 1], same shape.
        audited: whether the random audit holds it, same shape.
        hard: whether the queue of hard items holds it, same shape.

    Undefined with fewer than 10 audited items. Raises ``ValueError`` for chances outside (0, 1].

    >>> few = honest_mean([1.0, 0.0], [0.5, 0.5], [True, False], [False, True])
    >>> few.weighted.figure.reason
    'Only 1 item was drawn at random; 10 are needed to speak of all items.'
    """
    y, pi = np.asarray(values, np.float64), np.asarray(chances, np.float64)
    drawn, queued = np.asarray(audited, np.bool_), np.asarray(hard, np.bool_)
    if len(pi) and not ((pi > 0) & (pi <= 1)).all():
        raise ValueError("a chance of being labelled lies in (0, 1]")
    return SelectedMeans(_weighted(y, pi, drawn), _plain(y), _plain(y[queued]))


def _weighted(
    y: npt.NDArray[np.float64], pi: npt.NDArray[np.float64], drawn: npt.NDArray[np.bool_]
) -> Mean:
    audit = int(drawn.sum())
    if audit < AUDIT:
        what = "item was" if audit == 1 else "items were"
        reason = f"Only {audit} {what} drawn at random; {AUDIT} are needed to speak of all items."
        return Mean(Figure.undefined(reason, len(y)), None, None)
    mean = float((y / pi).sum() / (1 / pi).sum())
    light = float(pi[drawn].min())
    padded, chance = np.append(y, [0.0, 1.0]), np.append(pi, [light, light])
    weight = 1 / chance
    square = float(((1 - chance) * ((padded - mean) * weight) ** 2).sum())
    error = sqrt(square) / float(weight.sum())
    worth = float(weight.sum() ** 2 / (weight**2).sum())
    return _mean(mean, error, worth, len(y))


def _plain(y: npt.NDArray[np.float64]) -> Mean:
    if not len(y):
        return Mean(Figure.undefined("No such item was labelled."), None, None)
    mean = float(y.mean())
    padded = np.append(y, [0.0, 1.0])
    return _mean(mean, float(padded.std(ddof=1)) / sqrt(len(padded)), float(len(padded)), len(y))


def _mean(mean: float, error: float, worth: float, n: int) -> Mean:
    reach = float(stdtrit(max(worth - 1, 1.0), 0.975)) * error
    return Mean(Figure.defined(mean, n), max(0.0, mean - reach), min(1.0, mean + reach))
