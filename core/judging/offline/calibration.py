"""From scores to honest probabilities, and how sure is sure enough to answer.

Everything is fitted on out-of-fold scores: of models that had not seen the item's label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.judging.offline.corpus import Floats
from core.judging.offline.folds import Ints

Bools = npt.NDArray[np.bool_]
#: What a judge aims to be right in, among the answers it gives; a judge's params may say otherwise.
TARGET = 0.8
#: It abstains on at most half of the items to get there.
LEAST_COVERAGE = 0.5


def probabilities(scores: Floats, temperature: float) -> Floats:
    """Softmax of the scores over the temperature; the last axis sums to 1."""
    scaled = scores / temperature
    grown = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def fit_temperature(scores: Floats, labels: Ints) -> float:
    """The temperature under which out-of-fold labels are likeliest (Guo et al. 2017, section 4.2).

    ``scores`` has shape (repeats, n, k). Searched from 0.25 to 8, with the weight of one item on 1,
    so that a handful of lucky items cannot make the judge certain.
    """
    grid = np.exp(np.linspace(np.log(0.25), np.log(8), 71))
    place = np.arange(len(labels))

    def loss(temperature: float) -> float:
        chances = probabilities(scores, temperature)[:, place, labels]
        likely = -np.log(np.maximum(chances, 1e-9)).mean(axis=0).sum()
        return float(likely + np.log(temperature) ** 2)

    return float(min(grid, key=loss))


def fit_threshold(confidence: Floats, right: Floats, target: float, least: float) -> float:
    """The lowest confidence to answer at, so that what is answered reaches ``target``.

    ``right`` is each item's share of correct out-of-fold answers. Where no threshold that keeps
    ``least`` of the items reaches the target, the smallest share kept that is not below ``least``.
    0.0 means: answer everything. Items of equal confidence stay together.
    """
    order = np.argsort(-confidence, kind="stable")
    sure, kept = confidence[order], np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    ends = np.append(np.flatnonzero(sure[:-1] - sure[1:] > 1e-9), len(order) - 1)
    ends = ends[ends + 1 >= least * len(order)]
    reached = ends[kept[ends] >= target]
    end = int(reached[-1]) if len(reached) else int(ends[0])
    return 0.0 if end == len(order) - 1 else float((sure[end] + sure[end + 1]) / 2)


class Answering(NamedTuple):
    """What abstaining buys: the threshold, the share answered, and how often that is right.

    ``accuracy`` is ``None`` where nothing would be answered.
    """

    threshold: float
    coverage: float
    accuracy: float | None


def answering(
    confidence: Floats, right: Floats, folds: Ints, target: float, least: float
) -> Answering:
    """The threshold from all items; its worth from thresholds fitted without the item's fold."""
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
