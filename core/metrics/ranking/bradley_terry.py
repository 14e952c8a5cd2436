"""Bradley-Terry strengths with ties, and their intervals by bootstrap over items.

The model is Davidson's (1970): with strengths e^s and a tie parameter v, i beats j, ties, loses in
the proportions e^s_i : v * e^((s_i + s_j) / 2) : e^s_j. Of the two usual models (the other is Rao
and Kupper 1967) it is the one with a concave likelihood and with points (a tie is half a win) and
the number of ties as sufficient statistics: the fitted points of every system equal the observed
points, and nothing else in the data matters. Without ties it is Bradley and Terry (1952).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, ndtr, ndtri, stdtrit

from core.metrics.estimate import USUAL, Estimate, Interval
from core.metrics.intervals.bootstrap import SMALL, percentile
from core.metrics.intervals.draws import resample_items
from core.metrics.intervals.means import jackknife_error, t_interval
from core.metrics.measure import Array, Ratings
from core.metrics.ranking.contests import (
    LOST,
    TIED,
    WON,
    ContestTable,
    Flags,
    connected_groups,
    separated_groups,
    win_matrix,
)

_STEPS, _HALVINGS, _LONGEST_STEP, _ALL_TIE = 60, 12, 2.0, 40.0
#: The search ends when observed and fitted points differ by less than this, per contest.
_CLOSE = 1e-9


#: The map from pairs to systems: ``ends`` (pairs, systems) holds 1 and -1, ``squares`` (pairs,
#: systems * systems) the outer product of every row with itself.
_Design = tuple[sparse.csr_array, sparse.csr_array]


class _State(NamedTuple):
    """Log-likelihood (resamples,), gradient (systems + 1, resamples) and information."""

    likelihood: Array
    gradient: Array
    information: Array


def fit_strengths(
    pairs: Ratings, totals: Array, systems: int, *, prior: float = 0.0
) -> tuple[Array, Array]:
    """Return maximum likelihood strengths for each resample of ``totals`` (pairs, 3, resamples).

    Strengths (systems, resamples) are in natural log units with mean 0. The logarithm of the tie
    parameter (resamples,) is minus infinity without ties.

    ``prior`` gives every system this many wins and losses against an imaginary system of strength
    0, which makes all estimates finite (Caron and Doucet 2012 do the same with a gamma prior).
    Without it the estimate is finite only if no group of systems won all its contests against the
    rest (Ford 1957); see ``contests.separated``.

    >>> totals = np.array([[[60.0], [20.0], [20.0]]])    # 70 points of 100
    >>> strengths, _ = fit_strengths(np.array([[0, 1]]), totals, 2)
    >>> round(float(strengths[0, 0] - strengths[1, 0]), 4)    # log(60 / 20)
    1.0986
    """
    design = _fit_design(pairs, systems)
    resamples = totals.shape[2]
    tied = totals[:, TIED].sum(axis=0)
    played = totals.sum(axis=(0, 1))
    # Without ties the parameter is at its limit; with only ties strengths are undetermined.
    estimated = (tied > 0) & (tied < played)
    values = np.zeros((systems + 1, resamples))
    values[systems] = np.where(estimated, np.log(0.5), np.where(tied > 0, _ALL_TIE, -np.inf))
    now = _state_at(design, totals, values, prior, estimated)
    goal = _CLOSE * np.maximum(played, 1.0)
    for _ in range(_STEPS):
        if (np.abs(now.gradient).max(axis=0) <= goal).all():
            break
        values, now = _newton_step(design, totals, values, now, prior, estimated)
    strengths = values[:systems] - values[:systems].mean(axis=0)
    return strengths, np.where(estimated | (tied == 0), values[systems], np.inf)


def outcome_shares(gap: Array, log_tie: Array | float) -> tuple[Array, Array, Array]:
    """Return the shares won, tied and lost for a difference of strengths ``gap``.

    >>> [round(float(share), 3) for share in outcome_shares(np.array(0.0), np.log(0.5))]
    [0.4, 0.2, 0.4]
    """
    # Above this limit everything ties; infinity would make shares undefined.
    tie = np.minimum(np.asarray(log_tie, np.float64), _ALL_TIE)
    logits = np.stack(np.broadcast_arrays(gap / 2, tie, -gap / 2), axis=0)
    powers = np.exp(logits - logits.max(axis=0))
    won, tied, lost = powers / powers.sum(axis=0)
    return won, tied, lost


def _newton_step(
    design: _Design, totals: Array, values: Array, now: _State, prior: float, free: Array
) -> tuple[Array, _State]:
    """Take a Newton step, halved if it would lower the likelihood."""
    n = len(values) - 1
    step = np.linalg.solve(now.information, now.gradient.T[:, :, None])[:, :, 0].T
    step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(axis=0), 1e-300))
    step[n] = np.where(free, step[n], 0.0)
    slack = 1e-12 * np.abs(now.likelihood)
    for _ in range(_HALVINGS):
        tried = values + step
        new = _state_at(design, totals, tried, prior, free)
        worse = new.likelihood < now.likelihood - slack
        if not worse.any():
            break
        step = np.where(worse, step / 2, step)
    return values + step, _state_at(design, totals, values + step, prior, free)


def _state_at(design: _Design, totals: Array, values: Array, prior: float, free: Array) -> _State:
    ends, squares = design
    n = len(values) - 1
    s, log_tie = values[:n], values[n]
    gap = ends @ s
    won, tied, lost = outcome_shares(gap, log_tie)
    played = totals.sum(axis=1)
    mean = won + tied / 2
    likelihood = np.zeros(totals.shape[2])
    for at, share in ((WON, won), (TIED, tied), (LOST, lost)):
        counts = totals[:, at]
        likelihood += np.where(counts > 0, counts * np.log(np.maximum(share, 1e-300)), 0.0).sum(
            axis=0
        )
    gradient = np.zeros_like(values)
    gradient[:n] = ends.T @ (totals[:, WON] + totals[:, TIED] / 2 - played * mean)
    gradient[n] = np.where(free, (totals[:, TIED] - played * tied).sum(axis=0), 0.0)
    spread = played * (won + tied / 4 - mean**2)
    information = np.zeros((values.shape[1], n + 1, n + 1))
    information[:, :n, :n] = (squares.T @ spread).T.reshape(-1, n, n)
    mixed = np.where(free, ends.T @ (played * tied * (0.5 - mean)), 0.0).T
    information[:, :n, n] = information[:, n, :n] = mixed
    information[:, n, n] = np.where(free, (played * tied * (1 - tied)).sum(axis=0), 1.0)
    if prior:
        chance = expit(s)
        likelihood = likelihood + prior * (np.log(chance) + np.log1p(-chance)).sum(axis=0)
        gradient[:n] += prior * (1 - 2 * chance)
        information[:, range(n), range(n)] += (2 * prior * chance * (1 - chance)).T
    else:
        # The sum of strengths is undetermined; this sets it to 0 and changes nothing else.
        information[:, :n, :n] += 1.0
    # For shares close to 0 or 1 rounding can make the curvature vanish.
    information[:, range(n + 1), range(n + 1)] += 1e-12
    return _State(likelihood, gradient, information)


def _fit_design(pairs: Ratings, systems: int) -> _Design:
    number = len(pairs)
    rows = np.repeat(np.arange(number), 2)
    ends = sparse.csr_array(
        (np.tile([1.0, -1.0], number), (rows, pairs.ravel())), shape=(number, systems)
    )
    a, b = pairs.T
    cells = np.stack([a * systems + a, b * systems + b, a * systems + b, b * systems + a], axis=1)
    squares = sparse.csr_array(
        (np.tile([1.0, 1.0, -1.0, -1.0], number), (np.repeat(np.arange(number), 4), cells.ravel())),
        shape=(number, systems * systems),
    )
    return ends, squares


#: Wins and losses that are added against an imaginary average system if there is no finite
#: estimate.
PRIOR = 0.5
#: The addition to resamples, just large enough to keep all their estimates finite.
TOUCH = 0.05
#: The least number of items for a bootstrap.
FEWEST = 5

#: Standard errors needed for a single significant difference (95%, two-sided).
_ALONE = float(ndtri(0.975))
_FEW = "There are {n} items; intervals need at least {least}."


class Strengths(NamedTuple):
    """The strengths of a group of systems connected by contests.

    ``members`` are their indices; arrays run along them. ``value`` is in natural log units with
    mean 0: e to the difference of two is the odds of the first, ties aside. ``regularised``: no
    finite estimate exists, ``groups`` says between which systems, and ``value`` comes from a prior
    of half a win and half a loss per system. ``better[i, j]``: i is better than j, simultaneously
    for all pairs at 95%, whatever the level of intervals. ``error[i, j]`` is the standard error of
    a difference, ``critical[i, j]`` the number of them for significance.
    """

    members: tuple[int, ...]
    value: Array
    intervals: tuple[Interval, ...]
    log_tie: float
    regularised: bool
    groups: tuple[tuple[int, ...], ...]
    better: Flags
    error: Array
    critical: Array
    reason: str = ""


def strengths_by_group(
    table: ContestTable, rng: np.random.Generator, *, resamples: int = 1000, level: float = 0.95
) -> list[Strengths]:
    """Return the strengths of each group of systems connected by contests, largest group first.

    Bradley and Terry (1952) with Davidson's (1970) ties. ``better`` compares every difference with
    the largest standardised one of each resample of items (Romano and Wolf 2005), so a wrong
    statement among all of them is as rare as for a single one. Intervals are percentiles over
    resamples; below ``SMALL`` items standard errors are by the jackknife, and intervals and
    ``better`` by t with as many degrees as a system has items, minus one.
    """
    groups = connected_groups(win_matrix(table).contests)
    weights = (
        resample_items(table.items, resamples, rng)
        if resamples and table.items >= FEWEST
        else np.zeros((table.items, 0))
    )
    return [_strengths_of_group(table, group, weights, level) for group in groups]


_POWER, _MOST_CONTESTS = 0.8, 100_000


def further_contests(
    gap: float,
    error: float,
    log_tie: float,
    *,
    critical: float = _ALONE,
) -> Estimate:
    """Return how many more contests would distinguish two systems of this estimated difference.

    0 if they are already distinguished. Every contest between them adds its Fisher information
    about the difference, (won + lost - (won - lost)^2) / 4 at the fitted shares, to the present 1 /
    error^2, until the difference is (``critical`` + z of ``_POWER``) standard errors. ``critical``
    is that of all simultaneous comparisons (``Strengths.critical``); by default that of a single
    one, two-sided at 95%. This asks for more than significance: a probability of ``_POWER`` to find
    the difference.

    >>> further_contests(0.5, 0.4, float("-inf")).value
    108.0
    """
    if not error > 0:
        return Estimate.undefined("The standard error of the difference is not known.")
    if abs(gap) > critical * error:
        return Estimate.defined(0.0, 0)
    won, _, lost = (float(x) for x in outcome_shares(np.asarray(gap), log_tie))
    information = (won + lost - (won - lost) ** 2) / 4
    required = np.inf if gap == 0 else ((critical + float(ndtri(_POWER))) / gap) ** 2
    number = (required - 1 / error**2) / information if information > 0 else np.inf
    if number > _MOST_CONTESTS:
        reason = f"They are so close that {_MOST_CONTESTS:,} contests would not do."
        return Estimate.undefined(reason)
    return Estimate.defined(float(np.ceil(max(number, 1.0))), 0)


def _strengths_of_group(
    table: ContestTable, group: tuple[int, ...], weights: Array, level: float
) -> Strengths:
    n = len(group)
    place = {system: at for at, system in enumerate(group)}
    rows = [at for at, (a, _) in enumerate(table.pairs) if int(a) in place]
    if not rows:
        reason = "It has no contests."
        no_variances = np.zeros((n, n))
        gap = Interval(None, None, "percentile", reason)
        return Strengths(
            group,
            np.full(n, np.nan),
            (gap,) * n,
            -np.inf,
            False,
            (),
            no_variances > 0,
            no_variances,
            no_variances,
            reason=reason,
        )
    pairs = np.array([[place[int(s)] for s in table.pairs[at]] for at in rows])
    part = ContestTable(pairs, table.counts[:, rows], n)
    levels = separated_groups(win_matrix(part))
    regularised = len(levels) > 1
    prior = PRIOR if regularised else 0.0
    strengths, log_ties = fit_strengths(pairs, part.totals()[:, :, None], n, prior=prior)
    value, log_tie = strengths[:, 0], float(log_ties[0])
    outside = tuple(tuple(group[i] for i in members) for members in levels)
    if not weights.shape[1]:
        reason = _FEW.format(n=table.items, least=FEWEST)
        unknown = (Interval(None, None, "percentile", reason),) * n
        blank = np.zeros((n, n))
        return Strengths(
            group,
            value,
            unknown,
            log_tie,
            regularised,
            outside,
            blank > 0,
            blank * np.nan,
            blank * np.nan,
            reason=reason,
        )
    drawn, _ = fit_strengths(pairs, part.totals(weights), n, prior=prior or TOUCH)
    gaps = drawn[:, None] - drawn[None, :]
    error, most = gaps.std(axis=2), _largest_gap_quantile(gaps, USUAL.level)
    critical = np.full((n, n), most)
    if table.items < SMALL:
        present = np.flatnonzero(part.counts.sum(axis=(1, 2)))
        left_out = part.totals(1.0 - np.eye(table.items)[:, present])
        without, _ = fit_strengths(pairs, left_out, n, prior=prior or TOUCH)
        error = jackknife_error(without[:, None] - without[None, :])
        items = item_counts(part)
        # The t quantile that is as rare as this many standard errors of a normal distribution.
        degrees = np.minimum(items[:, None], items[None, :]) - 1
        critical = stdtrit(np.maximum(degrees, 1), ndtr(critical))
        errors = jackknife_error(without).tolist()
        ends = tuple(
            t_interval(float(strength), off, number, level)
            for strength, off, number in zip(value, errors, items.tolist(), strict=True)
        )
    else:
        ends = tuple(percentile(row, level) for row in drawn)
    better = (value[:, None] - value[None, :] > critical * error) & (error > 0)
    return Strengths(group, value, ends, log_tie, regularised, outside, better, error, critical)


def _largest_gap_quantile(gaps: Array, level: float) -> float:
    """Return the level's quantile of the largest resampled difference, in standard errors."""
    error = gaps.std(axis=2)[:, :, None]
    deviations = np.abs(gaps - gaps.mean(axis=2, keepdims=True))
    scaled = np.divide(deviations, error, out=np.zeros_like(deviations), where=error > 0)
    return float(np.quantile(scaled.max(axis=(0, 1)), level))


def item_counts(table: ContestTable) -> Array:
    """Return the number of items on which each system met another."""
    has_met = table.counts.sum(axis=2) > 0
    meetings = [has_met[:, (table.pairs == system).any(axis=1)] for system in range(table.systems)]
    return np.array([float(met_on.any(axis=1).sum()) for met_on in meetings])
