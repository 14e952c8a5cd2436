"""Intervals for two levels, of which one may be rare: a bootstrap of a smoothed table.

Resampling items draws only answers that were seen. Where one of two options is rare, the few items
that have it decide a kappa or an F1, and whole resamples know nothing of it: BCa then holds the
truth 33 to 90 times in 100 (bench/coverage.py). So the shares of all possible answers are drawn
from what is known of them after the data: Dirichlet(counts + a), the Bayesian bootstrap (Rubin
1981) with four further ratings, spread evenly over everything that the raters could have said: for
two raters half an item for each of the four answers (Jeffreys 1946). It draws from a stream of its
own, so that equal counts have equal intervals wherever, and in whatever order, they are looked at.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from core.metrics.bootstrap import UNDEFINED_SHARE, Bundle, Interval
from core.metrics.measure import Array, Ratings
from core.metrics.ratings import patterns

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
    found = {}
    for name, values in bundle(posterior(times, resamples, raters, possible)).items():
        known, point = values[~np.isnan(values)], float(points[name][0])
        if len(known) < (1 - UNDEFINED_SHARE) * len(values) or np.isnan(point):
            found[name] = Interval(None, None, "smoothed", "It is hardly ever defined.")
            continue
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        found[name] = Interval(min(float(low), point), max(float(high), point), "smoothed")
    return found


def fits(k: int, raters: int) -> bool:
    """Whether all possible answers of so many raters are few enough to be smoothed."""
    return k == 2 and 2 <= raters <= MOST_RATERS


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
