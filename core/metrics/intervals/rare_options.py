"""Intervals for rare options: when they are too narrow, and a smoothed bootstrap.

Resampling items draws only observed answers. If one of two options is rare, the few items that have
it decide a kappa or an F1, and many resamples contain none of them: BCa then covers the truth 33 to
90 times in 100 (bench/coverage.py). So the shares of all possible answers are drawn from their
posterior: Dirichlet(counts + a), the Bayesian bootstrap (Rubin 1981) with at most two further
items. Since these are unknown, two beliefs are used: raters who answer independently of each other,
and raters who mostly answer alike. The interval reaches from the lower of the two ends to the
higher; with many items the beliefs do not matter. It has its own random stream, so equal counts
have equal intervals everywhere and in any order.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import beta, comb

from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import Interval
from core.metrics.intervals.bootstrap import UNDEFINED_SHARE, Bundle, quantile, sorted_values
from core.metrics.intervals.draws import MANY
from core.metrics.measure import Array, Ratings

#: The weight of the two priors: ratings added if raters answer independently, and items added if
#: they answer alike.
RATINGS, ITEMS = 4.0, 2.0
#: The most named raters on two levels; they give 256 possible answers.
MOST_RATERS = 8
_STREAM = 20261122


def prior_counts(counts: Array, raters: int, ways: Array | float = 1.0) -> tuple[Array, Array]:
    """Return the additions to the observed answers for independent and for agreeing raters.

    ``counts`` is how many of the raters chose the second of two levels in each possible answer,
    ``ways`` the number of answers that an entry stands for. Independent raters choose either level
    equally often, in one item per two of the ``RATINGS``; for raters who agree (``ITEMS``) the
    share with the second level is Beta(1/2, 1/2) by item (Jeffreys 1946).

    >>> [one.round(9).tolist() for one in prior_counts(np.array([0.0, 1, 1, 2]), 2)]
    [[0.5, 0.5, 0.5, 0.5], [0.75, 0.25, 0.25, 0.75]]
    """
    independent = RATINGS / raters * ways / 2.0**raters + 0.0 * counts
    equal_rater_counts = ITEMS * ways * beta(counts + 0.5, raters - counts + 0.5) / beta(0.5, 0.5)
    return independent, np.asarray(equal_rater_counts, np.float64)


#: The counts added to the table of two raters and two levels.
OF_PAIR = prior_counts(np.array([0.0, 1.0, 1.0, 2.0]), 2)


class PossibleAnswers(NamedTuple):
    """All possible answers of some raters, observed or not, and the observed incomplete ones.

    ``times`` is the number of items with each, ``added`` the addition of each belief; incomplete
    answers get none.
    """

    rows: Ratings
    times: Array
    added: tuple[Array, Array]

    @property
    def counts_of_complete_answers(self) -> Array:
        """Return the number of items with each of the complete answers."""
        return self.times[self.added[0] > 0]


def posterior_draws(times: Array, resamples: int, added: Array) -> Array:
    """Return how often each answer occurs, in ``resamples`` draws from one belief's posterior.

    Every column adds up to the number of items.

    >>> posterior_draws(np.array([3.0, 0.0]), 2, np.ones(2)).sum(axis=0).round(9).tolist()
    [3.0, 3.0]
    """
    weights = times + added
    # The rarest answer is drawn first, so that the order of two raters does not matter.
    order = np.argsort(weights, kind="stable")
    drawn = np.empty((len(times), resamples))
    rng = np.random.default_rng(_STREAM)
    drawn[order] = rng.standard_gamma(weights[order][:, None], drawn.shape)
    return np.asarray(drawn * (times.sum() / drawn.sum(axis=0)), np.float64)


def smoothed_intervals(
    bundle: Bundle,
    times: Array,
    resamples: int,
    added: tuple[Array, Array] = OF_PAIR,
    *,
    level: float = 0.95,
) -> dict[str, Interval]:
    """Return the interval of every statistic of ``bundle`` by ``posterior_draws``.

    ``bundle`` is as in ``bootstrap.intervals``. The interval always holds the figure itself, which
    may lie at the end of its range.

    >>> share = lambda weights: {"share": weights[0] / weights.sum(axis=0)}
    >>> low, high, *_ = smoothed_intervals(share, np.array([30.0, 0, 0, 0]), 2000)["share"]
    >>> 0.85 < low < 0.93, high
    (True, 1.0)
    """
    points = bundle(times[:, None])
    drawn = [bundle(posterior_draws(times, resamples, belief)) for belief in added]
    beliefs_drawn = [
        dict(zip(values, sorted_values(values.values()), strict=True)) for values in drawn
    ]
    intervals_by_name = {}
    for name, point in points.items():
        rising = [values[name] for values in beliefs_drawn]
        value = float(point[0])
        fewest = min(len(values) for values in rising)
        if fewest < (1 - UNDEFINED_SHARE) * resamples or np.isnan(value):
            intervals_by_name[name] = Interval(None, None, "smoothed", "It is hardly ever defined.")
            continue
        low, high = (
            [quantile(values, at) for values in rising] for at in ((1 - level) / 2, (1 + level) / 2)
        )
        intervals_by_name[name] = Interval(min(value, *low), max(value, *high), "smoothed")
    return intervals_by_name


def can_be_smoothed(k: int, raters: int) -> bool:
    """Return whether ``raters`` raters have few enough possible answers for smoothing."""
    return k == 2 and 2 <= raters <= MOST_RATERS


#: If every possible answer occurs at least this often among many items, none is rare.
PLENTY = 400


def has_rare_answer(times: Array) -> bool:
    """Return whether a possible answer is rare; if not, resampling items is good enough.

    >>> has_rare_answer(np.array([4_000.0, 700.0])), has_rare_answer(np.array([90_000.0, 700.0]))
    (True, False)
    """
    return bool(times.sum() < MANY or times.min(initial=np.inf) < PLENTY)


def named_answers(rows: Ratings, times: Array) -> PossibleAnswers:
    """Return the possible answers of named raters on two levels.

    >>> named_answers(np.array([[0, 0], [1, -1]]), np.array([4.0, 1.0])).times.tolist()
    [4.0, 0.0, 0.0, 0.0, 1.0]
    """
    raters = rows.shape[1]
    complete = np.array(list(product(range(2), repeat=raters)), np.int64)
    return _possible_answers(complete, np.ones(len(complete)), rows, times, raters)


def unnamed_answers(rows: Ratings, times: Array, raters: int) -> PossibleAnswers:
    """Return the possible answers of ``raters`` unnamed raters on two levels.

    An item's answer is how many chose each level; items with another number of ratings are
    incomplete.

    >>> unnamed_answers(np.array([[0, 1, -1], [1, 0, -1]]), np.array([4.0, 1.0]), 2).times.tolist()
    [0.0, 5.0, 0.0]
    """
    ones = np.arange(raters + 1)
    complete = np.full((len(ones), rows.shape[1]), -1)
    complete[:, :raters] = np.arange(raters) < ones[:, None]
    return _possible_answers(
        complete, comb(raters, ones), np.sort(rows, axis=1)[:, ::-1], times, raters
    )


def _possible_answers(
    complete: Ratings, ways: Array, rows: Ratings, times: Array, raters: int
) -> PossibleAnswers:
    partial = rows[(rows >= 0).sum(axis=1) != raters]
    answers = np.concatenate([complete, patterns(partial).rows]) if len(partial) else complete
    place = {tuple(row): at for at, row in enumerate(answers.tolist())}
    counts = np.zeros(len(answers))
    np.add.at(counts, [place[tuple(row)] for row in rows.tolist()], times)
    ones = (complete > 0).sum(axis=1).astype(np.float64)
    incomplete = np.zeros(len(answers) - len(complete))
    independent, agreeing = (
        np.append(belief, incomplete) for belief in prior_counts(ones, raters, ways)
    )
    return PossibleAnswers(answers, counts, (independent, agreeing))


# The rule for when an option is too rare for an interval.
#
# In simulations (bench/coverage.py), nominal 95% intervals of a mean over levels (macro F1, five
# levels, 80% on one) cover the truth only 30 to 80% of the time if a level has fewer than five
# items. Those of kappa, alpha and correlations cover it less than 90% of the time if only one or
# two items are off the most common level. With five or more, coverage is about 95%. Two levels
# need no rule: intervals of ``smoothed_intervals`` cover the truth.

#: An interval of a mean over levels needs this many items with the rarest level; an interval of
#: agreement beyond chance needs this many items off the most common level.
FEWEST = 5


def why_no_level_interval(table: Array) -> str:
    """Return why a mean over levels has no interval, or ""; rows of the table are the reference.

    >>> why_no_level_interval(np.array([[9.0, 1.0], [0.0, 4.0]]))
    'Only 4 items have the rarest option; an interval needs 5 of each.'
    """
    rarest = int(table.sum(axis=1).min())
    if rarest >= FEWEST:
        return ""
    if not rarest:
        return f"No item has the rarest option; an interval needs {FEWEST} of each."
    items = "item has" if rarest == 1 else "items have"
    return f"Only {rarest} {items} the rarest option; an interval needs {FEWEST} of each."


def why_no_chance_interval(counts: Array, items: float) -> str:
    """Return why agreement beyond chance has no interval, or "".

    ``counts`` of every level are over ``items``; an item with several ratings counts once.

    >>> why_no_chance_interval(np.array([27.0, 2.0, 1.0]), 30)
    'Only 3 items are off the most common option; an interval needs 5.'
    """
    rare_items = items * float(1 - counts.max() / counts.sum()) if counts.sum() else 0.0
    # Ratings per item may be fractional.
    if rare_items > FEWEST - 1e-9:
        return ""
    number = f"{rare_items:.3g}"
    if number == "0":
        return f"No item is off the most common option; an interval needs {FEWEST}."
    are = "item is" if number == "1" else "items are"
    return f"Only {number} {are} off the most common option; an interval needs {FEWEST}."


def interval_unless(reason: str, interval: Interval) -> Interval:
    """Return the interval, or one without ends if there is a reason."""
    return Interval(None, None, interval.method, reason) if reason else interval


def level_counts_of(rows: Ratings, times: Array, k: int) -> Array:
    """Return the number of ratings of each level; each row stands for ``times`` items."""
    return np.array([float(((rows == level).sum(axis=1) * times).sum()) for level in range(k)])
