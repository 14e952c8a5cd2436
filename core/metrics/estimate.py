"""One value with its interval: a figure of any kind, and a share that was counted."""

from __future__ import annotations

from typing import NamedTuple

from core.metrics.wilson import wilson


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
