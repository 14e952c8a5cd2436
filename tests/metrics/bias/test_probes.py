"""Figures of probes, by hand and against a second derivation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.metrics.bias.effects import BiasEffect
from core.metrics.bias.probes import (
    detectable_shift,
    faulty_effects,
    flip_effect,
    flip_shares,
    item_shifts,
    item_slopes,
    items_needed,
    mean_effect,
)


def test_a_shift_is_that_from_both_originals_and_their_noise_is_no_shift() -> None:
    # Original 0 and 1 (it wavers), edit 1: half of the wavering is the edit's.
    earned = np.array([[[0.0], [1.0], [1.0]], [[0.0], [np.nan], [1.0]], [[np.nan]] * 3])
    assert item_shifts(earned, [2])[:2].tolist() == [[0.5], [1.0]]
    assert np.isnan(item_shifts(earned, [2])[2, 0])


def test_one_name_is_held_against_the_other_names_and_not_the_original() -> None:
    # Any name costs .3, the own name .1 less of it: that alone is preference.
    earned = np.array([[[0.8], [0.8], [0.6], [0.5], [0.5]]])
    assert item_shifts(earned, [2], [3, 4])[0, 0] == pytest.approx(0.1)


def test_the_slope_on_doses_is_least_squares_through_the_original() -> None:
    generator = np.random.default_rng(3)
    earned = generator.random((7, 5, 2))
    grown = np.tile([0.25, 0.5, 1.0], (7, 1))
    found = item_slopes(earned, [2, 3, 4], grown)
    x = np.log2(1 + grown[0])[:, None]
    for item in range(7):
        for criterion in range(2):
            y = earned[item, 2:, criterion] - earned[item, :2, criterion].mean()
            expected = np.linalg.lstsq(x, y, rcond=None)[0][0]
            assert found[item, criterion] == pytest.approx(expected)


def test_a_dose_without_an_answer_is_left_out_and_none_at_all_is_undefined() -> None:
    earned = np.array([[[0.0], [0.0], [np.nan], [0.3]], [[0.0], [0.0], [np.nan], [np.nan]]])
    found = item_slopes(earned, [2, 3], np.array([[0.5, 1.0], [0.5, 1.0]]))
    assert found[0, 0] == pytest.approx(0.3)
    assert np.isnan(found[1, 0])


def test_the_effect_on_one_criterion_is_the_one_sided_t_test() -> None:
    cells = np.random.default_rng(5).normal(0.05, 0.3, (60, 1))
    found = mean_effect(cells, "above")
    expected = stats.ttest_1samp(cells[:, 0], 0, alternative="greater")
    assert found.p == pytest.approx(expected.pvalue)
    assert found.n == 60


def test_answers_that_change_under_anything_are_no_fault_of_the_edit() -> None:
    # A judge that answers 0 or 1 as it likes changes half under an edit, a line, and by itself.
    options = np.random.default_rng(2).integers(0, 2, (4000, 4, 1))
    assert [flip_shares(options, at).mean() for at in (1, 2, 3)] == pytest.approx(
        [0.5] * 3, abs=0.02
    )
    assert flip_effect(options, 3).p == pytest.approx(1.0, abs=1e-6)
    # One that says the same of the same text, and something else of any other, is the same.
    options[:, 1] = options[:, 0]
    assert flip_shares(options, 1).mean() == 0
    assert flip_effect(options, 3).p == pytest.approx(1.0, abs=1e-6)
    # One that never wavers and always turns round under the edit.
    turned = np.zeros((40, 4, 1), np.int64)
    turned[:, 3] = 1
    assert flip_effect(turned, 3).estimate == 1.0
    assert (flip_effect(turned, 3).p or 1) < 1e-9


def test_both_families_share_the_promise_and_small_effects_are_no_fault() -> None:
    def one(p: float, size: float = 0.2) -> BiasEffect:
        return BiasEffect(size, 0.0, 0.4, 100, p)

    # Half of 1 % for each family; of two checks the smaller p counts twice (Holm).
    assert faulty_effects([one(0.0026), one(0.9)], [one(0.0024), one(0.9)]) == (
        [False, False],
        [True, False],
    )
    assert faulty_effects([one(1e-9, 0.04)], []) == ([False], [])
    assert faulty_effects([BiasEffect.undefined("Why.")], []) == ([False], [])


def test_what_would_have_been_found_is_found_in_four_of_five() -> None:
    # The power of a one-sided t test at level .005 / 8 for that shift, by the noncentral t.
    shift = detectable_shift(BiasEffect(0.0, -0.0992, 0.0992, 100, 0.5), 8, 10**9)
    assert shift is not None
    error = 0.0992 / stats.t.ppf(0.975, 99)
    level = stats.t.ppf(1 - 0.005 / 8, 99)
    assert stats.nct.sf(level, 99, shift / error) == pytest.approx(0.8, abs=0.01)
    # A judge that nothing has moved yet shows no error at all; one that changes a share s of 100
    # answers has s (1 - s) / 100, and is held against the 10 % that are no fault.
    still = BiasEffect(0.0, -1e-9, 1e-9, 100, 1.0)
    share = detectable_shift(still, 12, 100, 0.1)
    assert share is not None
    least = stats.t.ppf(1 - 0.005 / 12, 99) * np.sqrt(share * (1 - share) / 100)
    power = stats.norm.sf((0.1 + least - share) / np.sqrt(share * (1 - share) / 100))
    assert power == pytest.approx(0.8, abs=0.01)
    # And the number of items for it is about the number there was.
    assert items_needed(shift, error * 10, 8) == pytest.approx(100, abs=4)
