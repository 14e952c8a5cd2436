"""Where differences between ratings come from (generalizability theory), and what more would buy.

A rating is a mean plus an effect of everything that it has in common with others: its item, its
criterion, its judge, what an item is on one criterion, what a judge makes of one item. The variance
of each is found by MINQUE with zero prior weights (Rao 1970; Hartley, Rao and LaMotte 1978): sums
of squares of every grouping are set equal to what they are on average. It is unbiased whatever
ratings are missing, and is the analysis of variance where none is. Estimates below zero are kept
inside and shown as zero.

Source of the theory: Cronbach, Gleser, Nanda and Rajaratnam (1972); Brennan (2001), chapter 7.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.measure import Array

#: What tells ratings apart. The residual is what two ratings alike in all of these still differ by.
ITEM, CRITERION, JUDGE, ORDER = "item", "criterion", "judge", "order"
REST = "rest"
#: An effect: the facets that it hangs on together, in the order above.
Term = tuple[str, ...]
#: Of so many groups of items one is left out in turn, for the intervals.
GROUPS = 12
FEWEST_ITEMS = 10

#: Every effect that is looked for where its facets are there.
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

    ``raw`` are the estimates themselves, which may be below zero. ``levels`` counts what each facet
    has. ``reason`` says why there are none.
    """

    variances: Mapping[Term, Estimate]
    raw: Mapping[Term, float]
    levels: Mapping[str, int]
    n: int
    reason: str = ""

    def of(self, *term: str) -> float:
        """A variance, 0 where the effect was not looked for or came out below."""
        return max(0.0, self.raw.get(term, 0.0))

    @property
    def total(self) -> float:
        """All variances together."""
        return sum(max(0.0, one) for one in self.raw.values())


def components(
    values: npt.ArrayLike, facets: Mapping[str, npt.ArrayLike], level: float = USUAL.level
) -> Components:
    """The variance components of ratings.

    Args:
        values: the ratings as numbers, shape (ratings,).
        facets: by name (``ITEM`` and others) which level each rating has, integers, same shape.
        level: how often intervals shall hold the true value.

    An effect whose groups are those of another one, or hold one rating each, is part of the rest.
    Intervals leave one of ``GROUPS`` groups of items out in turn (jackknife): they speak of other
    items, and of these criteria, judges and orders. Undefined with fewer than ``FEWEST_ITEMS``
    items, or where nothing tells any effect from the rest.

    Of two judges the second gives 1 more, whatever the item:

    >>> found = components(
    ...     np.r_[np.arange(10.0), np.arange(10.0) + 1],
    ...     {ITEM: np.tile(np.arange(10), 2), JUDGE: np.repeat([0, 1], 10)},
    ... )
    >>> round(found.of(ITEM), 3), round(found.of(JUDGE), 3), round(found.of(REST), 3)
    (9.167, 0.5, 0.0)
    """
    y = np.asarray(values, np.float64)
    columns = {name: np.asarray(column, np.int64) for name, column in facets.items()}
    levels = {name: len(np.unique(column)) for name, column in columns.items()}
    terms = _terms(columns, len(y))
    reason = _why_not(levels, terms)
    if reason:
        return Components({}, {}, levels, len(y), reason)
    groups = list(terms.values())
    point = _solved(y, groups)
    left_out = _left_out(y, groups, columns[ITEM])
    names: list[Term] = [*terms, (REST,)]
    return Components(
        {
            name: _estimate(value, left_out[:, at], len(y), level)
            for at, (name, value) in enumerate(zip(names, point.tolist(), strict=True))
        },
        dict(zip(names, point.tolist(), strict=True)),
        levels,
        len(y),
    )


def _terms(
    columns: Mapping[str, npt.NDArray[np.int64]], n: int
) -> dict[Term, npt.NDArray[np.int64]]:
    """The effects that ratings can tell apart, and which group of each a rating is in."""
    found, seen = dict[Term, npt.NDArray[np.int64]](), set[bytes]()
    for term in TERMS:
        if not all(name in columns for name in term):
            continue
        group = _group(columns, term)
        number = int(group.max()) + 1 if n else 0
        if number < 2 or number == n or group.tobytes() in seen:
            continue
        seen.add(group.tobytes())
        found[term] = group
    return found


def _group(columns: Mapping[str, npt.NDArray[np.int64]], term: Term) -> npt.NDArray[np.int64]:
    """Which group of an effect each rating is in, numbered as they first come."""
    group = np.zeros_like(columns[term[0]])
    for name in term if len(group) else ():
        column = columns[name] - columns[name].min()
        group = _numbered(group * (int(column.max()) + 1) + column)
    return group


def _numbered(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Whole numbers from 0 on in place of any, as they first come.

    >>> _numbered(np.array([7, 3, 7, 0])).tolist()
    [0, 1, 0, 2]
    """
    span, each = int(codes.max(initial=-1)) + 1, np.arange(len(codes))
    if span > 8 * len(codes) + 1_000:
        _, codes = np.unique(codes, return_inverse=True)
        span = len(codes)
    # Written backwards, what stands there in the end is where a number comes first.
    first = np.empty(span, np.int64)
    first[codes[::-1]] = each[::-1]
    begins = first[codes]
    return np.asarray((np.cumsum(begins == each) - 1)[begins], np.int64)


def _why_not(levels: Mapping[str, int], terms: Collection[Term]) -> str:
    if levels.get(ITEM, 0) < FEWEST_ITEMS:
        return f"{levels.get(ITEM, 0)} of at least {FEWEST_ITEMS} items were rated."
    if (ITEM,) not in terms or len(terms) < 2:
        return "Every item was rated once, so that nothing tells items from raters."
    return ""


def _solved(y: Array, groups: Sequence[npt.NDArray[np.int64]]) -> Array:
    """The variances of all effects and of the rest, which make sums of squares what they are.

    With Z the members of the groups and M what takes the mean away, tr(Z'M Z_j)^2 summed over j
    with the variances is y'M Z Z'M y on average; the rest's Z has a group for every rating.
    """
    n, centred = len(y), y - y.mean()
    of = [_Grouping.of(group) for group in groups]
    left = np.empty((len(of) + 1, len(of) + 1))
    for at, one in enumerate(of):
        for other in range(at + 1):
            left[at, other] = left[other, at] = _crossed(one, of[other], n)
        # Each rating of the rest's groups lies in one of these: no need to count.
        left[at, -1] = left[-1, at] = n - float((one.sizes**2).sum()) / n
    left[-1, -1] = n - 1
    sums = [np.bincount(one.place, centred) for one in of]
    right = np.array([float((one**2).sum()) for one in (*sums, centred)])
    found, *_ = np.linalg.lstsq(left, right, rcond=1e-10)
    return np.asarray(found, np.float64)


class _Grouping(NamedTuple):
    """A grouping with how many ratings each group has."""

    place: npt.NDArray[np.int64]
    sizes: Array

    @classmethod
    def of(cls, group: npt.NDArray[np.int64]) -> _Grouping:
        sizes = np.bincount(group)
        there = sizes > 0
        place = (np.cumsum(there) - 1)[group]
        return cls(place, sizes[there].astype(np.float64))


def _crossed(one: _Grouping, other: _Grouping, n: int) -> float:
    """The sum of squares of Z'M Z of two groupings, from the counts of their shared groups."""
    wide, fine = sorted((one, other), key=lambda each: len(each.sizes))
    within = np.empty(len(fine.sizes), np.int64)
    within[fine.place] = wide.place
    if (within[fine.place] == wide.place).all():
        # Every group of the one lies in one group of the other.
        shared, expected = fine.sizes, wide.sizes[within] * fine.sizes / n
    else:
        key = wide.place * len(fine.sizes) + fine.place
        span = len(wide.sizes) * len(fine.sizes)
        if span <= 8 * n:
            counts = np.bincount(key, minlength=span)
            cells = np.flatnonzero(counts)
            counts = counts[cells]
        else:
            cells, counts = np.unique(key, return_counts=True)
        shared = counts.astype(np.float64)
        expected = wide.sizes[cells // len(fine.sizes)] * fine.sizes[cells % len(fine.sizes)] / n
    all_of = float((one.sizes**2).sum() * (other.sizes**2).sum()) / n**2
    return float((shared**2).sum() - 2 * (shared * expected).sum()) + all_of


def _left_out(
    y: Array, groups: Sequence[npt.NDArray[np.int64]], items: npt.NDArray[np.int64]
) -> Array:
    """The variances without each of the groups of items, shape (groups, effects)."""
    _, item = np.unique(items, return_inverse=True)
    number = min(GROUPS, int(item.max()) + 1)
    found = []
    for at in range(number):
        kept = item % number != at
        found.append(_solved(y[kept], [group[kept] for group in groups]))
    return np.array(found)


def jackknife(value: float, left_out: Array, n: int, level: float = USUAL.level) -> Estimate:
    """A figure with the interval that leaving out parts in turn gives (Tukey 1958)."""
    from scipy.special import stdtrit

    number = len(left_out)
    spread = float(((left_out - left_out.mean()) ** 2).sum()) * (number - 1) / number
    reach = float(stdtrit(number - 1, (1 + level) / 2)) * spread**0.5
    return Estimate(value, value - reach, value + reach, n=n)


def _estimate(value: float, left_out: Array, n: int, level: float) -> Estimate:
    """A variance, its interval cut at zero."""
    found = jackknife(value, left_out, n, level)
    value, low, high = (max(0.0, end or 0.0) for end in found[:3])
    return Estimate(value, low, high, n=n)


# The decision study: what a score would be worth with more of something.


class Ways(NamedTuple):
    """How many judges, replicates, orders and items there are; criteria are as they are."""

    judges: float
    replicates: float = 1.0
    orders: int = 1
    items: int = 1


class Worth(NamedTuple):
    """What a mean of ratings is worth.

    ``relative`` (generalizability, E rho^2): of the differences between items' scores the share
    that would be there again with other ratings of this kind; ``absolute`` (phi): the same of the
    scores themselves, where a severe judge counts. Both in [0, 1]. ``item_error`` and
    ``mean_error``: the standard error of one item's score, and of the mean over all items.
    """

    relative: float
    absolute: float
    item_error: float
    mean_error: float


def worth(found: Components, ways: Ways) -> Worth:
    """A score that is the mean over criteria, judges, orders and replicates, so made.

    Criteria are fixed: the score is about these. Judges, orders and replicates stand for others of
    their kind, and items for others where the mean over them is asked about.

    >>> found = Components({}, {(ITEM,): 4.0, (JUDGE,): 1.0, (REST,): 3.0}, {CRITERION: 1}, 0)
    >>> [round(one, 3) for one in worth(found, Ways(judges=3, items=100))]
    [0.8, 0.75, 1.155, 0.619]
    """
    criteria = max(1, found.levels.get(CRITERION, 1))
    # Without repeated ratings the rest is what it was seen in: one rating of a judge.
    true = found.of(ITEM) + found.of(ITEM, CRITERION) / criteria
    each = found.of(ITEM, JUDGE) + found.of(ITEM, CRITERION, JUDGE) / criteria
    rest = found.of(REST) / (criteria * ways.replicates * ways.orders)
    relative = (each + rest) / ways.judges
    severe = (found.of(JUDGE) + found.of(CRITERION, JUDGE) / criteria) / ways.judges
    turned = found.of(ORDER) / ways.orders + found.of(JUDGE, ORDER) / (ways.orders * ways.judges)
    absolute = relative + severe + turned
    of_mean = (true + relative) / ways.items + severe + turned
    return Worth(
        true / (true + relative) if true + relative else 0.0,
        true / (true + absolute) if true + absolute else 0.0,
        absolute**0.5,
        of_mean**0.5,
    )
