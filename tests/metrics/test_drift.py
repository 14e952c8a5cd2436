"""Control limits over many looks, by hand and against Student's t."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.metrics.drift import look_at, spent


def test_all_looks_together_use_up_what_is_allowed_and_no_more() -> None:
    assert sum(spent(look, 6) for look in range(1, 100_000)) == pytest.approx(0.01 / 6, rel=1e-4)


def test_the_limits_are_those_of_a_paired_t_test_at_the_level_of_the_look() -> None:
    generator = np.random.default_rng(4)
    before, now = generator.random((2, 60))
    found = look_at(now, before, np.arange(60), 3, 2)
    gap = now - before
    error = gap.std(ddof=1) / np.sqrt(60)
    reach = stats.t.ppf(1 - 0.01 / 2 / 12 / 2, 59) * error
    assert (found.low, found.high) == pytest.approx((before.mean() - reach, before.mean() + reach))
    assert found.out == bool(abs(gap.mean()) > reach)


def test_a_later_look_has_wider_limits_and_small_moves_are_no_drift() -> None:
    before = np.zeros(400)
    now = np.where(np.arange(400) < 7, 1.0, 0.0)
    early, late = (look_at(now, before, np.arange(400), look, 1) for look in (1, 40))
    assert early.high is not None
    assert late.high is not None
    assert early.high < late.high
    # 7 of 400 are 1.75 %: sure or not, too little to matter.
    assert not early.out


def test_cells_of_one_item_count_together_and_missing_answers_are_left_out() -> None:
    before, now = np.zeros(80), np.tile([1.0, 0.0], 40)
    one_each = look_at(now, before, np.arange(80), 1, 1)
    together = look_at(np.repeat(now, 3), np.repeat(before, 3), np.repeat(np.arange(80), 3), 1, 1)
    assert together == pytest.approx(one_each)
    now[:70] = np.nan
    few = look_at(now, before, np.arange(80), 1, 1)
    assert (few.now, few.reason) == (None, "Only 10 items can be compared; 20 are needed.")
