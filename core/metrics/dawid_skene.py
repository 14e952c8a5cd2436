"""Estimate the truth from a panel's votes without labels: Dawid and Skene's model.

Every item has one true level, and every rater a probability of each answer given the truth. Both
are learned from the raters' agreement (EM; Dawid and Skene 1979, Applied Statistics 28).
Probabilities are shrunk towards those of all raters together, so that a rater with few ratings
counts as a typical one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.measure import Array

#: The weight, in ratings, that pulls each rater's probabilities towards the average rater's.
HELD = 4.0
STEPS, CLOSE = 200, 1e-6


def dawid_skene(
    ratings: npt.ArrayLike, k: int, *, equal_raters: bool = False
) -> tuple[Array, Array, Array]:
    """Fit the model to ratings, levels 0 .. k-1, negative if missing, shape (items, raters).

    Return the prior of each level, the probabilities of answers by rater and truth (raters, k, k),
    and those of the truth by item (items, k). ``equal_raters``: all raters share one table of
    probabilities.

    Of three raters, the third always answers 0:

    >>> votes = np.column_stack([[0, 0, 0, 1, 1, 1] * 5] * 2 + [[0] * 30])
    >>> _, answers, truth = dawid_skene(votes, 2)
    >>> truth.argmax(axis=1)[:6].tolist(), bool(answers[2, 1, 0] > 0.8)
    ([0, 0, 0, 1, 1, 1], True)
    """
    levels = np.asarray(ratings, np.int64)
    chosen = np.asarray(levels[:, :, None] == np.arange(k), np.float64)
    # At the start, the answers of all raters count equally.
    votes = chosen.sum(axis=1) + 1 / k
    posterior = votes / votes.sum(axis=1, keepdims=True)
    learned = _prior_and_probabilities(chosen, posterior, equal_raters=equal_raters)
    for _ in range(STEPS):
        before, posterior = posterior, _truth_probabilities(chosen, *learned)
        learned = _prior_and_probabilities(chosen, posterior, equal_raters=equal_raters)
        if np.abs(posterior - before).max(initial=0.0) < CLOSE:
            break
    return *learned, _truth_probabilities(chosen, *learned)


def _prior_and_probabilities(
    chosen: Array, posterior: Array, *, equal_raters: bool
) -> tuple[Array, Array]:
    """Return the prior and every rater's probabilities, from the probability of each truth."""
    rated = chosen.any(axis=(1, 2))
    prior = posterior[rated].sum(axis=0) + 1.0
    answer_counts = np.einsum("it,irk->rtk", posterior, chosen, optimize=True)
    pooled = answer_counts.sum(axis=0) + 1 / len(prior)
    average = pooled / pooled.sum(axis=1, keepdims=True)
    answer_counts = (
        np.broadcast_to(average, answer_counts.shape)
        if equal_raters
        else answer_counts + HELD * average
    )
    return prior / prior.sum(), answer_counts / answer_counts.sum(axis=2, keepdims=True)


def _truth_probabilities(chosen: Array, prior: Array, chances: Array) -> Array:
    logs = np.log(prior) + np.einsum("irk,rtk->it", chosen, np.log(chances), optimize=True)
    posterior: Array = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    return posterior
