"""Numbers that differ by rounding alone are equal, wherever values are compared (issue 12, A3).

Every case is built twice, once in numbers that binary fractions hold exactly and once in those that
they do not; both must say the same.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.metrics.agreement.correlation_distance import TOO_FEW
from core.metrics.agreement.scores import score_agreement
from core.metrics.intervals.bootstrap import bca
from core.metrics.intervals.means import paired_difference
from core.metrics.measure import equal_if_near
from core.metrics.ranking.contests import contest_table, majority_winner, win_matrix
from core.metrics.ranking.ranks import kendall_tau, keys_with_ties_broken, mid_ranks, spearman_rho

#: Twenty-two scores of a rubric whose weights share no power of two.
TENTHS = (0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 10, 1, 2, 3, 6, 6, 7, 8, 9, 9)
EXACT = np.array(TENTHS) / 10


def _noisy(numbers: np.ndarray) -> np.ndarray:
    """Every other number as the next one that a float can be."""
    return np.where(np.arange(len(numbers)) % 2, np.nextafter(numbers, 2), numbers)


def test_a_rater_equal_to_the_reference_up_to_rounding_has_no_bias_and_no_test() -> None:
    found = score_agreement(EXACT, _noisy(EXACT))
    assert found["bias"].value == found["mae"].value == found["rmse"].value == 0.0
    assert found["bias_effect_size"].value is None
    assert (
        found["bias_p"].reason
        == "All differences are equal, so there is no spread to test against."
    )
    assert found["spearman"].value == found["kendall_tau_b"].value == pytest.approx(1.0)


def test_a_rater_half_of_whose_scores_miss_by_rounding_is_like_one_who_hits_them() -> None:
    """The rest misses by .2, up as often as down: bias 0, and p 1 as of exact numbers."""
    away = np.where(np.arange(22) % 4 == 0, 0.2, 0.0) - np.where(np.arange(22) % 4 == 2, 0.2, 0.0)
    away[20] = 0.0  # five up, five down
    found = score_agreement(EXACT, _noisy(EXACT) + away)
    assert found["bias"].value == 0.0
    assert found["bias_p"].value == 1.0


@pytest.mark.parametrize("side", [0, 1])
def test_scores_that_differ_by_rounding_share_a_rank(side: int) -> None:
    """.295 and .29500000000000004 are one score: Spearman and tau are those of exact numbers."""
    reference = np.array([0.295, 0.295, 0.295, 0.5, 0.7, 0.1])
    rated = np.array([0.3, 0.9, 0.2, 0.8, 0.6, 0.4])
    noisy = reference.copy()
    noisy[1] = 0.29500000000000004
    turn = slice(None, None, -1 if side else 1)
    wanted = score_agreement(*(reference, rated)[turn])
    found = score_agreement(*(noisy, rated)[turn])
    assert {k: v.value for k, v in found.items()} == {k: v.value for k, v in wanted.items()}


def test_ranks_of_systems_tie_where_means_differ_by_rounding() -> None:
    assert mid_ranks([0.1 + 0.2, 0.3, 0.1]).tolist() == [1.5, 1.5, 3.0]
    exact, noisy = [0.3, 0.3, 0.1, 0.5], [0.1 + 0.2, 0.3, 0.1, 0.5]
    other = [4.0, 3.0, 2.0, 1.0]
    assert spearman_rho(noisy, other) == spearman_rho(exact, other)
    assert kendall_tau(noisy, other) == kendall_tau(exact, other)
    assert kendall_tau([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]).value is None
    assert TOO_FEW not in kendall_tau([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]).reason


def test_a_ballot_ties_scores_on_either_side_of_a_rounded_step() -> None:
    """1.5e-9 lies between two steps of 1e-9: rounding sent its neighbours to different ones."""
    below, above = np.nextafter(1.5e-9, 0), np.nextafter(1.5e-9, 1)
    assert keys_with_ties_broken([[below, above, 0.5]]).tolist() == [[0.0, 0.0, 1.0]]


def test_nobody_wins_a_majority_by_rounding() -> None:
    """One side's questions weigh .1 and .2, the other's .3."""
    table = contest_table(
        [0, 1, 2], [0, 0, 1], [1, 1, 0], [1, 1, 1], systems=2, n_items=3, weights=[0.1, 0.2, 0.3]
    )
    assert majority_winner(win_matrix(table)) is None


def test_a_difference_that_is_rounding_in_every_resample_has_no_p_and_no_interval() -> None:
    def tenths(weights: np.ndarray) -> np.ndarray:
        return np.array([0.1, 0.3]) @ weights / weights.sum(axis=0)

    def sums(weights: np.ndarray) -> np.ndarray:
        return np.array([0.1, 0.2]) @ weights / weights.sum(axis=0) + 0.1 * weights[
            1
        ] / weights.sum(axis=0)

    draws = np.random.default_rng(1).multinomial(40, [0.5, 0.5], size=999).T * 1.0
    found = paired_difference(tenths, sums, draws, [20, 20])
    assert found.value.value == 0.0
    assert found.p.value is None
    assert found.value.low is None
    assert "same difference" in found.value.reason


def test_resamples_that_equal_the_figure_up_to_rounding_count_as_equal() -> None:
    """Half of the resamples are the figure itself, a quarter lies on either side."""
    point = 0.3
    around = np.concatenate([np.full(250, 0.2), np.full(500, 0.3), np.full(250, 0.4)])
    noisy = np.where(around == 0.3, 0.1 + 0.2, around)
    left_out, times = np.array([0.29, 0.31]), np.array([5.0, 5.0])
    wanted, found = (bca(values, point, left_out, times) for values in (around, noisy))
    assert found[:2] == pytest.approx(wanted[:2], abs=1e-12)


def test_levelled_keeps_apart_what_is_apart_and_leaves_gaps_open() -> None:
    one, other = equal_if_near([0.1 + 0.2, np.nan, 1e-6], [0.3, 0.3 + 1e-6, 0.0])
    assert one[0] == other[0]
    assert np.isnan(one[1])
    assert len(set(one[[0, 2]]) | set(other)) == 4
