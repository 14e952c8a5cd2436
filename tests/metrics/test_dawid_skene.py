"""Dawid and Skene's model against a plain second derivation, and hidden votes."""

from __future__ import annotations

import numpy as np
import pytest

from bench.severity import held_out_prediction
from core.metrics.dawid_skene import HELD, dawid_skene

_rng = np.random.default_rng(8)
TRUE = _rng.integers(0, 3, 150)


def votes(*right: float) -> np.ndarray:  # type: ignore[type-arg]
    hit = _rng.random((150, len(right))) < np.array(right)
    other = (TRUE[:, None] + _rng.integers(1, 3, hit.shape)) % 3
    return np.where(hit, TRUE[:, None], other)


UNLIKE = votes(0.95, 0.9, 0.4, 0.4, 0.4)


def test_the_model_is_that_of_a_second_derivation() -> None:
    rated = UNLIKE.copy()
    rated[::7, 1] = -1
    fitted_prior, _, post = dawid_skene(rated, 3)
    # One step of EM by loops changes nothing any more.
    prior = np.array([post[:, t].sum() + 1 for t in range(3)])
    prior /= prior.sum()
    counts = np.zeros((5, 3, 3))
    for item, row in enumerate(rated):
        for rater, vote in enumerate(row):
            if vote >= 0:
                for t in range(3):
                    counts[rater, t, vote] += post[item, t]
    usual = counts.sum(axis=0) + 1 / 3
    usual /= usual.sum(axis=1, keepdims=True)
    chances = counts + HELD * usual
    chances /= chances.sum(axis=2, keepdims=True)
    for item, row in enumerate(rated):
        logs = np.log(prior)
        for rater, vote in enumerate(row):
            if vote >= 0:
                logs = logs + np.log(chances[rater, :, vote])
        expected = np.exp(logs - logs.max())
        assert np.allclose(post[item], expected / expected.sum(), atol=1e-4)
    assert np.allclose(fitted_prior, prior, atol=1e-4)


def test_raters_who_know_are_told_from_those_who_do_not() -> None:
    _, _, truth = dawid_skene(UNLIKE, 3)
    model = (truth.argmax(axis=1) == TRUE).mean()
    majority = ((UNLIKE[:, :, None] == np.arange(3)).sum(axis=1).argmax(axis=1) == TRUE).mean()
    assert model > majority + 0.05
    check = held_out_prediction(UNLIKE, 3)
    assert check is not None
    assert check.clearly_better
    assert check.n == UNLIKE.size
    assert check.gain == pytest.approx(check.model - check.alike)


def test_raters_who_are_alike_are_not_made_different() -> None:
    check = held_out_prediction(votes(0.7, 0.7, 0.7, 0.7, 0.7), 3)
    assert check is not None
    assert not check.clearly_better
    assert held_out_prediction(np.zeros((10, 3), np.int64), 2) is None
