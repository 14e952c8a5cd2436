"""A number, how many observations it stands on, and why it is missing where it is."""

from __future__ import annotations

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
