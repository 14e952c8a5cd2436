"""Do two questions give the same answers, and does a question go with the rest?"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import numpy.typing as npt

from core.metrics.ailments.effect import FEW, BiasEffect, Null, jackknifed, normal_p, too_few
from core.metrics.measure import Array, ratio, root

Association = Callable[[Array], Array]
#: The normal quantile of a two-sided interval at 95 %, and how finely its end is sought.
_SURE, _HALVINGS = 1.959963984540054, 12


def correlation_of(x: npt.ArrayLike, y: npt.ArrayLike) -> Association:
    """Pearson's r of tables whose row i stands for ``x[i]`` and column j for ``y[j]``.

    Tables have shape (..., rows, columns) and any total (Pearson 1896). NaN where a side is
    constant.

    >>> float(correlation_of([0, 1], [0, 1])(np.array([[4.0, 1.0], [1.0, 4.0]])))
    0.6
    """
    across, down = np.asarray(x, np.float64), np.asarray(y, np.float64)

    def of(tables: Array) -> Array:
        n = tables.sum(axis=(-2, -1))
        rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
        a = across - ratio(rows @ across, n)[..., None]
        b = down - ratio(columns @ down, n)[..., None]
        shared = (a * (tables @ b[..., None])[..., 0]).sum(axis=-1)
        spread = (rows * a**2).sum(axis=-1) * (columns * b**2).sum(axis=-1)
        return ratio(shared, root(np.where(spread > 1e-18, spread, 0.0)))

    return of


def cramers_v(tables: Array) -> Array:
    """How strongly two sets of unordered levels go together, in [0, 1] (Cramer 1946, chapter 21).

    Tables have shape (..., rows, columns); levels that are not used do not count. NaN where a side
    is constant.

    >>> float(cramers_v(np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]])))
    1.0
    """
    n = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = rows[..., :, None] * columns[..., None, :]
    square = np.nan_to_num(ratio(tables**2, expected)).sum(axis=(-2, -1)) - (n > 0)
    used = np.minimum((rows > 0).sum(axis=-1), (columns > 0).sum(axis=-1)) - 1
    return root(ratio(square, used))


def redundancy(table: npt.ArrayLike, association: Association, limit: float) -> BiasEffect:
    """How far two questions give the same answer, and the p of it being at most ``limit``.

    ``table`` counts items by the answers to both, shape (rows, columns). The estimate is signed: a
    question may be the other one turned round. The p is a score test: the variance is that of the
    table drawn towards independence until its association is the limit, so that two questions
    which never differed in a few items are not taken for the same (Rao 1948); the lower end of the
    interval (of the absolute value) is where that test gives 2.5 %, the upper end is 1 or less.
    Undefined for fewer than 20 items and where a side is constant.

    >>> same = redundancy([[60, 0], [0, 140]], correlation_of([0, 1], [0, 1]), 0.8)
    >>> round(same.estimate, 2), same.p < 0.001, 0.8 < same.low
    (1.0, True, True)
    """
    counts = np.asarray(table, np.float64)
    n = int(counts.sum())
    if n < FEW:
        return too_few(n)
    signed = float(association(counts))
    if not np.isfinite(signed):
        return BiasEffect.undefined("One of the two questions has the same answer everywhere.", n)
    found = min(1.0, abs(signed))
    z = _score(counts, association, found, limit) if found > limit else 0.0
    p = normal_p(z, "above") if found > limit else 1.0
    low, high = _ends(counts, association, found)
    ends = (low, high) if signed >= 0 else (-high, -low)
    return BiasEffect(signed, *ends, n, p)


def _score(counts: Array, association: Association, found: float, at: float) -> float:
    """How many standard errors the association lies above ``at``, if ``at`` were true."""
    error = _error(_towards(counts, at / found), association)
    return (found - at) / error if error > 0 else 0.0


def _towards(counts: Array, share: float) -> Array:
    """The table drawn towards independence; r and V are that share of what they were."""
    n = counts.sum()
    alone = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    mixed: Array = share * counts + (1 - share) * alone
    return mixed


def _error(counts: Array, association: Association) -> float:
    """The standard error by the infinitesimal jackknife (Efron 1982, section 6.3)."""
    n, cells = counts.sum(), counts.size
    step = 1e-5 * n
    nudged = counts + step * np.eye(cells).reshape(cells, *counts.shape)
    slope = (np.abs(association(nudged)) - abs(association(counts))) * n / step
    weight = counts.ravel() / n
    centred = slope - weight @ slope
    return sqrt(float(weight @ centred**2) / n)


def _ends(counts: Array, association: Association, found: float) -> tuple[float, float]:
    high = min(1.0, found + _SURE * _error(counts, association))
    if found < 1e-9:
        return 0.0, high
    below, above = 0.0, found
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if _score(counts, association, found, middle) > _SURE:
            below = middle
        else:
            above = middle
    return below, high


def item_rest(values: Array, question: int, null: Null) -> BiasEffect:
    """The correlation of a question's values with the mean of the other questions' values.

    The corrected item-total correlation (Henrysson 1963), interval and p by leaving out items on
    Fisher's z (1921). ``values`` has shape (items, questions), NaN where there is none; an item
    takes part where the question and at least two others have a value. Undefined for fewer than 20
    items, with fewer than three questions, and where a side is constant.

    >>> rng = np.random.default_rng(2)
    >>> values = rng.normal(size=(300, 1)) + rng.normal(size=(300, 4))
    >>> values[:, 3] = rng.normal(size=300)
    >>> [round(item_rest(values, q, Null(0.2, "below")).estimate, 1) for q in (0, 3)]
    [0.5, 0.1]
    """
    if values.shape[1] < 3:
        return BiasEffect.undefined("There are fewer than three questions.")
    others = np.delete(values, question, axis=1)
    number = (~np.isnan(others)).sum(axis=1)
    rows = (number >= 2) & ~np.isnan(values[:, question])
    n = int(rows.sum())
    if n < FEW:
        return too_few(n)
    x = values[rows, question]
    y = np.nansum(others[rows], axis=1) / number[rows]
    x, y = x - x.mean(), y - y.mean()
    if (x**2).sum() < 1e-12 or (y**2).sum() < 1e-12:
        return BiasEffect.undefined("It has the same answer everywhere, or the others have.", n)
    r = float((x * y).sum() / sqrt(float((x**2).sum() * (y**2).sum())))
    return _on_fishers_scale(x, y, min(max(r, -0.999999), 0.999999), null)


def _on_fishers_scale(x: Array, y: Array, r: float, null: Null) -> BiasEffect:
    n = len(x)
    a, b = x / sqrt(float((x**2).mean())), y / sqrt(float((y**2).mean()))
    # The influence of each item on r (Devlin, Gnanadesikan and Kettenring 1975), on Fisher's z.
    influence = (a * b - r * (a**2 + b**2) / 2) / (1 - r * r)
    on_z = Null(float(np.arctanh(null.value)), null.side)
    z = float(np.arctanh(r))
    effect = jackknifed(z, z - influence / (n - 1), on_z)
    if effect.low is None or effect.high is None:
        return effect
    low, high = (float(np.tanh(end)) for end in (effect.low, effect.high))
    return effect._replace(estimate=r, low=low, high=high)
