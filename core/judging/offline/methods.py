"""Two methods of learning from labels, and the folds that test them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from core.identity import seeded_random
from core.judging.offline.features import Floats, Nearness

Ints = npt.NDArray[np.int64]
FOLDS = 5


def fold_numbers(labels: Ints, groups: Ints, *, seed: int, repeat: int) -> Ints:
    """Return the fold (0 .. FOLDS-1) of each item, shape (n,).

    Groups are shuffled, sorted by the label of their first item and dealt in turn, so every fold
    gets its share of every label. Groups stay together: a duplicate in another fold would be
    recognised, not judged.
    """
    first = dict[int, int]()
    for index, group in enumerate(groups.tolist()):
        first.setdefault(group, index)
    order = sorted(first)
    generator = seeded_random("folds", seed, repeat)
    generator.shuffle(order)
    order.sort(key=lambda group: int(labels[first[group]]))
    offset = generator.randrange(FOLDS)
    fold_of_group = {group: (place + offset) % FOLDS for place, group in enumerate(order)}
    return np.array([fold_of_group[group] for group in groups.tolist()], dtype=np.int64)


def repeats_for(n: int) -> int:
    """Return the number of cross-validation repeats: more with few labels."""
    if n < 100:
        return 5
    return 3 if n < 300 else 2


# Two ways to learn from labels. Both use only the similarity of answers.
#
# Logistic regression on the features themselves would give the same classifier; with few labels and
# many features, the equivalent on products of answers is a hundred times faster.

#: The score of a label without examples.
NEVER = -30.0
STRENGTH = 4.0
NEIGHBOUR_RELATED, OTHER_PROMPT, SHARPNESS, MOST_NEIGHBOURS = 0.2, 0.5, 3, 15


class Kernel(NamedTuple):
    """Weights of kinds of similarity; ``*_same`` and ``prompt`` apply within a prompt only."""

    text: float
    text_same: float
    related: float
    related_same: float
    prompt: float
    closeness: float


#: The full text of an answer. This needs about a hundred labels to learn which words matter.
WORDS = Kernel(1.0, 1.0, 0.5, 0.2, 0.5, 0.0)
#: Mostly closeness to the reference; better than words if there are few labels.
NUMBERS = Kernel(0.1, 0.25, 0.1, 0.0, 0.1, 0.5)
# Chosen on SAF and Mohler by bench/offline.py and bench/few_labels.py; figures change little
# around them.


class FittedMethod(Protocol):
    """The result of learning from ``n`` labelled answers."""

    def scores(self, products: Floats) -> Floats:
        """Return scores (m, k) from products (m, n): log-odds up to a row constant."""
        ...


class Method(Protocol):
    """A learning method."""

    def products(self, nearness: Nearness) -> Floats:
        """Return the similarity of answers (m) to other answers (n), shape (m, n)."""
        ...

    def fit(self, products: Floats, labels: Ints, k: int) -> FittedMethod:
        """Learn from products (n, n) and labels (n,) in 0 .. k-1."""
        ...


@dataclass(frozen=True)
class DualWeights:
    """Logistic regression as a weight per labelled answer and label: (n, k), and (k,)."""

    weights: Floats
    intercept: Floats

    def scores(self, products: Floats) -> Floats:
        """Return log-odds (m, k)."""
        return np.asarray(products @ self.weights + self.intercept)


class LogisticRegression:
    """Multinomial logistic regression, L2, with shared weights and weights per prompt.

    So a dataset of many questions shares what holds for all ("uses the reference's words") and
    still learns what only a single question asks for.
    """

    def __init__(self, kernel: Kernel = WORDS) -> None:
        self.kernel = kernel

    def products(self, nearness: Nearness) -> Floats:
        """Return the kernel of the shared and the per-prompt features."""
        k = self.kernel
        shared = (
            k.text * nearness.text + k.related * nearness.related + k.closeness * nearness.closeness
        )
        per_prompt = k.text_same * nearness.text + k.related_same * nearness.related + k.prompt
        return np.asarray(shared + nearness.same * per_prompt)

    def fit(self, products: Floats, labels: Ints, k: int) -> DualWeights:
        """Fit on rows of a Cholesky factor, whose products are ``products``."""
        from sklearn.linear_model import LogisticRegression as Regression

        weights = np.zeros((len(labels), k))
        intercept = np.full(k, NEVER)
        classes = np.unique(labels)
        if len(classes) == 1:
            intercept[classes] = 0.0
            return DualWeights(weights, intercept)
        # Duplicates make the matrix singular. The ridge added here is far below any real
        # difference.
        factor = np.linalg.cholesky(products + 1e-6 * np.eye(len(products)))
        model = Regression(C=STRENGTH, max_iter=5_000, tol=1e-5).fit(factor, labels)
        # At the optimum an example's weight is its remaining error, times C.
        chances = model.predict_proba(factor)
        wrong = STRENGTH * ((labels[:, None] == classes) - chances)
        bias = model.intercept_
        if len(classes) == 2:  # a single row of coefficients: halve it for and against
            wrong, bias = wrong / 2, np.array([-bias[0] / 2, bias[0] / 2])
        weights[:, classes], intercept[classes] = wrong, bias
        return DualWeights(weights, intercept)


@dataclass(frozen=True)
class Neighbourhood:
    """The labelled answers and the frequency of each label."""

    labels: Ints
    shares: Floats

    @property
    def size(self) -> int:
        """Return the number of voting neighbours: the root of the number of examples, 3 to 15."""
        root = round(len(self.labels) ** 0.5)
        return int(min(len(self.labels), max(3, min(MOST_NEIGHBOURS, root))))

    def nearest(self, products: Floats) -> Ints:
        """Return the columns of the nearest examples, nearest first, shape (m, size)."""
        return np.argsort(-products, axis=1, kind="stable")[:, : self.size]

    def scores(self, products: Floats) -> Floats:
        """Return log shares of the neighbours' votes, plus one vote split by the label shares."""
        nearest = self.nearest(products)
        similarities = np.maximum(np.take_along_axis(products, nearest, axis=1), 0)
        weight = (similarities / np.maximum(similarities[:, :1], 1e-12)) ** SHARPNESS
        votes = np.stack(
            [
                (weight * (self.labels[nearest] == label)).sum(axis=1)
                for label in range(len(self.shares))
            ],
            axis=1,
        )
        # Relative weights rank the neighbours; the similarity of the nearest neighbour scales all
        # weights.
        nearest_similarity = similarities[:, :1]
        mixed = nearest_similarity * votes + self.shares
        chances = mixed / mixed.sum(axis=1, keepdims=True)
        return np.asarray(np.log(np.maximum(chances, np.exp(NEVER))))


class NearestNeighbours:
    """Nearest labelled answers, weighted by nearness, same prompt preferred."""

    def products(self, nearness: Nearness) -> Floats:
        """Return the cosine of text and related numbers; halved for other prompts."""
        left, right = (1 + NEIGHBOUR_RELATED * lengths for lengths in nearness.lengths)
        cosine = (nearness.text + NEIGHBOUR_RELATED * nearness.related) / np.sqrt(
            np.outer(left, right)
        )
        return np.asarray(cosine * np.where(nearness.same, 1.0, OTHER_PROMPT))

    def fit(self, products: Floats, labels: Ints, k: int) -> Neighbourhood:
        """Store the examples; there is nothing to fit."""
        return Neighbourhood(labels, np.bincount(labels, minlength=k) / len(labels))


def methods_of(kind: str) -> dict[str, Method]:
    """Return the methods among which cross-validation chooses for a kind of judge."""
    if kind == "classifier":
        return {"words": LogisticRegression(WORDS), "numbers": LogisticRegression(NUMBERS)}
    return {"neighbours": NearestNeighbours()}
