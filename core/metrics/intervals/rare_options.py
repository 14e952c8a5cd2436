"""Intervals where an option is rare: when they promise too much, and a smoothed bootstrap.

Resampling items draws only answers that were seen. Where one of two options is rare, the few
items that have it decide a kappa or an F1, and whole resamples know nothing of it: BCa then holds
the truth 33 to 90 times in 100 (bench/coverage.py). So the shares of all possible answers are
drawn from what is known of them after the data: Dirichlet(counts + a), the Bayesian bootstrap
(Rubin 1981) with four further ratings, spread evenly over everything that the raters could have
said: for two raters half an item for each of the four answers (Jeffreys 1946). It draws from a
stream of its own, so that equal counts have equal intervals wherever, and in whatever order, they
are looked at.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import Interval
from core.metrics.intervals.bootstrap import UNDEFINED_SHARE, Bundle, quantile, risen
from core.metrics.intervals.draws import MANY
from core.metrics.measure import Array, Ratings

#: How many ratings are added to those seen, spread over all possible answers.
ADDED = 4.0
#: Two levels and as many raters at most: 32 possible answers.
MOST_RATERS = 5
_STREAM = 20261122


def posterior(
    times: Array, resamples: int, raters: int = 2, possible: npt.ArrayLike = True
) -> Array:
    """How often each pattern of the raters' answers occurs, drawn ``resamples`` times; every column
    adds up to as many items as there are. ``possible`` says which patterns share what is added.

    >>> posterior(np.array([3.0, 0.0]), 2).sum(axis=0).round(9).tolist()
    [3.0, 3.0]
    """
    shares = np.broadcast_to(np.asarray(possible, np.float64), times.shape)
    known = times + ADDED / raters * shares / shares.sum()
    # The rarest pattern draws first: whoever of two raters is called the first, it is the same.
    order = np.argsort(known, kind="stable")
    drawn = np.empty((len(times), resamples))
    rng = np.random.default_rng(_STREAM)
    drawn[order] = rng.standard_gamma(known[order][:, None], drawn.shape)
    return np.asarray(drawn * (times.sum() / drawn.sum(axis=0)), np.float64)


def smoothed(
    bundle: Bundle,
    times: Array,
    resamples: int,
    raters: int = 2,
    possible: npt.ArrayLike = True,
    *,
    level: float = 0.95,
) -> dict[str, Interval]:
    """The interval of every statistic of ``bundle`` (as ``bootstrap.intervals``) by ``posterior``.

    It always holds the figure itself, which may lie at the end of what is possible.

    >>> share = lambda weights: {"share": weights[0] / weights.sum(axis=0)}
    >>> low, high, *_ = smoothed(share, np.array([30.0, 0.0]), 2000)["share"]
    >>> 0.85 < low < 0.93, high
    (True, 1.0)
    """
    points = bundle(times[:, None])
    found, drawn = {}, bundle(posterior(times, resamples, raters, possible))
    for name, known in zip(drawn, risen(drawn.values()), strict=True):
        point = float(points[name][0])
        if len(known) < (1 - UNDEFINED_SHARE) * resamples or np.isnan(point):
            found[name] = Interval(None, None, "smoothed", "It is hardly ever defined.")
            continue
        low, high = (quantile(known, at) for at in ((1 - level) / 2, (1 + level) / 2))
        found[name] = Interval(min(low, point), max(high, point), "smoothed")
    return found


def fits(k: int, raters: int) -> bool:
    """Whether all possible answers of so many raters are few enough to be smoothed."""
    return k == 2 and 2 <= raters <= MOST_RATERS


#: Where everything possible was answered so often, of many items, nothing is rare.
PLENTY = 400


def rare(times: Array, possible: npt.ArrayLike = True) -> bool:
    """Whether some possible answer is rare: else whole resamples know all that ``posterior`` does.

    >>> rare(np.array([4_000.0, 700.0])), rare(np.array([90_000.0, 700.0]))
    (True, False)
    """
    seen = times[np.broadcast_to(np.asarray(possible, np.bool_), times.shape)]
    return bool(times.sum() < MANY or seen.min(initial=np.inf) < PLENTY)


def every_pattern(rows: Ratings, times: Array, k: int) -> tuple[Ratings, Array]:
    """All complete answers of the raters first, seen or not, then the incomplete ones seen.

    >>> every_pattern(np.array([[0, 0], [1, -1]]), np.array([4.0, 1.0]), 2)[1].tolist()
    [4.0, 0.0, 0.0, 0.0, 1.0]
    """
    whole = np.array(list(product(range(k), repeat=rows.shape[1])), np.int64)
    partial = rows[(rows < 0).any(axis=1)]
    found = np.concatenate([whole, patterns(partial).rows]) if len(partial) else whole
    place = {tuple(row): at for at, row in enumerate(found.tolist())}
    counts = np.zeros(len(found))
    np.add.at(counts, [place[tuple(row)] for row in rows.tolist()], times)
    return found, counts


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
