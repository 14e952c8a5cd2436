"""The gap between two systems (or runs), from judges' values for all cells and people's for some.

A task's gap is a sum over its cells: the second system's points minus the first's. The gap over
tasks is prediction-powered like a mean (``sampling.powered_mean``), but here the tasks are a sample
of such tasks: the interval is wide if tasks differ, like the interval of an uncorrected difference.

    gap of a task = sum of a (lambda f)  +  sum of a (y - lambda f) / chance over labelled cells

Its variance over tasks includes everything: differences between tasks, unequal probabilities of
cells, and what both systems have in common on a task (Robins, Rotnitzky and Zhao 1994; as active
statistical inference in Zrnic and Candes 2024). ``lambda`` is that of PPI++ (Angelopoulos, Duchi
and Zrnic 2023): it minimises the variance, within [0, 1].
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.sampling import AUDIT, Powered, fitting_factor
from core.metrics.measure import NEAR, Array, weight_sums

#: The least number of labels in a group of cells with equal probability, unless all have one.
FEWEST = 5


Numbers = npt.NDArray[Any]
#: Cells of one system that were equally likely to get a label, and those of them that did.
_Group = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def whole_items(
    items: Numbers,
    signs: Array,
    judge_values: Numbers,
    values: Numbers,
    strata: Numbers,
    parts: Numbers,
    tasks: Numbers,
) -> tuple[Numbers, ...]:
    """Return the arguments of ``powered_gap`` if items were drawn with all of their cells.

    An item's value is the sum of its cells, unknown if one of them is. ``signs`` are -1 for the
    first system's cells, 1 for the second's.
    """
    _, first, item = np.unique(items, return_index=True, return_inverse=True)

    def array_of_items(each: Numbers) -> Array:
        return np.asarray(np.bincount(item, each), np.float64)

    # A penalty reverses the sign of the judges' value, but not the sign of the part.
    item_weights = array_of_items(np.abs(parts))
    scale = signs[first] * np.where(item_weights > 0, item_weights, 1.0)
    return (
        array_of_items(parts * judge_values) / scale,
        array_of_items(parts * values) / scale,
        strata[first],
        scale,
        tasks[first],
    )


class _Sides(NamedTuple):
    """Signed cells: people's and judges' values of each (0 without a label), by group."""

    people: Array
    judges: Array
    parts: Array
    steps: bool
    signed: bool
    groups: tuple[_Group, ...]
    tasks: npt.NDArray[np.int64]
    number: int

    @property
    def ends(self) -> tuple[float, float]:
        """Return the smallest and largest possible mean gap."""
        down, up = (float(np.maximum(sign * self.parts, 0.0).sum()) for sign in (-1, 1))
        if self.signed:
            down = up = down + up
        return -down / self.number, up / self.number

    @property
    def open(self) -> list[_Group]:
        """Return the groups that are only partly labelled."""
        return [(cells, seen) for cells, seen in self.groups if len(seen) < len(cells)]


def powered_gap(
    judge_values: npt.ArrayLike,
    values: npt.ArrayLike,
    stratum: npt.ArrayLike,
    parts: npt.ArrayLike,
    tasks: npt.ArrayLike,
    *,
    listen: float | None = None,
    level: float = USUAL.level,
) -> Powered:
    """Return the mean over tasks of the sum of their cells, with its interval and p value.

    Args:
        judge_values: the judges' value of every cell, in [-1, 1], shape (cells,).
        values: people's, in [-1, 1], NaN without one, same shape.
        stratum: which cells had equal probability, any integers, same shape. Within a stratum and a
            side (sign of ``parts``), the labelled cells must be a random draw, or all cells.
        parts: the weight of a cell's value in its task's gap; negative for the first system.
        tasks: the task of each cell, any integers, same shape.
        listen: lambda, in [0, 1]; chosen to minimise the variance by default.
        level: the probability with which the interval holds the true value.

    The interval uses t with the degrees of the parts of its variance (Satterthwaite 1946), minus
    one for lambda, whose fitting also widens the labels' part; it ends at the largest possible gap.
    If values move in steps of whole numbers, or labels are off by the same everywhere, four more
    are added at half a point above and below their mean, as in ``powered_mean``.

    Undefined with fewer than 10 labels drawn at random, fewer than ``FEWEST`` in a group, or a
    single task. Raises ``ValueError`` for shapes that do not fit.

    Two systems on three tasks, all labelled: the gaps are 1, 0 and 1.

    >>> same = np.repeat([0, 1, 2], 2)
    >>> found = powered_gap(np.zeros(6), [0, 1, 1, 1, 0, 1], np.zeros(6), [-1, 1] * 3, same)
    >>> round(found.mean.value, 3), found.raw
    (0.667, 0.0)
    """
    sides = _sides_of_gap(judge_values, values, stratum, parts, tasks)
    raw = float(sides.judges.sum()) / max(1, sides.number)
    labelled = sum(len(seen) for _, seen in sides.groups)
    reason = _why_no_gap(sides)
    if reason:
        undefined = Estimate.undefined(reason, labelled)
        return Powered(undefined, undefined, raw, 0.0, None)
    people = _sums_by_task(sides, _spread_over_all(sides, sides.people))
    judges = _sums_by_task(sides, sides.judges - _spread_over_all(sides, sides.judges))
    chosen = _least_variance_lambda(people, judges) if listen is None else listen
    gap, p = _gap_estimate(sides, people + chosen * judges, chosen, level, fitted=listen is None)
    labels_only, _ = _gap_estimate(sides, people, 0.0, level)
    return Powered(gap._replace(n=labelled), labels_only._replace(n=labelled), raw, chosen, p)


def _sides_of_gap(
    judge_values: npt.ArrayLike,
    values: npt.ArrayLike,
    stratum: npt.ArrayLike,
    parts: npt.ArrayLike,
    tasks: npt.ArrayLike,
) -> _Sides:
    f, y, a = (np.asarray(each, np.float64) for each in (judge_values, values, parts))
    kinds, tasks_of = np.asarray(stratum, np.int64), np.asarray(tasks, np.int64)
    if len({each.shape for each in (f, y, a, kinds, tasks_of)}) > 1:
        raise ValueError("one value, label, stratum, part and task per cell")
    labelled = np.isfinite(y)
    _, place = np.unique(np.column_stack([kinds, np.sign(a)]), axis=0, return_inverse=True)
    groups = tuple(
        (np.flatnonzero(place == group), np.flatnonzero((place == group) & labelled))
        for group in range(int(place.max()) + 1 if len(place) else 0)
    )
    names, task = np.unique(tasks_of, return_inverse=True)
    steps = bool(np.isin(y[labelled], (-1.0, 0.0, 1.0)).all())
    signed = bool((f < 0).any() or (y[labelled] < 0).any())
    people = np.where(labelled, a * y, 0.0)
    return _Sides(people, a * f, a, steps, signed, groups, task, len(names))


def _why_no_gap(sides: _Sides) -> str:
    if sides.number < 2:
        return "A gap takes two tasks or more."
    drawn = sum(len(seen) for _, seen in sides.open)
    if sides.open and drawn < AUDIT:
        subject = "cell was" if drawn == 1 else "cells were"
        return f"Only {drawn} {subject} drawn at random; {AUDIT} are needed to speak of all."
    fewest = min((len(seen) for _, seen in sides.open), default=FEWEST)
    if fewest < FEWEST:
        return f"Of a group of cells only {fewest} are labelled; {FEWEST} of each are needed."
    return ""


def _spread_over_all(sides: _Sides, values: Array) -> Array:
    """Spread the labelled cells' values over all cells: each cell gets the mean, and each labelled
    cell also its own deviation.

    The result adds up to the total that the labelled cells stand for.
    """
    spread = np.zeros(len(values))
    for cells, labelled in sides.groups:
        if len(cells) == len(labelled):
            spread[cells] = values[cells]
            continue
        mean = float(values[labelled].mean())
        spread[cells] = mean
        spread[labelled] += (values[labelled] - mean) * len(cells) / len(labelled)
    return spread


def _sums_by_task(sides: _Sides, values: Array) -> Array:
    return weight_sums(sides.tasks, sides.number, values[:, None])[:, 0]


def _least_variance_lambda(people: Array, judges: Array) -> float:
    deviations = judges - judges.mean()
    spread = float(deviations @ deviations)
    return min(1.0, max(0.0, -float(deviations @ people) / spread)) if spread > 0 else 0.0


def _gap_estimate(
    sides: _Sides, gaps: Array, listen: float, level: float, *, fitted: bool = False
) -> tuple[Estimate, float]:
    from scipy.special import stdtr, stdtrit

    mean = float(gaps.mean())
    mean = 0.0 if abs(mean) <= NEAR else mean
    drawn = _variances_by_group(sides, listen, fitted=fitted)
    variance = float(gaps.var(ddof=1)) / sides.number + sum(hidden for _, hidden, _ in drawn)
    degrees = _degrees_of_freedom(sides.number, variance, drawn, fitted=fitted)
    error = sqrt(variance)
    half_width = float(stdtrit(degrees, (1 + level) / 2)) * error
    p = 2 * float(stdtr(degrees, -abs(mean) / error)) if error > 0 else float(mean == 0)
    least, most = sides.ends
    return Estimate(mean, max(least, mean - half_width), min(most, mean + half_width)), p


def _variances_by_group(
    sides: _Sides, listen: float, *, fitted: bool
) -> list[tuple[float, float, int]]:
    """Return the gap's variance due to labels, by group, widened if lambda was fitted to the labels
    (``sampling.widened``), with the spread that a small number of labels fails to show, and the
    degrees of freedom.
    """
    spare = sum(len(seen) - 1 for _, seen in sides.open)
    wider = fitting_factor(spare) if fitted else 1.0
    parts = []
    for cells, labelled in sides.open:
        n, all_of = len(labelled), len(cells)
        residuals = (sides.people - listen * sides.judges)[labelled]
        total = float(((residuals - residuals.mean()) ** 2).sum())
        scale = float((sides.parts[labelled] ** 2).mean())
        no_variance = sides.steps or total <= 1e-12
        square = (total + scale) / (n + 3) if no_variance else wider * total / (n - 1)
        factor = all_of * (all_of - n) / n / sides.number**2
        parts.append((factor * square, factor * max(0.0, square - total / n), n - 1))
    return parts


def _degrees_of_freedom(
    number: int, variance: float, samples: list[tuple[float, float, int]], *, fitted: bool
) -> float:
    """Return the variance's degrees of freedom; its parts differ (Satterthwaite 1946)."""
    task_variance = max(0.0, variance - sum(part for part, *_ in samples))
    parts = sum(part**2 / degrees for part, _, degrees in samples)
    parts += task_variance**2 / (number - 1)
    if not samples or parts <= 0:
        return number - 1
    return min(number - 1, max(1.0, variance**2 / parts - fitted))
