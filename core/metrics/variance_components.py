"""Sources of the differences between ratings (generalizability theory), and the gain from more.

A rating is a mean plus the effects of what it shares with others: its item, criterion, judge, the
item's effect on one criterion, the judge's effect on one item. Their variances are estimated by
MINQUE with zero prior weights (Rao 1970; Hartley, Rao and LaMotte 1978), which sets the sums of
squares of every grouping equal to their expectations. It is unbiased whatever ratings are missing,
and equals the analysis of variance if none is. Negative estimates are kept internally and shown as
zero.

Source of the theory: Cronbach, Gleser, Nanda and Rajaratnam (1972); Brennan (2001), chapter 7.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.measure import Array

#: The facets of ratings. The residual is the difference between ratings with equal facets.
ITEM, CRITERION, JUDGE, ORDER = "item", "criterion", "judge", "order"
REST = "rest"
#: An effect: the facets it depends on, in the order above.
Term = tuple[str, ...]
#: The number of groups of items; intervals leave out one group at a time.
GROUPS = 12
FEWEST_ITEMS = 10

#: The effects that are estimated if their facets are given.
TERMS: tuple[Term, ...] = (
    (ITEM,),
    (CRITERION,),
    (JUDGE,),
    (ITEM, CRITERION),
    (ITEM, JUDGE),
    (CRITERION, JUDGE),
    (ITEM, CRITERION, JUDGE),
    (ORDER,),
    (JUDGE, ORDER),
)


class Components(NamedTuple):
    """Variances by effect, the residual's under ``(REST,)``, with intervals over items.

    ``raw`` are the estimates themselves, which may be negative. ``levels`` counts the levels of
    each facet. ``reason`` says why there are no estimates.
    """

    variances: Mapping[Term, Estimate]
    raw: Mapping[Term, float]
    levels: Mapping[str, int]
    n: int
    reason: str = ""

    def of(self, *term: str) -> float:
        """Return a variance; 0 if the effect was not estimated or is negative."""
        return max(0.0, self.raw.get(term, 0.0))

    @property
    def total(self) -> float:
        """Return the sum of all variances."""
        return sum(max(0.0, variance) for variance in self.raw.values())


def variance_components(
    values: npt.ArrayLike, facets: Mapping[str, npt.ArrayLike], level: float = USUAL.level
) -> Components:
    """Return the variance components of ratings.

    Args:
        values: the ratings as numbers, shape (ratings,).
        facets: each rating's level by facet name (``ITEM`` and others), integers, same shape.
        level: the probability with which intervals hold the true value.

    An effect with the same groups as another one, or with a rating per group, is part of the rest.
    Intervals leave out one of ``GROUPS`` groups of items in turn (jackknife): they generalise to
    other items, but not to other criteria, judges and orders. Undefined with fewer than
    ``FEWEST_ITEMS`` items, or if no effect can be separated from the rest.

    The second of two judges gives 1 more to every item:

    >>> found = variance_components(
    ...     np.r_[np.arange(10.0), np.arange(10.0) + 1],
    ...     {ITEM: np.tile(np.arange(10), 2), JUDGE: np.repeat([0, 1], 10)},
    ... )
    >>> round(found.of(ITEM), 3), round(found.of(JUDGE), 3), round(found.of(REST), 3)
    (9.167, 0.5, 0.0)
    """
    y = np.asarray(values, np.float64)
    columns = {name: np.asarray(column, np.int64) for name, column in facets.items()}
    levels = {name: len(np.unique(column)) for name, column in columns.items()}
    terms = _separable_effects(columns, len(y))
    reason = _why_not_estimable(levels, terms)
    if reason:
        return Components({}, {}, levels, len(y), reason)
    groups = list(terms.values())
    point = _solved_variances(y, groups)
    left_out = _variances_without_each(y, groups, columns[ITEM])
    names: list[Term] = [*terms, (REST,)]
    return Components(
        {
            name: _estimate_from_zero(value, left_out[:, at], len(y), level)
            for at, (name, value) in enumerate(zip(names, point.tolist(), strict=True))
        },
        dict(zip(names, point.tolist(), strict=True)),
        levels,
        len(y),
    )


def _separable_effects(
    columns: Mapping[str, npt.NDArray[np.int64]], n: int
) -> dict[Term, npt.NDArray[np.int64]]:
    """Return the effects that the ratings can separate, and each rating's group in them."""
    terms, groupings = dict[Term, npt.NDArray[np.int64]](), set[bytes]()
    for term in TERMS:
        if not all(name in columns for name in term):
            continue
        group = _group_numbers(columns, term)
        number = int(group.max()) + 1 if n else 0
        if number < 2 or number == n or group.tobytes() in groupings:
            continue
        groupings.add(group.tobytes())
        terms[term] = group
    return terms


def _group_numbers(
    columns: Mapping[str, npt.NDArray[np.int64]], term: Term
) -> npt.NDArray[np.int64]:
    """Return each rating's group in an effect, numbered in order of appearance."""
    group = np.zeros_like(columns[term[0]])
    for name in term if len(group) else ():
        column = columns[name] - columns[name].min()
        group = _consecutive_numbers(group * (int(column.max()) + 1) + column)
    return group


def _consecutive_numbers(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return consecutive integers from 0, in order of appearance.

    >>> _consecutive_numbers(np.array([7, 3, 7, 0])).tolist()
    [0, 1, 0, 2]
    """
    span, positions = int(codes.max(initial=-1)) + 1, np.arange(len(codes))
    if span > 8 * len(codes) + 1_000:
        _, codes = np.unique(codes, return_inverse=True)
        span = len(codes)
    # Written backwards, so that the last write at each place is the first occurrence.
    first = np.empty(span, np.int64)
    first[codes[::-1]] = positions[::-1]
    begins = first[codes]
    return np.asarray((np.cumsum(begins == positions) - 1)[begins], np.int64)


def _why_not_estimable(levels: Mapping[str, int], terms: Collection[Term]) -> str:
    if levels.get(ITEM, 0) < FEWEST_ITEMS:
        return f"{levels.get(ITEM, 0)} of at least {FEWEST_ITEMS} items were rated."
    if (ITEM,) not in terms or len(terms) < 2:
        return "Every item was rated once, so that nothing tells items from raters."
    return ""


def _solved_variances(y: Array, groups: Sequence[npt.NDArray[np.int64]]) -> Array:
    """Return the variances of all effects and the residual that reproduce the sums of squares.

    With Z the group memberships and M the centring matrix, tr(Z'M Z_j)^2 summed over j times the
    variances is the expectation of y'M Z Z'M y; the residual's Z has a group for every rating.
    """
    n, centred = len(y), y - y.mean()
    groupings = [_grouping(group) for group in groups]
    products = np.empty((len(groupings) + 1, len(groupings) + 1))
    for at, (_, sizes) in enumerate(groupings):
        for k in range(at + 1):
            products[at, k] = products[k, at] = _crossed_squares(groupings[at], groupings[k], n)
        # In the residual every rating is its own group, so nothing needs to be counted.
        products[at, -1] = products[-1, at] = n - float((sizes**2).sum()) / n
    products[-1, -1] = n - 1
    sums = [np.bincount(place, centred) for place, _ in groupings]
    right = np.array([float((effect**2).sum()) for effect in (*sums, centred)])
    variances, *_ = np.linalg.lstsq(products, right, rcond=1e-10)
    return np.asarray(variances, np.float64)


#: The group of every rating, and the number of ratings of each group.
_Grouping = tuple[npt.NDArray[np.int64], Array]


def _grouping(group: npt.NDArray[np.int64]) -> _Grouping:
    sizes = np.bincount(group)
    used = sizes > 0
    return (np.cumsum(used) - 1)[group], sizes[used].astype(np.float64)


def _crossed_squares(a: _Grouping, b: _Grouping, n: int) -> float:
    """Return the sum of squares of Z'M Z of two groupings, from their shared groups' counts."""
    (wide, wide_sizes), (fine, fine_sizes) = sorted((a, b), key=lambda grouping: len(grouping[1]))
    within = np.empty(len(fine_sizes), np.int64)
    within[fine] = wide
    if (within[fine] == wide).all():
        # Every group of the fine grouping lies within a group of the wide one.
        shared, expected = fine_sizes, wide_sizes[within] * fine_sizes / n
    else:
        key = wide * len(fine_sizes) + fine
        span = len(wide_sizes) * len(fine_sizes)
        if span <= 8 * n:
            counts = np.bincount(key, minlength=span)
            cells = np.flatnonzero(counts)
            counts = counts[cells]
        else:
            cells, counts = np.unique(key, return_counts=True)
        shared = counts.astype(np.float64)
        expected = wide_sizes[cells // len(fine_sizes)] * fine_sizes[cells % len(fine_sizes)] / n
    all_of = float((wide_sizes**2).sum() * (fine_sizes**2).sum()) / n**2
    return float((shared**2).sum() - 2 * (shared * expected).sum()) + all_of


def _variances_without_each(
    y: Array, groups: Sequence[npt.NDArray[np.int64]], items: npt.NDArray[np.int64]
) -> Array:
    """Return the variances without each of the groups of items, shape (groups, effects)."""
    _, item = np.unique(items, return_inverse=True)
    number = min(GROUPS, int(item.max()) + 1)
    variances = []
    for at in range(number):
        kept_items = item % number != at
        variances.append(_solved_variances(y[kept_items], [group[kept_items] for group in groups]))
    return np.array(variances)


def jackknife_estimate(
    value: float, left_out: Array, n: int, level: float = USUAL.level
) -> Estimate:
    """Return a figure with an interval from leaving out parts in turn (Tukey 1958)."""
    from scipy.special import stdtrit

    number = len(left_out)
    spread = float(((left_out - left_out.mean()) ** 2).sum()) * (number - 1) / number
    half_width = float(stdtrit(number - 1, (1 + level) / 2)) * spread**0.5
    return Estimate(value, value - half_width, value + half_width, n=n)


def _estimate_from_zero(value: float, left_out: Array, n: int, level: float) -> Estimate:
    """Return a variance with its interval cut at zero."""
    estimate = jackknife_estimate(value, left_out, n, level)
    value, low, high = (max(0.0, end or 0.0) for end in estimate[:3])
    return Estimate(value, low, high, n=n)


# The decision study: the reliability of a score with more ratings.


class StudyDesign(NamedTuple):
    """Planned numbers of judges, replicates, orders and items; criteria stay the same."""

    judges: float
    replicates: float = 1.0
    orders: int = 1
    items: int = 1


class RatingReliability(NamedTuple):
    """The reliability of a mean of ratings.

    ``relative`` (generalizability, E rho^2): the share of differences between items' scores that
    other ratings of this kind would reproduce; ``absolute`` (phi): the same for the scores
    themselves, where a severe judge counts. Both in [0, 1]. ``item_error`` and ``mean_error``: the
    standard error of one item's score, and of the mean over all items.
    """

    relative: float
    absolute: float
    item_error: float
    mean_error: float


def reliability_of_mean(parts: Components, ways: StudyDesign) -> RatingReliability:
    """Return the reliability of a mean over criteria, judges, orders and replicates.

    Criteria are fixed. Judges, orders and replicates are samples of their kind, and so are items
    for the mean over them.

    >>> found = Components({}, {(ITEM,): 4.0, (JUDGE,): 1.0, (REST,): 3.0}, {CRITERION: 1}, 0)
    >>> [round(one, 3) for one in reliability_of_mean(found, StudyDesign(judges=3, items=100))]
    [0.8, 0.75, 1.155, 0.619]
    """
    criteria = max(1, parts.levels.get(CRITERION, 1))
    # Without repeated ratings, the residual is the observed residual of a judge's single rating.
    true_variance = parts.of(ITEM) + parts.of(ITEM, CRITERION) / criteria
    judge_error = parts.of(ITEM, JUDGE) + parts.of(ITEM, CRITERION, JUDGE) / criteria
    rest = parts.of(REST) / (criteria * ways.replicates * ways.orders)
    relative = (judge_error + rest) / ways.judges
    severe = (parts.of(JUDGE) + parts.of(CRITERION, JUDGE) / criteria) / ways.judges
    order_variance = parts.of(ORDER) / ways.orders + parts.of(JUDGE, ORDER) / (
        ways.orders * ways.judges
    )
    absolute = relative + severe + order_variance
    of_mean = (true_variance + relative) / ways.items + severe + order_variance
    return RatingReliability(
        true_variance / (true_variance + relative) if true_variance + relative else 0.0,
        true_variance / (true_variance + absolute) if true_variance + absolute else 0.0,
        absolute**0.5,
        of_mean**0.5,
    )
