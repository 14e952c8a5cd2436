"""What happens where a figure has nothing to stand on: a reason, never NaN, 0 or 1 (issue 4, 3)."""

import numpy as np
import pytest

from core.metrics.agreement import accuracy, correlation_distance, kappa, reliability, scores
from core.metrics.agreement.kappa import mean_pairwise_cohen
from core.metrics.measure import GroupMeasure, Measure

PAIRED = [
    one
    for module in (accuracy, kappa, correlation_distance)
    for one in vars(module).values()
    if isinstance(one, Measure)
]
GROUPED = [
    *[one for one in vars(reliability).values() if isinstance(one, GroupMeasure)],
    *[mean_pairwise_cohen(w) for w in kappa.WEIGHTS],
]


@pytest.mark.parametrize("figure", PAIRED)
def test_without_an_item_in_common_no_pair_has_a_figure(figure):
    found = figure(np.zeros((3, 3)))
    assert (found.value, found.n) == (None, 0)
    assert found.reason.endswith(".")


@pytest.mark.parametrize("figure", GROUPED)
@pytest.mark.parametrize(
    "ratings",
    [
        pytest.param(np.zeros((0, 0), int), id="nobody"),
        pytest.param(np.array([[0], [1], [1]]), id="one rater"),
        pytest.param(np.array([[0, -1], [-1, 1]]), id="no overlap"),
        pytest.param(np.full((4, 3), -1), id="all abstain"),
    ],
)
def test_without_overlap_no_group_has_a_figure(figure, ratings):
    found = figure(ratings, 3)
    assert (found.value, found.n) == (None, 0)
    assert found.reason == "No item was rated by two raters or more."


ONE_LEVEL = np.array([[0, 0, 0], [0, 7, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    "figure",
    [
        kappa.kappa_unweighted,
        kappa.kappa_linear,
        kappa.kappa_quadratic,
        correlation_distance.pearson,
        correlation_distance.spearman,
        correlation_distance.kendall_tau_b,
        accuracy.phi,
        correlation_distance.bias_p,
        correlation_distance.bias_effect_size,
    ],
)
def test_one_category_only_leaves_nothing_to_correct_for(figure):
    found = figure(ONE_LEVEL)
    assert (found.value, found.n) == (None, 7)
    assert "single level" in found.reason or "equal" in found.reason


def test_one_category_only_still_has_plain_shares_and_distances():
    assert accuracy.accuracy(ONE_LEVEL).value == 1
    assert (
        correlation_distance.mae(ONE_LEVEL).value == correlation_distance.rmse(ONE_LEVEL).value == 0
    )
    assert (
        correlation_distance.emd(ONE_LEVEL).value
        == correlation_distance.jensen_shannon(ONE_LEVEL).value
        == 0
    )


@pytest.mark.parametrize(
    "figure",
    [
        f
        for f in GROUPED
        if f not in (reliability.item_agreement, reliability.gwet_ac1, reliability.gwet_ac2)
    ],
)
def test_a_group_on_one_level_has_no_reliability(figure):
    found = figure(np.ones((5, 3), int), 3)
    assert (found.value, found.n) == (None, 5)
    assert found.reason


def test_gwets_coefficients_are_defined_on_one_level_because_their_chance_is_zero_there():
    # AC1: p_a = 1, pi = (0, 1, 0), p_e = sum(pi (1 - pi)) / (q - 1) = 0, so (1 - 0) / (1 - 0).
    assert reliability.gwet_ac1(np.ones((5, 3), int), 3).value == 1
    assert reliability.gwet_ac2(np.ones((5, 3), int), 3).value == 1


PERFECT = np.diag([4, 3, 2])
WRONG = np.array([[0, 5], [5, 0]])


@pytest.mark.parametrize(
    "figure",
    [
        *kappa.KAPPAS.values(),
        correlation_distance.spearman,
        correlation_distance.kendall_tau_b,
        correlation_distance.pearson,
        accuracy.phi,
        accuracy.f1_macro,
    ],
)
def test_perfect_is_exactly_one(figure):
    assert figure(PERFECT).value == pytest.approx(1, abs=1e-15)


def test_perfectly_wrong_is_minus_one():
    # Margins 5 and 5: p_e = .5, p_o = 0, kappa = -.5 / .5.
    assert kappa.cohen_kappa(WRONG).value == -1
    assert correlation_distance.spearman(WRONG).value == accuracy.phi(WRONG).value == -1
    assert accuracy.accuracy(WRONG).value == accuracy.f1_macro(WRONG).value == 0
    assert accuracy.false_positive_rate(WRONG).value == 1


@pytest.mark.parametrize("figure", GROUPED)
def test_a_perfect_group_is_exactly_one(figure):
    assert figure(np.array([[0] * 3, [1] * 3, [2] * 3, [1] * 3]), 3).value == pytest.approx(1)


def test_one_item_has_shares_but_neither_spread_nor_order():
    one = np.array([[0, 1], [0, 0]])
    assert accuracy.accuracy(one).value == 0
    assert correlation_distance.spearman(one).reason == correlation_distance.TOO_FEW
    assert correlation_distance.bias_p(one).reason == correlation_distance.ONE
    # p_o = 0 and p_e = 1 * 0: nothing expected by chance, all of it missed.
    assert kappa.cohen_kappa(one).value == 0
    assert reliability.icc_2_1([[0, 1]], 2).reason.startswith("1 item was rated")


def test_an_icc_whose_variances_cancel_out_is_undefined_and_not_a_huge_number():
    # Rows and columns all have the mean 1/2: mean squares of items and raters 0, of errors 1.
    # ICC(2,1) = (0 - 1) / (0 + 1 + 2 (0 - 1) / 2) = -1 / 0, ICC(2,2) = (0 - 1) / (0 - 1 / 2) = 2.
    for figure in (reliability.icc_2_1, reliability.icc_2_k):
        found = figure([[0, 1], [1, 0]], 2)
        assert (found.value, found.n) == (None, 2)
        assert "no variance is left" in found.reason
    # Mean squares 1/12, 1/12 and 5/12 of items, raters and errors: 1/12 + (1/12 - 5/12) / 4 is 0,
    # of which floating point leaves 3e-17.
    ratings = [[0, 0, 1], [1, 1, 0], [1, 1, 0], [0, 1, 1]]
    assert reliability.icc_2_k(ratings, 2).value is None
    # (1/12 - 5/12) / (1/12 + 2 * 5/12 + 3 (1/12 - 5/12) / 4) = -1/3 / (2/3)
    assert reliability.icc_2_1(ratings, 2).value == pytest.approx(-0.5)


def test_an_unused_middle_level_keeps_its_place_in_quadratic_kappa():
    # reference/autorubric.md 2.31: .7624 on all four levels, .7273 on the three that are used.
    used = np.array([[2, 1, 0], [1, 1, 0], [0, 1, 2]])
    whole = np.zeros((4, 4), int)
    whole[np.ix_([0, 1, 3], [0, 1, 3])] = used
    assert kappa.kappa_quadratic(whole).value == pytest.approx(0.7624, abs=5e-5)
    assert kappa.kappa_quadratic(used).value == pytest.approx(0.7273, abs=5e-5)


def test_abstentions_are_missing_in_ordinal_alpha_and_no_top_rank():
    # reference/autorubric.md 2.35: ten items rated alike, one rater abstains on two of them. As
    # missing ratings alpha is 1.0; coded as one more, highest level the peer gets .23.
    alike = np.array(
        [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [1, 1], [2, 2], [2, 2]]
    )
    missing = alike.copy()
    missing[[0, 5], 1] = -1
    assert reliability.alpha_ordinal(missing, 3).value == 1
    coded = np.where(missing < 0, 3, missing)
    assert reliability.alpha_ordinal(coded, 4).value < 0.7


def test_a_constant_difference_has_no_test_and_no_size():
    # reference/autorubric.md 2.39: the peer answers p = 1e-31 and d = 1e15.
    shifted = scores.score_agreement([0.1, 0.3, 0.5, 0.7], [0.2, 0.4, 0.6, 0.8])
    assert shifted["bias"].value == pytest.approx(0.1)
    assert shifted["bias_p"].value is None
    assert shifted["bias_effect_size"].reason == correlation_distance.EQUAL
    same = scores.score_agreement([0.1, 0.3, 0.5], [0.1, 0.3, 0.5])
    assert (same["bias"].value, same["bias_p"].value) == (0, None)


def test_scores_that_do_not_vary_have_no_correlation():
    found = scores.score_agreement([0.5, 0.5, 0.5], [0.1, 0.2, 0.3])
    assert [found[name].value for name in ("pearson", "spearman", "kendall_tau_b")] == [None] * 3
    assert scores.score_agreement([], [])["mae"].reason == scores.NOTHING
    assert scores.score_agreement([0.5], [0.2])["limit_low"].reason == correlation_distance.ONE


def test_a_number_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        scores.score_agreement([np.nan, 1], [0, 1])
