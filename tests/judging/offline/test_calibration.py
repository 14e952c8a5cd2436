import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.judging.offline.calibration import (
    answering_threshold,
    brier_score,
    chosen_labels,
    evidence_over_base,
    fit_temperature,
    fit_threshold,
    log_shares,
    probabilities,
)
from core.judging.offline.methods import FOLDS, NEVER, fold_numbers
from core.judging.offline.worth import (
    Order,
    _kappa_interval,
    gain_of,
    is_sure_gain,
    order_of,
    prompt_majority,
)

EVEN = np.log([0.5, 0.5])


def test_probabilities_of_equal_evidence_are_the_shares_and_heat_draws_towards_them():
    assert probabilities(np.array([[2.0, 2.0]]), 1.0, EVEN).tolist() == [[0.5, 0.5]]
    told = np.array([[np.log(9), 0.0]])
    assert probabilities(told, 1.0, EVEN)[0, 0] == pytest.approx(0.9)
    assert probabilities(told, 2.0, EVEN)[0, 0] == pytest.approx(0.75)  # odds 9 ** (1/2) = 3
    assert probabilities(told, 1e9, np.log([0.2, 0.8]))[0] == pytest.approx([0.2, 0.8])


def test_evidence_is_what_scores_say_beyond_the_shares_they_were_learnt_from():
    base = log_shares(np.array([0, 0, 0, 1]), 3)
    assert np.exp(base[:2]) == pytest.approx([0.75, 0.25])
    nothing = evidence_over_base(
        np.array([[5.0, 5.0 - np.log(3), NEVER]]), base
    )  # odds of 3, as the shares
    assert nothing[0, :2] == pytest.approx([0, 0], abs=1e-9)
    assert probabilities(nothing, 1.0, base)[0, 2] < 1e-9  # a label never seen has no chance


def test_the_middle_is_settled_on_where_labels_have_an_order():
    chances = np.array([[0.45, 0.1, 0.45], [0.6, 0.2, 0.2], [0.5, 0.0, 0.5]])
    assert chosen_labels(chances, True).tolist() == [1, 0, 0]
    assert chosen_labels(chances, False).tolist() == [0, 0, 0]


def test_a_miss_by_two_levels_costs_more_than_one_by_one():
    far, near = np.array([[1.0, 0, 0]]), np.array([[0, 1.0, 0]])
    labels = np.array([2])
    assert brier_score(far, labels, True) == 2.0  # "at most the first", "at most the second": both
    assert brier_score(near, labels, True) == 1.0
    assert brier_score(far, labels, False) == brier_score(near, labels, False) == 2.0


def test_an_order_counts_duplicates_once_and_has_its_standard_error():
    labels = np.array([0, 0, 1, 1, 1])
    found = order_of(np.array([0.1, 0.2, 0.7, 0.8, 0.8]), labels, np.array([0, 1, 2, 3, 3]), None)
    # Ranks 1 2 3 4 beside 1.5 1.5 3.5 3.5: 4 / sqrt(5 * 4); four answers leave three.
    assert found == Order(pytest.approx(4 / 20**0.5), 3)
    assert found.errors == pytest.approx(1.549, abs=1e-3)  # .894 * sqrt(3)
    assert Order(None, 100).errors == 0.0


def test_an_order_that_only_follows_prompts_is_none_within_them():
    labels, prompts = np.array([0, 0, 1, 1]), np.array([7, 7, 9, 9])
    assert (
        order_of(np.array([0.1, 0.2, 0.7, 0.8]), labels, np.arange(4), prompts).correlation is None
    )


def test_overconfident_scores_are_cooled_to_their_accuracy():
    # Odds of e^6 for an answer that is right in 3 of 4: the right odds are 3, so the temperature
    # 6 / ln 3 = 5.46. The pull towards 1 weighs as one item of 400.
    scores = np.tile([6.0, 0.0], (1, 400, 1))
    labels = np.array([0, 0, 0, 1] * 100)
    assert fit_temperature(scores, labels, EVEN) == pytest.approx(5.46, rel=0.05)


def test_a_handful_of_lucky_items_does_not_make_a_judge_certain():
    scores = np.tile([1.0, 0.0], (1, 4, 1))
    assert (
        fit_temperature(scores, np.zeros(4, dtype=int), EVEN) > 0.3
    )  # the likeliest would be 0.25


def test_the_threshold_is_the_lowest_that_reaches_the_target():
    # Most sure first: right 1 1 1 0 1 0, so shares right 1, 1, 1, 3/4, 4/5, 4/6. The target .8 is
    # reached by the first five; the cut lies half way between .6 and .5.
    sure = np.array([0.95, 0.9, 0.8, 0.7, 0.6, 0.5])
    right = np.array([1.0, 1, 1, 0, 1, 0])
    assert fit_threshold(sure, right, 0.8, 0.5) == pytest.approx(0.55)
    assert fit_threshold(sure, right, 0.6, 0.5) == 0.0  # 4/6 of all is enough: answer everything


def test_a_target_out_of_reach_keeps_the_least_coverage():
    sure = np.array([0.9, 0.8, 0.7, 0.6])
    assert fit_threshold(sure, np.zeros(4), 0.8, 0.5) == pytest.approx(0.75)


def test_items_equally_sure_are_not_torn_apart():
    assert fit_threshold(np.full(4, 0.7), np.array([1.0, 0, 0, 0]), 0.9, 0.5) == 0.0


@given(
    st.lists(st.tuples(st.floats(0.34, 1), st.booleans()), min_size=2, max_size=40),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_threshold_never_answers_less_than_the_least_coverage(sample, target, least):
    sure, right = (np.array(side, dtype=float) for side in zip(*sample, strict=True))
    kept = (sure >= fit_threshold(sure, right, target, least)).mean()
    assert kept >= least - 1e-9


def test_what_answering_is_worth_comes_from_thresholds_fitted_without_the_item():
    # Two folds. Fold 0 alone would answer above .6 (right 1 1 0); fold 1 above .8 (right 1 0 0).
    # So fold 1 is cut at fold 0's threshold and the other way round.
    sure = np.array([0.9, 0.7, 0.5, 0.9, 0.7, 0.5])
    right = np.array([1.0, 1, 0, 1, 0, 0])
    _, coverage, accuracy = answering_threshold(
        sure, right, np.array([0, 0, 0, 1, 1, 1]), target=1.0, minimum=0.3
    )
    # Fold 0 at .8: one answered, right. Fold 1 at .6: two answered, one right. 3 of 6, 2 of 3.
    assert coverage == pytest.approx(3 / 6)
    assert accuracy == pytest.approx(2 / 3)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 14)), min_size=5, max_size=60))
def test_folds_never_tear_a_group_apart_and_differ_by_repeat_only(sample):
    labels, keys = (np.array(side) for side in zip(*sample, strict=True))
    groups = np.unique(keys, return_inverse=True)[1]
    folds = fold_numbers(labels, groups, seed=1, repeat=0)
    assert all(len(set(folds[groups == group])) == 1 for group in groups)
    assert folds.tolist() == fold_numbers(labels, groups, seed=1, repeat=0).tolist()
    sizes = np.bincount(folds, minlength=FOLDS)
    if len(set(groups.tolist())) == len(groups):
        assert sizes.max() - sizes.min() <= 1


def test_every_fold_has_its_share_of_every_label():
    labels = np.array([0] * 20 + [1] * 10)
    folds = fold_numbers(labels, np.arange(30), seed=4, repeat=2)
    assert np.bincount(folds[:20]).tolist() == [4] * FOLDS
    assert np.bincount(folds[20:]).tolist() == [2] * FOLDS


def test_the_gain_is_paired_and_counts_duplicates_once():
    # Differences 1, 1, 0, 0, 0: mean .4; singly the error is sqrt(2 * .36 + 3 * .16) / 5 = .219.
    right, base = np.array([[1.0, 1, 0, 0, 0]]), np.zeros((1, 5))
    assert gain_of(right, base, np.arange(5)) == pytest.approx((0.4, 0.2191), abs=1e-4)
    # The first two are duplicates: sqrt((.6 + .6) ** 2 + 3 * .16) / 5 = .277.
    assert gain_of(right, base, np.array([0, 0, 1, 2, 3]))[1] == pytest.approx(0.2771, abs=1e-4)


@pytest.mark.parametrize(
    ("gain", "enough"),
    [((0.10, 0.07), True), ((0.10, 0.08), False), ((0.0, 0.0), False)],
)
def test_a_gain_must_be_more_than_a_good_standard_error(gain, enough):
    assert is_sure_gain(*gain) is enough  # 1.28 * .07 = .0896 and 1.28 * .08 = .1024


def test_the_rule_of_each_prompt_is_judged_without_the_fold_it_is_asked_about():
    labels, prompts = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    folds = np.array([[0, 1, 0, 1]])
    assert prompt_majority(labels, prompts, folds, 2).tolist() == [[1, 1, 1, 1]]
    # With every answer to prompt 1 in one fold, the rule knows nothing of it: label 0 wins.
    assert prompt_majority(labels, prompts, np.array([[0, 1, 0, 0]]), 2)[0, 2:].tolist() == [0, 0]


def test_a_few_answers_that_are_all_right_are_no_proof():
    # Ten right of ten, five of each label, and three misses: 10 of 13 agree, half by chance.
    cells = np.array([0, 3] * 5)
    assert _kappa_interval(cells, np.arange(10), 2, "none", 1) == (
        pytest.approx(2 * 10 / 13 - 1),
        1.0,
    )
    assert (
        _kappa_interval(np.zeros(10, dtype=int), np.arange(10), 2, "none", 1) is None
    )  # one label only


def test_the_interval_of_a_kappa_holds_it_and_is_wider_where_answers_repeat():
    cells = np.array([0, 0, 0, 3, 3, 3, 1, 2] * 5)  # three of four right: kappa .5
    low, high = _kappa_interval(cells, np.arange(40), 2, "none", 1)
    assert low < 0.5 < high
    few, many = _kappa_interval(cells, np.arange(40) % 8, 2, "none", 1)
    assert many - few > high - low


def test_an_interval_of_few_answers_reaches_further_than_their_resamples_do():
    # One of eight is wrong. It is drawn three times in 6.7% of resamples and four times in 1%;
    # the t distribution of eight answers has its tail of 2.5% where the normal one has 0.6%.
    cells = np.array([0, 0, 3, 3, 3, 1, 0, 3])
    low, _ = _kappa_interval(cells, np.arange(8), 2, "none", 1)
    assert low < 0.25  # four of eight wrong; three would give .25 to .4
