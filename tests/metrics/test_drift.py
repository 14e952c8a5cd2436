"""Control limits over many looks, by hand and against Student's t."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from core.metrics.drift import RepetitionMean, comparisons_of_cells, error_rate_spent
from core.metrics.measure import Array


def test_all_looks_together_use_up_what_is_allowed_and_no_more() -> None:
    assert sum(error_rate_spent(look, 6) for look in range(1, 100_000)) == pytest.approx(
        0.01 / 6, rel=1e-4
    )


def test_the_limits_follow_from_how_far_answers_move_from_look_to_look() -> None:
    generator = np.random.default_rng(7)
    before, now = generator.random((2, 60))
    answers = np.stack([before, before, before, now])
    found = comparisons_of_cells(answers, np.arange(60), 2, windows=(1,))[-1][0]
    # Three looks alike and one away by g: variance g^2 / 4, third moment g^3 / 4; the mean of one
    # look beside that of three has 1 + 1/3 and 1 - 1/9 times as much.
    gap = now - before
    error = np.sqrt((gap**2).sum() / 4 * (4 / 3)) / 60
    skew = abs((gap**3).sum()) / 4 * (8 / 9) / 60**3 / error**3
    z = stats.t.ppf(1 - 0.01 / 2 / 12 / 2, 59)
    # Cornish and Fisher's first term, on both sides.
    reach = (z + (z**2 - 1) * skew / 6) * error
    assert (found.low, found.high) == pytest.approx((before.mean() - reach, before.mean() + reach))
    assert found.out == bool(abs(gap.mean()) > reach)


def test_a_later_look_has_wider_limits_and_small_moves_are_no_drift() -> None:
    before = np.zeros(400)
    now = np.where(np.arange(400) < 7, 1.0, 0.0)
    early = _newest(now, before, np.arange(400))
    late = comparisons_of_cells(np.stack([before] * 40 + [now]), np.arange(400), 1)[-1][0]
    assert early.high is not None
    assert late.high is not None
    assert early.high < late.high
    # 7 of 400 are 1.75 %: sure or not, too little to matter.
    assert not early.out


def test_cells_of_one_item_count_together_and_missing_answers_are_left_out() -> None:
    before, now = np.zeros(80), np.tile([1.0, 0.0], 40)
    one_each = _newest(now, before, np.arange(80))
    cells = np.repeat(np.arange(80), 3)
    together = _newest(np.repeat(now, 3), np.repeat(before, 3), cells)
    assert together == pytest.approx(one_each)
    now[:70] = np.nan
    few = _newest(now, before, np.arange(80))
    assert (few.now, few.reason) == (None, "Only 10 items can be compared; 20 are needed.")


def _newest(now: Array, before: Array, items: npt.NDArray[np.int64]) -> RepetitionMean:
    return comparisons_of_cells(np.stack([before, now]), items, 1)[0][0]


def test_a_small_lasting_fall_is_found_by_the_mean_of_the_last_looks() -> None:
    # A tenth of the answers differs at random each time; after the fifth look a seventh of those
    # right becomes wrong, and stays so. No look alone is far enough out, the mean of four is.
    generator = np.random.default_rng(7)
    right = np.repeat([1.0, 0.0], [80, 20])
    moved = np.where(np.arange(100) < 11, 0.0, right)
    asked = np.stack([right] * 5 + [moved] * 4)
    answers = np.where(generator.random(asked.shape) < 0.1, 1 - asked, asked)
    alone, two, four, eight = comparisons_of_cells(answers, np.arange(100), 1)[-1]
    assert [one.over for one in (alone, two, four, eight)] == [1, 2, 4, 8]
    assert (alone.out, four.out) == (False, True)
    # The last four of nine beside the five before them.
    assert four.before == pytest.approx(answers[:5].mean())
    assert four.now == pytest.approx(answers[5:].mean())
    assert four.low is not None
    assert four.before is not None
    # With a chance of .8 a move by the limit and .84 standard errors more would have been found.
    away = answers - answers.mean(axis=0)
    error = np.sqrt((away**2).sum() / 8 * (1 / 4 + 1 / 5)) / 100
    reach = four.before - four.low
    assert four.findable == pytest.approx(reach + stats.norm.ppf(0.8) * error)
    # Each of four windows of the eighth look may use .01 / (8 * 9) / 4.
    assert reach >= stats.t.ppf(1 - 0.01 / 72 / 4 / 2, 99) * error


def test_what_has_moved_stays_found_and_is_no_measure_of_how_it_was() -> None:
    before, now = np.zeros(100), np.repeat([1.0, 0.0], [30, 70])
    answers = np.stack([before] * 2 + [now] * 20)
    assert [
        any(one.out for one in looks) for looks in comparisons_of_cells(answers, np.arange(100), 1)
    ] == [
        False,
        *[True] * 20,
    ]


def test_means_of_looks_raise_no_more_alarms_where_nothing_moves() -> None:
    # 150 series of 12 looks, promised 1 %: five or more in 150 have a chance of 2 %.
    generator, alarms = np.random.default_rng(5), 0
    for _ in range(150):
        right = generator.random(60) > 0.2
        anew = generator.random((13, 60)) < 0.2
        asked = np.where(anew, generator.random((13, 60)) < 0.5, right) * 1.0
        alarms += any(
            one.out for looks in comparisons_of_cells(asked, np.arange(60), 1) for one in looks
        )
    assert alarms <= 4
