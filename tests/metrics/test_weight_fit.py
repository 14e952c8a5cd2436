"""What labelled items say about judges."""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics.measure import Array
from core.metrics.weight_fit import COIN, PRIOR, TABLE, WeightFit, fit_weights

TWENTY = [0, 1] * 10


def level_probabilities(fitted: WeightFit, votes: npt.ArrayLike, owner: npt.ArrayLike) -> Array:
    """Return the probability of every level, shape (items, k); the prior without a vote."""
    cast, whose = np.asarray(votes, np.int64), np.asarray(owner, np.int64)
    logs = np.tile(fitted.prior, (len(cast), 1))
    for judge in range(len(fitted.evidence)):
        mine = cast[:, whose == judge]
        votes_given = np.maximum((mine >= 0).sum(axis=1), 1)
        added = np.where((mine >= 0)[..., None], fitted.evidence[judge][np.maximum(mine, 0)], 0.0)
        logs += added.sum(axis=1) / votes_given[:, None]
    grown = np.exp(logs - logs.max(axis=1, keepdims=True))
    total: Array = grown / grown.sum(axis=1, keepdims=True)
    return total


def test_the_numbers_of_one_judge_follow_the_formulas() -> None:
    # Truth 10 x 0, 10 x 1; the judge is right 8 times on each.
    votes = [[t] if place // 2 < 8 else [1 - t] for place, t in enumerate(TWENTY)]
    found = fit_weights(votes, TWENTY, 2, [0])
    assert found.prior == pytest.approx([log(0.5)] * 2)
    # Shares (10.5, 10.5) / 21: chance 1/2. e = 16 - 10, v = 20 / 4.
    reliance = 1 - 5 / 36
    assert found.reliance == pytest.approx([reliance])
    accuracy = (16 + COIN / 2) / (20 + COIN)
    right = (8 + TABLE * accuracy) / (10 + TABLE)
    assert found.evidence[0] == pytest.approx(
        reliance * np.log([[right, 1 - right], [1 - right, right]])
    )


def test_a_judge_that_always_says_the_same_says_nothing() -> None:
    # Right in 60%, but no better than its constant answer would be by chance.
    truth = [0] * 12 + [1] * 8
    assert fit_weights([[0]] * 20, truth, 2, [0]).reliance == pytest.approx([0.0])


def test_a_judge_that_is_mostly_wrong_is_read_backwards() -> None:
    found = fit_weights([[1 - t] for t in TWENTY], TWENTY, 2, [0])
    assert level_probabilities(found, [[0]], [0])[0].argmax() == 1


def test_shares_of_the_truth_are_drawn_towards_even_ones() -> None:
    found = fit_weights(np.full((30, 1), -1), [0] * 30, 3, [0])
    assert np.exp(found.prior) == pytest.approx(
        [(30 + PRIOR / 3) / (30 + PRIOR)] + [PRIOR / 3 / (30 + PRIOR)] * 2
    )
    assert found.reliance == pytest.approx([0.0])


def test_a_judge_asked_twice_is_no_second_judge() -> None:
    once = [[t] if place % 5 else [1 - t] for place, t in enumerate(TWENTY)]
    twice = [row * 2 for row in once]
    one, two = fit_weights(once, TWENTY, 2, [0]), fit_weights(twice, TWENTY, 2, [0, 0])
    assert two.evidence == pytest.approx(one.evidence)
    assert level_probabilities(two, twice, [0, 0]) == pytest.approx(
        level_probabilities(one, once, [0])
    )
    # A missing second answer changes nothing either.
    gaps = [[row[0], -1] for row in once]
    assert level_probabilities(two, gaps, [0, 0]) == pytest.approx(
        level_probabilities(one, once, [0])
    )


def test_votes_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="columns"):
        fit_weights([[0, 1]], [0], 2, [0])


@given(st.integers(2, 5), st.integers(1, 4), st.integers(1, 40), st.integers(0, 2**32))
def test_chances_add_up_and_reliance_is_a_share(k: int, judges: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes, truth = rng.integers(-1, k, (n, judges)), rng.integers(0, k, n)
    found = fit_weights(votes, truth, k, range(judges))
    chances = level_probabilities(found, votes, range(judges))
    assert np.isfinite(found.evidence).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(n))
    assert ((found.reliance >= 0) & (found.reliance <= 1)).all()
