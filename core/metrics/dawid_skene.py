"""Estimate the truth from a panel's votes without labels: Dawid and Skene's model.

Every item has one true level, and every rater a probability of each answer given the truth. Both
are learned from the raters' agreement (EM; Dawid and Skene 1979, Applied Statistics 28).
Probabilities are shrunk towards those of all raters together, so that a rater with few ratings
counts as a typical one.

The votes themselves test the model: a part of each rater's answers is hidden in turn and predicted
from the others', once with individual probabilities and once as if all raters were alike, whose
truth is nearly the majority's (``held_out_prediction``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.measure import Array, Ratings

#: The weight, in ratings, that pulls each rater's probabilities towards the average rater's.
HELD = 4.0
STEPS, CLOSE = 200, 1e-6
FOLDS = 5
#: The model is offered only if it beats the model of equal raters by more than this many standard
#: errors.
AHEAD = 2.0


class LatentTruth(NamedTuple):
    """The fitted model: ``prior`` of each level, ``chances`` and ``posterior``.

    ``chances`` are probabilities of answers by rater and truth, shape (raters, k, k); ``posterior``
    those of the truth by item, shape (items, k).
    """

    prior: Array
    chances: Array
    posterior: Array


class HiddenVotePrediction(NamedTuple):
    """How well hidden votes were predicted, as mean log probabilities.

    ``model`` uses different raters, ``alike`` equal ones. ``gain`` is the first minus the second,
    ``error`` its standard error over items.
    """

    model: float
    alike: float
    gain: float
    error: float
    n: int

    @property
    def clearly_better(self) -> bool:
        """Return whether the model is better by more than ``AHEAD`` standard errors."""
        return self.gain > AHEAD * self.error > 0


def dawid_skene(ratings: npt.ArrayLike, k: int, *, equal_raters: bool = False) -> LatentTruth:
    """Fit the model to ratings, levels 0 .. k-1, negative if missing, shape (items, raters).

    ``equal_raters``: all raters share one table of probabilities.

    Of three raters, the third always answers 0:

    >>> votes = np.column_stack([[0, 0, 0, 1, 1, 1] * 5] * 2 + [[0] * 30])
    >>> fitted = dawid_skene(votes, 2)
    >>> fitted.posterior.argmax(axis=1)[:6].tolist(), bool(fitted.chances[2, 1, 0] > 0.8)
    ([0, 0, 0, 1, 1, 1], True)
    """
    chosen = _one_hot(np.asarray(ratings, np.int64), k)
    # At the start, the answers of all raters count equally.
    votes = chosen.sum(axis=1) + 1 / k
    posterior = votes / votes.sum(axis=1, keepdims=True)
    learned = _prior_and_probabilities(chosen, posterior, equal_raters=equal_raters)
    for _ in range(STEPS):
        before, posterior = posterior, _truth_probabilities(chosen, *learned)
        learned = _prior_and_probabilities(chosen, posterior, equal_raters=equal_raters)
        if np.abs(posterior - before).max(initial=0.0) < CLOSE:
            break
    return LatentTruth(*learned, _truth_probabilities(chosen, *learned))


def _one_hot(ratings: Ratings, k: int) -> Array:
    """Return the ratings one-hot encoded, shape (items, raters, k)."""
    return np.asarray(ratings[:, :, None] == np.arange(k), np.float64)


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


def held_out_prediction(
    ratings: npt.ArrayLike, k: int, seed: int = 0
) -> HiddenVotePrediction | None:
    """Return how well hidden answers are predicted from the others on the same item.

    A fifth of all answers is hidden at a time. ``None`` with fewer than 50 answers on items with
    other raters.
    """
    levels = np.asarray(ratings, np.int64)
    fold = np.random.default_rng(seed).integers(0, FOLDS, levels.shape)
    logs = np.zeros((2, *levels.shape))
    predicted = np.zeros(levels.shape, np.bool_)
    for at in range(FOLDS):
        hidden = (fold == at) & (levels >= 0)
        visible = np.where(hidden, -1, levels)
        hidden &= np.any(visible >= 0, axis=1, keepdims=True)
        item, rater = np.nonzero(hidden)
        answer = levels[item, rater]
        for place, equal_raters in enumerate((False, True)):
            fitted = dawid_skene(visible, k, equal_raters=equal_raters)
            chances_given = np.einsum(
                "it,rtk->irk", fitted.posterior, fitted.chances, optimize=True
            )
            logs[place, item, rater] = np.log(chances_given[item, rater, answer])
        predicted |= hidden
    return _prediction_of_gains(logs[0], logs[0] - logs[1], predicted)


def _prediction_of_gains(
    model: Array, gains: Array, predicted: npt.NDArray[np.bool_]
) -> HiddenVotePrediction | None:
    n = int(predicted.sum())
    if n < 50:
        return None
    by_item = np.where(predicted, gains, 0.0).sum(axis=1)
    gain, mean = float(by_item.sum()) / n, float(model[predicted].mean())
    deviation = by_item - gain * predicted.sum(axis=1)
    return HiddenVotePrediction(
        mean, mean - gain, gain, float(np.sqrt((deviation**2).sum())) / n, n
    )
