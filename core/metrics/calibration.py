"""Whether a rater is right as often as it is confident: calibration error, Brier score, bins.

Only answers with a reference count. An answer's confidence is in [0, 1]; probabilities of the
levels, if known, add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Confidence, Estimate, Interval
from core.metrics.intervals.bootstrap import ONE_ITEM, Bundle, intervals
from core.metrics.measure import Array, ratio_or_nan, weight_sums

#: The number of bins of equal width. Guo et al. (2017) used 15 for thousands of images; 10 is the
#: usual number.
BINS = 10
NO_ANSWER = "No answer that says how sure it is has a reference."
NO_CHANCES = "Only how sure the rater is of its own answer is known, not of the other options."


class ConfidenceBin(NamedTuple):
    """Answers of similar confidence, above ``low`` (in the first bin: from it) up to ``high``.

    ``sure`` is their mean confidence, ``None`` without answers; ``right`` is the share of correct
    ones, with its Wilson interval.
    """

    low: float
    high: float
    sure: float | None
    right: Estimate


class Calibration(NamedTuple):
    """``ece`` and ``brier`` with intervals; the mean confidence and accuracy; the bins.

    ``by_chance``: a perfectly calibrated rater has a larger calibration error than this in one of
    twenty samples; ``None`` without resamples. ``without`` counts answers with a reference but
    without a confidence, which are left out.
    """

    ece: Estimate
    by_chance: float | None
    brier: Estimate
    sure: float | None
    right: Estimate
    bins: tuple[ConfidenceBin, ...]
    without: int = 0

    @property
    def n(self) -> int:
        """Return the number of answers with a reference and a confidence."""
        return self.right.n


class AnswerKinds(NamedTuple):
    """Distinct kinds of answers: ``of_item`` is each item's kind, -1 without an answer.

    ``loss`` is the squared distance of the probabilities from the truth, NaN if unknown.
    """

    sure: Array
    right: Array
    loss: Array
    times: npt.NDArray[np.int64]
    of_item: npt.NDArray[np.int64]


def sure_answers(
    confidence: Array,
    chances: Array,
    rated: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
) -> AnswerKinds:
    """Return one rater's answers, from a row per item.

    Args:
        confidence: the confidence of each answer, NaN if unknown, shape (items,).
        chances: the probability of each level, NaN if unknown, shape (items, levels). They are
            normalised.
        rated: the level given to each item, negative if missing, shape (items,).
        labels: the true level, likewise.

    With two levels, the probabilities add up to 1, so confidence determines both.
    """
    rows = np.flatnonzero((rated >= 0) & (labels >= 0) & ~np.isnan(confidence))
    k = chances.shape[1]
    confidences, level, true_level = confidence[rows], rated[rows], labels[rows]
    normalised = chances[rows] / np.maximum(chances[rows].sum(axis=1, keepdims=True), 1e-12)
    if k == 2:
        filled = np.where(
            np.arange(k) == level[:, None], confidences[:, None], 1 - confidences[:, None]
        )
        normalised = np.where(np.isnan(normalised), filled, normalised)
    loss = ((normalised - (np.arange(k) == true_level[:, None])) ** 2).sum(axis=1)
    table = np.column_stack(
        [confidences, (level == true_level).astype(np.float64), np.round(loss, 12)]
    )
    # NaN cannot be grouped, so -1 marks a missing loss.
    kinds, place, times = np.unique(
        np.nan_to_num(table, nan=-1.0), axis=0, return_inverse=True, return_counts=True
    )
    of_item = np.full(len(rated), -1)
    of_item[rows] = place.ravel()
    losses = np.where(kinds[:, 2] < 0, np.nan, kinds[:, 2])
    return AnswerKinds(kinds[:, 0], kinds[:, 1], losses, times, of_item)


def confidence_bins(confidence: Array) -> npt.NDArray[np.int64]:
    """Return the bin of each answer: ((b - 1) / 10, b / 10], the first from 0 (Guo et al. 2017).

    >>> confidence_bins(np.array([0.0, 0.1, 0.3, 0.70001, 1.0])).tolist()
    [0, 0, 2, 7, 9]
    """
    # Round first, so that 0.3 * 10 is 3.
    place: npt.NDArray[np.int64] = np.ceil(np.round(confidence * BINS, 9)).astype(np.int64) - 1
    return np.maximum(place, 0)


def calibration(
    answers: AnswerKinds,
    resample_counts: Array | None = None,
    *,
    seed: int = 0,
    confidence: Confidence = USUAL,
) -> Calibration:
    """Return how well confidence predicts correctness.

    The expected calibration error is sum_b n_b / n |right_b - sure_b| over the bins (Naeini, Cooper
    and Hauskrecht 2015; Guo et al. 2017, equation 3), in [0, 1]. Chance alone makes it larger than
    0, more so with few answers. The Brier score is the mean of sum_k (p_k - y_k)^2 (Brier 1950,
    equation 2), in [0, 2]; with two levels it is twice the figure often called so.
    ``resample_counts`` are the resampled counts of each kind of answer, shape (kinds, resamples);
    ``seed`` determines the samples for chance alone.

    Chance adds to the calibration error of the answers, and again to that of their resamples, so
    percentiles are too high. The interval's lower end is therefore that of the basic bootstrap, 2
    ece minus the upper percentile, if lower; and it is 0 if chance alone gives as much in more than
    one of twenty samples (consistency resampling: Broecker and Smith 2007).

    >>> two = sure_answers(np.array([0.8, 0.8]), np.full((2, 2), np.nan), np.array([0, 0]),
    ...                    np.array([0, 1]))
    >>> figures = calibration(two)
    >>> round(figures.ece.value, 3), round(figures.brier.value, 3)
    (0.3, 0.68)
    """
    times = answers.times.astype(np.float64)
    n = int(times.sum())
    if not n:
        undefined = Estimate.undefined(NO_ANSWER)
        return Calibration(
            undefined, None, undefined, None, undefined, _confidence_bins(answers, confidence.level)
        )
    bundle, has_loss = _figures_function(answers), ~np.isnan(answers.loss)
    point = {name: float(value[0]) for name, value in bundle(times[:, None]).items()}
    ci = _figure_intervals(bundle, times, n, resample_counts, confidence)
    count = int(times[has_loss].sum())
    brier = Estimate.defined(point["brier"], count) if count else Estimate.undefined(NO_CHANCES, n)
    hits = round(float((answers.right * times).sum()))
    chance = (
        None if resample_counts is None else _chance_error(answers, resample_counts.shape[1], seed)
    )
    ece = Estimate.defined(point["ece"], n)
    return Calibration(
        _error_above_chance(
            ece.with_interval(ci.get("ece")), bundle, resample_counts, chance, confidence.level
        ),
        chance,
        brier.with_interval(ci.get("brier")),
        float((answers.sure * times).sum() / n),
        Estimate.share(hits, n, confidence.level),
        _confidence_bins(answers, confidence.level),
    )


def _chance_error(answers: AnswerKinds, samples: int, seed: int) -> float:
    """Return the 95% quantile of the error of samples from a perfectly calibrated rater."""
    rng, times = np.random.default_rng(seed), answers.times[:, None]
    hits = rng.binomial(times, answers.sure[:, None], size=(len(times), samples))
    gaps = weight_sums(confidence_bins(answers.sure), BINS, hits - times * answers.sure[:, None])
    return float(np.quantile(np.abs(gaps).sum(axis=0) / times.sum(), 0.95))


def _error_above_chance(
    ece: Estimate, bundle: Bundle, resample_counts: Array | None, chance: float | None, level: float
) -> Estimate:
    if resample_counts is None or chance is None or ece.value is None or ece.low is None:
        return ece
    if ece.value <= chance:
        return ece._replace(low=0.0)
    resampled = bundle(resample_counts)["ece"]
    above = float(np.quantile(resampled[~np.isnan(resampled)], (1 + level) / 2))
    return ece._replace(low=max(0.0, min(ece.low, 2 * ece.value - above)))


def _figures_function(answers: AnswerKinds) -> Bundle:
    """Return the function from many weights of the kinds of answers to the figures."""
    bins = confidence_bins(answers.sure)
    gap = (answers.right - answers.sure)[:, None]
    has_loss = ~np.isnan(answers.loss)
    loss = np.nan_to_num(answers.loss)

    def bundle(weights: Array) -> Mapping[str, Array]:
        deviations = np.abs(weight_sums(bins, BINS, weights * gap)).sum(axis=0)
        return {
            "ece": ratio_or_nan(deviations, weights.sum(axis=0)),
            "brier": ratio_or_nan(loss @ weights, has_loss.astype(np.float64) @ weights),
        }

    return bundle


def _figure_intervals(
    bundle: Bundle, times: Array, n: int, resample_counts: Array | None, confidence: Confidence
) -> dict[str, Interval]:
    if resample_counts is None:
        return {}
    if n == 1:
        no_interval = Interval(None, None, "bca", ONE_ITEM)
        return {"ece": no_interval, "brier": no_interval}
    return intervals(bundle, resample_counts, times, n=n, confidence=confidence)


def _confidence_bins(answers: AnswerKinds, level: float) -> tuple[ConfidenceBin, ...]:
    place, times = confidence_bins(answers.sure), answers.times.astype(np.float64)
    columns = np.column_stack([times, times * answers.sure, times * answers.right])
    counts = weight_sums(place, BINS, columns)
    return tuple(
        ConfidenceBin(
            at / BINS,
            (at + 1) / BINS,
            float(mean_confidence / n) if n else None,
            Estimate.share(round(hits), int(n), level),
        )
        for at, (n, mean_confidence, hits) in enumerate(counts.tolist())
    )
