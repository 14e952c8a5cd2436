"""The alternative annotator test: by hand, and against a second derivation with scipy's t test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

from core.metrics.agreement.alt_test import (
    EPSILON,
    alt_test,
    combine_criteria,
    rejected_hypotheses,
    wins,
)

NONE = -1


def test_the_worked_example_by_hand() -> None:
    # 32 items, three annotators A B C and a judge, two levels. On 24 all four say 0. On 8 more A
    # says 1 and B, C and the judge 0:
    # against A the judge agrees with both others and A with none: judge 32/32, A 24/32;
    # against B on those 8 the judge (0) and B (0) each agree with C alone: both 32/32; C likewise.
    people = [[0, 0, 0]] * 24 + [[1, 0, 0]] * 8
    found = alt_test(wins([0] * 32, people, 2, ordered=False), 0.2)
    a, b, c = found.annotators
    assert (a.judge, a.person, a.gap.value, a.n) == (1.0, 0.75, 0.25, 32)
    assert (b.judge, b.person, b.gap.value) == (c.judge, c.person, c.gap.value) == (1.0, 1.0, 0.0)
    # A: mean .25, variance 32/31 (.25 - .0625), standard error sqrt(that / 32) = .0777714,
    # t = -.45 / .0777714 = -5.786 with 31 degrees of freedom. B and C never differ: p = 0.
    assert a.p == pytest.approx(1.1287e-6, rel=1e-3)
    assert (b.p, c.p) == (0.0, 0.0)
    assert found.winning_rate.value == found.advantage.value == 1.0
    assert found.passes is True
    # Two of three must be beaten, and B and C are never ahead: no more than the fewest items.
    assert found.items_needed == 30


def test_a_judge_behind_by_as_much_as_epsilon_is_not_beaten() -> None:
    # On 10 of 40 items the judge alone says 1: it is behind each annotator by a quarter.
    found = alt_test(wins([0] * 30 + [1] * 10, [[0, 0, 0]] * 40, 2, ordered=False), 0.2)
    assert [one.gap.value for one in found.annotators] == [-0.25] * 3
    assert found.winning_rate.value == 0.0
    assert found.advantage.value == 0.75
    assert found.passes is False
    # However many items there were, a judge that is behind by more than epsilon would not pass.
    assert found.items_needed is None


def test_on_an_ordinal_scale_nearer_counts_and_on_a_nominal_one_only_the_same() -> None:
    # The others of the first say 3 and 3; it says 1 and the judge 2: nearer, and just as wrong.
    near = wins([2], [[1, 3, 3]], 4, ordered=True)
    same = wins([2], [[1, 3, 3]], 4, ordered=False)
    assert [side[0, 0] for side in near] == [1.0, 0.0]
    assert [side[0, 0] for side in same] == [1.0, 1.0]


def test_what_is_missing_counts_for_nobody_and_too_little_is_undefined_with_its_reason() -> None:
    # The judge failed on the first item, the first annotator abstained on the second, and on the
    # third nobody is left beside the one who rated.
    judge, _ = wins([-3, 0, 0], [[0, 0, 0], [-2, 0, 0], [0, NONE, NONE]], 2, ordered=False)
    assert np.isfinite(judge).tolist() == [[False] * 3, [False, True, True], [False] * 3]
    two = alt_test(wins([0] * 40, [[0, 0]] * 40, 2, ordered=False), 0.2)
    assert two.winning_rate.value is None
    assert two.winning_rate.reason == "2 of at least 3 people rated this."
    few = [[0, 0, 0]] * 29 + [[0, 0, NONE]] * 11
    third = alt_test(wins([0] * 40, few, 2, ordered=False), 0.2)
    assert third.passes is None
    assert "2 of at least 3 people have 30 items or more" in third.advantage.reason
    assert third.advantage.reason.endswith("the third has 29.")
    assert third.annotators[2].gap.reason.startswith("29 of at least 30 items")


def test_over_all_criteria_an_item_counts_once() -> None:
    # Ten criteria that always say the same are no more evidence than one.
    generator = np.random.default_rng(3)
    people = generator.integers(0, 2, (40, 3))
    one = wins(generator.integers(0, 2, 40), people, 2, ordered=False)
    assert alt_test(combine_criteria([one] * 10), 0.1) == alt_test(one, 0.1)


def test_epsilon_is_a_share_and_the_papers_advice() -> None:
    # Calderon et al. (2025), section 3.3 and their FAQ.
    assert EPSILON == {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
    with pytest.raises(ValueError, match="no share"):
        alt_test((np.ones((30, 3)), np.ones((30, 3))), 1.5)


@st.composite
def ratings(draw: st.DrawFn) -> tuple[list[int], list[list[int]], int]:
    k, people = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    n = draw(st.integers(25, 60))
    truth = generator.integers(0, k, n)
    sharp = draw(st.sampled_from([0.3, 0.7, 1.0]))
    given_ = np.where(
        generator.random((n, people + 1)) < sharp,
        truth[:, None],
        generator.integers(0, k, (n, people + 1)),
    )
    given_ = np.where(generator.random(given_.shape) < draw(st.sampled_from([0, 0.2])), -1, given_)
    return given_[:, 0].tolist(), given_[:, 1:].tolist(), k


@given(ratings(), st.booleans(), st.sampled_from([0.1, 0.2]))
def test_a_loop_over_items_with_scipys_t_test_finds_the_same(
    made: tuple[list[int], list[list[int]], int], ordered: bool, epsilon: float
) -> None:
    judge, people, k = made
    found = alt_test(wins(judge, people, k, ordered=ordered), epsilon)
    ps = []
    for at, one in enumerate(found.annotators):
        its, theirs = _by_loop(judge, people, at, ordered)
        assert one.n == len(its)
        if len(its) < 30:
            assert one.p is None
            continue
        assert (one.judge, one.person) == pytest.approx((np.mean(its), np.mean(theirs)))
        ahead = np.subtract(theirs, its)
        if ahead.std() > 0:
            p = ttest_1samp(ahead, epsilon, alternative="less").pvalue
        else:
            p = float(ahead[0] >= epsilon)
        assert one.p == pytest.approx(p, abs=1e-12)
        ps.append(float(p))
    if len(ps) < 3:
        assert found.winning_rate.value is None
        return
    won = (false_discovery_control(ps, method="by") <= 0.05).mean()
    assert found.winning_rate.value == pytest.approx(won)
    means = [one.judge for one in found.annotators if one.judge is not None]
    assert found.advantage.value == pytest.approx(np.mean(means))
    assert found.passes == (won >= 0.5)


def _by_loop(
    judge: list[int], people: list[list[int]], at: int, ordered: bool
) -> tuple[list[int], list[int]]:
    """The indicators of the paper's equations, item by item, in floating point."""

    def score(answer: int, others: list[int]) -> float:
        if ordered:
            return -math.sqrt(sum((answer - one) ** 2 for one in others) / len(others))
        return sum(answer == one for one in others) / len(others)

    its, theirs = [], []
    for machine, row in zip(judge, people, strict=True):
        others = [one for place, one in enumerate(row) if place != at and one >= 0]
        if machine < 0 or row[at] < 0 or not others:
            continue
        first, second = score(machine, others), score(row[at], others)
        its.append(int(first >= second))
        theirs.append(int(second >= first))
    return its, theirs


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.001, 0.02]), min_size=1, max_size=12))
def test_what_is_rejected_is_what_scipys_adjusted_p_values_reject(p: list[float]) -> None:
    adjusted = false_discovery_control(p, method="by")
    near = np.abs(adjusted - 0.05) < 1e-12
    for mine, theirs, edge in zip(rejected_hypotheses(p), adjusted <= 0.05, near, strict=True):
        assert mine == theirs or edge
