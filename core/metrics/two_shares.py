"""How far two shares of different observations lie apart."""

from __future__ import annotations

from math import sqrt

from core.metrics.wilson import wilson


def difference(hits: int, n: int, other_hits: int, other_n: int) -> tuple[float, float, float]:
    """The first share minus the second, with its 95 % interval (Newcombe 1998, method 10).

    The interval is made of both Wilson intervals, so that it holds for few observations and for
    shares of 0 and 1. Raises ``ValueError`` where either has none.

    Newcombe's example, 56 of 70 against 48 of 80:

    >>> [round(each, 4) for each in difference(56, 70, 48, 80)]
    [0.2, 0.0524, 0.3339]
    """
    if not n or not other_n:
        raise ValueError("both shares need observations")
    one, other = hits / n, other_hits / other_n
    low, high = wilson(hits, n)
    other_low, other_high = wilson(other_hits, other_n)
    gap = one - other
    down = sqrt((one - low) ** 2 + (other_high - other) ** 2)
    up = sqrt((high - one) ** 2 + (other - other_low) ** 2)
    return gap, gap - down, gap + up
