"""What each judge's vote says about the truth, from labelled items: the fitted rule's numbers.

Every judge has a table of how often it votes v if t is true. The tables are combined as if the
judges erred independently of each other (Dawid and Skene 1979, equation 2.5, with the truth known;
Nitzan and Paroush 1982 show that log-odds are the best weights for two options). Three things
prevent overfitting to few labels:

- a table is shrunk towards a judge with the same accuracy and evenly spread errors (Dirichlet
  prior worth ``TABLE`` labels in every row), the accuracy itself towards chance (``COIN`` labels),
  the shares of the options towards equal ones (``PRIOR`` labels);
- a judge's evidence is multiplied by max(0, 1 - v / e^2), the positive-part shrinkage of James and
  Stein (1961): e is how many more labels it matches than independent answers with its and the
  truth's shares would (the chance of Cohen 1960), v the variance of that number. A judge that is
  not clearly different from chance counts nothing; one clearly below chance is reversed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Levels = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: How many labels the priors are worth. Chosen on one set of votes (LLMBar, Vanilla) and checked on
#: others (docs/decisions/0010).
TABLE, COIN, PRIOR = 10.0, 1.0, 20.0
#: The least number of labelled items for a fit.
FEWEST = 10
FOLDS = 10


class WeightFit(NamedTuple):
    """The fitted rule: ``prior`` (k,) and ``evidence`` (judges, k of the vote, k of the truth).

    ``reliance`` (judges,) is the factor in [0, 1] that shrinks a judge's evidence.
    """

    prior: Floats
    evidence: Floats
    reliance: Floats


def fit_weights(
    votes: npt.ArrayLike, labels: npt.ArrayLike, k: int, owner: npt.ArrayLike
) -> WeightFit:
    """Return the log-weights fitted to labelled items.

    Args:
        votes: levels 0 .. k-1, shape (items, columns); negative if missing.
        labels: the true level of every item, shape (items,).
        k: the number of levels, at least 2.
        owner: the judge of each column, 0 .. judges-1, shape (columns,). The columns of a judge
            share its weight on an item.

    >>> found = fit_weights([[0], [1]] * 20, [0, 1] * 20, 2, [0])
    >>> bool(found.evidence[0, 0, 0] > found.evidence[0, 0, 1]), round(float(found.reliance[0]), 3)
    (True, 0.975)
    """
    cast, true_levels, raters = _vote_arrays(votes, labels, owner)
    judges = int(raters.max(initial=-1)) + 1
    shares = (np.bincount(true_levels, minlength=k) + PRIOR / k) / (len(true_levels) + PRIOR)
    evidence, reliance = np.zeros((judges, k, k)), np.zeros(judges)
    for judge in range(judges):
        counts = _answer_counts(cast[:, raters == judge], true_levels, k)
        reliance[judge] = _shrinkage(counts)
        evidence[judge] = reliance[judge] * np.log(_shrunk_table(counts)).T
    return WeightFit(np.log(shares), evidence, reliance)


def folds_of(items: int, rng: np.random.Generator) -> Levels:
    """Return each item's fold, of at most ``FOLDS``, with sizes as equal as possible.

    >>> np.bincount(folds_of(25, np.random.default_rng(0))).tolist()
    [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    """
    return rng.permutation(np.arange(items) % FOLDS)


def _vote_arrays(
    votes: npt.ArrayLike, labels: npt.ArrayLike, owner: npt.ArrayLike
) -> tuple[Levels, Levels, Levels]:
    cast, true_levels = np.asarray(votes, np.int64), np.asarray(labels, np.int64)
    raters = np.asarray(owner, np.int64)
    if cast.shape != (len(true_levels), len(raters)):
        raise ValueError(
            f"votes {cast.shape} must be (items, columns) {(len(true_levels), len(raters))}"
        )
    return cast, true_levels, raters


def _answer_counts(mine: Levels, true_levels: Levels, k: int) -> Floats:
    """Return how often the judge voted v if t is true, shape (k of t, k of v)."""
    rows, columns = np.nonzero(mine >= 0)
    share = 1.0 / np.maximum((mine >= 0).sum(axis=1), 1)
    cell = true_levels[rows] * k + mine[rows, columns]
    counts: Floats = np.bincount(cell, share[rows], k * k).astype(float).reshape(k, k)
    return counts


def _shrunk_table(counts: Floats) -> Floats:
    """Return P(v | t), shrunk towards a judge with this accuracy and even errors."""
    k = len(counts)
    accuracy = (np.trace(counts) + COIN / k) / (counts.sum() + COIN)
    coin = np.full((k, k), (1 - accuracy) / (k - 1))
    np.fill_diagonal(coin, accuracy)
    drawn: Floats = (counts + TABLE * coin) / (counts.sum(axis=1, keepdims=True) + TABLE)
    return drawn


def _shrinkage(counts: Floats) -> float:
    """Return the shrinkage max(0, 1 - v / e^2).

    Half a label on every level keeps chance away from 0 and 1.
    """
    n, k = float(counts.sum()), len(counts)
    if not n:
        return 0.0
    shares = (counts.sum(axis=1) + 0.5) @ (counts.sum(axis=0) + 0.5) / (n + 0.5 * k) ** 2
    edge = float(np.trace(counts)) - n * float(shares)
    spread = n * float(shares) * (1 - float(shares))
    return max(0.0, 1 - spread / edge**2) if edge else 0.0
