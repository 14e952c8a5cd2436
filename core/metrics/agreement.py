"""How far two raters agree. The table of counts in (``accuracy.confusion``), figures out."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from core.metrics.figure import Figure
from core.metrics.measure import Array, measure, ratio

Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic")
NOTHING = "No item was rated by both."
SINGLE = "Both raters used the same single level throughout."


@measure(nothing=NOTHING)
def percent_agreement(tables: Array) -> Array:
    """The share of items on which two raters chose the same level, in [0, 1].

    Tables have shape (k, k), one rater per axis: p_o of Cohen (1960). Undefined for n = 0.

    >>> percent_agreement([[3, 1], [0, 4]]).value
    0.875
    """
    return ratio(np.trace(tables), tables.sum(axis=(0, 1)))


def cohen_kappa(counts: npt.ArrayLike, weights: Weights = "none") -> Figure:
    """Agreement beyond chance of two raters, in [-1, 1] (Cohen 1960; weighted: Cohen 1968).

    1 - sum(w * observed) / sum(w * expected), with w the disagreement weight of two levels: 0 or 1
    ("none"), their distance ("linear") or its square ("quadratic"). The distance is taken on all k
    levels of the scale, whether somebody used them or not: dropping an unused level would make its
    neighbours adjacent. Undefined for n = 0, and where no disagreement is possible because both
    raters used one and the same level only.

    >>> round(cohen_kappa(np.array([[20, 5], [10, 15]])).value, 3)
    0.4
    """
    return KAPPAS[weights](counts)


@measure(SINGLE, NOTHING)
def kappa_unweighted(tables: Array) -> Array:
    """Cohen's kappa where every disagreement counts alike (Cohen 1960, equation 1).

    >>> round(kappa_unweighted([[20, 5], [10, 15]]).value, 3)
    0.4
    """
    return _kappa(tables, "none")


@measure(SINGLE, NOTHING)
def kappa_linear(tables: Array) -> Array:
    """Cohen's kappa weighted by the distance in levels (Cohen 1968; weights: Cicchetti 1971).

    >>> kappa_linear([[1, 0, 1], [0, 0, 0], [0, 0, 2]]).value
    0.5
    """
    return _kappa(tables, "linear")


@measure(SINGLE, NOTHING)
def kappa_quadratic(tables: Array) -> Array:
    """Cohen's kappa weighted by the squared distance in levels (Fleiss and Cohen 1973).

    >>> kappa_quadratic([[1, 0, 1], [0, 0, 0], [0, 0, 2]]).value
    0.5
    """
    return _kappa(tables, "quadratic")


KAPPAS = {"none": kappa_unweighted, "linear": kappa_linear, "quadratic": kappa_quadratic}


def _kappa(tables: Array, weights: Weights) -> Array:
    weight = disagreement(len(tables), weights)
    observed = np.tensordot(weight, tables, 2)
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    expected = (np.tensordot(weight, rows, 1) * columns).sum(axis=0)
    return 1 - ratio(observed * rows.sum(axis=0), expected)


def disagreement(k: int, weights: Weights) -> npt.NDArray[np.float64]:
    """The weight of every pair of ``k`` levels, shape (k, k), zero on the diagonal.

    Cohen (1968), with the weights of Cicchetti (1971) and of Fleiss and Cohen (1973).

    >>> disagreement(3, "quadratic")[0].tolist()
    [0.0, 1.0, 4.0]
    """
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "linear":
        return distance
    return distance**2 if weights == "quadratic" else (distance > 0).astype(np.float64)
