"""A number that says how sure it is: figure, estimate with interval, share with Wilson's."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple


class Figure(NamedTuple):
    """What a metric returns. ``value`` is ``None`` where undefined, and then ``reason`` says why.

    Never NaN, and never 0 or 1 as a stand-in. ``n`` counts the observations that were used.

    >>> Figure.defined(0.75, 8)
    Figure(value=0.75, n=8, reason='')
    >>> Figure.undefined("There is no item rated by both.").value is None
    True
    """

    value: float | None
    n: int
    reason: str = ""

    @classmethod
    def defined(cls, value: float, n: int) -> Figure:
        """A figure that exists."""
        return cls(float(value), int(n))

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> Figure:
        """A figure that does not exist, and a sentence that says why."""
        return cls(None, int(n), reason)


#: The normal quantile of a two-sided interval at 95 %.
_Z95 = 1.959963984540054


def wilson(successes: int, n: int, z: float = _Z95) -> tuple[float, float]:
    """The Wilson score interval of a share, within [0, 1].

    Args:
        successes: how many of the ``n`` were, in [0, n].
        n: how many were counted, at least 1.
        z: the normal quantile; the default gives 95 %.

    Raises:
        ValueError: the counts make no share.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference,
    JASA 22, 209-212.

    >>> [round(bound, 4) for bound in wilson(81, 263)]
    [0.2553, 0.3662]
    """
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"{successes} of {n} is no share.")
    share, spread = successes / n, z * z / n
    middle = share + spread / 2
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n))
    # Rounding must not leave [0, 1] at its ends.
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def surely_below(high: float, share: float, n: int) -> bool:
    """Whether a figure whose interval ends at ``high`` is below a share counted on ``n`` items.

    The share's own interval is asked, too: of three labels that are alike always saying them is
    right on all three, and beating that is nothing one could see from three.

    >>> surely_below(0.22, 0.57, 223), surely_below(0.71, 1.0, 3)
    (True, False)
    """
    return high < wilson(round(share * n), n)[0]


class Estimate(NamedTuple):
    """A figure with its 95 % interval, from ``n`` observations.

    ``reason`` says why the value is missing or, where there is one, why the interval is.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    n: int = 0


class Share(NamedTuple):
    """``hits`` of ``n`` with the Wilson interval; ``low`` and ``high`` are ``None`` for n = 0."""

    hits: int
    n: int
    low: float | None
    high: float | None

    @property
    def value(self) -> float | None:
        """The share; ``None`` where there is nothing to share."""
        return self.hits / self.n if self.n else None

    @classmethod
    def of(cls, hits: int, n: int) -> Share:
        """That share.

        >>> Share.of(0, 0)
        Share(hits=0, n=0, low=None, high=None)
        """
        return cls(hits, n, *(wilson(hits, n) if n else (None, None)))

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The interval's ends in [0, 1]; both ``None`` without any."""
        return self.low, self.high


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
