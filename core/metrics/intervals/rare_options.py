"""Intervals where an option is rare: when they promise too much, and a smoothed bootstrap.

Resampling items draws only answers that were seen. Where one of two options is rare, the few
items that have it decide a kappa or an F1, and whole resamples know nothing of it: BCa then holds
the truth 33 to 90 times in 100 (bench/coverage.py). So the shares of all possible answers are
drawn from what is known of them after the data: Dirichlet(counts + a), the Bayesian bootstrap
(Rubin 1981) with two further items or fewer. What these would show is not known, so two beliefs
are asked: raters who answer independently of each other, and raters of whom most answer alike.
The interval reaches from the lower of the two ends to the higher; with many items the beliefs no
longer matter. It draws from a stream of its own, so that equal counts have equal intervals
wherever, and in whatever order, they are looked at.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import beta, comb

from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import Interval
from core.metrics.intervals.bootstrap import UNDEFINED_SHARE, Bundle, quantile, risen
from core.metrics.intervals.draws import MANY
from core.metrics.measure import Array, Ratings

#: How many ratings independent raters add, and how many items raters who answer alike.
RATINGS, ITEMS = 4.0, 2.0
#: Raters with names, and two levels: so many make 256 possible answers.
MOST_RATERS = 8
_STREAM = 20261122


def beliefs(ones: Array, raters: int, ways: Array | float = 1.0) -> tuple[Array, Array]:
    """What is added to the answers seen, by independent raters and by raters who answer alike.

    ``ones`` says how many of the raters chose the second of two levels in each possible answer,
    ``ways`` how many answers an entry stands for. Independent raters choose either level as often,
    in an item for each two of the ``RATINGS``; of those who answer alike (``ITEMS``) the share that
    chose the second level is Beta(1/2, 1/2) by item (Jeffreys 1946).

    >>> [one.round(9).tolist() for one in beliefs(np.array([0.0, 1, 1, 2]), 2)]
    [[0.5, 0.5, 0.5, 0.5], [0.75, 0.25, 0.25, 0.75]]
    """
    alone = RATINGS / raters * ways / 2.0**raters + 0.0 * ones
    alike = ITEMS * ways * beta(ones + 0.5, raters - ones + 0.5) / beta(0.5, 0.5)
    return alone, np.asarray(alike, np.float64)


#: What is added to the table of two raters and two levels.
OF_PAIR = beliefs(np.array([0.0, 1.0, 1.0, 2.0]), 2)


class PossibleAnswers(NamedTuple):
    """All possible answers of some raters, seen or not, and the incomplete ones that were seen.

    ``times`` says how many items have each, ``added`` what each belief adds; to an incomplete
    answer nothing is added.
    """

    rows: Ratings
    times: Array
    added: tuple[Array, Array]

    @property
    def whole(self) -> Array:
        """How many items have each of the complete answers."""
        return self.times[self.added[0] > 0]


def posterior(times: Array, resamples: int, added: Array) -> Array:
    """How often each answer occurs, drawn ``resamples`` times after one belief; every column adds
    up to as many items as there are.

    >>> posterior(np.array([3.0, 0.0]), 2, np.ones(2)).sum(axis=0).round(9).tolist()
    [3.0, 3.0]
    """
    known = times + added
    # The rarest answer draws first: whoever of two raters is called the first, it is the same.
    order = np.argsort(known, kind="stable")
    drawn = np.empty((len(times), resamples))
    rng = np.random.default_rng(_STREAM)
    drawn[order] = rng.standard_gamma(known[order][:, None], drawn.shape)
    return np.asarray(drawn * (times.sum() / drawn.sum(axis=0)), np.float64)


def smoothed(
    bundle: Bundle,
    times: Array,
    resamples: int,
    added: tuple[Array, Array] = OF_PAIR,
    *,
    level: float = 0.95,
) -> dict[str, Interval]:
    """The interval of every statistic of ``bundle`` (as ``bootstrap.intervals``) by ``posterior``.

    It always holds the figure itself, which may lie at the end of what is possible.

    >>> share = lambda weights: {"share": weights[0] / weights.sum(axis=0)}
    >>> low, high, *_ = smoothed(share, np.array([30.0, 0, 0, 0]), 2000)["share"]
    >>> 0.85 < low < 0.93, high
    (True, 1.0)
    """
    points = bundle(times[:, None])
    drawn = [bundle(posterior(times, resamples, belief)) for belief in added]
    known = [dict(zip(one, risen(one.values()), strict=True)) for one in drawn]
    found = {}
    for name, point in points.items():
        rising = [one[name] for one in known]
        value = float(point[0])
        fewest = min(len(one) for one in rising)
        if fewest < (1 - UNDEFINED_SHARE) * resamples or np.isnan(value):
            found[name] = Interval(None, None, "smoothed", "It is hardly ever defined.")
            continue
        low, high = (
            [quantile(one, at) for one in rising] for at in ((1 - level) / 2, (1 + level) / 2)
        )
        found[name] = Interval(min(value, *low), max(value, *high), "smoothed")
    return found


def fits(k: int, raters: int) -> bool:
    """Whether all possible answers of so many raters are few enough to be smoothed."""
    return k == 2 and 2 <= raters <= MOST_RATERS


#: Where everything possible was answered so often, of many items, nothing is rare.
PLENTY = 400


def rare(times: Array) -> bool:
    """Whether some possible answer is rare: else whole resamples know all that ``posterior`` does.

    >>> rare(np.array([4_000.0, 700.0])), rare(np.array([90_000.0, 700.0]))
    (True, False)
    """
    return bool(times.sum() < MANY or times.min(initial=np.inf) < PLENTY)


def named_answers(rows: Ratings, times: Array) -> PossibleAnswers:
    """What raters with names can answer on two levels.

    >>> named_answers(np.array([[0, 0], [1, -1]]), np.array([4.0, 1.0])).times.tolist()
    [4.0, 0.0, 0.0, 0.0, 1.0]
    """
    raters = rows.shape[1]
    whole = np.array(list(product(range(2), repeat=raters)), np.int64)
    return _possible(whole, np.ones(len(whole)), rows, times, raters)


def unnamed_answers(rows: Ratings, times: Array, raters: int) -> PossibleAnswers:
    """What so many of the raters can answer on two levels where nobody asks who they were.

    Of an item it counts how many chose each level; items with another number of ratings are
    incomplete.

    >>> unnamed_answers(np.array([[0, 1, -1], [1, 0, -1]]), np.array([4.0, 1.0]), 2).times.tolist()
    [0.0, 5.0, 0.0]
    """
    ones = np.arange(raters + 1)
    whole = np.full((len(ones), rows.shape[1]), -1)
    whole[:, :raters] = np.arange(raters) < ones[:, None]
    return _possible(whole, comb(raters, ones), np.sort(rows, axis=1)[:, ::-1], times, raters)


def _possible(
    whole: Ratings, ways: Array, rows: Ratings, times: Array, raters: int
) -> PossibleAnswers:
    partial = rows[(rows >= 0).sum(axis=1) != raters]
    found = np.concatenate([whole, patterns(partial).rows]) if len(partial) else whole
    place = {tuple(row): at for at, row in enumerate(found.tolist())}
    counts = np.zeros(len(found))
    np.add.at(counts, [place[tuple(row)] for row in rows.tolist()], times)
    ones = (whole > 0).sum(axis=1).astype(np.float64)
    rest = np.zeros(len(found) - len(whole))
    alone, alike = (np.append(one, rest) for one in beliefs(ones, raters, ways))
    return PossibleAnswers(found, counts, (alone, alike))


# Where an interval would promise too much because an option is too rare: the one rule for it.
#
# By simulation (bench/coverage.py): where a level has fewer than five items, intervals of a mean
# over levels (macro F1, five levels, 80% on one) hold the truth 30 to 80 times in 100, and those
# of kappa, alpha and correlations fewer than 90 times where only one or two items are off the
# most common level. With five and more they hold about 95. Two levels need no such rule:
# ``smoothed`` holds.

#: So many items must have the rarest level, or be off the most common one.
FEWEST = 5


def of_levels(table: Array) -> str:
    """Why a mean over levels has no interval, or nothing; rows of the table are the reference.

    >>> of_levels(np.array([[9.0, 1.0], [0.0, 4.0]]))
    'Only 4 items have the rarest option; an interval needs 5 of each.'
    """
    rarest = int(table.sum(axis=1).min())
    if rarest >= FEWEST:
        return ""
    if not rarest:
        return f"No item has the rarest option; an interval needs {FEWEST} of each."
    items = "item has" if rarest == 1 else "items have"
    return f"Only {rarest} {items} the rarest option; an interval needs {FEWEST} of each."


def off_commonest(counts: Array, items: float) -> str:
    """Why agreement beyond chance has no interval, or nothing.

    ``counts`` of every level are over ``items``, an item with several ratings counting as one.

    >>> off_commonest(np.array([27.0, 2.0, 1.0]), 30)
    'Only 3 items are off the most common option; an interval needs 5.'
    """
    off = items * float(1 - counts.max() / counts.sum()) if counts.sum() else 0.0
    # Ratings per item need not be whole.
    if off > FEWEST - 1e-9:
        return ""
    number = f"{off:.3g}"
    if number == "0":
        return f"No item is off the most common option; an interval needs {FEWEST}."
    are = "item is" if number == "1" else "items are"
    return f"Only {number} {are} off the most common option; an interval needs {FEWEST}."


def withheld(reason: str, interval: Interval) -> Interval:
    """The interval, or none for that reason."""
    return Interval(None, None, interval.method, reason) if reason else interval


def level_counts_of(rows: Ratings, times: Array, k: int) -> Array:
    """How many ratings each level has, of rows that stand for so many items each."""
    return np.array([float(((rows == level).sum(axis=1) * times).sum()) for level in range(k)])
