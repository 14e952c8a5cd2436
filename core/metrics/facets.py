"""Severity separated from quality: the many-facet Rasch model of ordinal ratings.

An item has a quality, a rater a severity, a criterion a step for each of its levels: the log odds
of a level against the level below are quality minus severity minus step. Qualities come from a
normal distribution whose spread is estimated, and are integrated out (marginal maximum likelihood),
so that few ratings per item cause no bias. A wide normal prior keeps severities and steps near
zero. Intervals allow for dependence between the ratings of an item beyond its quality (sandwich
over items).

Source: Linacre (1989), Many-Facet Rasch Measurement; Bock and Aitkin (1981) for the estimation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from core.metrics.agreement.ratings import MISSING, patterns
from core.metrics.estimate import USUAL, Estimate, normal_reach
from core.metrics.intervals.means import critical_error_count
from core.metrics.measure import Array, Ratings

#: Standard normal points at which qualities are integrated.
_Z = np.linspace(-4.0, 4.0, 25)
_LOG_PHI = -0.5 * _Z**2 - np.log(np.exp(-0.5 * _Z**2).sum())
#: Quality points for fair scores; many ratings locate an item more precisely than ``_Z`` allows.
_FINE, _AT_ONCE = np.linspace(-4.5, 4.5, 241), 5_000
#: Prior standard deviations of severities, steps and the spread.
SEVERITY, STEP, SPREAD = 2.0, 5.0, 2.0
FEWEST_ITEMS = 10


class RaterSeverity(NamedTuple):
    """A rater's severity in logits (0: the mean of all raters), and its effect on a grade.

    ``shift``: how much more of the scale the rater gives than an average rater would to the same
    items, in [-1, 1] (negative: severe), averaged over criteria. ``surely``: -1 for a rater who is
    stricter than average by more than chance (``told_apart``), 1 for a milder one, else 0.
    Intervals are per rater.

    ``misfit``: how far the rater's answers are from the model's expectation, as a mean square
    (infit) with its interval over items: 1 as by chance, higher for surprising ratings, lower for
    ratings that vary less than chance. ``odd``: the rater is more surprising than chance
    (``told_apart``), by at least a fifth.
    """

    logits: Estimate
    shift: Estimate
    misfit: Estimate
    odd: bool
    ratings: int
    surely: int = 0


class Facets(NamedTuple):
    """The fitted model. If ``reason`` says why there is none, all other fields are empty.

    ``steps`` of every criterion are those for an average rater. ``spread`` is the standard
    deviation of qualities in logits.
    """

    raters: tuple[RaterSeverity, ...]
    steps: tuple[Array, ...]
    spread: float
    reason: str = ""


class _Votes(NamedTuple):
    """Counts by (criterion, rater, level); a row is ``times`` items with equal answers."""

    counts: sparse.csr_array
    times: Array
    criterion: npt.NDArray[np.int64]
    rater: npt.NDArray[np.int64]
    levels: tuple[int, ...]
    raters: int

    @property
    def most(self) -> int:
        return max(self.levels)

    @property
    def size(self) -> int:
        """Return the number of parameters: severities, steps, and the log of the spread."""
        return self.raters + sum(k - 1 for k in self.levels) + 1


def facets(
    ratings: Sequence[npt.ArrayLike], levels: Sequence[int], level: float = USUAL.level
) -> Facets:
    """Fit the model to ratings.

    Args:
        ratings: by criterion, levels 0 .. k-1, negative if missing, shape (items, raters), with
            the same items and raters everywhere.
        levels: the number of levels of each criterion, at least 2.
        level: the probability with which an interval holds the true value.

    Undefined with fewer than ``FEWEST_ITEMS`` items rated by two raters, or with one rater.
    """
    matrices = [np.asarray(matrix, np.int64) for matrix in ratings]
    if reason := _why_no_fit(matrices):
        return Facets((), (), 0.0, reason)
    votes, _ = _merge_equal_votes(matrices, levels)
    best = _maximum_likelihood(votes)
    table = _log_probability_table(votes, best)
    posterior = _normalised_rows(_joint_log_likelihood(votes, table))[1]
    severity, steps, spread = _unpack_parameters(votes, best)
    middle = float(severity.mean())
    steps = tuple(matrix + middle for matrix in steps)
    return Facets(
        _rater_severities(votes, best, table, posterior, normal_reach(level)),
        steps,
        spread,
    )


def fair_scores(
    model: Facets,
    ratings: Sequence[npt.ArrayLike],
    levels: Sequence[int],
    level: float = USUAL.level,
) -> Array:
    """Return the score that an average rater would give each item, by the fitted model.

    The items need not be those of the fit; ``ratings`` and ``levels`` are as there. Scores are
    shares of the highest level, averaged over the criteria, with the ends of their posterior, shape
    (items, 3); NaN without a rating.
    """
    matrices = [np.asarray(matrix, np.int64) for matrix in ratings]
    votes, of_item = _merge_equal_votes(matrices, levels)
    severity = np.array([rater.logits.value for rater in model.raters], np.float64)
    place = model.spread * _FINE - severity[:, None]
    most = max(levels)
    flat = _flat_rows(np.concatenate([_log_levels(place, step, most) for step in model.steps]))
    share, outside = _mean_share_of_scale(model.steps, model.spread * _FINE), (1 - level) / 2
    fair = np.empty((votes.counts.shape[0], 3))
    for start in range(0, len(fair), _AT_ONCE):
        joint = votes.counts[start : start + _AT_ONCE] @ flat - 0.5 * _FINE**2
        posterior = _normalised_rows(joint)[1]
        below = np.cumsum(posterior, axis=1)
        ends = [share[np.argmax(below >= chance, axis=1)] for chance in (outside, 1 - outside)]
        fair[start : start + _AT_ONCE] = np.column_stack([posterior @ share, *ends])
    rated = np.any([(matrix >= 0).any(axis=1) for matrix in matrices], axis=0)
    return np.where(rated[:, None], fair[of_item], np.nan)


def _mean_share_of_scale(steps: Sequence[Array], location: Array) -> Array:
    """Return the mean share of the scale over criteria at quality minus severity ``location``."""
    level_shares = [np.exp(_log_levels(location, step, len(step) + 1)) for step in steps]
    shares = [step @ np.linspace(0, 1, step.shape[1]) for step in level_shares]
    return np.asarray(np.mean(shares, axis=0), np.float64)


def _why_no_fit(matrices: Sequence[Ratings]) -> str:
    if not matrices or matrices[0].shape[1] < 2:
        return "Severity takes two raters or more."
    repeated = sum(((matrix >= 0).sum(axis=1) >= 2).astype(np.int64) for matrix in matrices)
    rated_twice = int((np.asarray(repeated) > 0).sum())
    if rated_twice < FEWEST_ITEMS:
        return f"{rated_twice} of at least {FEWEST_ITEMS} items were rated by two raters or more."
    return ""


def _merge_equal_votes(
    matrices: Sequence[Ratings], levels: Sequence[int]
) -> tuple[_Votes, npt.NDArray[np.int64]]:
    """Return the votes, merged into rows of equal answers, and the row of each item."""
    most, raters = max(levels), matrices[0].shape[1]
    distinct = patterns(np.maximum(np.concatenate(matrices, axis=1), MISSING))
    row, place = np.nonzero(distinct.rows >= 0)
    column = place * most + distinct.rows[row, place]
    shape = (len(distinct.rows), len(matrices) * raters * most)
    counts = sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()
    unit, times = np.arange(len(matrices) * raters), distinct.times.astype(np.float64)
    votes = _Votes(counts, times, unit // raters, unit % raters, tuple(levels), raters)
    return votes, distinct.of_item


def _unpack_parameters(votes: _Votes, point: Array) -> tuple[Array, tuple[Array, ...], float]:
    """Return the severities, the steps by criterion, and the spread."""
    steps, at = list[Array](), votes.raters
    for k in votes.levels:
        steps.append(point[at : at + k - 1])
        at += k - 1
    return point[: votes.raters], tuple(steps), float(np.exp(point[-1]))


def _log_levels(location: Array, steps: Array, most: int) -> Array:
    """Return the log chances of levels, on a last axis, at quality minus severity ``location``."""
    rises = location[..., None] - steps
    sums = np.concatenate([np.zeros((*location.shape, 1)), np.cumsum(rises, axis=-1)], axis=-1)
    logs = sums - np.logaddexp.reduce(sums, axis=-1, keepdims=True)
    padded = np.full((*location.shape, most), -np.inf)
    padded[..., : logs.shape[-1]] = logs
    return padded


def _log_probability_table(votes: _Votes, point: Array) -> Array:
    """Return log probabilities (criteria x raters, points, levels); -inf if there is no level."""
    severity, steps, spread = _unpack_parameters(votes, point)
    location = spread * _Z[None, :] - severity[votes.rater][:, None]
    table = np.empty((len(votes.rater), len(_Z), votes.most))
    for at, criterion_steps in enumerate(steps):
        of_criterion = votes.criterion == at
        table[of_criterion] = _log_levels(location[of_criterion], criterion_steps, votes.most)
    return table


def _flat_rows(table: Array) -> Array:
    """Return rows in the order of the columns of ``counts``; missing levels are never counted."""
    flat = table.transpose(0, 2, 1).reshape(-1, table.shape[1])
    return np.where(np.isfinite(flat), flat, 0.0)


def _joint_log_likelihood(votes: _Votes, table: Array) -> Array:
    return np.asarray(votes.counts @ _flat_rows(table) + _LOG_PHI, np.float64)


def _normalised_rows(joint: Array) -> tuple[Array, Array]:
    """Return the log of each row's summed probabilities, and the normalised probabilities."""
    most = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - most)
    totals = shares.sum(axis=1, keepdims=True)
    return (most + np.log(totals))[:, 0], shares / totals


def _penalised_loss(point: Array, votes: _Votes) -> tuple[float, Array]:
    """Return the negative penalised log-likelihood, and its gradient."""
    table = _log_probability_table(votes, point)
    log_sums, posterior = _normalised_rows(_joint_log_likelihood(votes, table))
    posterior *= votes.times[:, None]
    counts = np.asarray(votes.counts.T @ posterior).reshape(len(votes.rater), votes.most, len(_Z))
    slope = _likelihood_gradient(votes, point, table, counts)
    precision = _prior_precision(votes)
    log_likelihood = float((votes.times * log_sums).sum())
    return -log_likelihood + 0.5 * float((precision * point**2).sum()), -slope + precision * point


def _prior_precision(votes: _Votes) -> Array:
    """Return the prior precision of each parameter."""
    size = votes.size
    precision = np.full(size, STEP**-2)
    precision[: votes.raters], precision[-1] = SEVERITY**-2, SPREAD**-2
    return precision


def _likelihood_gradient(votes: _Votes, point: Array, table: Array, counts: Array) -> Array:
    """Return the gradient of the log-likelihood, given ``counts`` of ratings by quality."""
    *_, spread = _unpack_parameters(votes, point)
    chances = np.exp(table).transpose(0, 2, 1)
    # Observed minus expected counts at or above each level except the lowest.
    residual = counts - counts.sum(axis=1, keepdims=True) * chances
    at_or_above = np.cumsum(residual[:, ::-1], axis=1)[:, ::-1][:, 1:]
    by_unit = at_or_above.sum(axis=(1, 2))
    gradient = [-np.bincount(votes.rater, by_unit, minlength=votes.raters)]
    for index, k in enumerate(votes.levels):
        gradient.append(-at_or_above[votes.criterion == index].sum(axis=(0, 2))[: k - 1])
    gradient.append(np.array([float((at_or_above.sum(axis=(0, 1)) * spread * _Z).sum())]))
    return np.concatenate(gradient)


def _maximum_likelihood(votes: _Votes) -> Array:
    from scipy.optimize import minimize

    start = np.zeros(votes.size)
    fitted = minimize(_penalised_loss, start, args=(votes,), jac=True, method="L-BFGS-B")
    return np.asarray(fitted.x, np.float64)


def _severity_errors(votes: _Votes, point: Array) -> Array:
    """Return the standard errors of severities about their mean.

    Each is the larger of two estimates: one allows for dependence within items (Huber 1967), the
    other is the model's own. With few items the first can be too small by chance.
    """
    size, step = votes.size, 1e-4
    curve = np.empty((size, size))
    for at in range(size):
        up, down = point.copy(), point.copy()
        up[at] += step
        down[at] -= step
        curve[at] = (_penalised_loss(up, votes)[1] - _penalised_loss(down, votes)[1]) / (2 * step)
    inverse = np.linalg.pinv((curve + curve.T) / 2)
    slopes, items = _gradients_by_item(votes, point), float(votes.times.sum())
    # Corrects for the number of parameters; without it few items would seem too certain.
    correction = items / max(1.0, items - size)
    square = slopes.T @ (slopes * votes.times[:, None])
    n, covariances = votes.raters, (correction * inverse @ square @ inverse, inverse)
    centre = np.eye(n) - 1 / n
    variances = [np.diag(centre @ cov[:n, :n] @ centre.T) for cov in covariances]
    return np.asarray(np.sqrt(np.maximum(np.max(variances, axis=0), 0.0)), np.float64)


def _gradients_by_item(votes: _Votes, point: Array) -> Array:
    """Return the gradient of a single item of each row, shape (rows, parameters)."""
    table = _log_probability_table(votes, point)
    posterior = _normalised_rows(_joint_log_likelihood(votes, table))[1]
    chances = np.exp(table)
    above = np.cumsum(chances[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:]
    *_, spread = _unpack_parameters(votes, point)
    level = np.arange(votes.most)
    # By unit and level: 1 if the rating reached the level, else 0, minus the probability that it
    # would.
    climbed = (level[None, :, None] >= level[None, None, 1:])[:, :, :, None]
    rise = climbed - above.transpose(0, 2, 1)[:, None]
    units, most = len(votes.rater), votes.most

    def gradient_by_item(values: Array) -> Array:
        weighed = np.asarray(votes.counts @ values.reshape(units * most, len(_Z)))
        return np.asarray((weighed * posterior).sum(axis=1), np.float64)

    totals, columns = rise.sum(axis=2), list[Array]()
    for rater in range(votes.raters):
        columns.append(-gradient_by_item(totals * (votes.rater == rater)[:, None, None]))
    for at, k in enumerate(votes.levels):
        of_criterion = (votes.criterion == at)[:, None, None]
        columns += [-gradient_by_item(rise[:, :, h] * of_criterion) for h in range(k - 1)]
    columns.append(gradient_by_item(totals * spread * _Z))
    return np.column_stack(columns)


def _rater_severities(
    votes: _Votes, point: Array, table: Array, posterior: Array, z: float
) -> tuple[RaterSeverity, ...]:
    severity, spread = point[: votes.raters], _severity_errors(votes, point)
    shifts = _scale_shifts(votes, point, posterior)
    # Each rater is tested twice: for being stricter, and for being milder.
    critical = critical_error_count(2 * votes.raters)
    severities = []
    for at, logit in enumerate((severity - severity.mean()).tolist()):
        half_width = z * float(spread[at])
        value, slope = shifts[at]
        of_rater = votes.rater == at
        columns = np.flatnonzero(np.repeat(of_rater, votes.most))
        number = int((votes.times @ votes.counts[:, columns]).sum())
        severities.append(
            RaterSeverity(
                Estimate(logit, logit - half_width, logit + half_width, n=number),
                Estimate(value, value - slope * half_width, value + slope * half_width, n=number),
                *_rater_misfit(votes, table, posterior, of_rater, z),
                number,
                int(np.sign(value)) if abs(value) > slope * critical * spread[at] else 0,
            )
        )
    return tuple(severities)


def _scale_shifts(votes: _Votes, point: Array, posterior: Array) -> list[tuple[float, float]]:
    """Return each rater's extra share of the scale over an average one, and its derivative."""
    severity, steps, spread = _unpack_parameters(votes, point)
    middle, weights = float(severity.mean()), votes.times @ posterior / votes.times.sum()

    def mean_share_at(location: float) -> float:
        return float(weights @ _mean_share_of_scale(steps, spread * _Z - location))

    return [
        (
            mean_share_at(float(rater_severities)) - mean_share_at(middle),
            abs(
                mean_share_at(float(rater_severities) + 0.05)
                - mean_share_at(float(rater_severities) - 0.05)
            )
            / 0.1,
        )
        for rater_severities in severity
    ]


def _rater_misfit(
    votes: _Votes, table: Array, posterior: Array, mine: npt.NDArray[np.bool_], z: float
) -> tuple[Estimate, bool]:
    """Return a rater's squared residuals over their variance, averaged over the posterior, and
    whether the rater is odd.
    """
    chances = np.where(mine[:, None, None], np.exp(table), 0.0)
    level = np.arange(votes.most, dtype=np.float64)
    mean = chances @ level
    variance = np.maximum(chances @ level**2 - mean**2, 0.0)
    rated_by = mine[:, None, None] * np.ones((1, votes.most, 1))
    square = (level[None, :, None] - mean[:, None, :]) ** 2 * rated_by
    expected = np.repeat(variance[:, None, :], votes.most, axis=1) * rated_by
    units = len(votes.rater) * votes.most
    came, due = (
        (np.asarray(votes.counts @ part.reshape(units, -1)) * posterior).sum(axis=1)
        for part in (square, expected)
    )
    total = float((votes.times * due).sum())
    if not total:
        return Estimate(1.0, 1.0, 1.0), False
    value = float((votes.times * came).sum()) / total
    error = float(np.sqrt((votes.times * (came - value * due) ** 2).sum())) / total
    rated = float(votes.times[came > 0].sum())
    odd = value - critical_error_count(votes.raters, rated) * error > 1.0 and value >= 1.2
    return Estimate(value, max(0.0, value - z * error), value + z * error), odd
