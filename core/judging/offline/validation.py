"""Cross-validation of a method, the baseline it must beat, and by how much it did."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.judging.offline.corpus import Floats
from core.judging.offline.folds import Ints, fold_numbers, repeats_for
from core.judging.offline.methods import Method

#: A judge must beat the baseline by this many standard errors of the paired difference: a one-sided
#: test at 10 %. With random labels 0 to 3 % of judges passed, on open-ended criteria 0 to 11 %
#: (bench/offline.py); 1.64 loses a third to a half of the judges that are worth having.
ERRORS_ABOVE = 1.28


class Validation(NamedTuple):
    """Out-of-fold scores (repeats, n, k) and the folds (repeats, n) that gave them."""

    scores: Floats
    folds: Ints


def cross_validate(
    method: Method, products: Floats, labels: Ints, groups: Ints, k: int, seed: int
) -> Validation:
    """Scores of every item by models that saw neither its label nor a duplicate of it."""
    repeats = repeats_for(len(labels))
    scores = np.zeros((repeats, len(labels), k))
    folds = np.stack(
        [fold_numbers(labels, groups, seed=seed, repeat=repeat) for repeat in range(repeats)]
    )
    for repeat, fold in zip(*_rounds(folds), strict=True):
        out = folds[repeat] == fold
        fitted = method.fit(products[np.ix_(~out, ~out)], labels[~out], k)
        scores[repeat, out] = fitted.scores(products[np.ix_(out, ~out)])
    return Validation(scores, folds)


def _rounds(folds: Ints) -> tuple[list[int], list[int]]:
    pairs = [(repeat, int(f)) for repeat, row in enumerate(folds) for f in np.unique(row)]
    return [repeat for repeat, _ in pairs], [fold for _, fold in pairs]


def prompt_majority(labels: Ints, prompts: Ints, folds: Ints, k: int) -> Floats:
    """Whether always giving a prompt's commonest label is right, out of fold; shape (repeats, n).

    Few answers to a prompt lean on all answers: its counts start from the label shares of all.
    """
    right = np.zeros(folds.shape)
    for repeat, fold in zip(*_rounds(folds), strict=True):
        out = folds[repeat] == fold
        shares = np.bincount(labels[~out], minlength=k) / max(1, int((~out).sum()))
        for prompt in np.unique(prompts[out]):
            here = out & (prompts == prompt)
            counts = np.bincount(labels[~out & (prompts == prompt)], minlength=k)
            right[repeat, here] = labels[here] == np.argmax(counts + shares)
    return right


class BaselineGain(NamedTuple):
    """How much better than the baseline: mean difference and its standard error."""

    mean: float
    error: float

    @property
    def enough(self) -> bool:
        """Whether it is more than chance would easily give."""
        return self.mean > 0 and self.mean >= ERRORS_ABOVE * self.error


def gain_of(right: Floats, base: Floats, groups: Ints) -> BaselineGain:
    """The paired difference between two (repeats, n) tables of right answers.

    Repeats are averaged first, because they judge the same items; duplicates count as one cluster.
    """
    difference = (right - base).mean(axis=0)
    mean = float(difference.mean())
    clusters = np.bincount(groups, weights=difference - mean)
    return BaselineGain(mean, float(np.sqrt((clusters**2).sum()) / len(difference)))
