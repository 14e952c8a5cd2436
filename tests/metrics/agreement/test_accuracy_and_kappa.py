import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from core.metrics.agreement.accuracy import accuracy, adjacent_accuracy, confusion, majority_share
from core.metrics.agreement.kappa import cohen_kappa, percent_agreement
from core.metrics.estimate import Estimate
from tests.places import SHARED

WEIGHTS = ("none", "linear", "quadratic")
pairs = st.integers(2, 5).flatmap(
    lambda k: st.tuples(
        st.just(k),
        st.lists(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)), min_size=1, max_size=40),
    )
)


def test_confusion_has_the_reference_in_rows_and_leaves_missing_pairs_out():
    # Pairs (0,1), (1,1), (2,0); the last two have a missing side.
    counts = confusion([0, 1, 2, -1, 1], [1, 1, 0, 2, -1], 3)
    assert counts.tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize(("a", "b"), [([0, 1], [0]), ([0, 2], [0, 1])])
def test_confusion_refuses_unequal_lengths_and_levels_beyond_the_scale(a, b):
    with pytest.raises(ValueError):
        confusion(a, b, 2)


def test_accuracy_figures_of_a_small_table():
    counts = np.array([[3, 1, 0], [1, 2, 1], [2, 0, 0]])
    assert accuracy(counts) == Estimate.defined(0.5, 10)  # (3 + 2 + 0) / 10
    assert majority_share(counts) == Estimate.defined(0.4, 10)  # rows 4, 4, 2: the largest of 10
    assert adjacent_accuracy(counts) == Estimate.defined(0.8, 10)  # all but the two at distance 2
    assert percent_agreement(counts) == Estimate.defined(0.5, 10)


@pytest.mark.parametrize("figure", [accuracy, majority_share, adjacent_accuracy])
def test_nothing_rated_is_undefined_and_says_so(figure):
    result = figure(np.zeros((3, 3), dtype=int))
    assert result.value is None
    assert result.n == 0
    assert result.reason


def test_nothing_rated_twice_has_no_agreement():
    assert percent_agreement(np.zeros((2, 2), dtype=int)).value is None
    assert cohen_kappa(np.zeros((2, 2), dtype=int)).reason == "No item was rated by both."


def test_adjacent_accuracy_means_nothing_with_two_levels():
    assert adjacent_accuracy(np.array([[1, 4], [4, 1]])).value is None


def test_kappa_of_two_raters_on_one_level_is_undefined_not_one():
    result = cohen_kappa(np.array([[7, 0], [0, 0]]))
    assert (result.value, result.n) == (None, 7)
    assert "single level" in result.reason


def test_kappa_of_one_constant_rater_is_zero_by_the_formula():
    # Observed agreement 3/5 equals the expected 1 * 3/5, so nothing is beyond chance.
    assert cohen_kappa(np.array([[3, 2], [0, 0]])).value == pytest.approx(0)


def test_kappa_of_cohens_textbook_table():
    # po = 35/50; pe = .5 * .6 + .5 * .4 = .5; kappa = (.7 - .5) / .5.
    assert cohen_kappa(np.array([[20, 5], [10, 15]])).value == pytest.approx(0.4)


def test_weighted_kappa_by_hand():
    # n = 4, linear: observed disagreement 2 (one pair at distance 2). Margins rows 2,0,2 and
    # columns 1,0,3: expected 2*3/4*2 + 2*1/4*2 = 4. So 1 - 2/4; quadratic 1 - 4/8, the same.
    counts = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 2]])
    assert cohen_kappa(counts, "linear").value == pytest.approx(0.5)
    assert cohen_kappa(counts, "quadratic").value == pytest.approx(0.5)


def test_an_unused_level_keeps_its_neighbours_apart():
    # reference/autorubric.md 2.31: .7624 on all four levels, .7273 where the unused level 2 is
    # dropped. The smallest table with both values, found by search: n = 8.
    used = np.array([[2, 1, 0], [1, 1, 0], [0, 1, 2]])
    whole = np.zeros((4, 4), dtype=int)
    whole[np.ix_([0, 1, 3], [0, 1, 3])] = used
    assert cohen_kappa(whole, "quadratic").value == pytest.approx(0.7624, abs=5e-5)
    assert cohen_kappa(used, "quadratic").value == pytest.approx(0.7273, abs=5e-5)


@given(pairs, st.sampled_from(WEIGHTS))
def test_kappa_equals_scikit_learns_on_all_levels(sample, weights):
    k, rated = sample
    a, b = (list(side) for side in zip(*rated, strict=True))
    figure = cohen_kappa(confusion(a, b, k), weights)
    if figure.value is None:
        assert len({*a, *b}) == 1
        return
    scheme = None if weights == "none" else weights
    assert figure.value == pytest.approx(
        cohen_kappa_score(a, b, labels=list(range(k)), weights=scheme), abs=1e-9
    )


@given(pairs, st.sampled_from(WEIGHTS))
def test_kappa_is_the_same_whichever_rater_comes_first(sample, weights):
    k, rated = sample
    a, b = (list(side) for side in zip(*rated, strict=True))
    one, two = (cohen_kappa(confusion(x, y, k), weights) for x, y in ((a, b), (b, a)))
    assert one.value == pytest.approx(two.value) if one.value is not None else two.value is None


@given(pairs)
def test_shares_stay_within_their_ranges(sample):
    k, rated = sample
    a, b = (list(side) for side in zip(*rated, strict=True))
    counts = confusion(a, b, k)
    assert 0 <= accuracy(counts).value <= 1
    assert 1 / k <= majority_share(counts).value <= 1
    near = adjacent_accuracy(counts).value
    assert near is None or near >= accuracy(counts).value


def test_figures_equal_the_recorded_ones_of_a_peer():
    path = SHARED / "parity" / "autorubric_golden.json"
    if not path.exists():
        pytest.skip("../shared/data/parity is not here")
    criteria = json.loads(path.read_text())["metrics"]["result"]["per_criterion"]
    ordinal = criteria[1]
    counts = np.array(ordinal["confusion_matrix"]["matrix"])
    # All four levels are used here, so the peer's kappa on the levels present is the same.
    assert cohen_kappa(counts, "quadratic").value == pytest.approx(ordinal["weighted_kappa"])
    assert accuracy(counts).value == pytest.approx(ordinal["exact_accuracy"])
    assert adjacent_accuracy(counts).value == pytest.approx(ordinal["adjacent_accuracy"])
    assert cohen_kappa(np.array(criteria[2]["confusion_matrix"]["matrix"])).value == pytest.approx(
        criteria[2]["kappa"]
    )
