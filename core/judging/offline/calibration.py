"""Cross-validation: calibrated probabilities, the baseline, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.judging.offline.features import Floats
from core.judging.offline.judge import TrainingReport
from core.judging.offline.methods import Ints, Method, fold_numbers, repeats_for
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import cohen_kappa
from core.text.numbers import percent

#: A judge must beat the baseline by this many standard errors of the paired difference: a one-sided
#: test at 10%. With random labels 0 to 3% of judges passed, on open-ended criteria 0 to 11%
#: (bench/offline.py); 1.64 loses a third to a half of the judges that are worth having.
ERRORS_ABOVE = 1.28


class Validation(NamedTuple):
    """Out-of-fold scores (repeats, n, k) and the folds (repeats, n) that gave them."""

    scores: Floats
    folds: Ints


def cross_validate(
    method: Method, products: Floats, labels: Ints, groups: Ints, k: int, seed: int
) -> Validation:
    """Return scores of items by models without their label or duplicates."""
    repeats = repeats_for(len(labels))
    scores = np.zeros((repeats, len(labels), k))
    folds = np.stack(
        [fold_numbers(labels, groups, seed=seed, repeat=repeat) for repeat in range(repeats)]
    )
    for repeat, fold in zip(*_rounds(folds), strict=True):
        out = folds[repeat] == fold
        fitted = method.fit(products[np.ix_(~out, ~out)], labels[~out], k)
        scores[repeat, out] = fitted.scores(products[np.ix_(out, ~out)])
    return Validation(scores, folds)


def _rounds(folds: Ints) -> tuple[list[int], list[int]]:
    pairs = [(repeat, int(f)) for repeat, row in enumerate(folds) for f in np.unique(row)]
    return [repeat for repeat, _ in pairs], [fold for _, fold in pairs]


def prompt_majority(labels: Ints, prompts: Ints, folds: Ints, k: int) -> Floats:
    """Return whether a prompt's most common label is right, shape (repeats, n).

    With few answers to a prompt, its counts lean on the label shares of all answers.
    """
    right = np.zeros(folds.shape)
    for repeat, fold in zip(*_rounds(folds), strict=True):
        out = folds[repeat] == fold
        shares = np.bincount(labels[~out], minlength=k) / max(1, int((~out).sum()))
        for prompt in np.unique(prompts[out]):
            here = out & (prompts == prompt)
            counts = np.bincount(labels[~out & (prompts == prompt)], minlength=k)
            right[repeat, here] = labels[here] == np.argmax(counts + shares)
    return right


class BaselineGain(NamedTuple):
    """The gain over the baseline: mean difference and its standard error."""

    mean: float
    error: float

    @property
    def enough(self) -> bool:
        """Return whether the gain is more than chance would easily give."""
        return self.mean > 0 and self.mean >= ERRORS_ABOVE * self.error


def gain_of(right: Floats, base: Floats, groups: Ints) -> BaselineGain:
    """Return the paired difference of two (repeats, n) tables of right answers.

    Repeats are averaged first, because they judge the same items; duplicates count as one cluster.
    """
    difference = (right - base).mean(axis=0)
    mean = float(difference.mean())
    clusters = np.bincount(groups, weights=difference - mean)
    return BaselineGain(mean, float(np.sqrt((clusters**2).sum()) / len(difference)))


# From scores to calibrated probabilities, and the confidence needed to answer.
#
# Everything is fitted on out-of-fold scores, from models that had not seen the item's label.

Bools = npt.NDArray[np.bool_]
#: The default target accuracy among the answers given; a judge's params may change it.
TARGET = 0.8
#: To get there it abstains on at most half of the items.
LEAST_COVERAGE = 0.5


def probabilities(scores: Floats, temperature: float) -> Floats:
    """Return the softmax of the scores over the temperature, summing to 1."""
    scaled = scores / temperature
    grown = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def fit_temperature(scores: Floats, labels: Ints) -> float:
    """Return the temperature of the likeliest labels (Guo et al. 2017, 4.2).

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


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold probabilities, correctness, and the baseline.

    ``right`` has shape (repeats, n), ``chances`` (n, k), the mean over repeats.
    """

    chances: Floats
    right: Floats
    temperature: float
    gain: BaselineGain
    majority: float
    baseline: str


def weigh(validation: Validation, labels: Ints, prompts: Ints, groups: Ints) -> OutOfFold:
    """Calibrate out-of-fold scores and compare them with the better simple rule."""
    temperature = fit_temperature(validation.scores, labels)
    chances = probabilities(validation.scores, temperature)
    right = (chances.argmax(axis=2) == labels).astype(np.float64)
    k = chances.shape[2]
    commonest = np.broadcast_to(labels == np.bincount(labels).argmax(), right.shape)
    by_prompt = prompt_majority(labels, prompts, validation.folds, k)
    better = by_prompt.mean() > commonest.mean()
    base = by_prompt if better else commonest.astype(np.float64)
    return OutOfFold(
        chances=chances.mean(axis=0),
        right=right,
        temperature=temperature,
        gain=gain_of(right, base, groups),
        majority=float(base.mean()),
        baseline="the most common label of each prompt" if better else "the most common label",
    )


def with_figures(
    report: TrainingReport, evidence: OutOfFold, labels: Ints, k: int
) -> TrainingReport:
    """Return ``report`` with the figures of cross-validation."""
    return replace(
        report,
        used=len(labels),
        accuracy=float(evidence.right.mean()),
        majority=evidence.majority,
        baseline=evidence.baseline,
        gain_error=evidence.gain.error,
        kappa=cohen_kappa(confusion(labels, evidence.chances.argmax(axis=1), k)).value,
        temperature=evidence.temperature,
    )


def not_better(report: TrainingReport) -> str:
    """Return a sentence with the result, the baseline and the difference."""
    assert report.accuracy is not None
    assert report.majority is not None
    assert report.gain_error is not None
    return (
        f"In cross-validation on {report.used} labels it was right in {percent(report.accuracy)}, "
        f"always giving {report.baseline} in {percent(report.majority)}; that is not better by "
        f"{ERRORS_ABOVE} standard errors (of {100 * report.gain_error:.1f} points)."
    )
