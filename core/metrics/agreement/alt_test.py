"""The alternative annotator test: may a judge replace an annotator?

Each annotator is left out in turn. On every item the test compares who is closer to the remaining
annotators, the judge or the one left out. A judge may replace an annotator if it is closer, or at
most epsilon worse, which accounts for its lower cost.

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, ACL
2025, sections 3.2 to 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.ratings import level_counts
from core.metrics.estimate import USUAL, Estimate
from core.metrics.measure import Array

Kind = Literal["expert", "skilled", "crowd"]
#: How much better a person of each kind may be than the judge that replaces them, as the paper
#: recommends.
EPSILON: Mapping[Kind, float] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
#: The least number of annotators, and of items per annotator (sections 3.2 and 3.4).
FEWEST_ANNOTATORS, FEWEST_ITEMS = 3, 30
#: The false discovery rate, the winning rate that passes, and the planned power.
Q, PASSES, POWER = 0.05, 0.5, 0.8


#: Whether the judge, and each annotator, was at least as close to the others, two arrays of shape
#: (items, annotators). Values are 1 or 0 (both 1 in a tie), means of these over several criteria,
#: and NaN if nothing could be compared.
Wins = tuple[Array, Array]


class AgainstAnnotator(NamedTuple):
    """The judge compared with one annotator on ``n`` items.

    ``judge`` and ``person`` are in [0, 1]: the share of items on which each was at least as close
    to the others. ``gap`` is the first minus the second, in [-1, 1], with its t interval. ``p`` is
    the one-sided p-value of "the judge is behind by epsilon or more"; ``beaten``: it is rejected.
    With fewer than ``FEWEST_ITEMS`` items these are ``None`` and ``False``.
    """

    n: int
    judge: float | None
    person: float | None
    gap: Estimate
    p: float | None
    beaten: bool


class AltTest(NamedTuple):
    """The test's result for one judge.

    ``winning_rate`` (omega) is the share of annotators beaten, ``advantage`` (rho) the mean of
    their ``judge``: the probability that the judge is as good as an annotator or better. Both are
    in [0, 1]; if undefined, they have a reason, and ``passes`` is ``None``. Their ``n`` counts
    annotators. ``items_needed``: the items per annotator for the judge to pass with a chance of
    80 %, given the same results; ``None`` if no number is enough or it is unknown.
    """

    annotators: tuple[AgainstAnnotator, ...]
    winning_rate: Estimate
    advantage: Estimate
    passes: bool | None
    items_needed: int | None


def wins(judge: npt.ArrayLike, people: npt.ArrayLike, k: int, *, ordered: bool) -> Wins:
    """Return whether the judge or each annotator is closer to the other annotators, item by item.

    Closer means: the same answer as more of them or, on an ordinal scale, a smaller mean squared
    difference of levels (the paper's accuracy and negative RMSE).

    Args:
        judge: levels 0 .. k-1, negative if missing (failed or abstained), shape (items,).
        people: the same for annotators, shape (items, annotators).
        k: the number of levels.
        ordered: whether levels have an order.

    Items without the judge, that annotator or any other annotator are NaN.

    Of three annotators the first disagrees with the others and the judge does not:

    >>> judge, person = wins([1], [[0, 1, 1]], 2, ordered=False)
    >>> judge.tolist(), person.tolist()
    ([[1.0, 1.0, 1.0]], [[0.0, 1.0, 1.0]])
    """
    rated = np.asarray(people, np.int64)
    judged = np.asarray(judge, np.int64)[:, None]
    counts = level_counts(rated, k)
    levels = np.arange(k)
    differences = levels[:, None] - levels
    distance = differences**2 if ordered else (differences != 0).astype(np.int64)
    # The sum of distances of each level to all raters of the item; to the rater itself it is 0.
    total_distance = counts @ distance
    row = np.arange(len(rated))[:, None]
    person_level, judge_level = np.maximum(rated, 0), np.maximum(judged, 0)
    person = total_distance[row, person_level]
    machine = total_distance[row, judge_level] - distance[judge_level, person_level]
    comparable = (rated >= 0) & (judged >= 0) & (counts.sum(axis=1)[:, None] >= 2)
    return (
        np.where(comparable, (machine <= person).astype(np.float64), np.nan),
        np.where(comparable, (person <= machine).astype(np.float64), np.nan),
    )


def combine_criteria(each: Sequence[Wins]) -> Wins:
    """Combine all criteria: an item counts once, with the mean of its criteria.

    Answers on one item depend on each other, so items are the observations of the test. NaN if no
    criterion could be compared. ``each`` has the same items and annotators, and is not empty.

    >>> first, second = np.array([[1.0]]), np.array([[0.0]])
    >>> judge, person = combine_criteria([(first, second), (second, first)])
    >>> judge.tolist()
    [[0.5]]
    """
    judge, person = zip(*each, strict=True)
    return _row_means(judge), _row_means(person)


def _row_means(values: Sequence[Array]) -> Array:
    stacked = np.stack(values)
    finite = np.isfinite(stacked)
    number = finite.sum(axis=0)
    sums = np.where(finite, stacked, 0.0).sum(axis=0)
    return np.where(number > 0, sums / np.maximum(number, 1), np.nan)


def alt_test(found: Wins, epsilon: float, level: float = USUAL.level) -> AltTest:
    """Test one judge against every annotator with enough items.

    One-sided t tests of "the annotator is ahead by ``epsilon`` or more", corrected by Benjamini and
    Yekutieli's procedure (2001) at ``Q``, because they depend on each other. If all differences are
    equal, the p-value is 0 or 1.

    Args:
        found: the result of ``wins`` or ``combine_criteria``.
        epsilon: how far the judge may be behind, in [0, 1] (``EPSILON``).
        level: the confidence level of a gap's interval; it does not affect the test.

    Raises:
        ValueError: ``epsilon`` is outside [0, 1].

    A judge that always agrees with three unanimous annotators beats all of them:

    >>> same = [[0, 0, 0]] * 30
    >>> alt_test(wins([0] * 30, same, 2, ordered=False), 0.2).winning_rate.value
    1.0
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"{epsilon} is no share.")
    judge, person = found
    comparisons = [
        _test_against(judge[:, at], person[:, at], epsilon, level) for at in range(judge.shape[1])
    ]
    tested = [at for at, against in enumerate(comparisons) if against.p is not None]
    reason = _too_few_sentence(comparisons, len(tested))
    if reason:
        undefined = Estimate.undefined(reason, len(tested))
        return AltTest(tuple(comparisons), undefined, undefined, None, None)
    ps = [comparisons[at].p or 0.0 for at in tested]
    for at, beaten in zip(tested, rejected_hypotheses(ps), strict=True):
        comparisons[at] = comparisons[at]._replace(beaten=beaten)
    won = sum(against.beaten for against in comparisons)
    rate = Estimate.defined(won / len(tested), len(tested))
    rho = sum(comparisons[at].judge or 0.0 for at in tested) / len(tested)
    needed = _items_needed([judge[:, at] - person[:, at] for at in tested], epsilon)
    return AltTest(
        tuple(comparisons),
        rate,
        Estimate.defined(rho, len(tested)),
        won >= PASSES * len(tested),
        needed,
    )


def _test_against(judge: Array, person: Array, epsilon: float, level: float) -> AgainstAnnotator:
    from scipy.special import stdtr, stdtrit

    finite = np.isfinite(judge)
    n = int(finite.sum())
    if n < FEWEST_ITEMS:
        reason = f"{n} of at least {FEWEST_ITEMS} items were rated by this person, somebody else "
        gap = Estimate.undefined(reason + "and the judge.", n)
        return AgainstAnnotator(n, None, None, gap, None, False)
    gaps = judge[finite] - person[finite]
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / sqrt(n)
    if error > 0:
        p = float(stdtr(n - 1, -(mean + epsilon) / error))
    else:
        p = 0.0 if mean > -epsilon else 1.0
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    gap = Estimate(mean, max(-1.0, mean - half), min(1.0, mean + half), n=n)
    return AgainstAnnotator(
        n, float(judge[finite].mean()), float(person[finite].mean()), gap, p, False
    )


def _too_few_sentence(comparisons: Sequence[AgainstAnnotator], tested: int) -> str:
    if len(comparisons) < FEWEST_ANNOTATORS:
        return f"{len(comparisons)} of at least {FEWEST_ANNOTATORS} people rated this."
    if tested < FEWEST_ANNOTATORS:
        most = sorted((against.n for against in comparisons), reverse=True)[FEWEST_ANNOTATORS - 1]
        return (
            f"{tested} of at least {FEWEST_ANNOTATORS} people have {FEWEST_ITEMS} items or more "
            f"that the judge and somebody else rated, too; the third has {most}."
        )
    return ""


def rejected_hypotheses(p: Sequence[float]) -> list[bool]:
    """Return which hypotheses Benjamini and Yekutieli (2001, theorem 1.3) reject, in order.

    The expected share of false rejections is at most ``Q``, whatever their dependence. ``p`` has at
    least one value, each in [0, 1].

    For four values the thresholds are Q (1, 2, 3, 4) / 4 / (1 + 1/2 + 1/3 + 1/4), .006 to .024:

    >>> rejected_hypotheses([0.03, 0.001, 0.011, 0.9])
    [False, True, True, False]
    """
    values = np.asarray(p, np.float64)
    m = len(values)
    order = np.argsort(values, kind="stable")
    below = np.flatnonzero(values[order] <= _rejection_thresholds(m))
    flags = np.zeros(m, np.bool_)
    flags[order[: below[-1] + 1 if len(below) else 0]] = True
    return [bool(flag) for flag in flags]


def _rejection_thresholds(m: int) -> Array:
    ranks = np.arange(1, m + 1)
    return np.asarray(ranks / m * Q / (1 / ranks).sum(), np.float64)


def _items_needed(gaps: Sequence[Array], epsilon: float) -> int | None:
    """Return the items needed to beat half of the annotators with a chance of ``POWER``.

    It uses the normal approximation, from each mean and spread, at the level of the last annotator
    that must be beaten.
    """
    from scipy.special import ndtri

    must = ceil(PASSES * len(gaps))
    z = float(ndtri(POWER) - ndtri(_rejection_thresholds(len(gaps))[must - 1]))
    needs = list[float]()
    for gap in gaps:
        finite = gap[np.isfinite(gap)]
        distance_left = float(finite.mean()) + epsilon
        needs.append(
            (z * float(finite.std(ddof=1)) / distance_left) ** 2
            if distance_left > 0
            else float("inf")
        )
    last = sorted(needs)[must - 1]
    return None if last == float("inf") else max(FEWEST_ITEMS, ceil(last))
