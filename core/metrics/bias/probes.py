"""Paired probes: does an edit that should not change an answer move a judge's answers?

Every item is graded unchanged, once more unchanged, with a neutral line, and with each edit, all at
once. An edit's effect is the difference from the item's own originals, so the quality of items does
not matter. The second original shows how much answers vary anyway. The neutral line shows how much
the answers of a judge vary that is consistent on equal texts, but not on different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from core.metrics.bias.effects import BiasEffect, NullValue, Side
from core.metrics.bias.judge_bias import clustered_mean
from core.metrics.intervals.bootstrap import holm
from core.metrics.measure import Array

#: The largest share of complete sets of probes that accuse an unaffected judge.
FALSE_ALARMS = 0.01
#: The smallest shift that counts as a fault, as a share of a criterion's best value; and the share
#: of answers that may change, beyond those that change anyway, without being a fault.
MATTERS, FLIPS = 0.05, NullValue(0.10, "above")
#: The power for which items are planned.
POWER = 0.8
#: The column numbers of the two originals, and of the neutral line.
ORIGINALS, NOTHING = (0, 1), 2


class Replies(NamedTuple):
    """A judge's answers to every text of every item, shape (items, texts, criteria).

    The first three texts are the original, twice, and with a neutral line; the others are edits.
    Values are NaN and -1 if an item lacks the text or the answer. ``earned`` is the share of the
    criterion's best (NaN also without an order), ``options`` the choice, including abstentions.
    """

    earned: Array
    options: npt.NDArray[np.int64]

    def of(self, criteria: Sequence[int]) -> Replies:
        """Return the answers to some of the criteria."""
        return Replies(self.earned[:, :, criteria], self.options[:, :, criteria])


def item_shifts(earned: Array, plus: Sequence[int], minus: Sequence[int] = ORIGINALS) -> Array:
    """Return how much more some texts earn than others of the same item, shape (items, criteria).

    The mean over the columns ``plus`` minus that over ``minus``, over columns with an answer; NaN
    if either has none.

    >>> item_shifts(np.array([[[0.0], [1.0], [1.0]]]), [2]).tolist()
    [[0.5]]
    """
    return _mean_of_cells(earned[:, list(plus)]) - _mean_of_cells(earned[:, list(minus)])


def item_slopes(earned: Array, columns: Sequence[int], doses: Array) -> Array:
    """Return the effect of doubling, from several doses of one edit, shape (items, criteria).

    ``doses`` has shape (items, columns): the added length as a share of the text, NaN if missing.
    Least squares through the original, on log2 of the growth: per cell sum x d / sum x^2 over the
    doses with an answer.

    For a text made 1.5 and 2 times as long, log2 1.5 = 0.585 and 1:

    >>> earned = np.array([[[0.0], [0.0], [0.585], [1.0]]])
    >>> slope = item_slopes(earned, [2, 3], np.array([[0.5, 1.0]]))
    >>> slope.round(3).tolist()
    [[1.0]]
    """
    shifts = np.stack([item_shifts(earned, [column]) for column in columns], axis=1)
    x = np.log2(1 + doses)[:, :, None]
    defined = np.isfinite(shifts) & np.isfinite(x)
    cross = np.where(defined, x * shifts, 0.0).sum(axis=1)
    square = np.where(defined, x * x, 0.0).sum(axis=1)
    return np.where(square > 0, cross / np.where(square > 0, square, 1.0), np.nan)


def flip_shares(options: npt.NDArray[np.int64], column: int) -> Array:
    """Return the share of the two originals that an answer differs from, (items, criteria).

    For an original: whether it differs from the other. NaN unless all three answers exist.

    >>> flip_shares(np.array([[[0], [1], [1]]]), 2).tolist()
    [[0.5]]
    """
    first, again, edit = (options[:, at] for at in (*ORIGINALS, column))
    answered = (first >= 0) & (again >= 0) & (edit >= 0)
    changed = (edit != first) * 1.0 + (edit != again)
    return np.where(answered, changed if column in ORIGINALS else changed / 2, np.nan)


def mean_effect(cells: Array, side: Side) -> BiasEffect:
    """Return the mean of ``cells`` and the one-sided p-value of no effect.

    ``cells`` has the shape (items, criteria); ``side`` is where an effect is expected.
    Cells of one item are clustered (``clustered_mean``); undefined for fewer than 20 items.
    """
    items = np.repeat(np.arange(cells.shape[0]), cells.shape[1])
    return clustered_mean(cells.ravel(), items, NullValue(0.0, side))


def flip_effect(options: npt.NDArray[np.int64], column: int) -> BiasEffect:
    """Return how many more answers change after the edit than after a neutral line."""
    cells = flip_shares(options, column) - flip_shares(options, NOTHING)
    items = np.repeat(np.arange(cells.shape[0]), cells.shape[1])
    return clustered_mean(cells.ravel(), items, FLIPS)


def faulty_effects(
    overall: Sequence[BiasEffect], single: Sequence[BiasEffect]
) -> tuple[list[bool], list[bool]]:
    """Return which effects are faults: certainly present on their side, and large enough to matter.

    ``overall`` has effects over all criteria, ``single`` effects on one criterion each. Each family
    is corrected separately (Holm 1979) at half of ``FALSE_ALARMS``, so that both together rarely
    accuse an unaffected judge.

    >>> large = BiasEffect(0.2, 0.1, 0.3, 100, 1e-5)
    >>> faulty_effects([large, large._replace(estimate=0.01)], [])
    ([True, False], [])
    """
    return _significant_effects(overall), _significant_effects(single)


def _significant_effects(effects: Sequence[BiasEffect]) -> list[bool]:
    corrected = holm([effect.p for effect in effects])
    return [
        p is not None and p <= FALSE_ALARMS / 2 and abs(effect.estimate or 0.0) >= MATTERS
        for p, effect in zip(corrected, effects, strict=True)
    ]


def detectable_shift(effect: BiasEffect, tests: int, cells: int, null: float = 0.0) -> float | None:
    """Return the smallest shift that would have been detected with probability ``POWER``.

    It is relative to ``null``, at the level that the first of ``tests`` must reach. Its error is
    the effect's error, plus what a shift adds by moving this share of ``cells`` answers from one
    end to the other, which an unaffected judge does not show yet. ``None`` without an interval, and
    if no shift is large enough.

    >>> round(detectable_shift(BiasEffect(0.0, -0.04, 0.04, 100, 0.5), 8, 400), 3)
    0.106
    """
    if effect.low is None or effect.high is None:
        return None
    error = (effect.high - effect.low) / 2 / float(stdtrit(effect.n - 1, 0.975))
    least = float(stdtrit(effect.n - 1, 1 - FALSE_ALARMS / 2 / max(1, tests)))
    threshold = least + float(ndtri(POWER))
    shifts = np.linspace(MATTERS, 1.0, 9501)
    detected = shifts - null >= threshold * np.sqrt(error**2 + shifts * (1 - shifts) / cells)
    return float(shifts[detected.argmax()]) if detected.any() else None


def items_needed(shift: float, spread: float, tests: int) -> int:
    """Return the number of items needed to detect a shift with probability ``POWER``.

    ``spread`` is the standard deviation of an item's difference. Uses the normal approximation.

    >>> items_needed(0.1, 0.25, 8)
    104
    """
    least = float(ndtri(1 - FALSE_ALARMS / 2 / max(1, tests))) + float(ndtri(POWER))
    return int(np.ceil((least * spread / shift) ** 2))


def _mean_of_cells(values: Array) -> Array:
    finite = np.isfinite(values)
    number = finite.sum(axis=1)
    total = np.where(finite, values, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
