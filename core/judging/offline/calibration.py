"""Cross-validation, calibrated probabilities, and the confidence needed to answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Criterion
from core.judging.offline.features import Floats
from core.judging.offline.methods import NEVER, Ints, Method, fold_numbers, repeats_for


class Validation(NamedTuple):
    """Out-of-fold evidence (repeats, n, k) and the folds (repeats, n) that gave it."""

    evidence: Floats
    folds: Ints


def cross_validate(
    method: Method, products: Floats, labels: Ints, groups: Ints, k: int, seed: int
) -> Validation:
    """Return the evidence on items by models without their label or duplicates."""
    repeats = repeats_for(len(labels))
    held_out = np.zeros((repeats, len(labels), k))
    folds = np.stack(
        [fold_numbers(labels, groups, seed=seed, repeat=repeat) for repeat in range(repeats)]
    )
    for repeat, fold in zip(*rounds(folds), strict=True):
        out = folds[repeat] == fold
        fitted = method.fit(products[np.ix_(~out, ~out)], labels[~out], k)
        scores = fitted.scores(products[np.ix_(out, ~out)])
        held_out[repeat, out] = evidence(scores, log_shares(labels[~out], k))
    return Validation(held_out, folds)


def log_shares(labels: Ints, k: int) -> Floats:
    """Return the logarithm of each label's share, shape (k,): what is known without an answer."""
    shares = np.bincount(labels, minlength=k) / max(1, len(labels))
    return np.log(np.maximum(shares, np.exp(NEVER)))


def evidence(scores: Floats, base: Floats) -> Floats:
    """Return what scores say beyond the shares of the labels that they were learnt from.

    Heat then draws a judge towards these shares, not towards all labels being alike.
    """
    top = scores.max(axis=-1, keepdims=True)
    total = top + np.log(np.exp(scores - top).sum(axis=-1, keepdims=True))
    return np.asarray(scores - total - base)


def rounds(folds: Ints) -> tuple[list[int], list[int]]:
    """Return the repeats and folds (repeats, n) as pairs: each is left out once."""
    pairs = [(repeat, int(f)) for repeat, row in enumerate(folds) for f in np.unique(row)]
    return [repeat for repeat, _ in pairs], [fold for _, fold in pairs]


def is_ordered(criterion: Criterion) -> bool:
    """Return whether the labels have an order, as two labels always do."""
    return criterion.scale == "ordinal" or len(criterion.scored) == 2


def decided(chances: Floats, ordered: bool) -> Ints:
    """Return the label that chances (..., k) settle on: in the middle of them, or the likeliest.

    Where labels have an order, the middle is nearest to the truth on average; the likeliest would
    hardly ever be a rare level.

    >>> chances = np.array([0.3, 0.25, 0.45])
    >>> int(decided(chances, True)), int(decided(chances, False))
    (1, 2)
    """
    if not ordered:
        return np.asarray(chances.argmax(axis=-1))
    below = np.cumsum(chances, axis=-1)[..., :-1] < 0.5 - 1e-9
    return np.asarray(below.sum(axis=-1))


def loss_of(chances: Floats, labels: Ints, ordered: bool) -> float:
    """Return how far chances (..., n, k) are from the labels: Brier's score.

    Where labels have an order, that of "at most this one" for each (Epstein 1969).
    """
    apart = chances - np.eye(chances.shape[-1])[labels]
    if ordered:
        apart = np.cumsum(apart, axis=-1)[..., :-1]
    return float((apart**2).sum(axis=-1).mean())


# From scores to calibrated probabilities, and the confidence needed to answer.
#
# Everything is fitted on out-of-fold scores, from models that had not seen the item's label.

Bools = npt.NDArray[np.bool_]
#: The default target accuracy among the answers given; a judge's params may change it.
TARGET = 0.8
#: To get there it abstains on at most half of the items.
LEAST_COVERAGE = 0.5


def probabilities(told: Floats, temperature: float, base: Floats) -> Floats:
    """Return probabilities: the shares of the labels, moved by the cooled evidence."""
    scaled = told / temperature + base
    grown = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def fit_temperature(told: Floats, labels: Ints, base: Floats) -> float:
    """Return the temperature of the likeliest labels (Guo et al. 2017, 4.2).

    ``told`` has shape (repeats, n, k). Searched from 0.25 to 16, with the weight of one item on 1,
    so that a handful of lucky items cannot make the judge certain.
    """
    grid = np.exp(np.linspace(np.log(0.25), np.log(16), 85))
    place = np.arange(len(labels))

    def loss(temperature: float) -> float:
        chances = probabilities(told, temperature, base)[:, place, labels]
        likely = -np.log(np.maximum(chances, 1e-9)).mean(axis=0).sum()
        return float(likely + np.log(temperature) ** 2)

    return float(min(grid, key=loss))


def fit_threshold(confidence: Floats, right: Floats, target: float, least: float) -> float:
    """Return the lowest confidence to answer at, to reach ``target`` accuracy.

    ``right`` is each item's share of correct out-of-fold answers. If no threshold that keeps
    ``least`` of the items reaches the target, the smallest share not below ``least`` is kept. 0.0
    means: answer everything. Items of equal confidence stay together.
    """
    order = np.argsort(-confidence, kind="stable")
    sure, accuracy = confidence[order], np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    ends = np.append(np.flatnonzero(sure[:-1] - sure[1:] > 1e-9), len(order) - 1)
    ends = ends[ends + 1 >= least * len(order)]
    reached = ends[accuracy[ends] >= target]
    end = int(reached[-1]) if len(reached) else int(ends[0])
    return 0.0 if end == len(order) - 1 else float((sure[end] + sure[end + 1]) / 2)


class Answering(NamedTuple):
    """The effect of abstaining: threshold, share answered, and accuracy.

    ``accuracy`` is ``None`` if nothing would be answered.
    """

    threshold: float
    coverage: float
    accuracy: float | None


def answering(
    confidence: Floats, right: Floats, folds: Ints, target: float, least: float
) -> Answering:
    """Return the threshold, with its effect measured out of fold."""
    answered = np.zeros(len(confidence), dtype=np.bool_)
    for fold in np.unique(folds):
        out = folds == fold
        threshold = fit_threshold(confidence[~out], right[~out], target, least)
        answered[out] = confidence[out] >= threshold
    return Answering(
        fit_threshold(confidence, right, target, least),
        float(answered.mean()),
        float(right[answered].mean()) if answered.any() else None,
    )
