"""A value with its interval, count and reason: the only type for estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

Method = Literal["percentile", "bca", "basic", "exact", "smoothed", "wilson", "t"]
#: How to make an interval from resamples; ``auto``: the most reliable (docs/semantics.md).
IntervalChoice = Literal["auto", "percentile", "bca", "basic"]


class Interval(NamedTuple):
    """Only the ends, as resampling yields them for many figures at once (``Estimate.within``).

    ``low`` and ``high`` are ``None`` if ``reason`` says why.
    """

    low: float | None
    high: float | None
    method: Method
    reason: str = ""


class Confidence(NamedTuple):
    """The probability, in (0, 1), with which an interval holds the true value, and the method."""

    level: float = 0.95
    method: IntervalChoice = "auto"


#: The default level and kind of intervals.
USUAL = Confidence()


class EstimateWords(NamedTuple):
    """An estimate in words (``Estimate.words``): value, interval, or why either is missing."""

    value: str
    ends: str
    why: str

    @property
    def below(self) -> str:
        """Return the line below the value: the ends, or why they are missing."""
        return self.ends or self.why

    @property
    def inline(self) -> str:
        """Return the value with interval or reason in brackets, for a sentence or a line."""
        details = self.ends or self.why.removesuffix(".")
        return self.value if details in ("", "no interval") else f"{self.value} ({details})"


class Estimate(NamedTuple):
    """A figure with its interval (95% by default), from ``n`` observations.

    An undefined ``value`` is ``None``: never NaN, and never 0 or 1 as a stand-in. ``reason`` says
    why the value or, if there is one, its interval is missing. ``hits`` of the ``n``: for shares
    only.

    >>> Estimate.undefined("There is no item rated by both.").value is None
    True
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    n: int = 0
    hits: int | None = None

    @classmethod
    def defined(cls, value: float, n: int) -> Estimate:
        """Return a figure with a value, without an interval."""
        return cls(float(value), n=int(n))

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> Estimate:
        """Return an undefined figure, with a sentence on the reason."""
        return cls(None, reason=reason, n=int(n))

    def with_interval(self, interval: Interval | None) -> Estimate:
        """Return the figure with this interval; unchanged if either is missing.

        >>> Estimate.defined(0.5, 9).with_interval(Interval(0.2, 0.8, "bca"))[:3]
        (0.5, 0.2, 0.8)
        """
        if interval is None or self.value is None:
            return self
        return self._replace(low=interval.low, high=interval.high, reason=interval.reason)

    def words(self, form: Callable[[float | None], str]) -> EstimateWords:
        """Return the figure in words, as all pages show it; ``form`` formats a number.

        An undefined figure has its reason. If nothing was counted, neither value nor reason exists,
        and ``form`` formats ``None``.

        >>> Estimate(0.9, 0.8, 0.96).words("{:.0%}".format).inline
        '90% (80% to 96%)'
        >>> Estimate.undefined("No item was rated by both.").words(str).inline
        'undefined (No item was rated by both)'
        >>> Estimate(0.9, reason="One item alone has no spread.").words(str).below
        'no interval: One item alone has no spread.'
        """
        if self.value is None:
            return EstimateWords("undefined" if self.reason else form(None), "", self.reason)
        if self.low is None or self.high is None:
            reason = f"no interval: {self.reason}" if self.reason else "no interval"
            return EstimateWords(form(self.value), "", reason)
        return EstimateWords(form(self.value), f"{form(self.low)} to {form(self.high)}", "")

    @property
    def ci(self) -> list[float] | None:
        """Return the ends of the interval as in JSON; ``None`` without an interval."""
        return None if self.low is None or self.high is None else [self.low, self.high]

    @property
    def data(self) -> dict[str, Any]:
        """Return the figure as JSON, with ``reason`` only if there is one.

        >>> Estimate(0.5, reason="One item has no spread.").data
        {'value': 0.5, 'ci': None, 'reason': 'One item has no spread.'}
        """
        reason = {"reason": self.reason} if self.reason else {}
        return {"value": self.value, "ci": self.ci, **reason}

    @classmethod
    def share(cls, hits: int, n: int, level: float = USUAL.level) -> Estimate:
        """Return ``hits`` of ``n`` with the Wilson interval; no value if ``n`` is 0.

        >>> Estimate.share(0, 0)[:3], Estimate.share(3, 4).value
        ((None, None, None), 0.75)
        """
        if not n:
            return cls(None, hits=hits)
        return cls(hits / n, *wilson(hits, n, normal_reach(level)), n=n, hits=hits)


def ci_and_undefined(figures: Mapping[str, Estimate]) -> dict[str, Any]:
    """Return the intervals and reasons of named figures as JSON; empty parts are left out.

    >>> ci_and_undefined({"kappa": Estimate(0.5, 0.25, 0.75), "f1": Estimate.undefined("No item.")})
    {'ci': {'kappa': [0.25, 0.75]}, 'undefined': {'f1': 'No item.'}}
    """
    parts = {
        "ci": {name: figure.ci for name, figure in figures.items() if figure.ci},
        "undefined": {
            name: figure.reason for name, figure in figures.items() if figure.value is None
        },
    }
    return {key: part for key, part in parts.items() if part}


#: The normal quantile of a two-sided interval at 95%.
_Z95 = 1.959963984540054


def normal_reach(level: float) -> float:
    """Return the standard errors to each side of a normal interval, for a level in (0, 1).

    >>> normal_reach(0.95), round(normal_reach(0.99), 3)
    (1.959963984540054, 2.576)
    """
    return _Z95 if level == USUAL.level else NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: int, n: int, z: float = _Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a share, within [0, 1].

    Args:
        successes: hits, in [0, n].
        n: observations, at least 1.
        z: the normal quantile; the default gives 95%.

    Raises:
        ValueError: the counts are not a share.

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
    # Rounding must not leave [0, 1].
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def surely_below(high: float, share: float, n: int) -> bool:
    """Return whether a figure whose interval ends at ``high`` is below a share of ``n`` items.

    The share's own interval counts, too: if three labels are the same, always answering that is
    right on all three, but three labels cannot show that a figure is worse.

    >>> surely_below(0.22, 0.57, 223), surely_below(0.71, 1.0, 3)
    (True, False)
    """
    return high < wilson(round(share * n), n)[0]


def reversed_sign(estimate: Estimate) -> Estimate:
    """Return the figure with reversed sign, as for the opposite difference.

    >>> reversed_sign(Estimate(0.25, -0.5, 1.0))[:3]
    (-0.25, -1.0, 0.5)
    """
    value, low, high = (None if number is None else -number for number in estimate[:3])
    return estimate._replace(value=value, low=high, high=low)


def pooled_share(shares: Iterable[Estimate]) -> Estimate:
    """Return the pooled share of several fully counted groups; without an interval.

    >>> pooled_share([Estimate(0.5, n=2), Estimate(1.0, n=6)])[:1], pooled_share([]).n
    ((0.875,), 0)
    """
    counted = [(share.value, share.n) for share in shares if share.value is not None]
    n = sum(number for _, number in counted)
    hits = sum(round(value * number) for value, number in counted)
    return Estimate(hits / n, n=n, hits=hits) if n else Estimate(None)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the first share minus the second, with its 95% interval (Newcombe 1998, method 10).

    The interval combines both Wilson intervals, so it holds for few observations and for shares of
    0 and 1. Raises ``ValueError`` if either has none.

    Newcombe's example, 56 of 70 against 48 of 80:

    >>> [round(each, 4) for each in difference(Estimate.share(56, 70), Estimate.share(48, 80))[:3]]
    [0.2, 0.0524, 0.3339]
    """
    value, low, high, *_ = first
    other_value, other_low, other_high, *_ = second
    if value is None or low is None or high is None:
        raise ValueError("both shares need observations")
    if other_value is None or other_low is None or other_high is None:
        raise ValueError("both shares need observations")
    gap = value - other_value
    down = sqrt((value - low) ** 2 + (other_high - other_value) ** 2)
    up = sqrt((high - value) ** 2 + (other_value - other_low) ** 2)
    return Estimate(gap, gap - down, gap + up, n=first.n + second.n)
