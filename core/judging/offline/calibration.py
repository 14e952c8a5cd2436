"""Cross-validation: calibrated probabilities, the baseline, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Criterion
from core.judging.offline.features import Floats
from core.judging.offline.judge import TrainingReport
from core.judging.offline.methods import NEVER, Ints, Method, fold_numbers, repeats_for
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import KAPPAS, Weights, cohen_kappa
from core.text.numbers import percent

#: A judge must beat the baseline by this many standard errors of the paired difference: a one-sided
#: test at 10%. With random labels 0 to 3% of judges passed, on open-ended criteria 0 to 11%
#: (bench/offline.py); 1.64 loses a third to a half of the judges that are worth having.
ERRORS_ABOVE = 1.28
#: Samples for the interval of a kappa.
RESAMPLES = 400
#: An order must be above chance by this many: a test at 5%, as there are several to pass.
ERRORS_IN_ORDER = 1.64


class Validation(NamedTuple):
    """Out-of-fold evidence (repeats, n, k) and the folds (repeats, n) that gave it."""

    evidence: Floats
    folds: Ints


def cross_validate(
    method: Method, products: Floats, labels: Ints, groups: Ints, k: int, seed: int
) -> Validation:
    """Return the evidence on items by models without their label or duplicates."""
    repeats = repeats_for(len(labels))
    told = np.zeros((repeats, len(labels), k))
    folds = np.stack(
        [fold_numbers(labels, groups, seed=seed, repeat=repeat) for repeat in range(repeats)]
    )
    for repeat, fold in zip(*_rounds(folds), strict=True):
        out = folds[repeat] == fold
        fitted = method.fit(products[np.ix_(~out, ~out)], labels[~out], k)
        scores = fitted.scores(products[np.ix_(out, ~out)])
        told[repeat, out] = evidence(scores, log_shares(labels[~out], k))
    return Validation(told, folds)


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


class Order(NamedTuple):
    """How well expected labels follow the true ones: a correlation of ranks.

    ``free``: the pairs of numbers that it rests on. ``None``: one of the two is always the same.
    """

    correlation: float | None
    free: int

    @property
    def errors(self) -> float:
        """Return how many standard errors it is above chance."""
        return (self.correlation or 0.0) * float(max(0, self.free) ** 0.5)


def order_of(said: Floats, labels: Ints, groups: Ints, prompts: Ints | None) -> Order:
    """Return how well numbers (n,) order answers; duplicates count once.

    Where ``prompts`` are given, within them only.
    """
    sizes = np.bincount(groups)
    pairs = [
        _ranks(np.bincount(groups, weights=values) / sizes)
        for values in (said, labels.astype(np.float64))
    ]
    free = len(sizes) - 1
    if prompts is not None:
        first = np.unique(groups, return_index=True)[1]
        _, of = np.unique(prompts[first], return_inverse=True)
        pairs = [one - (np.bincount(of, weights=one) / np.bincount(of))[of] for one in pairs]
        free = len(sizes) - int(of.max()) - 1
    one, other = (ranks - ranks.mean() for ranks in pairs)
    spread = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return Order(float(one @ other) / spread if spread > 1e-9 else None, free)


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(np.round(values, 9), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


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


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold probabilities, correctness, order, and the baseline.

    ``right`` has shape (repeats, n), ``chances`` (n, k), the mean over repeats; ``base`` (k,) is
    what they start from. ``loss`` is what methods are chosen by: the smallest. ``own`` are the
    prompts, if these alone foretell labels.
    """

    chances: Floats
    right: Floats
    base: Floats
    temperature: float
    loss: float
    gain: BaselineGain
    order: Order | None
    own: Ints | None
    majority: float
    baseline: str

    @property
    def enough(self) -> bool:
        """Return whether the judge is worth asking: by what counts for the scale.

        Where labels have an order, to follow it is enough: with a common label, being right more
        often than that label takes far more labels than knowing what is better.
        """
        return self.gain.enough or (self.order is not None and self.order.errors >= ERRORS_IN_ORDER)


def weigh(
    validation: Validation, labels: Ints, prompts: Ints, groups: Ints, ordered: bool
) -> OutOfFold:
    """Calibrate out-of-fold evidence and compare it with the better simple rule."""
    k = validation.evidence.shape[2]
    base = log_shares(labels, k)
    temperature = fit_temperature(validation.evidence, labels, base)
    chances = probabilities(validation.evidence, temperature, base)
    right = (decided(chances, ordered) == labels).astype(np.float64)
    commonest = np.broadcast_to(
        (labels == np.bincount(labels).argmax()).astype(np.float64), right.shape
    )
    by_prompt = prompt_majority(labels, prompts, validation.folds, k)
    better = by_prompt.mean() > commonest.mean()
    simple = by_prompt if better else commonest
    mean = chances.mean(axis=0)
    # With few labels a prompt's own are ahead by chance often; then it takes more to leave them.
    own = prompts if gain_of(by_prompt, commonest, groups).enough else None
    return OutOfFold(
        chances=mean,
        right=right,
        base=base,
        temperature=temperature,
        loss=loss_of(chances, labels, ordered),
        gain=gain_of(right, simple, groups),
        order=order_of(mean @ np.arange(k), labels, groups, own) if ordered else None,
        own=own,
        majority=float(simple.mean()),
        baseline="the most common label of each prompt" if better else "the most common label",
    )


def with_figures(
    report: TrainingReport, found: OutOfFold, labels: Ints, groups: Ints, ordered: bool
) -> TrainingReport:
    """Return ``report`` with the figures of cross-validation."""
    k, best = found.chances.shape[1], decided(found.chances, ordered)
    counts = confusion(labels, best, k)
    counted: Weights = "quadratic" if ordered else "none"
    return replace(
        report,
        used=len(labels),
        accuracy=float(found.right.mean()),
        majority=found.majority,
        baseline=found.baseline,
        gain_error=found.gain.error,
        kappa=cohen_kappa(counts).value,
        weighted_kappa=cohen_kappa(counts, counted).value if ordered else None,
        kappa_range=_range(labels * k + best, groups, k, counted, report.seed),
        order=found.order.correlation if found.order else None,
        temperature=found.temperature,
    )


def _range(
    cells: Ints, groups: Ints, k: int, weights: Weights, seed: int
) -> tuple[float, float] | None:
    """Return the 95% interval of a kappa, by resampled answers; duplicates come together.

    One answer by chance is added to each sample: a few answers that are all right are no proof that
    the next is. ``None`` where more than one sample of ten has no kappa.
    """
    sizes = np.zeros((groups.max() + 1, k * k))
    np.add.at(sizes, (groups, cells), 1.0)
    drawn = np.random.default_rng(seed).multinomial(
        len(sizes), np.full(len(sizes), 1 / len(sizes)), size=RESAMPLES
    )
    tables = (drawn @ sizes).T.reshape(k, k, RESAMPLES).astype(np.float64)
    table = sizes.sum(axis=0).reshape(k, k) / sizes.sum()
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    kappas = KAPPAS[weights].many(tables + chance[:, :, None])
    kappas = kappas[~np.isnan(kappas)]
    if len(kappas) < 0.9 * RESAMPLES:
        return None
    low, high = np.percentile(kappas, [2.5, 97.5])
    return float(low), float(high)


def not_better(report: TrainingReport, found: OutOfFold) -> str:
    """Return a sentence with the result, the baseline and the difference."""
    return (
        f"In cross-validation on {report.used} labels it was right in "
        f"{percent(float(found.right.mean()))}, always giving {found.baseline} in "
        f"{percent(found.majority)}; that is not better by {ERRORS_ABOVE} standard errors "
        f"(of {100 * found.gain.error:.1f} points)."
        f"{_order_sentence(found.order) if found.order else ''}"
    )


def _order_sentence(order: Order) -> str:
    if order.correlation is None:
        return " It told no answer from another."
    return (
        f" Its order of the answers is that of chance, too (correlation {order.correlation:.2f})."
    )
