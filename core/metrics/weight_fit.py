"""What each judge's vote says about the truth, from labelled items: the fitted rule's numbers.

Every judge has a table of how often it says v where t is true. The tables are combined as if the
judges erred independently of each other (Dawid and Skene 1979, equation 2.5, with the truth known;
Nitzan and Paroush 1982 show that log-odds are the best weights for two options). With few labels
three things keep them sober:

- a table is drawn towards that of a judge with the same accuracy and evenly spread errors
  (Dirichlet prior worth ``TABLE`` labels in every row), the accuracy itself towards chance
  (``COIN`` labels), the shares of the options towards even ones (``PRIOR`` labels);
- what a judge says is multiplied by max(0, 1 - v / e^2), the positive-part shrinkage of James and
  Stein (1961): e is how many more labels it matches than independent answers with its and the
  truth's shares would (the chance of Cohen 1960), v the variance of that number. A judge that
  does not stand out from chance says nothing; one clearly below chance is read backwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Levels = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Labels that the priors are worth. Chosen on one set of votes (LLMBar, Vanilla) and checked on
#: others (docs/decisions/0010).
TABLE, COIN, PRIOR = 10.0, 1.0, 20.0
#: Fewer labelled items are not fitted.
FEWEST = 10
FOLDS = 10


class WeightFit(NamedTuple):
    """``prior`` (k,), ``evidence`` (judges, k of the vote, k of the truth) and ``reliance``.

    ``reliance`` (judges,) is the factor in [0, 1] by which a judge's evidence was held back.
    """

    prior: Floats
    evidence: Floats
    reliance: Floats


def fit(votes: npt.ArrayLike, truth: npt.ArrayLike, k: int, owner: npt.ArrayLike) -> WeightFit:
    """The log-weights that labelled items give.

    Args:
        votes: levels 0 .. k-1, shape (items, columns); negative where there is none.
        truth: the true level of every item, shape (items,).
        k: how many levels there are, at least 2.
        owner: which judge each column belongs to, 0 .. judges-1, shape (columns,). The columns of
            a judge share its voice on an item.

    >>> found = fit([[0], [1]] * 20, [0, 1] * 20, 2, [0])
    >>> bool(found.evidence[0, 0, 0] > found.evidence[0, 0, 1]), round(float(found.reliance[0]), 3)
    (True, 0.975)
    """
    cast, true, whose = _arrays(votes, truth, owner)
    judges = int(whose.max(initial=-1)) + 1
    shares = (np.bincount(true, minlength=k) + PRIOR / k) / (len(true) + PRIOR)
    evidence, reliance = np.zeros((judges, k, k)), np.zeros(judges)
    for judge in range(judges):
        counts = _counts(cast[:, whose == judge], true, k)
        reliance[judge] = _reliance(counts)
        evidence[judge] = reliance[judge] * np.log(_table(counts)).T
    return WeightFit(np.log(shares), evidence, reliance)


def posterior(found: WeightFit, votes: npt.ArrayLike, owner: npt.ArrayLike) -> Floats:
    """The chance of every level, shape (items, k); rows add up to 1. Without a vote: the prior."""
    cast, whose = np.asarray(votes, np.int64), np.asarray(owner, np.int64)
    logs = np.tile(found.prior, (len(cast), 1))
    for judge in range(len(found.evidence)):
        mine = cast[:, whose == judge]
        given = np.maximum((mine >= 0).sum(axis=1), 1)
        added = np.where((mine >= 0)[..., None], found.evidence[judge][np.maximum(mine, 0)], 0.0)
        logs += added.sum(axis=1) / given[:, None]
    grown = np.exp(logs - logs.max(axis=1, keepdims=True))
    total: Floats = grown / grown.sum(axis=1, keepdims=True)
    return total


def folds_of(items: int, rng: np.random.Generator) -> Levels:
    """Which of at most ``FOLDS`` folds every item is held out with, of sizes as even as may be.

    >>> np.bincount(folds_of(25, np.random.default_rng(0))).tolist()
    [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    """
    return rng.permutation(np.arange(items) % FOLDS)


def _arrays(
    votes: npt.ArrayLike, truth: npt.ArrayLike, owner: npt.ArrayLike
) -> tuple[Levels, Levels, Levels]:
    cast, true = np.asarray(votes, np.int64), np.asarray(truth, np.int64)
    whose = np.asarray(owner, np.int64)
    if cast.shape != (len(true), len(whose)):
        raise ValueError(f"votes {cast.shape} must be (items, columns) {(len(true), len(whose))}")
    return cast, true, whose


def _counts(mine: Levels, true: Levels, k: int) -> Floats:
    """How often the judge said v where t is true, shape (k of t, k of v)."""
    rows, columns = np.nonzero(mine >= 0)
    share = 1.0 / np.maximum((mine >= 0).sum(axis=1), 1)
    cell = true[rows] * k + mine[rows, columns]
    counts: Floats = np.bincount(cell, share[rows], k * k).astype(float).reshape(k, k)
    return counts


def _table(counts: Floats) -> Floats:
    """P(v | t), drawn towards a judge with this accuracy and even errors."""
    k = len(counts)
    accuracy = (np.trace(counts) + COIN / k) / (counts.sum() + COIN)
    coin = np.full((k, k), (1 - accuracy) / (k - 1))
    np.fill_diagonal(coin, accuracy)
    drawn: Floats = (counts + TABLE * coin) / (counts.sum(axis=1, keepdims=True) + TABLE)
    return drawn


def _reliance(counts: Floats) -> float:
    """max(0, 1 - v / e^2); half a label on every level keeps chance off 0 and 1."""
    n, k = float(counts.sum()), len(counts)
    if not n:
        return 0.0
    shares = (counts.sum(axis=1) + 0.5) @ (counts.sum(axis=0) + 0.5) / (n + 0.5 * k) ** 2
    edge = float(np.trace(counts)) - n * float(shares)
    spread = n * float(shares) * (1 - float(shares))
    return max(0.0, 1 - spread / edge**2) if edge else 0.0
