"""How far two raters agree. The table of counts in (``accuracy.confusion``), figures out."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from core.metrics.accuracy import Counts
from core.metrics.figure import Figure

Weights = Literal["none", "linear", "quadratic"]
NOTHING = "No item was rated by both."


def percent_agreement(counts: Counts) -> Figure:
    """The share of items on which two raters chose the same level, in [0, 1].

    ``counts`` has shape (k, k), one rater per axis. Undefined for n = 0.
    """
    n = int(counts.sum())
    return Figure.defined(np.trace(counts) / n, n) if n else Figure.undefined(NOTHING)


def cohen_kappa(counts: Counts, weights: Weights = "none") -> Figure:
    """Agreement beyond chance of two raters, in [-1, 1] (Cohen 1960; weighted: Cohen 1968).

    1 - sum(w * observed) / sum(w * expected), with w the disagreement weight of two levels: 0 or 1
    ("none"), their distance ("linear") or its square ("quadratic"). The distance is taken on all k
    levels of the scale, whether somebody used them or not: dropping an unused level would make its
    neighbours adjacent. Undefined for n = 0, and where no disagreement is possible because both
    raters used one and the same level only.

    >>> round(cohen_kappa(np.array([[20, 5], [10, 15]])).value, 3)
    0.4
    """
    n = int(counts.sum())
    if not n:
        return Figure.undefined(NOTHING)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    weight = disagreement(len(counts), weights)
    possible = float((weight * expected).sum())
    if possible == 0:
        return Figure.undefined("Both raters used the same single level throughout.", n)
    return Figure.defined(1 - float((weight * counts).sum()) / possible, n)


def disagreement(k: int, weights: Weights) -> npt.NDArray[np.float64]:
    """The weight of every pair of ``k`` levels, shape (k, k), zero on the diagonal."""
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "linear":
        return distance
    return distance**2 if weights == "quadratic" else (distance > 0).astype(np.float64)
