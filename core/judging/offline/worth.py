"""Compare a judge in cross-validation with simple rules, and its ranking with the labels'."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from core.judging.offline.calibration import (
    brier_score,
    chosen_labels,
    fit_temperature,
    log_shares,
    probabilities,
    repeats_and_folds,
)
from core.judging.offline.features import Floats
from core.judging.offline.methods import Ints
from core.judging.offline.report import TrainingReport
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import KAPPAS, Weights, cohen_kappa
from core.text.numbers import percent

#: A judge must beat the baseline by this many standard errors of the paired difference: a one-sided
#: test at 10%. With random labels 0 to 3% of judges passed, on open-ended criteria 0 to 11%
#: (bench/offline.py); 1.64 loses a third to a half of the judges that are worth having.
ERRORS_ABOVE = 1.28
#: Number of resamples for the interval of a kappa.
RESAMPLES = 400
#: The rank correlation must be this many standard errors above chance: a one-sided test at 5%, not
#: 10%, since a judge may pass by its gain or by its ranking.
ERRORS_IN_ORDER = 1.64
#: The least kappa with the labels: a judge that nearly always answers the most common label may
#: rank well, too, but its answers are useless.
LEAST_KAPPA = 0.1


def prompt_majority(labels: Ints, prompts: Ints, folds: Ints, k: int) -> Floats:
    """Return whether a prompt's most common label is right, shape (repeats, n).

    The label shares of all answers count as one more answer to each prompt.
    """
    right = np.zeros(folds.shape)
    for repeat, fold in zip(*repeats_and_folds(folds), strict=True):
        held_out = folds[repeat] == fold
        shares = np.bincount(labels[~held_out], minlength=k) / max(1, int((~held_out).sum()))
        for prompt in np.unique(prompts[held_out]):
            of_prompt = held_out & (prompts == prompt)
            counts = np.bincount(labels[~held_out & (prompts == prompt)], minlength=k)
            right[repeat, of_prompt] = labels[of_prompt] == np.argmax(counts + shares)
    return right


class Order(NamedTuple):
    """The rank correlation of expected and true labels.

    ``free`` is its number of independent pairs. ``correlation`` is ``None`` if either is constant.
    """

    correlation: float | None
    free: int

    @property
    def errors(self) -> float:
        """Return how many standard errors the correlation is above chance."""
        return (self.correlation or 0.0) * float(max(0, self.free) ** 0.5)


def order_of(judge_values: Floats, labels: Ints, groups: Ints, prompts: Ints | None) -> Order:
    """Return how well numbers (n,) rank answers; duplicates count once.

    With ``prompts``, answers are ranked only within their prompt.
    """
    sizes = np.bincount(groups)
    pairs = [
        _mid_ranks(np.bincount(groups, weights=values) / sizes)
        for values in (judge_values, labels.astype(np.float64))
    ]
    degrees_of_freedom = len(sizes) - 1
    if prompts is not None:
        first = np.unique(groups, return_index=True)[1]
        _, prompt = np.unique(prompts[first], return_inverse=True)
        pairs = [
            ranks - (np.bincount(prompt, weights=ranks) / np.bincount(prompt))[prompt]
            for ranks in pairs
        ]
        degrees_of_freedom = len(sizes) - int(prompt.max()) - 1
    judge_ranks, label_ranks = (ranks - ranks.mean() for ranks in pairs)
    spread = float(np.sqrt((judge_ranks**2).sum() * (label_ranks**2).sum()))
    return Order(
        float(judge_ranks @ label_ranks) / spread if spread > 1e-9 else None, degrees_of_freedom
    )


def _mid_ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def gain_of(is_right: Floats, base: Floats, groups: Ints) -> tuple[float, float]:
    """Return the mean difference of two (repeats, n) tables of right answers, and its error.

    Repeats are averaged first, because they judge the same items; duplicates count as one cluster.
    """
    difference = (is_right - base).mean(axis=0)
    mean = float(difference.mean())
    clusters = np.bincount(groups, weights=difference - mean)
    return mean, float(np.sqrt((clusters**2).sum()) / len(difference))


def is_sure_gain(mean: float, error: float) -> bool:
    """Return whether a gain over the baseline is larger than chance would easily give."""
    return mean > 0 and mean >= ERRORS_ABOVE * error


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold probabilities, correctness and ranking, and the baseline.

    ``right`` has shape (repeats, n), ``chances`` (n, k), the mean over repeats; ``base`` (k,) is
    the logarithm of label shares. ``gain`` is that over the baseline. ``kappa`` is weighted if
    labels have an order. The method with the smallest ``loss`` is chosen. ``own`` are the
    prompts, if prompts alone predict labels.
    """

    chances: Floats
    right: Floats
    base: Floats
    temperature: float
    loss: float
    kappa: float
    gain: float
    gain_error: float
    order: Order | None
    own: Ints | None
    majority: float
    baseline: str

    @property
    def enough(self) -> bool:
        """Return whether the judge is worth using, by its gain or by its ranking.

        To rank answers as ordered labels do is enough: if a label is common, beating it in accuracy
        takes far more labels than knowing which answers are better.
        """
        return is_sure_gain(self.gain, self.gain_error) or self.follows(self.order)

    def follows(self, order: Order | None) -> bool:
        """Return whether a ranking is beyond chance and the answers agree with the labels."""
        above = order is not None and order.errors >= ERRORS_IN_ORDER
        return above and self.kappa >= LEAST_KAPPA


def compare_with_baseline(
    evidence: Floats, folds: Ints, labels: Ints, prompts: Ints, groups: Ints, ordered: bool
) -> OutOfFold:
    """Calibrate out-of-fold evidence and compare it with the better simple rule."""
    k = evidence.shape[2]
    base = log_shares(labels, k)
    temperature = fit_temperature(evidence, labels, base)
    chances = probabilities(evidence, temperature, base)
    right = (chosen_labels(chances, ordered) == labels).astype(np.float64)
    commonest = np.broadcast_to(
        (labels == np.bincount(labels).argmax()).astype(np.float64), right.shape
    )
    by_prompt = prompt_majority(labels, prompts, folds, k)
    better = by_prompt.mean() > commonest.mean()
    simple = by_prompt if better else commonest
    mean = chances.mean(axis=0)
    kappa = _kappa_of_labels(labels, chosen_labels(mean, ordered), k, ordered)
    # With few labels a prompt's most common label often wins by chance, so require a clear gain.
    predictive_prompts = prompts if is_sure_gain(*gain_of(by_prompt, commonest, groups)) else None
    gain, gain_error = gain_of(right, simple, groups)
    return OutOfFold(
        chances=mean,
        right=right,
        base=base,
        temperature=temperature,
        loss=brier_score(chances, labels, ordered),
        kappa=kappa or 0.0,
        gain=gain,
        gain_error=gain_error,
        order=order_of(mean @ np.arange(k), labels, groups, predictive_prompts)
        if ordered
        else None,
        own=predictive_prompts,
        majority=float(simple.mean()),
        baseline="the most common label of each prompt" if better else "the most common label",
    )


def _kappa_of_labels(labels: Ints, best: Ints, k: int, weighted: bool) -> float | None:
    return cohen_kappa(confusion(labels, best, k), "quadratic" if weighted else "none").value


def with_figures(
    report: TrainingReport, out_of_fold: OutOfFold, labels: Ints, groups: Ints, ordered: bool
) -> TrainingReport:
    """Return ``report`` with the figures of cross-validation."""
    k, best = out_of_fold.chances.shape[1], chosen_labels(out_of_fold.chances, ordered)
    counted: Weights = "quadratic" if ordered else "none"
    return replace(
        report,
        used=len(labels),
        accuracy=float(out_of_fold.right.mean()),
        majority=out_of_fold.majority,
        baseline=out_of_fold.baseline,
        gain_error=out_of_fold.gain_error,
        kappa=_kappa_of_labels(labels, best, k, weighted=False),
        weighted_kappa=_kappa_of_labels(labels, best, k, weighted=True) if ordered else None,
        kappa_range=_kappa_interval(labels * k + best, groups, k, counted, report.seed),
        order=out_of_fold.order.correlation if out_of_fold.order else None,
        temperature=out_of_fold.temperature,
    )


def _kappa_interval(
    cells: Ints, groups: Ints, k: int, weights: Weights, seed: int
) -> tuple[float, float] | None:
    """Return the 95% interval of a kappa by resampling answers; duplicates are drawn together.

    Resamples of few answers vary less than new answers would, so wider percentiles are used (the
    expanded percentiles of Hesterberg 2015).

    If every answer is right, up to three of that many could have been wrong (the rule of three;
    Hanley 1983), so the lower end is the kappa with three answers wrong at random. ``None`` if more
    than one resample in ten has no kappa.
    """
    sizes = np.zeros((groups.max() + 1, k * k))
    np.add.at(sizes, (groups, cells), 1.0)
    table = sizes.sum(axis=0).reshape(k, k)
    missed = 1 - np.eye(k)
    if not (table * missed).any():
        misses = np.outer(table.sum(axis=1), table.sum(axis=0)) * missed
        least = KAPPAS[weights](table + 3 * misses / max(misses.sum(), 1.0)).value
        return None if least is None or not misses.any() else (least, 1.0)
    drawn = np.random.default_rng(seed).multinomial(
        len(sizes), np.full(len(sizes), 1 / len(sizes)), size=RESAMPLES
    )
    kappas = KAPPAS[weights].many((drawn @ sizes).T.reshape(k, k, RESAMPLES).astype(np.float64))
    kappas = kappas[~np.isnan(kappas)]
    if len(kappas) < 0.9 * RESAMPLES:
        return None
    n = len(sizes)
    tail = float(ndtr((n / (n - 1)) ** 0.5 * stdtrit(n - 1, 0.025)))
    low, high = np.quantile(kappas, [tail, 1 - tail])
    return float(low), float(high)


def not_better_sentence(report: TrainingReport, out_of_fold: OutOfFold) -> str:
    """Return a sentence with the judge's accuracy, the baseline and the difference."""
    return (
        f"In cross-validation on {report.used} labels it was right in "
        f"{percent(float(out_of_fold.right.mean()))}, always giving {out_of_fold.baseline} in "
        f"{percent(out_of_fold.majority)}; that is not better by {ERRORS_ABOVE} standard errors "
        f"(of {100 * out_of_fold.gain_error:.1f} points)."
        f"{_order_sentence(out_of_fold.order, out_of_fold.kappa) if out_of_fold.order else ''}"
    )


def _order_sentence(order: Order, kappa: float) -> str:
    if order.correlation is None:
        return " It ranked all answers alike."
    if order.errors < ERRORS_IN_ORDER:
        chance = f"correlation {order.correlation:.2f}"
        return f" Nor does it rank the answers significantly better than chance ({chance})."
    return f" It ranks answers better than chance, but agrees too little (kappa {kappa:.2f})."
