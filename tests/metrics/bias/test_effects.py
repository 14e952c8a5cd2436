"""Each effect against an independent computation of the same thing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.metrics.agreement.reliability import alpha_ordinal
from core.metrics.bias.criteria import (
    agreement,
    correlation_of,
    cramers_v,
    item_rest,
    merges,
    redundancy,
)
from core.metrics.bias.effects import NullValue, share_above_limit, share_of_rare_option
from core.metrics.bias.judge_bias import (
    ONE_ORDER,
    BiasEffect,
    PositionPull,
    ShownOrders,
    clustered_mean,
    halo,
    length_slope,
    position_effect,
)


def test_with_one_cell_per_item_the_clustered_mean_is_students_t_test() -> None:
    values = np.random.default_rng(1).normal(0.1, 1, 80)
    effect = clustered_mean(values, np.arange(80))
    expected = stats.ttest_1samp(values, 0)
    assert effect.p == pytest.approx(expected.pvalue)
    assert (effect.low, effect.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_copies_of_a_cell_in_the_same_item_add_no_certainty() -> None:
    values = np.random.default_rng(1).normal(size=50)
    once = clustered_mean(values, np.arange(50))
    thrice = clustered_mean(np.repeat(values, 3), np.repeat(np.arange(50), 3))
    assert thrice == pytest.approx(once)


def test_no_difference_anywhere_is_no_effect_and_the_same_difference_everywhere_is_one() -> None:
    none = clustered_mean(np.zeros(30), np.arange(30))
    assert (none.estimate, none.low, none.p) == (0.0, None, 1.0)
    # 30 times 1 and one more item with 0: the variance of the 31 is (30 / 31)(1 / 31)(31 / 30) =
    # 1 / 31, so the standard error is 1 / 31 and t = 31, with 29 degrees of freedom.
    ever = clustered_mean(np.ones(30), np.arange(30))
    assert ever.estimate == 1.0
    assert ever.low is None
    assert ever.p == pytest.approx(2 * stats.t.sf(31, 29))


def test_few_items_are_not_judged() -> None:
    effect = clustered_mean(np.ones(19), np.arange(19))
    assert effect.p is None
    assert effect.reason == "Only 19 items can be compared; 20 are needed."


def test_the_share_of_independent_cells_has_the_exact_binomial_p() -> None:
    effect = share_above_limit([1] * 9 + [0] * 41, np.arange(50), 0.1)
    assert effect.p == pytest.approx(stats.binomtest(9, 50, 0.1, "greater").pvalue)


def test_cells_that_change_together_count_as_fewer() -> None:
    hits = np.repeat([1] * 9 + [0] * 41, 4)
    together = share_above_limit(hits, np.repeat(np.arange(50), 4), 0.1)
    # Four copies per item have four times the variance of independent cells: 200 / 4 = 50 cells.
    assert together.p == pytest.approx(stats.binomtest(9, 50, 0.1, "greater").pvalue)


def test_an_unused_option_has_the_binomial_p() -> None:
    assert share_of_rare_option(1, 200, 0.05).p == pytest.approx(stats.binom.cdf(1, 200, 0.05))


def shuffled(choices: np.ndarray, orders: np.ndarray, k: int) -> ShownOrders:
    first = np.zeros((k, k))
    last = np.zeros((k, k))
    np.add.at(first, (choices, orders[:, 0]), 1)
    np.add.at(last, (choices, orders[:, -1]), 1)
    return first, last


def test_the_p_of_a_place_is_that_of_exchanging_the_orders() -> None:
    rng = np.random.default_rng(5)
    choices = rng.choice(3, 90, p=[0.6, 0.3, 0.1])
    orders = np.argsort(rng.random((90, 3)), axis=1)
    pulled = np.where(rng.random(90) < 0.25, orders[:, 0], choices)
    found = position_effect([shuffled(pulled, orders, 3)])
    assert isinstance(found, PositionPull)
    seen = (pulled == orders[:, 0]).sum()
    drawn = np.array([(pulled == rng.permutation(orders)[:, 0]).sum() for _ in range(4000)])
    centre = drawn.mean()
    simulated = (np.abs(drawn - centre) >= abs(seen - centre) - 1e-9).mean()
    # One place's p; the other place doubles it. Simulation error about .003.
    assert found.effect.p == pytest.approx(2 * simulated, abs=0.012)
    assert found.place == "first"


def test_orders_that_never_vary_say_nothing_of_place() -> None:
    fixed = position_effect([(np.array([[30.0, 0.0], [20.0, 0.0]]), np.zeros((2, 2)))])
    assert isinstance(fixed, BiasEffect)
    assert fixed.reason == ONE_ORDER


def test_the_slope_is_that_of_least_squares_with_an_effect_of_each_stratum() -> None:
    rng = np.random.default_rng(3)
    strata, x = rng.integers(0, 4, 200), rng.normal(size=200)
    y = 0.3 * x + strata + rng.normal(size=200)
    design = np.column_stack([x, *(strata == s for s in range(4))])
    expected = np.linalg.lstsq(design, y, rcond=None)[0][0]
    effect = length_slope(y, x, strata, np.arange(200))
    assert effect.estimate == pytest.approx(expected)
    assert effect.low is not None
    assert effect.high is not None
    # Independent errors of variance 1: standard error 1 / sqrt(sum of squares within strata).
    assert (effect.high - effect.low) / 2 == pytest.approx(1.972 / np.sqrt(200), rel=0.15)


def test_length_that_goes_with_the_truth_is_no_verbosity() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 2000)
    length = truth + rng.normal(size=2000)
    judged = np.where(rng.random(2000) < 0.8, truth, rng.integers(0, 2, 2000)) * 1.0
    plain = length_slope(judged, length, np.zeros(2000), np.arange(2000))
    given = length_slope(judged, length, truth, np.arange(2000))
    assert plain.p is not None
    assert given.p is not None
    assert plain.p < 1e-6 < 0.01 < given.p


def test_halo_is_the_difference_of_mean_correlations() -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(150, 3))
    own = truth + rng.normal(size=(150, 1))
    own[3, 1] = np.nan
    rows = [np.arange(150) != 3, np.full(150, True), np.arange(150) != 3]
    pairs = [(0, 1), (0, 2), (1, 2)]
    mean = [
        np.mean(
            [np.corrcoef(v[r, a], v[r, b])[0, 1] for (a, b), r in zip(pairs, rows, strict=True)]
        )
        for v in (own, truth)
    ]
    found = halo(own, truth)
    assert (found.own, found.reference) == pytest.approx(tuple(mean))
    assert found.effect.estimate == pytest.approx(mean[0] - mean[1])


def test_the_interval_of_alpha_leaves_out_one_item_at_a_time() -> None:
    ratings = np.random.default_rng(7).integers(-1, 3, (60, 3))
    ratings = ratings[(ratings >= 0).sum(axis=1) >= 2]
    n = len(ratings)
    whole = alpha_ordinal(ratings, 3).value
    without = [alpha_ordinal(np.delete(ratings, i, axis=0), 3).value or 0.0 for i in range(n)]
    error = np.sqrt((n - 1) ** 2 / n * np.var(without, ddof=1))
    effect = agreement(ratings, 3, True, NullValue(0.4, "below")).effect
    assert effect.estimate == pytest.approx(whole)
    assert effect.high == pytest.approx(whole + stats.t.ppf(0.975, n - 1) * error)


def test_merging_two_levels_recomputes_agreement_and_accuracy_from_the_ratings() -> None:
    ratings = np.array([[0, 0], [1, 2], [2, 1], [3, 3]] * 12)
    truth = np.array([0, 1, 2, 3] * 12)
    what_if = merges(ratings, truth, 4, True, NullValue(0.2, "below"))[1]
    assert (what_if.first, what_if.second) == (1, 2)
    # By hand: ratings equal to the truth are 2 + 1 + 1 + 2 of 8; with 1 and 2 as one, all.
    assert [f.value for f in what_if.accuracy] == [0.75, 1.0]
    assert what_if.agreement[1].value == 1.0
    # Whoever rates 1 or 2 never agrees with the other: worse than chance.
    assert what_if.apart.estimate is not None
    assert what_if.apart.estimate < 0
    assert what_if.apart.p is not None
    assert what_if.apart.p < 1e-6


def test_correlations_of_tables_are_pearsons_and_cramers() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    b = np.where(rng.random(200) < 0.6, a, b)
    table = np.zeros((3, 4))
    np.add.at(table, (a, b), 1)
    by_table = correlation_of([0.0, 0.5, 1.0], [0.0, 0.2, 0.7, 1.0])(table)
    x, y = np.array([0.0, 0.5, 1.0])[a], np.array([0.0, 0.2, 0.7, 1.0])[b]
    assert float(by_table) == pytest.approx(np.corrcoef(x, y)[0, 1])
    expected = stats.contingency.association(table.astype(int), method="cramer")
    assert float(cramers_v(table)) == pytest.approx(expected)


def test_few_differences_on_a_rare_answer_do_not_prove_two_questions_the_same() -> None:
    # Both were MET on the same 4 of 100 items. At a correlation of .8 about 1.6 items would differ
    # ((1 - .8) * 2 * 100 * .04 * .96 = 1.5), so none differing is quite likely: exp(-1.5) = .22.
    rare = redundancy([[4, 0], [0, 96]], correlation_of([1, 0], [1, 0]), 0.8)
    assert rare.estimate == pytest.approx(1.0)
    assert rare.p is not None
    assert 0.05 < rare.p < 0.3


def test_a_question_turned_round_is_redundant_too() -> None:
    turned = redundancy([[0, 150], [149, 1]], correlation_of([0, 1], [0, 1]), 0.8)
    assert turned.estimate is not None
    assert turned.low is not None
    assert turned.high is not None
    assert turned.p is not None
    assert turned.low < turned.estimate < turned.high < -0.8
    assert turned.p < 1e-6


def test_item_rest_is_the_correlation_with_the_mean_of_the_others() -> None:
    rng = np.random.default_rng(9)
    values = rng.normal(size=(100, 1)) + rng.normal(size=(100, 4))
    effect = item_rest(values, 1, NullValue(0.2, "below"))
    rest = np.delete(values, 1, axis=1).mean(axis=1)
    assert effect.estimate == pytest.approx(np.corrcoef(values[:, 1], rest)[0, 1])
    assert effect.low is not None
    assert effect.high is not None
    assert effect.low < (effect.estimate or 0) < effect.high


def test_item_rest_needs_three_questions() -> None:
    assert (
        item_rest(np.zeros((50, 2)), 0, NullValue()).reason
        == "There are fewer than three questions."
    )
