"""What a panel's votes say of the truth where nobody has labels: Dawid and Skene's model.

Every item has one true level, every rater a chance of each answer under each truth; both are
learned from who agrees with whom (EM; Dawid and Skene 1979, Applied Statistics 28). Chances are
held to those of all raters together, so that a rater with few ratings is taken for a usual one.

Whether it may be believed is asked of the votes themselves: a part of each rater's answers is
hidden in turn and foretold from the others', once with chances of their own and once as if all
raters were alike, whose truth is nearly the majority's (``held_out``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.measure import Array, Ratings

#: How many ratings' worth each rater is held to what raters do on the whole.
HELD = 4.0
STEPS, CLOSE = 200, 1e-6
FOLDS = 5
#: By so many standard errors it must foretell better than raters who are all alike, to be offered.
AHEAD = 2.0


class LatentTruth(NamedTuple):
    """``prior`` of each level, ``chances`` of answers by rater and truth, shape (raters, k, k), and
    ``posterior`` of the truth by item, shape (items, k).
    """

    prior: Array
    chances: Array
    posterior: Array


class Foretold(NamedTuple):
    """How well hidden votes were foretold: mean log chances, with raters who differ (``model``) and
    as if they were all alike (``alike``).

    ``gain`` is the first less the second, ``error`` its standard error over items.
    """

    model: float
    alike: float
    gain: float
    error: float
    n: int

    @property
    def ahead(self) -> bool:
        """Whether the model is surely better."""
        return self.gain > AHEAD * self.error > 0


def dawid_skene(ratings: npt.ArrayLike, k: int, *, alike: bool = False) -> LatentTruth:
    """The model of ratings, levels 0 .. k-1, negative where there is none, shape (items, raters).

    ``alike``: one table of chances for all raters.

    Three raters, of whom the third says 0 whatever is true:

    >>> votes = np.column_stack([[0, 0, 0, 1, 1, 1] * 5] * 2 + [[0] * 30])
    >>> found = dawid_skene(votes, 2)
    >>> found.posterior.argmax(axis=1)[:6].tolist(), bool(found.chances[2, 1, 0] > 0.8)
    ([0, 0, 0, 1, 1, 1], True)
    """
    chosen = _one_hot(np.asarray(ratings, np.int64), k)
    # Every rater's answer counts alike at first.
    votes = chosen.sum(axis=1) + 1 / k
    posterior = votes / votes.sum(axis=1, keepdims=True)
    found = _learned(chosen, posterior, alike=alike)
    for _ in range(STEPS):
        before, posterior = posterior, _truths(chosen, *found)
        found = _learned(chosen, posterior, alike=alike)
        if np.abs(posterior - before).max(initial=0.0) < CLOSE:
            break
    return LatentTruth(*found, _truths(chosen, *found))


def _one_hot(ratings: Ratings, k: int) -> Array:
    """Shape (items, raters, k)."""
    return np.asarray(ratings[:, :, None] == np.arange(k), np.float64)


def _learned(chosen: Array, posterior: Array, *, alike: bool) -> tuple[Array, Array]:
    """The prior and every rater's chances, from how probable each truth is."""
    rated = chosen.any(axis=(1, 2))
    prior = posterior[rated].sum(axis=0) + 1.0
    seen = np.einsum("it,irk->rtk", posterior, chosen, optimize=True)
    whole = seen.sum(axis=0) + 1 / len(prior)
    usual = whole / whole.sum(axis=1, keepdims=True)
    seen = np.broadcast_to(usual, seen.shape) if alike else seen + HELD * usual
    return prior / prior.sum(), seen / seen.sum(axis=2, keepdims=True)


def _truths(chosen: Array, prior: Array, chances: Array) -> Array:
    logs = np.log(prior) + np.einsum("irk,rtk->it", chosen, np.log(chances), optimize=True)
    found: Array = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    return found


def held_out(ratings: npt.ArrayLike, k: int, seed: int = 0) -> Foretold | None:
    """How well answers that were hidden are foretold from the others on the same item.

    A fifth of all answers is hidden at a time. ``None`` with fewer than 50 answers that somebody
    else's stand beside.
    """
    levels = np.asarray(ratings, np.int64)
    fold = np.random.default_rng(seed).integers(0, FOLDS, levels.shape)
    logs = np.zeros((2, *levels.shape))
    known = np.zeros(levels.shape, np.bool_)
    for at in range(FOLDS):
        hidden = (fold == at) & (levels >= 0)
        rest = np.where(hidden, -1, levels)
        hidden &= np.any(rest >= 0, axis=1, keepdims=True)
        item, rater = np.nonzero(hidden)
        answer = levels[item, rater]
        for place, alike in enumerate((False, True)):
            found = dawid_skene(rest, k, alike=alike)
            said = np.einsum("it,rtk->irk", found.posterior, found.chances, optimize=True)
            logs[place, item, rater] = np.log(said[item, rater, answer])
        known |= hidden
    return _foretold(logs[0], logs[0] - logs[1], known)


def _foretold(model: Array, gains: Array, known: npt.NDArray[np.bool_]) -> Foretold | None:
    n = int(known.sum())
    if n < 50:
        return None
    by_item = np.where(known, gains, 0.0).sum(axis=1)
    gain, mean = float(by_item.sum()) / n, float(model[known].mean())
    off = by_item - gain * known.sum(axis=1)
    return Foretold(mean, mean - gain, gain, float(np.sqrt((off**2).sum())) / n, n)
