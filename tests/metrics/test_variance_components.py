"""Variance components: the analysis of variance by hand, and a second derivation with matrices."""

from __future__ import annotations

import numpy as np
import pytest

from core.metrics.variance_components import (
    CRITERION,
    ITEM,
    JUDGE,
    ORDER,
    REST,
    TERMS,
    Components,
    StudyDesign,
    reliability_of_mean,
    variance_components,
)

_rng = np.random.default_rng(3)


def test_balanced_ratings_give_the_analysis_of_variance() -> None:
    items, judges, times = 15, 4, 2
    y = (
        _rng.normal(0, 1, (items, 1, 1))
        + _rng.normal(0, 0.7, (1, judges, 1))
        + _rng.normal(0, 0.5, (items, judges, 1))
        + _rng.normal(0, 0.3, (items, judges, times))
    )
    item, judge, _ = np.indices(y.shape)
    found = variance_components(y.ravel(), {ITEM: item.ravel(), JUDGE: judge.ravel()})
    # Mean squares, and what they are on average (Searle, Casella and McCulloch 1992, chapter 4).
    cells, whole = y.mean(axis=2), y.mean()
    rows, columns = cells.mean(axis=1), cells.mean(axis=0)
    within = ((y - cells[:, :, None]) ** 2).sum() / (items * judges * (times - 1))
    both = cells - rows[:, None] - columns + whole
    crossed = times * (both**2).sum() / ((items - 1) * (judges - 1))
    of_items = times * judges * ((rows - whole) ** 2).sum() / (items - 1)
    of_judges = times * items * ((columns - whole) ** 2).sum() / (judges - 1)
    assert found.raw == pytest.approx(
        {
            (ITEM,): (of_items - crossed) / (times * judges),
            (JUDGE,): (of_judges - crossed) / (times * items),
            (ITEM, JUDGE): (crossed - within) / times,
            (REST,): within,
        }
    )


def test_ratings_with_gaps_give_what_matrices_give() -> None:
    n = 150
    facets = {
        ITEM: _rng.integers(0, 12, n),
        CRITERION: _rng.integers(0, 3, n),
        JUDGE: _rng.integers(0, 4, n),
        ORDER: _rng.integers(0, 2, n),
    }
    y = _rng.normal(size=n) + facets[ITEM] * 0.2 + facets[JUDGE] * 0.3
    found = variance_components(y, facets)
    # tr(M V_i M V_j) sigma_j = y' M V_i M y with V = Z Z' and M that takes the mean away.
    centre = np.eye(n) - 1 / n
    shares = []
    for term in (*TERMS, None):
        if term is None:
            same = np.eye(n)
        else:
            same = np.all([facets[f][:, None] == facets[f] for f in term], axis=0).astype(float)
        shares.append(centre @ same @ centre)
    left = np.array([[np.sum(a * b) for b in shares] for a in shares])
    right = np.array([y @ a @ y for a in shares])
    assert list(found.raw) == [*TERMS, (REST,)]
    assert list(found.raw.values()) == pytest.approx(np.linalg.solve(left, right), rel=1e-8)
    # What comes out below zero is shown as none.
    assert all((one.value or 0.0) >= 0 for one in found.variances.values())
    assert found.of(ITEM) == max(0.0, found.raw[ITEM,])


def test_what_cannot_be_told_apart_is_no_effect_of_its_own() -> None:
    item, judge = np.repeat(np.arange(12), 2), np.tile([0, 1], 12)
    y = _rng.normal(size=24)
    found = variance_components(
        y, {ITEM: item, CRITERION: np.zeros(24), JUDGE: judge, ORDER: judge * 0}
    )
    # One criterion, one order, each judge once an item: the rest is what a judge makes of an item.
    assert list(found.raw) == [(ITEM,), (JUDGE,), (REST,)]
    assert found.levels == {ITEM: 12, CRITERION: 1, JUDGE: 2, ORDER: 1}


@pytest.mark.parametrize(
    ("items", "judges", "reason"),
    [(9, 2, "9 of at least 10 items were rated."), (12, 1, "Every item was rated once")],
)
def test_too_little_gives_no_components(items: int, judges: int, reason: str) -> None:
    item = np.repeat(np.arange(items), judges)
    found = variance_components(_rng.normal(size=len(item)), {ITEM: item, JUDGE: item * 0})
    assert found.variances == {}
    assert reason in found.reason


def test_a_decision_study_divides_each_variance_by_what_it_is_averaged_over() -> None:
    raw = {
        (ITEM,): 2.0,
        (JUDGE,): 0.4,
        (ITEM, CRITERION): 0.6,
        (ITEM, JUDGE): 0.5,
        (CRITERION, JUDGE): 0.2,
        (ITEM, CRITERION, JUDGE): 0.3,
        (ORDER,): 0.1,
        (REST,): 1.2,
    }
    found = reliability_of_mean(Components({}, raw, {CRITERION: 2}, 0), StudyDesign(5, 3, 2, 50))
    true = 2.0 + 0.6 / 2
    relative = (0.5 + 0.3 / 2) / 5 + 1.2 / (2 * 5 * 3 * 2)
    absolute = relative + (0.4 + 0.2 / 2) / 5 + 0.1 / 2
    assert found == pytest.approx(
        (
            true / (true + relative),
            true / (true + absolute),
            absolute**0.5,
            ((true + relative) / 50 + absolute - relative) ** 0.5,
        )
    )
