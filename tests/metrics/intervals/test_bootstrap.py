"""Resampling: the fast forms are the slow ones, what is joint stays joint, intervals hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.agreement import reliability, scores
from core.metrics.agreement.accuracy import accuracy, confusion
from core.metrics.agreement.correlation_distance import kendall_tau_b, spearman
from core.metrics.agreement.kappa import (
    KAPPAS,
    cohen_kappa,
    kappa_unweighted,
    mean_pairwise_cohen,
    pair_cells,
)
from core.metrics.agreement.ratings import patterns
from core.metrics.agreement.reliability import icc_2_1, icc_2_k, kendall_w
from core.metrics.intervals import bootstrap
from core.metrics.intervals.draws import resample_items, resample_patterns
from core.metrics.intervals.means import paired_difference
from core.metrics.measure import weight_sums

GROUP = [
    reliability.item_agreement,
    reliability.alpha_nominal,
    reliability.alpha_ordinal,
    reliability.alpha_interval,
    reliability.gwet_ac1,
    reliability.gwet_ac2,
    icc_2_1,
    icc_2_k,
    kendall_w,
    *map(mean_pairwise_cohen, KAPPAS),
]


def _ratings(seed, items=30, raters=3, k=3, gaps=0.1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, items)[:, None]
    other = rng.integers(0, k, (items, raters))
    ratings = np.where(rng.random((items, raters)) < 0.6, truth, other)
    return np.where(rng.random((items, raters)) < gaps, -1, ratings)


@pytest.mark.parametrize("figure", GROUP)
def test_weights_are_the_same_as_repeating_items(figure):
    ratings = _ratings(1)
    weights = resample_items(30, 5, np.random.default_rng(2))
    fast = figure.as_function_of_weights(ratings, 3, np.ones(30))(weights)
    slow = [figure(np.repeat(ratings, w.astype(int), axis=0), 3).value for w in weights.T]
    assert fast == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("figure", [*GROUP, reliability.fleiss_kappa])
def test_equal_rows_can_be_one_pattern(figure):
    ratings = _ratings(3, items=60)
    rows, times, of_item = patterns(ratings)
    assert len(rows) < len(ratings)
    assert figure(rows, 3, times).value == pytest.approx(figure(ratings, 3).value, abs=1e-12)
    weights = resample_items(60, 4, np.random.default_rng(4))
    by_items = figure.as_function_of_weights(ratings, 3, np.ones(60))(weights)
    by_patterns = figure.as_function_of_weights(rows, 3, times * 1.0)(
        weight_sums(of_item, len(rows), weights)
    )
    assert by_patterns == pytest.approx(by_items, abs=1e-12)


@pytest.mark.parametrize("figure", [accuracy, spearman, kendall_tau_b, *KAPPAS.values()])
def test_many_tables_at_once_are_the_tables_one_by_one(figure):
    tables = np.random.default_rng(5).integers(0, 9, (4, 4, 7)).astype(float)
    one_by_one = [figure(tables[:, :, i]).value for i in range(7)]
    assert figure.many(tables) == pytest.approx(one_by_one, abs=1e-12)


def test_resampled_scores_are_the_scores_of_repeated_items():
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 6, 25) / 5, rng.integers(0, 6, 25) / 5
    pairs = scores.pair_up(x, y)
    weights = resample_items(25, 3, rng)
    fast = scores.statistics(pairs)(weight_sums(pairs.of_item, len(pairs.rated), weights))
    for column, times in enumerate(weights.T.astype(int)):
        slow = scores.score_agreement(np.repeat(x, times), np.repeat(y, times))
        assert {n: v[column] for n, v in fast.items()} == pytest.approx(
            {n: figure.value for n, figure in slow.items()}, abs=1e-12
        )


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_every_resample_has_as_many_items_as_there_are(items, resamples, seed):
    weights = resample_items(items, resamples, np.random.default_rng(seed))
    assert weights.shape == (items, resamples)
    assert (weights.sum(axis=0) == items).all()


def test_an_interval_does_not_depend_on_the_order_of_items():
    ratings = _ratings(7, items=80)
    other = ratings[np.random.default_rng(8).permutation(80)]
    found = []
    for matrix in (ratings, other):
        rows, times, _ = patterns(matrix)
        draws = resample_patterns(times, 500, np.random.default_rng(9))
        of = reliability.alpha_nominal.as_function_of_weights(rows, 3, times * 1.0)
        found.append(bootstrap.intervals(lambda w, of=of: {"alpha": of(w)}, draws, times))
    assert found[0] == found[1]


def test_criteria_of_the_same_items_keep_their_correlation():
    # Two criteria with equal hits: the mean over both varies as one, sqrt(2) times what
    # independent draws would give (reference/performance.md 1d: 30% too narrow).
    hits = (np.random.default_rng(10).random(400) < 0.7).astype(float)
    joint = resample_items(400, 4000, np.random.default_rng(11))
    apart = resample_items(400, 4000, np.random.default_rng(12))
    together = np.std((hits @ joint + hits @ joint) / 800)
    independent = np.std((hits @ joint + hits @ apart) / 800)
    assert together / independent == pytest.approx(2**0.5, rel=0.05)


def test_few_items_take_bca_and_many_take_percentile():
    share = lambda w: {"share": w[0] / w.sum(axis=0)}  # noqa: E731
    for n, method in ((bootstrap.SMALL - 1, "bca"), (bootstrap.SMALL, "percentile")):
        times = np.array([n // 3, n - n // 3])
        draws = resample_patterns(times, 500, np.random.default_rng(1))
        assert bootstrap.intervals(share, draws, times)["share"].method == method


def test_bca_equals_scipys():
    from scipy import stats

    sample = np.random.default_rng(13).gamma(2, size=40)
    draws = resample_items(40, 9999, np.random.default_rng(14))
    ours = bootstrap.intervals(lambda w: {"m": sample @ w / w.sum(axis=0)}, draws, np.ones(40))["m"]
    theirs = stats.bootstrap(
        (sample,), np.mean, n_resamples=9999, rng=np.random.default_rng(15), method="BCa"
    ).confidence_interval
    # Two Monte Carlo runs of 9,999: an end has a standard error of about 1.5% of the width.
    width = theirs.high - theirs.low
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.08 * width)


def test_what_no_resample_changes_gets_no_interval_and_what_is_often_undefined_neither():
    same = bootstrap.percentile(np.ones(100))
    assert (same.low, same.high) == (None, None)
    assert "same value" in same.reason
    holes = np.where(np.arange(100) < 10, np.nan, np.arange(100))
    assert bootstrap.percentile(holes).reason == "It is undefined in 10% of the resamples."
    assert bootstrap.percentile(np.where(np.arange(100) < 4, np.nan, np.arange(100.0))).low > 0


def test_a_share_of_all_items_has_the_exact_interval():
    # Clopper and Pearson for n of n: the lower end is (alpha / 2) ** (1 / n).
    low, high, method, _ = bootstrap.exact_share(30, 30)
    assert (low, high, method) == (pytest.approx(0.025 ** (1 / 30)), 1.0, "exact")
    assert bootstrap.exact_share(0, 30)[:2] == pytest.approx((0, 1 - 0.025 ** (1 / 30)))


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    # 300 simulations: the standard error at 95% is 1.3 points; bench/coverage.py has the rest.
    rng, joint = np.random.default_rng(20261121), np.array([0.4, 0.1, 0.15, 0.35])
    truth = float(kappa_unweighted.many(joint.reshape(2, 2) * 1e9))
    held = 0
    for _ in range(300):
        table = rng.multinomial(60, joint)
        draws = resample_patterns(table, 1000, rng)
        bundle = lambda w: {"kappa": kappa_unweighted.many(w.reshape(2, 2, -1))}  # noqa: E731
        found = bootstrap.intervals(bundle, draws, table)["kappa"]
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 300 <= 0.98


def test_a_paired_difference_is_narrower_than_two_independent_ones():
    rng = np.random.default_rng(16)
    gold = rng.integers(0, 2, 300)
    first = np.where(rng.random(300) < 0.7, gold, 1 - gold)
    second = np.where((first != gold) & (rng.random(300) < 0.3), gold, first)
    cells = [pair_cells(gold, rated, 2) for rated in (first, second)]
    one, two = (lambda w, c=c: accuracy.many(weight_sums(c, 4, w).reshape(2, 2, -1)) for c in cells)
    draws = resample_items(300, 2000, rng)
    found = paired_difference(one, two, draws, np.ones(300))
    gain = float(np.mean(second == gold) - np.mean(first == gold))
    assert found.value.value == pytest.approx(gain)
    assert found.value.low > 0
    assert found.p.value < 0.01
    apart = np.std(two(draws) - one(resample_items(300, 2000, rng)))
    assert found.value.high - found.value.low < 2 * apart


def test_a_judge_against_itself_differs_by_nothing_and_no_test_says_otherwise():
    one = lambda w: w[0] / w.sum(axis=0)  # noqa: E731
    draws = resample_items(50, 200, np.random.default_rng(17))
    found = paired_difference(one, one, draws, np.ones(50))
    assert (found.value.value, found.p.value) == (0, None)
    assert found.value.low is None
    gone = paired_difference(one, lambda w: w[0] * np.nan, draws, np.ones(50))
    assert gone.value.reason == "One of the two figures is undefined."


def test_holm_equals_the_published_example():
    # Holm (1979) by hand for .01, .02, .03, .04: 4 * .01, 3 * .02, max(.06, 2 * .03), max(.06, .04)
    assert bootstrap.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert bootstrap.holm([None, 0.6, 0.9]) == [None, 1.0, 1.0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=40))
def test_order_of_items_and_reversed_scales_do_not_matter(sample):
    a, b = np.array(sample).T
    counts, mirrored = confusion(a, b, 4), confusion(3 - a, 3 - b, 4)
    for figure in (spearman, kendall_tau_b):
        one, two = figure(counts).value, figure(mirrored).value
        assert one == pytest.approx(two) if one is not None else two is None
    kappa = cohen_kappa(counts, "quadratic").value
    assert kappa is None or -1 - 1e-9 <= kappa <= 1
