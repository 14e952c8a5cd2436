"""Does the place at which an option is shown decide? Choices against the orders that were shown."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.ailments.effect import FEW, BiasEffect, normal_p
from core.metrics.measure import Array
from core.metrics.wilson import wilson

ONE_ORDER = "The options were always shown in one order, so place and option cannot be told apart."


class ShownOrders(NamedTuple):
    """The answers to one question with k options.

    ``first[o, f]`` counts the answers that chose option o while option f was shown first, ``last``
    while it was shown last; shape (k, k). Abstentions are not in it, wherever they are shown.

    >>> ShownOrders(np.eye(2), 1 - np.eye(2)).first.sum()
    np.float64(2.0)
    """

    first: Array
    last: Array


class Pull(NamedTuple):
    """A place's pull: the share of answers that took it for its own sake.

    ``share`` of the answers chose what stood there, ``expected`` would if the place did not matter.
    The effect's estimate is (share - expected) / (1 - expected), below 0 where it is shunned.
    """

    place: Literal["first", "last"]
    effect: BiasEffect
    share: float
    expected: float


def position_effect(questions: Sequence[ShownOrders]) -> Pull | BiasEffect:
    """The pull of the first or the last place, whichever is less likely by chance.

    Orders are drawn without looking at the item, so if the place does not matter, any order could
    as well have been shown with any other answer of the same question. The number of answers that
    chose what stood first is compared with its mean and variance over all such exchanges, which
    are known exactly (Hoeffding 1951, theorem 2), by the normal distribution with continuity
    correction; p counts both places where they differ (more than two options). Orders that never
    vary have no variance: an undefined effect, as for fewer than 20 answers. n counts answers.

    >>> first, last = np.array([[40, 20], [10, 30]]), np.array([[20, 40], [30, 10]])
    >>> pull = position_effect([ShownOrders(first, last)])
    >>> pull.place, pull.share, round(pull.effect.estimate, 3)
    ('first', 0.7, 0.4)
    """
    asked = [q for q in questions if q.first.sum() > 1]
    n = int(sum(q.first.sum() for q in asked))
    if not n:
        return BiasEffect.undefined("No order in which options were shown is known of its answers.")
    if n < FEW:
        return BiasEffect.undefined(f"Only {n} answers were shown an order; {FEW} are needed.", n)
    ends = [_pull("first", [q.first for q in asked], n)]
    if any(len(q.first) > 2 for q in asked):
        ends.append(_pull("last", [q.last for q in asked], n))
    found = [end for end in ends if end is not None]
    if not found:
        return BiasEffect.undefined(ONE_ORDER, n)
    least = min(found, key=lambda end: end.effect.p or 0.0)
    p = min(1.0, (least.effect.p or 0.0) * len(found))
    return least._replace(effect=least.effect._replace(p=p))


def _pull(place: Literal["first", "last"], tables: Sequence[Array], n: int) -> Pull | None:
    there = sum(float(np.trace(table)) for table in tables)
    moments = [_moments(table) for table in tables]
    mean, variance = sum(m for m, _ in moments), sum(v for _, v in moments)
    expected = mean / n
    if variance < 0.25 or expected >= 1:
        return None
    z = max(0.0, abs(there - mean) - 0.5) / sqrt(variance)
    low, high = (_share(end, expected) for end in wilson(round(there), n))
    effect = BiasEffect(_share(there / n, expected), low, high, n, normal_p(z, "both"))
    return Pull(place, effect, there / n, expected)


def _share(of: float, expected: float) -> float:
    return (of - expected) / (1 - expected)


def _moments(table: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Mean and variance of the trace when orders are exchanged between answers."""
    n = float(table.sum())
    chosen, shown = table.sum(axis=1) / n, table.sum(axis=0) / n
    mean = float(chosen @ shown)
    centred = np.eye(len(table)) - shown[:, None] - chosen[None, :] + mean
    spread = float((np.outer(chosen, shown) * centred**2).sum())
    return n * mean, n * n / (n - 1) * spread
