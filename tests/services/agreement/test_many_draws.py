"""Draws of many items: as good as exact ones, and each figure draws what it needs."""

from __future__ import annotations

import numpy as np
import pytest

from core.domain.base import build_model
from core.domain.rubric import Rubric
from core.metrics.agreement.ratings import MOST_CODES, patterns
from core.metrics.intervals import joint_draws
from core.metrics.intervals.bootstrap import quantile, sorted_values
from core.metrics.intervals.draws import MANY, OFTEN, resample_many, resample_patterns
from core.metrics.intervals.joint_draws import AnswerPairs, ItemSubset, Resampled
from core.services.agreement.group_figures import Draws
from core.services.agreement.overall import OVERALL
from core.services.agreement.ratings import ABSTAINED, NOT_ASKED, answers_at
from core.services.agreement.score_agreement import _score_of_answers, summed_scores


def test_normal_draws_have_the_mean_and_covariance_of_the_multinomial() -> None:
    times = np.array([60_000, 35_000, 4_970, OFTEN - 1, 6])
    n, shares = times.sum(), times / times.sum()
    drawn = resample_many(times, 40_000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.sum(axis=0), n)
    # Mean n p, covariance n (diag p - p p'); 40,000 draws know a variance to 0.7 %.
    np.testing.assert_allclose(drawn.mean(axis=1), times, rtol=0.01)
    expected = n * (np.diag(shares) - np.outer(shares, shares))
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((np.cov(drawn) - expected) / size).max() < 0.03
    # What few items have is counted, not shared out.
    assert (drawn[times < OFTEN] % 1 == 0).all()


def test_few_items_are_drawn_as_they_were() -> None:
    times = np.array([4_000, 900, 99])
    one, other = (np.random.default_rng(3) for _ in range(2))
    assert times.sum() < MANY
    np.testing.assert_array_equal(
        resample_many(times, 50, one), resample_patterns(times, 50, other)
    )


def test_many_rare_patterns_are_drawn_together() -> None:
    """More than one item in twenty has a rare pattern: what one draws, the others lack."""
    times = np.array([18_000, *[20] * 100])
    drawn = resample_many(times, 2_000, np.random.default_rng(2))
    np.testing.assert_allclose(drawn.sum(axis=0), 20_000)
    # Of n = 20,000 a tenth: the standard deviation is sqrt(n * .1 * .9) = 42.4, not sqrt(2,000).
    assert drawn[1:].sum(axis=0).std() == pytest.approx(42.4, rel=0.07)


def test_counts_of_all_cells_spread_as_items_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng, items, draws = np.random.default_rng(5), 20_001, 1_000
    truth = rng.integers(0, 3, items)
    said = [np.where(rng.random(items) < 0.3, rng.integers(0, 3, items), truth) for _ in range(2)]
    ids = tuple(map(str, range(items)))
    sides = [[AnswerPairs("a", tuple("xyz"), True, ids, truth, one)] for one in said]
    whole = Resampled(ids)

    def gap() -> tuple[float, float]:
        """How both sides spread, and how far apart they are."""
        one, other = whole.values(OVERALL, sides, draws, 1)["mean_kappa"]
        return float(one.std()), float((one - other).std())

    normal = gap()
    monkeypatch.setattr(joint_draws, "MOST_DRAWN", items * draws)
    # Two standard deviations of 1,000 draws: each is known to 1 / sqrt(2,000) = 2.2 %.
    assert gap() == pytest.approx(normal, rel=0.1)


def test_a_rare_level_is_drawn_with_its_items() -> None:
    ids, rows = tuple(map(str, range(MANY))), np.zeros(MANY, np.int64)
    rows[: OFTEN - 1] = 1
    pairs = [AnswerPairs("a", ("x", "y"), False, ids, rows, rows)]
    whole = Resampled(ids)
    assert not whole._draws_normal([pairs], 10_000)
    rows[:OFTEN] = 1
    assert whole._draws_normal([pairs], 10_000)


@pytest.mark.parametrize("number", [1, 2, 7, 1_000])
def test_the_quantile_of_sorted_values_is_that_of_numpy(number: int) -> None:
    values = np.random.default_rng(number).normal(size=number)
    (rising,) = sorted_values([np.append(values, np.nan)])
    for at in (0.0, 0.025, 0.3, 0.5, 0.75, 0.975, 1.0):
        assert quantile(rising, at) == float(np.quantile(values, [at])[0])


def test_a_figure_draws_its_own_sums_where_items_are_not_drawn_for_all() -> None:
    times = np.array([40_000, 30_000, 20_000, 10_000])
    groups = np.array([0, 1, 0, -1])
    of_item = np.repeat(np.arange(4), times)
    draws = Draws(int(times.sum()), 4_000, 1)
    found = draws.sums(of_item, times).tally(groups, 2)
    assert found.shape == (2, 4_000)
    # 60 % and 30 % of 100,000; standard deviations sqrt(n p (1 - p)) = 155 and 145.
    np.testing.assert_allclose(found.mean(axis=1), [60_000, 30_000], rtol=0.001)
    np.testing.assert_allclose(found.std(axis=1), [154.9, 144.9], rtol=0.05)


@pytest.mark.parametrize("span", [3, MOST_CODES])
def test_patterns_are_the_distinct_rows_in_one_order_however_they_are_found(span: int) -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(-3, 3, (500, 3))
    rows[0, 0] = span - 3  # A level so high that rows are sorted instead of counted.
    found = patterns(rows)
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, 24))).ravel()
    _, first, inverse, counts = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    np.testing.assert_array_equal(found.rows, rows[first])
    np.testing.assert_array_equal(found.of_item, inverse)
    np.testing.assert_array_equal(found.times, counts)


def test_items_of_one_source_need_no_names_to_be_drawn() -> None:
    ids = tuple(f"i{at}" for at in range(MANY))
    rng = np.random.default_rng(4)
    sides = []
    for rows in (np.arange(0, MANY, 2), np.arange(MANY // 2, MANY)):
        true = rng.integers(0, 2, len(rows))
        said = np.where(rng.random(len(rows)) < 0.2, 1 - true, true)
        sides.append([AnswerPairs("a", ("x", "y"), False, ItemSubset(ids, rows), true, said)])
    named = [
        [AnswerPairs("a", ("x", "y"), False, tuple(one.items), one.reference, one.answers)]
        for (one,) in sides
    ]
    quick, slow = Resampled.of_pairs(sides), Resampled.of_pairs(named)
    # Three quarters of the items are in one of the two sides.
    assert set(quick.items) == set(slow.items)
    assert len(quick.items) == MANY * 3 // 4
    for one, other in zip(sides, named, strict=True):
        np.testing.assert_array_equal(quick.unweighted_tables(one), slow.unweighted_tables(other))
    values = quick.values(OVERALL, sides, 200, 1)["accuracy"][0]
    expected = slow.values(OVERALL, named, 200, 1)["accuracy"][0]
    # Other blocks, the same spread: each is known to 1 / sqrt(400) = 5 %.
    assert values.std() == pytest.approx(expected.std(), rel=0.2)


POLICIES = (
    {},
    {"abstention": "zero"},
    {"abstention": "partial", "partial_credit": 0.3},
    {"abstention": "fail"},
    {"normalize": False},
)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("weights", [(3, 1, -2), (-1, -4, 0), (0, 0, 0)])
def test_scores_by_columns_are_those_of_each_item(
    policy: dict[str, object], weights: tuple[int, ...]
) -> None:
    levels = [
        {"label": "no", "value": 0},
        {"label": "na", "na": True},
        {"label": "yes", "value": 0.8},
    ]
    criteria = [
        {"name": f"c{at}", "requirement": "r", "scale": "ordinal", "options": levels, "weight": w}
        for at, w in enumerate(weights)
    ]
    rubric = build_model(Rubric, {"criteria": criteria, "scoring": policy}, "rubric")
    rows = np.array([[a, b, c] for a in range(-3, 3) for b in range(-2, 3) for c in range(-1, 3)])
    rows = rows[(rows != -3).all(axis=1) | (rows[:, 0] == -3)]
    columns = {f"c{at}": column for at, column in enumerate(rows.T)}
    expected = [_score_of_answers(rubric, answers_at(columns, at)) for at in range(len(rows))]
    assert {ABSTAINED, NOT_ASKED} <= set(rows.ravel().tolist())
    np.testing.assert_allclose(summed_scores(rubric, rows), expected, atol=1e-12)
