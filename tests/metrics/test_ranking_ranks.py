"""Ranks, ballots, Elo, length: small cases worked out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.metrics.ranking.contests import win_matrix
from core.metrics.ranking.elo import LengthControlled, elo_ratings, length_controlled_strengths
from core.metrics.ranking.ranks import (
    ballot_means,
    borda_points,
    competition_ranks,
    contests_of_ballots,
    kendall_tau,
    keys_with_ties_broken,
    mid_ranks,
    rank_ranges,
    spearman_rho,
    winners,
    z_scores,
)

NONE = float("nan")


def test_equal_values_share_the_better_rank_and_the_next_one_skips() -> None:
    assert competition_ranks([0.9, 0.5, 0.5, 0.1]) == [1, 2, 2, 4]
    # unitxt's own example of a tie on top: 1, 1, 3.
    assert competition_ranks([0.75, 0.75, 0.0]) == [1, 1, 3]


def test_a_difference_of_rounding_is_no_difference() -> None:
    assert competition_ranks([0.1 + 0.2, 0.3]) == [1, 1]
    assert competition_ranks([0.304, 0.3], within=0.005) == [1, 1]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_are_those_of_scipy(values: list[int]) -> None:
    negated = [-v for v in values]
    assert competition_ranks(values) == stats.rankdata(negated, method="min").tolist()
    assert mid_ranks(values).tolist() == stats.rankdata(negated, method="average").tolist()


def test_rank_ranges_allow_every_order_that_the_known_differences_allow() -> None:
    better = np.zeros((3, 3), bool)
    better[0, 2] = True
    orders = [o for o in itertools.permutations(range(3)) if o.index(0) < o.index(2)]
    found = rank_ranges(better)
    for system in range(3):
        places = {order.index(system) + 1 for order in orders}
        assert found[system] == (min(places), max(places))


def test_a_left_out_vote_for_oneself_makes_the_ballot_smaller() -> None:
    # council.md 1.5: three models that each put themselves first, their own entry left out. With
    # the gap kept nobody could reach 1.0; moved together the points are 1, 0.5 and 0.
    keys = [[NONE, 2.0, 1.0], [2.0, NONE, 1.0], [2.0, 1.0, NONE]]
    assert ballot_means(borda_points(keys)).tolist() == [1.0, 0.5, 0.0]


def test_a_ballot_on_one_system_gives_no_points() -> None:
    assert np.isnan(borda_points([[NONE, 3.0]])).all()


def test_level_scores_share_the_points_of_their_places() -> None:
    # Places 1 and 2 of 3: mid-rank 1.5, points (3 - 1.5) / 2.
    assert borda_points([[5.0, 5.0, 1.0]]).tolist() == [[0.75, 0.75, 0.0]]


def test_capped_scores_are_ordered_by_their_score_before_the_cap() -> None:
    keys = keys_with_ties_broken([[4.0, 4.0, 3.9, 4.0]], [[7.2, 6.8, 9.9, 7.2]])
    assert keys.tolist() == [[2.0, 1.0, 0.0, 2.0]]


def test_z_scores_need_three_systems_that_differ() -> None:
    assert np.isnan(z_scores([[1.0, 2.0, NONE]])).all()
    assert np.isnan(z_scores([[2.0, 2.0, 2.0]])).all()
    assert z_scores([[1.0, 2.0, 3.0, NONE]])[0, :3] == pytest.approx([-1.2247, 0, 1.2247], abs=1e-4)


def test_ballots_are_contests_between_all_they_rank() -> None:
    matrix = win_matrix(contests_of_ballots([[2.0, 1.0, NONE], [1.0, 1.0, 3.0]], [0, 1]))
    assert matrix.wins.tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 0]]
    assert matrix.ties[0, 1] == 1


def test_methods_that_agree_have_tau_one_and_undefined_is_said() -> None:
    assert kendall_tau([0.9, 0.5, 0.1], [3, 2, 1]).value == 1
    # 1 of 3 pairs turned round: (2 - 1) / 3.
    assert kendall_tau([3, 2, 1], [2, 3, 1]).value == pytest.approx(1 / 3)
    assert spearman_rho([3, 2, 1], [2, 3, 1]).value == pytest.approx(0.5)
    assert kendall_tau([1, 2], [1, 2]).value is None
    assert "level" in kendall_tau([1, 1, 1], [1, 2, 3]).reason
    assert winners([NONE, 1.0, 1.0]) == (1, 2)


def test_elo_does_not_depend_on_the_order_of_the_file() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 2, 300), rng.integers(2, 4, 300)
    points = (rng.random(300) < 0.7).astype(float)
    items = np.arange(300) % 30
    one = elo_ratings(items, first, second, points, systems=4, rng=np.random.default_rng(1))
    back = slice(None, None, -1)
    two = elo_ratings(
        items[back], first[back], second[back], points[back],
        systems=4, rng=np.random.default_rng(2),
    )  # fmt: skip
    first_way, second_way = ([rating.value for rating in ratings] for ratings in (one, two))
    # Over orders these ratings have a standard deviation of 5 at most; both are means of 200.
    assert first_way == pytest.approx(second_way, abs=4 * 5 / np.sqrt(200) * 2)
    assert sum(first_way) == pytest.approx(4000)  # what one gains the other loses


def test_one_elo_contest_moves_by_half_the_step() -> None:
    # Equal ratings expect 0.5, so a win gives step * (1 - 0.5) = 2.
    found = elo_ratings([0], [0], [1], [1.0], systems=2, rng=np.random.default_rng(0))
    assert [rating.value for rating in found] == [1002.0, 998.0]
    assert "1 items" in found[0].reason


def planted_length(slope: float) -> LengthControlled:
    """Two equal systems; the second is longer, and judges like length by ``slope``."""
    rng = np.random.default_rng(8)
    n = 3000
    lengths = np.stack([rng.normal(100, 30, n), rng.normal(130, 30, n)], axis=1)
    gap = lengths[:, 0] - lengths[:, 1]
    chance = 1 / (1 + np.exp(-slope * np.tanh(gap / gap.std())))
    won = (rng.random(n) < chance).astype(float)
    items = np.arange(n) % 300
    zeros = np.zeros(n, int)
    found = length_controlled_strengths(
        items, zeros, zeros + 1, won, lengths, systems=2, rng=np.random.default_rng(1)
    )
    assert isinstance(found, LengthControlled)
    return found


def test_length_control_takes_back_what_length_gave() -> None:
    found = planted_length(1.5)
    assert found.slope.low is not None
    assert found.slope.high is not None
    assert found.slope.low <= 1.5 <= found.slope.high
    assert found.slope.low > 1.0  # and the effect is certain
    for interval in found.intervals:
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low <= 0 <= interval.high
    assert found.share == pytest.approx([0.5, 0.5], abs=0.05)
    # Ignored, it passes for strength: the second is 30 words longer where differences spread by
    # 42, so it is ahead by about 1.5 tanh(30 / 42) = 0.9 in log odds, less what the spread blurs.
    assert 0.5 < found.ignored[1] - found.ignored[0] < 0.9


def test_without_a_liking_for_length_its_effect_is_near_zero() -> None:
    found = planted_length(0.0)
    assert found.slope.low is not None
    assert found.slope.high is not None
    assert found.slope.low < 0 < found.slope.high
    assert found.ignored == pytest.approx(found.strengths, abs=0.1)


def test_equal_lengths_say_why_there_is_nothing_to_control() -> None:
    found = length_controlled_strengths(
        [0, 1], [0, 0], [1, 1], [1, 0], [[5, 5], [7, 7]], systems=2, rng=np.random.default_rng(0)
    )
    assert isinstance(found, str)
