"""How often ratings match a reference, from a table of counts.

Rows of a table are the reference, columns the ratings. All figures are computed from the table, so
that a bootstrap over items can resample tables instead of ratings.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import Estimate
from core.metrics.measure import Array, measure_of, ratio_or_nan, root_of_nonnegative

Counts = npt.NDArray[np.int64]


def confusion(reference: npt.ArrayLike, rated: npt.ArrayLike, k: int) -> Counts:
    """Return the table of counts, shape (k, k): rows are the reference, columns the ratings.

    Both arrays have shape (n,) and hold levels 0 .. k-1. Pairs with a negative (missing) level are
    left out. Raises ``ValueError`` if the lengths differ or a level is k or more.

    >>> confusion([0, 0, 1, -1], [0, 1, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    a, b = np.asarray(reference, dtype=np.int64), np.asarray(rated, dtype=np.int64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, not {a.shape} and {b.shape}")
    rated_by_both = (a >= 0) & (b >= 0)
    a, b = a[rated_by_both], b[rated_by_both]
    if len(a) and max(a.max(), b.max()) >= k:
        raise ValueError(f"a level is {max(a.max(), b.max())}, but there are only {k} levels")
    return np.bincount(a * k + b, minlength=k * k).reshape(k, k)


def _count_of(tables: Array) -> Array:
    totals: Array = tables.sum(axis=(0, 1))
    return totals


def _hit_count(tables: Array) -> Array:
    hits: Array = np.trace(tables)
    return hits


def _hits_by_level(tables: Array) -> Array:
    """Return the hits of every level, shape (k, ...)."""
    hits: Array = np.einsum("ii...->i...", tables)
    return hits


@measure_of()
def accuracy(tables: Array) -> Array:
    """Return the share of ratings equal to the reference, in [0, 1]. Undefined for n = 0.

    The observed agreement p_o of Cohen (1960), equation 1.

    >>> accuracy([[3, 1], [0, 4]]).value
    0.875
    """
    return ratio_or_nan(_hit_count(tables), _count_of(tables))


@measure_of()
def majority_share(tables: Array) -> Array:
    """Return the accuracy of always giving the reference's commonest level. Undefined for n = 0.

    The baseline that any judge must beat: the "zero rule" of Holte (1993).

    >>> majority_share([[3, 1], [0, 4]]).value
    0.5
    """
    return ratio_or_nan(tables.sum(axis=1).max(axis=0), _count_of(tables))


def _why_not_adjacent(table: Array) -> str:
    return "With two levels every rating is at most one level off."


@measure_of(_why_not_adjacent)
def adjacent_accuracy(tables: Array) -> Array:
    """Return the share of ratings at most one level from the reference, for ordered levels.

    Undefined for n = 0, and for fewer than three levels, for which it is always 1. Landis and Koch
    (1977), section 2, call it agreement within one category.

    >>> adjacent_accuracy([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value
    0.8
    """
    if len(tables) < 3:
        return np.full(tables.shape[2:], np.nan)
    within_one = sum(np.trace(tables, offset) for offset in (-1, 0, 1))
    return ratio_or_nan(within_one, _count_of(tables))


@measure_of()
def f1_macro(tables: Array) -> Array:
    """Return the mean F1 of the levels of the scale, in [0, 1] (van Rijsbergen 1979, chapter 7).

    F1 = 2 hits / (times in the reference + times rated). A level that neither used counts 0, as in
    scikit-learn with all labels given: the figure is about the scale, and must not rise because a
    level is unused. Undefined for n = 0.

    >>> round(f1_macro([[162, 0, 13], [0, 0, 0], [107, 0, 66]]).value, 6)
    0.417846
    """
    margins = tables.sum(axis=1) + tables.sum(axis=0)
    scores = np.nan_to_num(ratio_or_nan(2 * _hits_by_level(tables), margins))
    return np.where(_count_of(tables) > 0, scores.mean(axis=0), np.nan)


@measure_of()
def precision_macro(tables: Array) -> Array:
    """Return the mean over levels of hits / times rated; levels never rated are left out.

    van Rijsbergen (1979), chapter 7. Undefined for n = 0.

    >>> precision_macro([[3, 1], [0, 4]]).value
    0.9
    """
    return _mean_of_defined(ratio_or_nan(_hits_by_level(tables), tables.sum(axis=0)))


@measure_of()
def recall_macro(tables: Array) -> Array:
    """Return the mean over levels of hits / times in the reference, omitting absent levels.

    Also called balanced accuracy (Brodersen et al. 2010). Undefined for n = 0.

    >>> recall_macro([[3, 1], [0, 4]]).value
    0.875
    """
    return _mean_of_defined(ratio_or_nan(_hits_by_level(tables), tables.sum(axis=1)))


def _mean_of_defined(values: Array) -> Array:
    defined = ~np.isnan(values)
    return ratio_or_nan(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0))


@measure_of("The reference or the rater used one single level throughout.")
def phi(tables: Array) -> Array:
    """Return the correlation of two sets of unordered levels, in [-1, 1]; with two levels Pearson's
    phi.

    Gorodkin (2004), equation 8 (for two levels: Matthews 1975). Undefined for n = 0 and if either
    side is constant.

    >>> round(phi([[20, 5], [10, 15]]).value, 4)
    0.4082
    """
    n, rows, columns = _count_of(tables), tables.sum(axis=1), tables.sum(axis=0)
    shared = _hit_count(tables) * n - (rows * columns).sum(axis=0)
    spread = (n**2 - (rows**2).sum(axis=0)) * (n**2 - (columns**2).sum(axis=0))
    return ratio_or_nan(shared, root_of_nonnegative(spread))


def _why_no_rate(level: int) -> str:
    kind = "positive" if level == 0 else "negative"
    return f"The reference has no {kind} item, or there are more than two levels."


@measure_of(_why_no_rate(1))
def false_positive_rate(tables: Array) -> Array:
    """Return the share of the reference's negatives that were rated positive; level 0 is positive.

    Two levels only (Fleiss, Levin and Paik 2003, chapter 1). Undefined without negatives.

    >>> false_positive_rate([[70, 2], [11, 17]]).value == 11 / 28
    True
    """
    return _error_rate(tables, 1)


@measure_of(_why_no_rate(0))
def false_negative_rate(tables: Array) -> Array:
    """Return the share of the reference's positives that were rated negative; level 0 is positive.

    Two levels only (Fleiss, Levin and Paik 2003, chapter 1). Undefined without positives.

    >>> false_negative_rate([[70, 2], [11, 17]]).value == 2 / 72
    True
    """
    return _error_rate(tables, 0)


def _error_rate(tables: Array, row: int) -> Array:
    if len(tables) != 2:
        return np.full(tables.shape[2:], np.nan)
    return ratio_or_nan(tables[row, 1 - row], tables[row].sum(axis=0))


def level_shares(tables: Array) -> dict[str, Array]:
    """Return precision, recall and F1 of every level, shape (k, ...) each; NaN if undefined.

    Like ``figures_by_level``, for many tables (van Rijsbergen 1979, chapter 7).

    >>> level_shares(np.array([[3.0, 1.0], [0.0, 4.0]]))["precision"].tolist()
    [1.0, 0.8]
    """
    hits, rated, in_reference = _hits_by_level(tables), tables.sum(axis=0), tables.sum(axis=1)
    return {
        "precision": ratio_or_nan(hits, rated),
        "recall": ratio_or_nan(hits, in_reference),
        "f1": ratio_or_nan(2 * hits, rated + in_reference),
    }


#: The names of the figures of one level against all others.
LEVEL = ("precision", "recall", "f1")


def figures_by_level(counts: npt.ArrayLike) -> list[list[Estimate]]:
    """Return precision, recall and F1 of every level (van Rijsbergen 1979, chapter 7).

    A level that was never rated has no precision, one missing in the reference no recall, and one
    that neither used no F1: these are undefined, not 0.

    >>> figures_by_level([[3, 1], [0, 4]])[1][0].value
    0.8
    """
    table = np.asarray(counts, dtype=np.float64)
    reasons = ("It was never rated.", "The reference never has it.", "Neither side ever has it.")
    levels = []
    for level in range(len(table)):
        hits, rated, in_reference = table[level, level], table[:, level].sum(), table[level].sum()
        shares = ((hits, rated), (hits, in_reference), (2 * hits, rated + in_reference))
        levels.append(
            [
                Estimate.defined(above / below, int(below)) if below else Estimate.undefined(reason)
                for (above, below), reason in zip(shares, reasons, strict=True)
            ]
        )
    return levels
