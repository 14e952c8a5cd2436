"""Cross-validation, calibrated probabilities, and the confidence threshold for answering."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Criterion
from core.judging.offline.features import Floats
from core.judging.offline.methods import NEVER, Ints, Method, fold_numbers, repeats_for


def cross_validate(
    method: Method, products: Floats, labels: Ints, groups: Ints, k: int, seed: int
) -> tuple[Floats, Ints]:
    """Return out-of-fold evidence (repeats, n, k) and the folds (repeats, n) behind it; the models
    saw neither an item's label nor its duplicates.
    """
    repeats = repeats_for(len(labels))
    held_out = np.zeros((repeats, len(labels), k))
    folds = np.stack(
        [fold_numbers(labels, groups, seed=seed, repeat=repeat) for repeat in range(repeats)]
    )
    for repeat, fold in zip(*repeats_and_folds(folds), strict=True):
        tested = folds[repeat] == fold
        fitted = method.fit(products[np.ix_(~tested, ~tested)], labels[~tested], k)
        scores = fitted.scores(products[np.ix_(tested, ~tested)])
        held_out[repeat, tested] = evidence_over_base(scores, log_shares(labels[~tested], k))
    return held_out, folds


def log_shares(labels: Ints, k: int) -> Floats:
    """Return the logarithm of each label's share, shape (k,): the prior without an answer."""
    shares = np.bincount(labels, minlength=k) / max(1, len(labels))
    return np.log(np.maximum(shares, np.exp(NEVER)))


def evidence_over_base(scores: Floats, base: Floats) -> Floats:
    """Return scores (log-odds) minus ``base``, the log shares of the labels learnt from.

    A higher temperature then moves a judge towards these shares, not towards equal labels.
    """
    top = scores.max(axis=-1, keepdims=True)
    total = top + np.log(np.exp(scores - top).sum(axis=-1, keepdims=True))
    return np.asarray(scores - total - base)


def repeats_and_folds(folds: Ints) -> tuple[list[int], list[int]]:
    """Return the repeats and folds of (repeats, n) as pairs; each pair is left out once."""
    pairs = [(repeat, int(f)) for repeat, row in enumerate(folds) for f in np.unique(row)]
    return [repeat for repeat, _ in pairs], [fold for _, fold in pairs]


def is_ordered(criterion: Criterion) -> bool:
    """Return whether the labels have an order; two labels always do."""
    return criterion.scale == "ordinal" or len(criterion.scored) == 2


def chosen_labels(chances: Floats, ordered: bool) -> Ints:
    """Return the chosen label for probabilities (..., k): the median if ordered, or the likeliest.

    For ordered labels the median is closest to the truth on average; the likeliest label would
    hardly ever be a rare one.

    >>> chances = np.array([0.3, 0.25, 0.45])
    >>> int(chosen_labels(chances, True)), int(chosen_labels(chances, False))
    (1, 2)
    """
    if not ordered:
        return np.asarray(chances.argmax(axis=-1))
    below = np.cumsum(chances, axis=-1)[..., :-1] < 0.5 - 1e-9
    return np.asarray(below.sum(axis=-1))


def brier_score(chances: Floats, labels: Ints, ordered: bool) -> float:
    """Return the Brier score of probabilities (..., n, k): their distance from the labels.

    For ordered labels, the Brier score of "at most this label" for each label (Epstein 1969).
    """
    errors = chances - np.eye(chances.shape[-1])[labels]
    if ordered:
        errors = np.cumsum(errors, axis=-1)[..., :-1]
    return float((errors**2).sum(axis=-1).mean())


# Convert scores to calibrated probabilities, and find the confidence threshold for answering.
#
# Everything is fitted on out-of-fold scores, from models that had not seen the item's label.

Bools = npt.NDArray[np.bool_]
#: The default target accuracy of given answers; a judge's params may change it.
TARGET = 0.8
#: To reach the target, the judge abstains on at most half of the items.
LEAST_COVERAGE = 0.5


def probabilities(evidence: Floats, temperature: float, base: Floats) -> Floats:
    """Return probabilities from the label shares and the evidence divided by the temperature."""
    scaled = evidence / temperature + base
    grown = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def fit_temperature(evidence: Floats, labels: Ints, base: Floats) -> float:
    """Return the temperature that maximises the labels' likelihood (Guo et al. 2017, 4.2).

    ``evidence`` has shape (repeats, n, k). Searched from 0.25 to 16, with a prior of one item's
    weight on 1, so that a few lucky items cannot make the judge certain.
    """
    grid = np.exp(np.linspace(np.log(0.25), np.log(16), 85))
    place = np.arange(len(labels))

    def loss(temperature: float) -> float:
        chances = probabilities(evidence, temperature, base)[:, place, labels]
        negative_log = -np.log(np.maximum(chances, 1e-9)).mean(axis=0).sum()
        return float(negative_log + np.log(temperature) ** 2)

    return float(min(grid, key=loss))


def fit_threshold(confidence: Floats, is_right: Floats, target: float, minimum: float) -> float:
    """Return the lowest confidence at which answers reach ``target`` accuracy.

    ``is_right`` is each item's share of correct out-of-fold answers. If no threshold that answers
    at least a share ``minimum`` of the items reaches the target, the smallest such share is
    answered. 0.0 means: answer everything. Items of equal confidence stay together.
    """
    order = np.argsort(-confidence, kind="stable")
    sorted_confidence, accuracy = (
        confidence[order],
        np.cumsum(is_right[order]) / np.arange(1, len(order) + 1),
    )
    ends = np.append(
        np.flatnonzero(sorted_confidence[:-1] - sorted_confidence[1:] > 1e-9), len(order) - 1
    )
    ends = ends[ends + 1 >= minimum * len(order)]
    reached = ends[accuracy[ends] >= target]
    end = int(reached[-1]) if len(reached) else int(ends[0])
    return (
        0.0
        if end == len(order) - 1
        else float((sorted_confidence[end] + sorted_confidence[end + 1]) / 2)
    )


def answering_threshold(
    confidence: Floats, is_right: Floats, folds: Ints, target: float, minimum: float
) -> tuple[float, float, float | None]:
    """Return the threshold, and out of fold the share answered and its accuracy (or ``None``)."""
    answered = np.zeros(len(confidence), dtype=np.bool_)
    for fold in np.unique(folds):
        held_out = folds == fold
        threshold = fit_threshold(confidence[~held_out], is_right[~held_out], target, minimum)
        answered[held_out] = confidence[held_out] >= threshold
    accuracy = float(is_right[answered].mean()) if answered.any() else None
    return fit_threshold(confidence, is_right, target, minimum), float(answered.mean()), accuracy
