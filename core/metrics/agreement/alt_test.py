"""May a judge stand in for an annotator? The alternative annotator test.

One annotator after the other is set aside. On every item it is asked who is nearer to the remaining
annotators, the judge or the one set aside; a judge may stand in for an annotator whom it is nearer
than, or not further from than epsilon allows for what the judge saves.

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
ACL 2025, sections 3.2 to 3.4.
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
#: How much better annotators of a kind may be and still be replaced, as the paper advises.
EPSILON: Mapping[Kind, float] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
#: So many annotators, and so many items of each, are the least (sections 3.2 and 3.4).
FEWEST_ANNOTATORS, FEWEST_ITEMS = 3, 30
#: The false discovery rate, the winning rate that passes, and the power that is planned for.
Q, PASSES, POWER = 0.05, 0.5, 0.8


class Wins(NamedTuple):
    """Who was at least as near to the others, by item and annotator, shape (items, annotators).

    1 or 0 (both 1 where they are equally near), means of such over several criteria, and NaN where
    nothing could be compared.
    """

    judge: Array
    person: Array


class AgainstAnnotator(NamedTuple):
    """The judge beside one annotator on ``n`` items.

    ``judge`` and ``person`` are in [0, 1]: on what share of items each was at least as near to the
    others. ``gap`` is the first minus the second, in [-1, 1], with the t interval. ``p`` is
    the one-sided p-value of "the judge is behind by epsilon or more"; ``beaten``: refuted. All are
    ``None`` and ``False`` with fewer than ``FEWEST_ITEMS`` items.
    """

    n: int
    judge: float | None
    person: float | None
    gap: Estimate
    p: float | None
    beaten: bool


class AltTest(NamedTuple):
    """What the test says of one judge.

    ``winning_rate`` (omega) is the share of annotators beaten, ``advantage`` (rho) the mean of
    their ``judge``: how probably the judge is as good as an annotator or better. Both in [0, 1], or
    undefined with the reason, and then ``passes`` is ``None``. ``n`` of them counts annotators.
    ``items_needed``: from how many items of each on the judge would pass with a chance of 80 % if
    all stays as it is; ``None`` where no number would do or nothing is known.
    """

    annotators: tuple[AgainstAnnotator, ...]
    winning_rate: Estimate
    advantage: Estimate
    passes: bool | None
    items_needed: int | None


def wins(judge: npt.ArrayLike, people: npt.ArrayLike, k: int, *, ordered: bool) -> Wins:
    """Who is nearer to the other annotators, item by item.

    Near means: the same answer as more of them, or on an ordinal scale a smaller mean squared
    difference of levels (the paper's accuracy and negative RMSE).

    Args:
        judge: levels 0 .. k-1, negative where it gave none (failed or abstained), shape (items,).
        people: the same for annotators, shape (items, annotators).
        k: how many levels there are.
        ordered: whether levels have an order and more than agreement counts.

    Items without the judge, that annotator or anybody else are NaN.

    Of three annotators the first disagrees with the others and the judge does not:

    >>> found = wins([1], [[0, 1, 1]], 2, ordered=False)
    >>> found.judge.tolist(), found.person.tolist()
    ([[1.0, 1.0, 1.0]], [[0.0, 1.0, 1.0]])
    """
    theirs = np.asarray(people, np.int64)
    its = np.asarray(judge, np.int64)[:, None]
    counts = level_counts(theirs, k)
    levels = np.arange(k)
    apart = levels[:, None] - levels
    distance = apart**2 if ordered else (apart != 0).astype(np.int64)
    # How far each level is from everybody on the item; nobody is far from themselves.
    far = counts @ distance
    row = np.arange(len(theirs))[:, None]
    one, other = np.maximum(theirs, 0), np.maximum(its, 0)
    person = far[row, one]
    machine = far[row, other] - distance[other, one]
    known = (theirs >= 0) & (its >= 0) & (counts.sum(axis=1)[:, None] >= 2)
    return Wins(
        np.where(known, (machine <= person).astype(np.float64), np.nan),
        np.where(known, (person <= machine).astype(np.float64), np.nan),
    )


def over_criteria(each: Sequence[Wins]) -> Wins:
    """All criteria together: an item counts once, with the mean of its criteria.

    Answers on one item depend on each other, so items are the observations of the test. NaN where
    no criterion could be compared. ``each`` has the same items and annotators, and is not empty.

    >>> one, two = Wins(*np.array([[[1.0]], [[0.0]]])), Wins(*np.array([[[0.0]], [[1.0]]]))
    >>> over_criteria([one, two]).judge.tolist()
    [[0.5]]
    """
    return Wins(_means([one.judge for one in each]), _means([one.person for one in each]))


def _means(each: Sequence[Array]) -> Array:
    stacked = np.stack(each)
    known = np.isfinite(stacked)
    number = known.sum(axis=0)
    sums = np.where(known, stacked, 0.0).sum(axis=0)
    return np.where(number > 0, sums / np.maximum(number, 1), np.nan)


def alt_test(found: Wins, epsilon: float, level: float = USUAL.level) -> AltTest:
    """The test of one judge against every annotator who has enough items.

    A one-sided t test each of "the annotator is ahead by ``epsilon`` or more"; Benjamini and
    Yekutieli's procedure (2001) at ``Q`` over all of them, because they depend on each other. Where
    all differences are equal the p-value is 0 or 1.

    Args:
        found: from ``wins`` or ``over_criteria``.
        epsilon: what the judge may be behind, in [0, 1] (``EPSILON``).
        level: how often the interval of a gap shall hold it; the test stays the same.

    Raises:
        ValueError: ``epsilon`` is outside [0, 1].

    A judge who always says what three annotators say who always agree beats all of them:

    >>> same = [[0, 0, 0]] * 30
    >>> alt_test(wins([0] * 30, same, 2, ordered=False), 0.2).winning_rate.value
    1.0
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"{epsilon} is no share.")
    each = [
        _against(found.judge[:, at], found.person[:, at], epsilon, level) for at in _columns(found)
    ]
    tested = [at for at, one in enumerate(each) if one.p is not None]
    reason = _too_few(each, len(tested))
    if reason:
        nothing = Estimate.undefined(reason, len(tested))
        return AltTest(tuple(each), nothing, nothing, None, None)
    ps = [each[at].p or 0.0 for at in tested]
    for at, beaten in zip(tested, rejected(ps), strict=True):
        each[at] = each[at]._replace(beaten=beaten)
    won = sum(one.beaten for one in each)
    rate = Estimate.defined(won / len(tested), len(tested))
    rho = sum(each[at].judge or 0.0 for at in tested) / len(tested)
    needed = _items_needed([found.judge[:, at] - found.person[:, at] for at in tested], epsilon)
    return AltTest(
        tuple(each), rate, Estimate.defined(rho, len(tested)), won >= PASSES * len(tested), needed
    )


def _columns(found: Wins) -> range:
    return range(found.judge.shape[1])


def _against(judge: Array, person: Array, epsilon: float, level: float) -> AgainstAnnotator:
    from scipy.special import stdtr, stdtrit

    known = np.isfinite(judge)
    n = int(known.sum())
    if n < FEWEST_ITEMS:
        words = f"{n} of at least {FEWEST_ITEMS} items were rated by this person, somebody else "
        gap = Estimate.undefined(words + "and the judge.", n)
        return AgainstAnnotator(n, None, None, gap, None, False)
    gaps = judge[known] - person[known]
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / sqrt(n)
    if error > 0:
        p = float(stdtr(n - 1, -(mean + epsilon) / error))
    else:
        p = 0.0 if mean > -epsilon else 1.0
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    gap = Estimate(mean, max(-1.0, mean - half), min(1.0, mean + half), n=n)
    return AgainstAnnotator(
        n, float(judge[known].mean()), float(person[known].mean()), gap, p, False
    )


def _too_few(each: Sequence[AgainstAnnotator], tested: int) -> str:
    if len(each) < FEWEST_ANNOTATORS:
        return f"{len(each)} of at least {FEWEST_ANNOTATORS} people rated this."
    if tested < FEWEST_ANNOTATORS:
        most = sorted((one.n for one in each), reverse=True)[FEWEST_ANNOTATORS - 1]
        return (
            f"{tested} of at least {FEWEST_ANNOTATORS} people have {FEWEST_ITEMS} items or more "
            f"that the judge and somebody else rated, too; the third has {most}."
        )
    return ""


def rejected(p: Sequence[float], q: float = Q) -> list[bool]:
    """Which hypotheses Benjamini and Yekutieli (2001, theorem 1.3) reject, in the order given.

    The share of false ones among them is at most ``q`` on average, however they depend on each
    other. ``p`` has at least one value, each in [0, 1].

    Of four the thresholds are q (1, 2, 3, 4) / 4 / (1 + 1/2 + 1/3 + 1/4), here .006 to .024:

    >>> rejected([0.03, 0.001, 0.011, 0.9])
    [False, True, True, False]
    """
    values = np.asarray(p, np.float64)
    m = len(values)
    order = np.argsort(values, kind="stable")
    below = np.flatnonzero(values[order] <= _thresholds(m, q))
    found = np.zeros(m, np.bool_)
    found[order[: below[-1] + 1 if len(below) else 0]] = True
    return [bool(one) for one in found]


def _thresholds(m: int, q: float) -> Array:
    ranks = np.arange(1, m + 1)
    return np.asarray(ranks / m * q / (1 / ranks).sum(), np.float64)


def _items_needed(gaps: Sequence[Array], epsilon: float) -> int | None:
    """From how many items on half of the annotators would be beaten with a chance of ``POWER``.

    By the normal approximation, from the mean and spread of each; the level is that of the last one
    who must be beaten.
    """
    from scipy.special import ndtri

    must = ceil(PASSES * len(gaps))
    z = float(ndtri(POWER) - ndtri(_thresholds(len(gaps), Q)[must - 1]))
    needs = list[float]()
    for one in gaps:
        known = one[np.isfinite(one)]
        room = float(known.mean()) + epsilon
        needs.append((z * float(known.std(ddof=1)) / room) ** 2 if room > 0 else float("inf"))
    last = sorted(needs)[must - 1]
    return None if last == float("inf") else max(FEWEST_ITEMS, ceil(last))
