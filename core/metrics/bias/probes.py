"""Paired probes: does an edit that deserves no other answer move a judge's answers?

Every item is asked as it was, once more as it was, with a line that says nothing, and with each
edit, all in one go. What an edit does is the difference from the item's own originals, so neither
the quality of items nor what goes with it can enter. The second original shows how far answers move
by themselves; the line, how far those of a judge move that says the same of the same text, but
something else of any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from core.metrics.bias.effects import BiasEffect, Null, Side
from core.metrics.bias.judge_bias import clustered_mean
from core.metrics.intervals.bootstrap import holm
from core.metrics.measure import Array

#: At most this share of whole sets of probes accuses a judge that no edit moves.
FALSE_ALARMS = 0.01
#: A shift of less than this share of a criterion's best is not said to be a fault, nor are answers
#: of which no more than this many change beyond those that change by themselves.
MATTERS, FLIPS = 0.05, Null(0.10, "above")
#: The power that is planned for.
POWER = 0.8
#: The columns of the originals, and that of the line that says nothing.
ORIGINALS, NOTHING = (0, 1), 2


class Replies(NamedTuple):
    """A judge's answers to every text of every item, shape (items, texts, criteria).

    The first three texts are the original, asked twice, and with a line that says nothing; the
    others are edits, NaN and -1 where an
    item has no such text or there is no answer. ``earned`` is the share of the criterion's best
    (NaN also where it has no order), ``options`` the choice, abstentions among them.
    """

    earned: Array
    options: npt.NDArray[np.int64]

    def of(self, criteria: Sequence[int]) -> Replies:
        """Those to some of the criteria."""
        return Replies(self.earned[:, :, criteria], self.options[:, :, criteria])


def shifts(earned: Array, plus: Sequence[int], minus: Sequence[int] = ORIGINALS) -> Array:
    """By how much texts earn more than others of the same item, shape (items, criteria).

    The mean over the columns ``plus`` less that over ``minus``, of those with an answer; NaN where
    a side has none.

    >>> shifts(np.array([[[0.0], [1.0], [1.0]]]), [2]).tolist()
    [[0.5]]
    """
    return _mean(earned[:, list(plus)]) - _mean(earned[:, list(minus)])


def slopes(earned: Array, columns: Sequence[int], doses: Array) -> Array:
    """What a doubling does, from several doses of one edit, shape (items, criteria).

    ``doses`` has shape (items, columns): by what share of its own length a text grew, NaN where
    there is none. Least squares through the original, on log2 of the growth: per cell
    sum x d / sum x^2 over the doses that have an answer.

    Of a text made half as long again and twice as long, log2 1.5 = 0.585 and 1:

    >>> found = slopes(np.array([[[0.0], [0.0], [0.585], [1.0]]]), [2, 3], np.array([[0.5, 1.0]]))
    >>> found.round(3).tolist()
    [[1.0]]
    """
    apart = np.stack([shifts(earned, [column]) for column in columns], axis=1)
    x = np.log2(1 + doses)[:, :, None]
    known = np.isfinite(apart) & np.isfinite(x)
    cross = np.where(known, x * apart, 0.0).sum(axis=1)
    square = np.where(known, x * x, 0.0).sum(axis=1)
    return np.where(square > 0, cross / np.where(square > 0, square, 1.0), np.nan)


def flips(options: npt.NDArray[np.int64], column: int) -> Array:
    """Which answers differ from an original, shape (items, criteria): the mean over both.

    Of the second original, whether both differ. NaN without all three answers.

    >>> flips(np.array([[[0], [1], [1]]]), 2).tolist()
    [[0.5]]
    """
    first, again, edit = (options[:, at] for at in (*ORIGINALS, column))
    known = (first >= 0) & (again >= 0) & (edit >= 0)
    apart = (edit != first) * 1.0 + (edit != again)
    return np.where(known, apart if column in ORIGINALS else apart / 2, np.nan)


def effect(cells: Array, side: Side) -> BiasEffect:
    """The mean of cells, shape (items, criteria), and the p of it being none on that side.

    Cells of one item go together (``clustered_mean``); undefined for fewer than 20 items.
    """
    items = np.repeat(np.arange(cells.shape[0]), cells.shape[1])
    return clustered_mean(cells.ravel(), items, Null(0.0, side))


def flip_effect(options: npt.NDArray[np.int64], column: int) -> BiasEffect:
    """How many more answers change under the edit than by a line that says nothing."""
    cells = flips(options, column) - flips(options, NOTHING)
    items = np.repeat(np.arange(cells.shape[0]), cells.shape[1])
    return clustered_mean(cells.ravel(), items, FLIPS)


def accused(
    whole: Sequence[BiasEffect], single: Sequence[BiasEffect]
) -> tuple[list[bool], list[bool]]:
    """Which effects are faults: surely there on their side, and large enough to matter.

    ``whole`` are effects over all criteria, ``single`` those on one. Each family is corrected by
    itself (Holm 1979) at half of ``FALSE_ALARMS``, so that both together accuse nobody unmoved more
    often than that.

    >>> there = BiasEffect(0.2, 0.1, 0.3, 100, 1e-5)
    >>> accused([there, there._replace(estimate=0.01)], [])
    ([True, False], [])
    """
    return _sure(whole), _sure(single)


def _sure(effects: Sequence[BiasEffect]) -> list[bool]:
    corrected = holm([one.p for one in effects])
    return [
        p is not None and p <= FALSE_ALARMS / 2 and abs(one.estimate or 0.0) >= MATTERS
        for p, one in zip(corrected, effects, strict=True)
    ]


def findable(found: BiasEffect, tests: int, cells: int, null: float = 0.0) -> float | None:
    """The smallest shift that would have been found with a chance of ``POWER``.

    Beyond ``null``, at the level that the first of ``tests`` must reach. Its error is that of the
    effect, and what a shift adds where it moves so large a share of ``cells`` answers from one end
    to the other: a judge that nothing moved shows none of that yet. ``None`` without an interval,
    and where no shift is large enough.

    >>> round(findable(BiasEffect(0.0, -0.04, 0.04, 100, 0.5), 8, 400), 3)
    0.106
    """
    if found.low is None or found.high is None:
        return None
    error = (found.high - found.low) / 2 / float(stdtrit(found.n - 1, 0.975))
    least = float(stdtrit(found.n - 1, 1 - FALSE_ALARMS / 2 / max(1, tests)))
    reach = least + float(ndtri(POWER))
    shifts = np.linspace(MATTERS, 1.0, 9501)
    there = shifts - null >= reach * np.sqrt(error**2 + shifts * (1 - shifts) / cells)
    return float(shifts[there.argmax()]) if there.any() else None


def items_needed(shift: float, spread: float, tests: int) -> int:
    """How many items it takes to find a shift with a chance of ``POWER``.

    ``spread`` is the standard deviation of an item's difference. The normal approximation.

    >>> items_needed(0.1, 0.25, 8)
    104
    """
    least = float(ndtri(1 - FALSE_ALARMS / 2 / max(1, tests))) + float(ndtri(POWER))
    return int(np.ceil((least * spread / shift) ** 2))


def _mean(values: Array) -> Array:
    known = np.isfinite(values)
    number = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
