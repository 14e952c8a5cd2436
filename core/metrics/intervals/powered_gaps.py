"""How far two systems (or runs) are apart, from judges' values for all cells and people's for some.

A task's gap is a sum over its cells: what the second system earned there, less the first. The gap
over tasks is prediction-powered as a mean is (``sampling.powered_mean``); here the tasks are taken
as a sample of such tasks, so that the interval is wide where tasks differ, as that of an
uncorrected difference is.

    gap of a task = sum of a (lambda f)  +  sum of a (y - lambda f) / chance over labelled cells

Its variance over tasks holds everything at once: tasks that differ, cells drawn with other chances,
and what the two systems have in common on a task (Robins, Rotnitzky and Zhao 1994; as active
statistical inference in Zrnic and Candes 2024). ``lambda`` is that of PPI++ (Angelopoulos, Duchi
and Zrnic 2023): it makes the variance least, within [0, 1].
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.sampling import AUDIT, widened
from core.metrics.measure import NEAR, Array, tally

#: Of a group of cells that were drawn alike so many must be labelled, or all of them.
FEWEST = 5


class PoweredGap(NamedTuple):
    """``gap`` uses people's and judges' values, ``labels`` people's alone, ``raw`` judges' alone.

    ``listened`` is lambda, ``p`` that of no gap, two-sided; ``None`` where the gap is undefined.
    """

    gap: Estimate
    labels: Estimate
    raw: float
    listened: float
    p: float | None


class _Group(NamedTuple):
    """Cells of one side that were drawn alike; ``seen`` are the places of the labelled ones."""

    cells: npt.NDArray[np.int64]
    seen: npt.NDArray[np.int64]

    @property
    def whole(self) -> bool:
        return len(self.seen) == len(self.cells)


Numbers = npt.NDArray[Any]


def whole_items(
    items: Numbers,
    signs: Array,
    said: Numbers,
    values: Numbers,
    strata: Numbers,
    parts: Numbers,
    tasks: Numbers,
) -> tuple[Numbers, ...]:
    """What ``powered_gap`` takes where items were drawn with all of their cells: one value for each
    item, of what its cells add up to; unknown where one of them is. ``signs`` are -1 of the first
    system's cells, 1 of the second's.
    """
    _, first, item = np.unique(items, return_index=True, return_inverse=True)

    def of(each: Numbers) -> Array:
        return np.asarray(np.bincount(item, each), np.float64)

    # Penalties count the other way in what is said, not in the part.
    whole = of(np.abs(parts))
    scale = signs[first] * np.where(whole > 0, whole, 1.0)
    return of(parts * said) / scale, of(parts * values) / scale, strata[first], scale, tasks[first]


class _Sides(NamedTuple):
    """Signed cells: what people and judges say of each (0 where people say nothing), by group."""

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
        """The least and the largest mean gap that there can be."""
        down, up = (float(np.maximum(sign * self.parts, 0.0).sum()) for sign in (-1, 1))
        if self.signed:
            down = up = down + up
        return -down / self.number, up / self.number

    @property
    def open(self) -> list[_Group]:
        """Those of which judges speak for a part."""
        return [group for group in self.groups if not group.whole]


def powered_gap(
    said: npt.ArrayLike,
    values: npt.ArrayLike,
    stratum: npt.ArrayLike,
    parts: npt.ArrayLike,
    tasks: npt.ArrayLike,
    *,
    listen: float | None = None,
    level: float = USUAL.level,
) -> PoweredGap:
    """The mean over tasks of what its cells add up to, with its interval and p.

    Args:
        said: the judges' value of every cell, in [-1, 1], shape (cells,).
        values: people's, in [-1, 1], NaN where they gave none, same shape.
        stratum: which cells were drawn alike, any integers, same shape. Within one, and on one side
            (sign of ``parts``), the labelled cells must be a random draw, or be all there are.
        parts: what a cell's value counts in its task's gap; negative for the first system.
        tasks: which task a cell is of, any integers, same shape.
        listen: lambda, in [0, 1]; chosen so that the variance is least where not given.
        level: how often the interval shall hold the true value.

    The interval uses t with the degrees of the parts of its variance (Satterthwaite 1946), less one
    for lambda, whose fitting also widens what the labels make of it; it ends where no gap can be
    larger. Steps of whole numbers, and labels off
    by the same everywhere, get four more at half a point above and below their mean, as
    ``powered_mean`` does.

    Undefined with fewer than 10 labels drawn at random, fewer than ``FEWEST`` of a group, or one
    task. Raises ``ValueError`` for shapes that do not fit.

    Two systems on three tasks, all labelled: the gaps are 1, 0 and 1.

    >>> same = np.repeat([0, 1, 2], 2)
    >>> found = powered_gap(np.zeros(6), [0, 1, 1, 1, 0, 1], np.zeros(6), [-1, 1] * 3, same)
    >>> round(found.gap.value, 3), found.raw
    (0.667, 0.0)
    """
    sides = _sides(said, values, stratum, parts, tasks)
    raw = float(sides.judges.sum()) / max(1, sides.number)
    seen = sum(len(group.seen) for group in sides.groups)
    why = _why_not(sides)
    if why:
        nothing = Estimate.undefined(why, seen)
        return PoweredGap(nothing, nothing, raw, 0.0, None)
    people = _by_task(sides, _stood_for(sides, sides.people))
    judges = _by_task(sides, sides.judges - _stood_for(sides, sides.judges))
    chosen = _least_variance(people, judges) if listen is None else listen
    gap, p = _estimate(sides, people + chosen * judges, chosen, level, fitted=listen is None)
    alone, _ = _estimate(sides, people, 0.0, level)
    return PoweredGap(gap._replace(n=seen), alone._replace(n=seen), raw, chosen, p)


def _sides(
    said: npt.ArrayLike,
    values: npt.ArrayLike,
    stratum: npt.ArrayLike,
    parts: npt.ArrayLike,
    tasks: npt.ArrayLike,
) -> _Sides:
    f, y, a = (np.asarray(one, np.float64) for one in (said, values, parts))
    kinds, of = np.asarray(stratum, np.int64), np.asarray(tasks, np.int64)
    if len({one.shape for one in (f, y, a, kinds, of)}) > 1:
        raise ValueError("one value, label, stratum, part and task per cell")
    known = np.isfinite(y)
    _, place = np.unique(np.column_stack([kinds, np.sign(a)]), axis=0, return_inverse=True)
    groups = tuple(
        _Group(np.flatnonzero(place == one), np.flatnonzero((place == one) & known))
        for one in range(int(place.max()) + 1 if len(place) else 0)
    )
    names, task = np.unique(of, return_inverse=True)
    steps = bool(np.isin(y[known], (-1.0, 0.0, 1.0)).all())
    signed = bool((f < 0).any() or (y[known] < 0).any())
    people = np.where(known, a * y, 0.0)
    return _Sides(people, a * f, a, steps, signed, groups, task, len(names))


def _why_not(sides: _Sides) -> str:
    if sides.number < 2:
        return "A gap takes two tasks or more."
    drawn = sum(len(group.seen) for group in sides.open)
    if sides.open and drawn < AUDIT:
        what = "cell was" if drawn == 1 else "cells were"
        return f"Only {drawn} {what} drawn at random; {AUDIT} are needed to speak of all."
    fewest = min((len(group.seen) for group in sides.open), default=FEWEST)
    if fewest < FEWEST:
        return f"Of a group of cells only {fewest} are labelled; {FEWEST} of each are needed."
    return ""


def _stood_for(sides: _Sides, values: Array) -> Array:
    """What the labelled cells' values say of each cell: their mean, and for themselves more.

    It adds up to the whole that the labelled ones stand for.
    """
    found = np.zeros(len(values))
    for cells, seen in sides.groups:
        if len(cells) == len(seen):
            found[cells] = values[cells]
            continue
        mean = float(values[seen].mean())
        found[cells] = mean
        found[seen] += (values[seen] - mean) * len(cells) / len(seen)
    return found


def _by_task(sides: _Sides, values: Array) -> Array:
    return tally(sides.tasks, sides.number, values[:, None])[:, 0]


def _least_variance(people: Array, judges: Array) -> float:
    off = judges - judges.mean()
    spread = float(off @ off)
    return min(1.0, max(0.0, -float(off @ people) / spread)) if spread > 0 else 0.0


def _estimate(
    sides: _Sides, gaps: Array, listen: float, level: float, *, fitted: bool = False
) -> tuple[Estimate, float]:
    from scipy.special import stdtr, stdtrit

    mean = float(gaps.mean())
    mean = 0.0 if abs(mean) <= NEAR else mean
    drawn = _drawn(sides, listen, fitted=fitted)
    variance = float(gaps.var(ddof=1)) / sides.number + sum(one.hidden for one in drawn)
    degrees = _degrees(sides.number, variance, drawn, fitted=fitted)
    error = sqrt(variance)
    reach = float(stdtrit(degrees, (1 + level) / 2)) * error
    p = 2 * float(stdtr(degrees, -abs(mean) / error)) if error > 0 else float(mean == 0)
    least, most = sides.ends
    return Estimate(mean, max(least, mean - reach), min(most, mean + reach)), p


class _Drawn(NamedTuple):
    """What a group's random labels make of the variance of the gap: ``hidden`` is the part of it
    that few labels hide of their own spread.
    """

    variance: float
    hidden: float
    degrees: int


def _drawn(sides: _Sides, listen: float, *, fitted: bool) -> list[_Drawn]:
    """By group; wider where lambda was fitted to the labels (``sampling.widened``)."""
    spare = sum(len(group.seen) - 1 for group in sides.open)
    wider = widened(spare) if fitted else 1.0
    found = []
    for cells, seen in sides.open:
        n, all_of = len(seen), len(cells)
        off = (sides.people - listen * sides.judges)[seen]
        total = float(((off - off.mean()) ** 2).sum())
        scale = float((sides.parts[seen] ** 2).mean())
        alike = sides.steps or total <= 1e-12
        square = (total + scale) / (n + 3) if alike else wider * total / (n - 1)
        each = all_of * (all_of - n) / n / sides.number**2
        found.append(_Drawn(each * square, each * max(0.0, square - total / n), n - 1))
    return found


def _degrees(number: int, variance: float, drawn: list[_Drawn], *, fitted: bool) -> float:
    """What the variance is worth: its parts have other degrees (Satterthwaite 1946)."""
    rest = max(0.0, variance - sum(one.variance for one in drawn))
    parts = sum(one.variance**2 / one.degrees for one in drawn) + rest**2 / (number - 1)
    if not drawn or parts <= 0:
        return number - 1
    return min(number - 1, max(1.0, variance**2 / parts - fitted))
