"""Which verdicts may be accepted unseen, and the exact bounds behind the decision."""

from __future__ import annotations

from math import ceil, floor, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.finite import NOTHING, KnownLabels, upper_bound_of_rest
from core.metrics.intervals.sampling import AUDIT


def upper_bound(n_wrong: int, n: int, delta: float = 0.05) -> float:
    """Return the one-sided upper bound of a share, level 1 - delta (Clopper and Pearson 1934).

    >>> round(upper_bound(0, 29), 4), round(upper_bound(1, 46), 4)
    (0.0981, 0.099)
    """
    return 1.0 if n_wrong >= n else float(betaincinv(n_wrong + 1, n - n_wrong, 1 - delta))


def fewest_labels(alpha: float, delta: float = 0.05) -> int:
    """Return the labels that guarantee ``alpha`` if none disagrees: (1 - alpha)^n <= delta.

    >>> fewest_labels(0.1), fewest_labels(0.05)
    (29, 59)
    """
    return ceil(log(delta) / log(1 - alpha) - 1e-9)


def share_of_rest(
    n_right: int,
    n: int,
    n_rest: int,
    *,
    missing: int = 0,
    known_labels: KnownLabels = NOTHING,
) -> Estimate:
    """Return the share of right verdicts among the ``n_rest``, if n of all were drawn at random.

    All are the drawn, the ``known_labels`` and the rest. The interval is exact, from two one-sided
    bounds of the rest (``upper_bound_of_rest``); the value is the part of the overall estimate that
    belongs to the rest. Undefined with fewer than 10 drawn, while ``missing`` drawn ones have no
    label (those labelled first are not a random draw), and if there is no rest.

    >>> few = share_of_rest(9, 9, 100)
    >>> few.reason
    'Only 9 items were drawn at random; 10 are needed to speak of the rest.'
    >>> mean = share_of_rest(18, 20, 200)
    >>> mean.value, mean.low, mean.high
    (0.9, 0.675, 0.99)
    >>> less = share_of_rest(18, 20, 100, known_labels=KnownLabels(100))
    >>> less.value, less.low, less.high
    (0.8, 0.35, 0.98)
    """
    if n < AUDIT or missing or not n_rest:
        return Estimate.undefined(_why_no_share(n, n_rest, missing), n)
    tail = (1 - USUAL.level) / 2
    mirrored = KnownLabels(known_labels.n, known_labels.n - known_labels.wrong)
    high = upper_bound_of_rest(n_right, n, n_rest, tail, mirrored)
    low = 1 - upper_bound_of_rest(n - n_right, n, n_rest, tail, known_labels)
    right_in_rest = n_right / n * (n + known_labels.n + n_rest) - n_right - mirrored.wrong
    return Estimate(float(min(high, max(low, right_in_rest / n_rest))), low, high, n=n)


def share_so_far(
    n_right: int, n: int, missing: int, n_rest: int, *, known_labels: KnownLabels = NOTHING
) -> tuple[float, float] | None:
    """Return the 95% range of ``share_of_rest`` for any outcome of the ``missing`` labels.

    The ends are those of the intervals with all of them wrong and with all of them right, so the
    range holds in any order of labelling. ``None`` if the whole draw would be too small.

    >>> share_so_far(7, 8, 4, 200)
    (0.27, 1.0)
    """
    worst = share_of_rest(n_right, n + missing, n_rest, known_labels=known_labels)
    best = share_of_rest(n_right + missing, n + missing, n_rest, known_labels=known_labels)
    if worst.low is None or best.high is None:
        return None
    return worst.low, best.high


def _why_no_share(n: int, n_rest: int, missing: int) -> str:
    if missing:
        return f"{missing} of the {n + missing} drawn at random are still to be decided."
    if not n_rest:
        return "No cells are left to review."
    subject = "item was" if n == 1 else "items were"
    return f"Only {n} {subject} drawn at random; {AUDIT} are needed to speak of the rest."


# Which verdicts may be accepted unseen: those with enough confidence that few are wrong.
#
# Fixed-sequence testing (Bauer 1991), which Jung, Brahman and Choi (2024), "Trust or Escalate", use
# for judges: starting with the most confident verdicts, the hypothesis "more than a share ``alpha``
# of the verdicts at or above this confidence disagrees" is tested at level ``delta``, until it
# cannot be rejected. The last rejected threshold is used. Testing stops at the first failure, so
# the probability of exceeding this limit is at most ``delta``, however many are tested.
#
# Jung et al. test with exact binomial bounds (Clopper and Pearson 1934), which assume an infinite
# supply of verdicts. A run has finitely many: if a lucky draw holds few of the wrong verdicts, more
# of them are among the others. In simulations on recorded votes, the others exceeded the limit in
# up to 9% of trials. Where the number of verdicts to accept is known, the test therefore uses the
# exact distribution for a finite population (hypergeometric; Wang 2015 treats its intervals).
#
# Some verdicts outside the draw may have been settled by another queue, selected in an unknown way.
# They stay in the population. The bound is on the wrong verdicts in the whole population, which
# holds whatever was labelled later; those known to be wrong are subtracted. Removing the known ones
# from the population instead, as though the labels had been drawn from the remainder, exceeded the
# limit in nearly every trial where the easy half had been settled.
#
# Sequential testing is then not enough: a reviewer who settles the most confident verdicts first
# removes a failed first test and gets another one (the limit was exceeded in 5.8% of trials with
# twenty looks). If some are known, all thresholds are bounded simultaneously, each at delta divided
# by their number, and the lowest that holds is used. With a single confidence, the usual case of
# unanimous verdicts, this is the same.
#
# A new draw from the remainder is another chance to be lucky: drawing until something was accepted
# exceeded the limit in up to 11% of trials. The error probability of a run is therefore shared by
# its draws: ``delta`` is the share of this draw.
#
# Both tests assume labels drawn at random, with equal probability, from the verdicts to which the
# limit applies. The labels of a review queue are on doubtful cells. Weighted by their probabilities
# they give estimates but no exact bound; neither they nor their cells may be passed here, only the
# random audit and its population.

#: Testing starts at the threshold with this share of the verdicts at or above it: with too few
#: labels the first test has no power, and testing would end there.
START = 0.4
#: The most labels to try when computing how many are needed.
MOST = 100_000
#: The advice if a part of the population was settled by other means than the draw.
ANEW = "A new random draw, from what is left, would speak of it alone."

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Step(NamedTuple):
    """A tested threshold.

    The counts are of the verdicts at or above it:

    - ``labels``: drawn at random and labelled; with ``wrong`` of these the label disagrees.
    - ``known``: settled without being drawn.
    - ``unseen``: would be accepted without a label (``None``: an infinite supply). With confidence
      1 - delta the labels would disagree with at most a share ``bound`` of them.
    """

    threshold: float
    labels: int
    wrong: int
    unseen: int | None
    bound: float
    held: bool
    known: KnownLabels = NOTHING


class Acceptance(NamedTuple):
    """The lowest accepted threshold; ``None`` if nothing may be accepted, for the ``reason``.

    ``more``: roughly how many more random labels are needed if the error rate stays the same; 0 if
    a threshold was found, ``None`` if no number is enough.
    """

    threshold: float | None
    steps: tuple[Step, ...]
    more: int | None
    reason: str = ""

    @property
    def bound(self) -> float | None:
        """Return the largest share of accepted verdicts that disagrees, with confidence 1 -
        delta.
        """
        holding = _successful_steps(self.steps)
        return holding[-1].bound if holding else None

    @property
    def accepted(self) -> int | None:
        """Return the number of unseen verdicts to accept; ``None`` for an infinite supply."""
        holding = _successful_steps(self.steps)
        return holding[-1].unseen if holding else 0


def acceptance(
    confidence: npt.ArrayLike,
    is_right: npt.ArrayLike,
    alpha: float,
    *,
    unseen: npt.ArrayLike | None = None,
    known: tuple[npt.ArrayLike, npt.ArrayLike] = ((), ()),
    delta: float = 0.05,
) -> Acceptance:
    """Return the lowest confidence from which verdicts may be accepted unseen.

    Args:
        confidence: of the randomly drawn, labelled verdicts; any scale, higher is more certain.
        is_right: whether each agrees with people, same shape.
        alpha: the largest share of accepted verdicts that may disagree, in (0, 1).
        unseen: confidences of the unlabelled part of the population. Without it, the limit
            applies to an infinite supply of such verdicts.
        known: confidences of further settled verdicts of the population, and whether they agree.
            They may be selected in any way; the limit excludes them. Only with ``unseen``.
        delta: the largest probability that more than ``alpha`` disagree, in (0, 1).

    Thresholds are distinct confidences: verdicts with equal confidence are accepted together. The
    choice and order of tested thresholds depend only on confidences, never on correctness.

    >>> sure = acceptance([0.9] * 40 + [0.6] * 20, [True] * 40 + [True, False] * 10, 0.1)
    >>> sure.threshold, round(sure.bound, 3), len(sure.steps)
    (0.9, 0.072, 2)
    """
    if not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError("alpha and delta lie between 0 and 1")
    drawn, known_labels = _labels_by_confidence(confidence, is_right), _labels_by_confidence(*known)
    confidences, _ = drawn
    labels, least = len(confidences), fewest_labels(alpha, delta)
    if labels < least:
        reason = (
            f"{labels} randomly drawn labels cannot promise that at most {alpha:.3g} "
            f"disagrees, with {100 * (1 - delta):.3g}% confidence, even if all agreed. "
            f"{least} are needed."
        )
        return Acceptance(None, (), least - labels, reason)
    unlabelled = None if unseen is None else np.asarray(unseen, np.float64)
    steps = _step_sequence(drawn, known_labels, unlabelled, alpha, delta)
    holding = _successful_steps(steps)
    if holding:
        return Acceptance(holding[-1].threshold, steps, 0)
    last = nearest_failed_step(steps)
    if last is None:
        return Acceptance(None, steps, None, "Nothing is left to be accepted.")
    needed = None if last.known.n else _labels_to_add(last, alpha, delta, labels)
    return Acceptance(None, steps, needed, _too_many_sentence(last, needed))


def _successful_steps(steps: tuple[Step, ...]) -> list[Step]:
    """Return the steps that held and accept at least one verdict."""
    return [step for step in steps if step.held and step.unseen != 0]


def nearest_failed_step(steps: tuple[Step, ...]) -> Step | None:
    """Return the failed step that came nearest to holding; ``None`` if all held."""
    failed = [step for step in steps if not step.held]
    return min(failed, key=lambda step: step.bound, default=None)


def _too_many_sentence(last: Step, needed: int | None) -> str:
    reason = f"Of the {last.labels} labels at or above {last.threshold:.3g}, {last.wrong} "
    if last.known.n:
        return (
            f"{reason}disagree, and {last.known.wrong} of {last.known.n} that were settled "
            f"elsewhere; of what is left up to {last.bound:.1%} may. {ANEW}"
        )
    means = "That is too many." if needed else "More labels would hardly help: too many disagree."
    return f"{reason}disagree, so up to {last.bound:.1%} of such verdicts may. {means}"


#: The confidences of labelled verdicts, and whether each agrees with people.
_SeenLabels = tuple[Floats, Bools]


def _accepted_and_wrong(labels: _SeenLabels, level: float) -> tuple[int, int]:
    """Return the number of labels at or above a confidence, and how many of them are wrong."""
    confidences, good = labels
    at = confidences >= level
    return int(at.sum()), int((at & ~good).sum())


def _labels_by_confidence(confidence: npt.ArrayLike, is_right: npt.ArrayLike) -> _SeenLabels:
    confidences, good = np.asarray(confidence, np.float64), np.asarray(is_right, np.bool_)
    if confidences.shape != good.shape or confidences.ndim != 1 or np.isnan(confidences).any():
        raise ValueError("confidence and right are needed in one length, without NaN")
    return confidences, good


def _step_sequence(
    drawn_labels: _SeenLabels,
    other_labels: _SeenLabels,
    unlabelled: Floats | None,
    alpha: float,
    delta: float,
) -> tuple[Step, ...]:
    (drawn, _), (others, _) = drawn_labels, other_labels
    parts = [
        drawn,
        others,
        np.empty(0) if unlabelled is None else unlabelled,
    ]
    everything = np.concatenate(parts)
    levels, counts = np.unique(everything, return_counts=True)
    shares = np.cumsum(counts[::-1]) / len(everything)
    # A quarter more than the smallest number, because the number of labels at a threshold is
    # random.
    start = max(START, min(1.0, 1.25 * fewest_labels(alpha, delta) / len(drawn)))
    tested = levels[::-1][shares >= start]
    at_once = len(others) > 0
    risk = delta / len(tested) if at_once else delta
    steps: list[Step] = []
    for level in tested:
        labels, wrong = _accepted_and_wrong(drawn_labels, level)
        settled = KnownLabels(*_accepted_and_wrong(other_labels, level))
        if unlabelled is None:
            rest, bound = None, upper_bound(wrong, labels, risk)
        else:
            rest = int((unlabelled >= level).sum())
            bound = upper_bound_of_rest(wrong, labels, rest, risk, settled)
        steps.append(Step(float(level), labels, wrong, rest, bound, bound <= alpha, settled))
        if not steps[-1].held and not at_once:
            break
    return tuple(steps)


def _labels_to_add(first: Step, alpha: float, delta: float, labels: int) -> int | None:
    """Return the labels to add for the first threshold to hold at the observed error rate.

    Only some labels are at or above the threshold, so more must be drawn than count.
    """
    share = first.wrong / max(1, first.labels)
    low, high = first.labels, MOST
    if share >= alpha or upper_bound(_labels_for_share(share, high), high, delta) > alpha:
        return None
    while low < high:
        middle = (low + high) // 2
        if upper_bound(_labels_for_share(share, middle), middle, delta) <= alpha:
            high = middle
        else:
            low = middle + 1
    return max(1, ceil((high - first.labels) * labels / max(1, first.labels)))


def _labels_for_share(share: float, n: int) -> int:
    return floor(share * n + 0.5)
