"""Strengths with intervals by bootstrap over items, and which systems they tell apart."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from core.metrics.bootstrap import Interval, percentile, resample_items
from core.metrics.figure import Figure
from core.metrics.measure import Array
from core.metrics.ranking import ContestTable, win_matrix
from core.metrics.ranking_fit import fit, outcome_shares
from core.metrics.ranking_graph import Flags, components, separated

#: Wins and losses against an imagined average system, where no estimate is finite.
PRIOR = 0.5
#: The same in resamples, only so that none of them is infinite.
TOUCH = 0.05
#: A bootstrap over fewer items than this says too little.
FEWEST = 5

#: Standard errors that tell one difference from none, looked at alone (95 %, two-sided).
_ALONE = float(ndtri(0.975))
_FEW = "There are {n} items; intervals need at least {least}."


class Strengths(NamedTuple):
    """Strengths of one group of systems that contests join.

    ``members`` are their indices; arrays run along them. ``value`` is in natural log units with
    mean 0: e to the difference of two is the odds of the first, ties aside. ``regularised``: no
    finite estimate exists, ``groups`` says between whom, and ``value`` holds what a prior of half
    a win and half a loss per system makes of it. ``better[i, j]``: i is better than j, all such
    statements together at the given level. ``error[i, j]`` is the standard error of a difference,
    and ``critical`` how many of them a difference must be to be told.
    """

    members: tuple[int, ...]
    value: Array
    intervals: tuple[Interval, ...]
    log_tie: float
    regularised: bool
    groups: tuple[tuple[int, ...], ...]
    better: Flags
    error: Array
    critical: float = math.nan
    reason: str = ""


def strengths(
    table: ContestTable, rng: np.random.Generator, *, resamples: int = 1000, level: float = 0.95
) -> list[Strengths]:
    """The strengths of each group of systems that contests join, the largest group first.

    Bradley and Terry (1952) with Davidson's (1970) ties; intervals are percentiles over items.
    ``better`` compares every difference with the largest standardised one of each resample
    (Romano and Wolf 2005), so that one wrong statement among all of them is as rare as one alone.
    """
    groups = components(win_matrix(table).contests)
    weights = (
        resample_items(table.items, resamples, rng)
        if resamples and table.items >= FEWEST
        else np.zeros((table.items, 0))
    )
    return [_of_group(table, group, weights, level) for group in groups]


def further_contests(
    gap: float,
    error: float,
    log_tie: float,
    *,
    critical: float = _ALONE,
    power: float = 0.8,
    most: int = 100_000,
) -> Figure:
    """How many more contests between two systems would tell them apart, if their difference is as
    estimated; 0 where they are apart already.

    Every contest between them adds its Fisher information about the difference, (won + lost -
    (won - lost)^2) / 4 at the fitted shares, to the present 1 / error^2, until the difference is
    (``critical`` + z of ``power``) standard errors. ``critical`` is that of all comparisons made
    together (``Strengths.critical``); by default that of one alone, two-sided at 95 %. It asks for
    more than mere significance now: a chance of ``power`` to find it.

    >>> further_contests(0.5, 0.4, float("-inf")).value
    108.0
    """
    if not error > 0:
        return Figure.undefined("The standard error of the difference is not known.")
    if abs(gap) > critical * error:
        return Figure.defined(0.0, 0)
    won, _, lost = (float(x) for x in outcome_shares(np.asarray(gap), log_tie))
    each = (won + lost - (won - lost) ** 2) / 4
    wanted = np.inf if gap == 0 else ((critical + float(ndtri(power))) / gap) ** 2
    number = (wanted - 1 / error**2) / each if each > 0 else np.inf
    if number > most:
        return Figure.undefined(f"They are so close that {most:,} contests would not do.")
    return Figure.defined(float(np.ceil(max(number, 1.0))), 0)


def _of_group(
    table: ContestTable, group: tuple[int, ...], weights: Array, level: float
) -> Strengths:
    n = len(group)
    place = {system: at for at, system in enumerate(group)}
    rows = [at for at, (a, _) in enumerate(table.pairs) if int(a) in place]
    if not rows:
        reason = "It met nobody."
        nothing = np.zeros((n, n))
        gap = Interval(None, None, "percentile", reason)
        return Strengths(
            group,
            np.full(n, np.nan),
            (gap,) * n,
            -np.inf,
            False,
            (),
            nothing > 0,
            nothing,
            reason=reason,
        )
    pairs = np.array([[place[int(s)] for s in table.pairs[at]] for at in rows])
    part = ContestTable(pairs, table.counts[:, rows], n)
    levels = separated(win_matrix(part))
    regularised = len(levels) > 1
    prior = PRIOR if regularised else 0.0
    point = fit(pairs, part.totals()[:, :, None], n, prior=prior)
    value, log_tie = point.strengths[:, 0], float(point.log_tie[0])
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
            reason=reason,
        )
    drawn = fit(pairs, part.totals(weights), n, prior=prior or TOUCH).strengths
    better, error, critical = _told_apart(value, drawn, level)
    found = tuple(percentile(row, level) for row in drawn)
    return Strengths(group, value, found, log_tie, regularised, outside, better, error, critical)


def _told_apart(value: Array, drawn: Array, level: float) -> tuple[Flags, Array, float]:
    """Who is better than whom by simultaneous intervals, standard errors of differences, and the
    number of these that tells two apart.
    """
    gaps = drawn[:, None] - drawn[None, :]
    error = gaps.std(axis=2)
    away = np.abs(gaps - gaps.mean(axis=2, keepdims=True))
    scaled = np.divide(
        away, error[:, :, None], out=np.zeros_like(away), where=error[:, :, None] > 0
    )
    critical = float(np.quantile(scaled.max(axis=(0, 1)), level))
    apart = value[:, None] - value[None, :]
    return (apart > critical * error) & (error > 0), error, critical
