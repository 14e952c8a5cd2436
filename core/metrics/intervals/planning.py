"""Plan labels: the width of an interval, and the power of a comparison.

The same computation as ``sampling.powered_mean`` and ``powered_gaps.powered_gap``, before there are
labels, from the expected errors of judges in each group of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from core.metrics.intervals.sampling import AUDIT
from core.metrics.measure import Array, weight_sums

#: The level of a test, and the planned power.
LEVEL, POWER = 0.05, 0.8


class Expected(NamedTuple):
    """Expectations for cells, arrays of shape (cells,).

    ``part``: the weight of a cell's value in the mean or gap. ``said``: the votes' value. ``mean``
    and ``variance``: of people's value. ``left``: not labelled; the others were drawn.
    """

    part: Array
    said: Array
    mean: Array
    variance: Array
    left: npt.NDArray[np.bool_]


def outcome_moments(values: Sequence[float], voted: int, wrong: Array) -> tuple[Array, Array]:
    """Return means and variances of people's values of cells.

    People choose the option voted for, or with probability ``wrong`` any of the others, all equally
    likely.

    >>> [one.tolist() for one in outcome_moments([0.0, 1.0], 1, np.array([0.25]))]
    [[0.75], [0.1875]]
    """
    other_values = [value for at, value in enumerate(values) if at != voted]
    if not other_values:
        return np.full(len(wrong), values[voted]), np.zeros(len(wrong))
    voted_value = values[voted]
    mean = (1 - wrong) * voted_value + wrong * sum(other_values) / len(other_values)
    square = (1 - wrong) * voted_value**2 + wrong * sum(v * v for v in other_values) / len(
        other_values
    )
    return mean, np.maximum(0.0, square - mean**2)


class DrawGroup(NamedTuple):
    """A group of cells with the same probability of a label.

    Holds their number, the labels so far, the labels to draw, and the variance of the judges'
    errors after weighting by lambda (in units of the mean).
    """

    cells: int
    have: int
    more: float
    square: float

    @property
    def labels(self) -> float:
        """Return the final number of labels, at most all cells."""
        return min(float(self.cells), self.have + self.more)


def draw_groups(cells: Expected, group: npt.ArrayLike, chance: npt.ArrayLike) -> list[DrawGroup]:
    """Return the cells in groups of equal probability, given that of each unlabelled cell.

    Judges are weighted to minimise the error (lambda of ``sampling.powered_mean``).
    """
    place, chances = np.asarray(group, np.int64), np.asarray(chance, np.float64)
    number = int(place.max()) + 1
    sizes = np.bincount(place, minlength=number).astype(np.float64)

    def within_groups(values: Array) -> Array:
        """Return values minus the mean of their group."""
        return (
            values
            - (weight_sums(place, number, values[:, None])[:, 0] / np.maximum(sizes, 1))[place]
        )

    votes, mean = within_groups(cells.part * cells.said), within_groups(cells.part * cells.mean)
    spread = float(votes @ votes)
    listen = min(1.0, max(0.0, float(votes @ mean) / spread)) if spread > 0 else 0.0
    square = (mean - listen * votes) ** 2 + cells.part**2 * cells.variance
    columns = np.column_stack([~cells.left, cells.left * chances, square]).astype(np.float64)
    sums = weight_sums(place, number, columns)
    return [
        DrawGroup(int(size), int(labelled), float(planned), float(total / size))
        for size, (labelled, planned, total) in zip(sizes, sums, strict=True)
        if size
    ]


def gap_error_if_labelled(cells: Expected, tasks: npt.ArrayLike) -> float:
    """Return the standard error of a gap over tasks if every cell had a label."""
    task_of = np.asarray(tasks, np.int64)
    number = int(task_of.max()) + 1
    by_task = weight_sums(task_of, number, (cells.part * cells.mean)[:, None])[:, 0]
    within = float((cells.part**2 * cells.variance).sum())
    return sqrt(number * float(by_task.var(ddof=1)) + within)


def sum_error(groups: Sequence[DrawGroup]) -> float | None:
    """Return the standard error of a sum over all cells; ``None`` with fewer than 2 labels in a
    group.

    Square root of the sum of N^2 (1 - n/N) s^2 / n (Cochran 1977, section 5.4).

    >>> round(sum_error([DrawGroup(100, 0, 25, 0.25)]), 3)
    8.66
    """
    variance = 0.0
    for group in groups:
        n = group.labels
        if n >= group.cells:
            continue
        if n < 2:
            return None
        variance += group.cells * (group.cells - n) * group.square / n
    return sqrt(variance)


def half_width(groups: Sequence[DrawGroup]) -> float | None:
    """Return half the width of the 95% interval; ``None`` if there are too few labels.

    >>> round(half_width([DrawGroup(100, 0, 25, 0.25)]), 2)
    17.92
    >>> half_width([DrawGroup(100, 0, 9, 0.25)]) is None
    True
    """
    spread, open_groups = (
        sum_error(groups),
        [group for group in groups if group.labels < group.cells],
    )
    drawn = sum(group.labels for group in open_groups)
    if spread is None or (open_groups and drawn < AUDIT):
        return None
    if not open_groups:
        return 0.0
    return float(stdtrit(max(1.0, drawn - len(open_groups) - 1), 1 - LEVEL / 2)) * spread


def detection_power(gap: float, spread: float, tests: int = 1) -> float:
    """Return the probability of detecting a gap, given the standard error of its estimate.

    It is the first of ``tests`` tests that are corrected together (Holm 1979).

    >>> round(detection_power(0.1, 0.0357), 2), round(detection_power(0.0, 0.1), 3)
    (0.8, 0.05)
    """
    if spread <= 0:
        return 1.0 if gap else LEVEL / tests
    z = float(ndtri(1 - LEVEL / tests / 2))
    return float(ndtr(abs(gap) / spread - z) + ndtr(-abs(gap) / spread - z))


def smallest_detectable_gap(spread: float, tests: int = 1) -> float:
    """Return the smallest gap detected with probability ``POWER``, as the first of ``tests`` tests.

    >>> round(smallest_detectable_gap(0.1), 2)
    0.28
    """
    return spread * float(ndtri(1 - LEVEL / tests / 2) + ndtri(POWER))
