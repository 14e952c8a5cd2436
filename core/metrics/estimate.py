"""One value with its interval, its count and its reason: the only type for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

Method = Literal["percentile", "bca", "basic", "exact", "smoothed", "wilson", "t"]
#: How an interval may be made of resamples; ``auto``: whichever holds best (docs/semantics.md).
IntervalChoice = Literal["auto", "percentile", "bca", "basic"]


class Interval(NamedTuple):
    """The ends alone, as resampling gives them for many figures at once (``Estimate.within``).

    ``low`` and ``high`` are ``None`` where ``reason`` says why.
    """

    low: float | None
    high: float | None
    method: Method
    reason: str = ""


class Confidence(NamedTuple):
    """How often an interval shall hold the true value, in (0, 1), and how it is made."""

    level: float = 0.95
    method: IntervalChoice = "auto"


#: What is shown unless somebody asks for another.
USUAL = Confidence()


class EstimateWords(NamedTuple):
    """An estimate in words (``Estimate.words``): value, ends of the interval, why either lacks."""

    value: str
    ends: str
    why: str

    @property
    def below(self) -> str:
        """What stands below the value: the ends, or why they are missing."""
        return self.ends or self.why

    @property
    def inline(self) -> str:
        """The value with the rest in brackets, for a sentence or a line."""
        rest = self.ends or self.why.removesuffix(".")
        return self.value if rest in ("", "no interval") else f"{self.value} ({rest})"


class Estimate(NamedTuple):
    """A figure with its interval (95% unless another level is asked for), from ``n`` observations.

    ``value`` is ``None`` where it is undefined: never NaN, and never 0 or 1 as a stand-in.
    ``reason`` says why the value is missing or, where there is one, why the interval is. ``hits``
    is there for a share only: how many of the ``n``.

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
        """A figure that exists, without an interval."""
        return cls(float(value), n=int(n))

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> Estimate:
        """A figure that does not exist, and a sentence that says why."""
        return cls(None, reason=reason, n=int(n))

    def within(self, interval: Interval | None) -> Estimate:
        """The same figure with that interval; as it is without one, or where it is undefined.

        >>> Estimate.defined(0.5, 9).within(Interval(0.2, 0.8, "bca"))[:3]
        (0.5, 0.2, 0.8)
        """
        if interval is None or self.value is None:
            return self
        return self._replace(low=interval.low, high=interval.high, reason=interval.reason)

    def words(self, form: Callable[[float | None], str]) -> EstimateWords:
        """Return the figure in words, as every surface says it; ``form`` writes a number.

        What is undefined is said with its reason. Where nothing was counted there is neither value
        nor reason, and ``form`` says what stands for nothing.

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
            why = f"no interval: {self.reason}" if self.reason else "no interval"
            return EstimateWords(form(self.value), "", why)
        return EstimateWords(form(self.value), f"{form(self.low)} to {form(self.high)}", "")

    @property
    def ci(self) -> list[float] | None:
        """Return the ends of the interval as JSON has them; ``None`` without one."""
        return None if self.low is None or self.high is None else [self.low, self.high]

    @property
    def data(self) -> dict[str, Any]:
        """Return the figure as JSON, ``reason`` only where there is one.

        >>> Estimate(0.5, reason="One item has no spread.").data
        {'value': 0.5, 'ci': None, 'reason': 'One item has no spread.'}
        """
        reason = {"reason": self.reason} if self.reason else {}
        return {"value": self.value, "ci": self.ci, **reason}

    @classmethod
    def share(cls, hits: int, n: int, level: float = USUAL.level) -> Estimate:
        """``hits`` of ``n`` with the Wilson interval; without a value where there is nothing.

        >>> Estimate.share(0, 0)[:3], Estimate.share(3, 4).value
        ((None, None, None), 0.75)
        """
        if not n:
            return cls(None, hits=hits)
        return cls(hits / n, *wilson(hits, n, normal_reach(level)), n=n, hits=hits)


def ci_and_undefined(figures: Mapping[str, Estimate]) -> dict[str, Any]:
    """Return what stands in JSON beside the values of figures, by their names; no empty part.

    >>> ci_and_undefined({"kappa": Estimate(0.5, 0.25, 0.75), "f1": Estimate.undefined("No item.")})
    {'ci': {'kappa': [0.25, 0.75]}, 'undefined': {'f1': 'No item.'}}
    """
    parts = {
        "ci": {name: one.ci for name, one in figures.items() if one.ci},
        "undefined": {name: one.reason for name, one in figures.items() if one.value is None},
    }
    return {key: part for key, part in parts.items() if part}


#: The normal quantile of a two-sided interval at 95%.
_Z95 = 1.959963984540054


def normal_reach(level: float) -> float:
    """How many standard errors a two-sided normal interval reaches, at a level in (0, 1).

    >>> normal_reach(0.95), round(normal_reach(0.99), 3)
    (1.959963984540054, 2.576)
    """
    return _Z95 if level == USUAL.level else NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: int, n: int, z: float = _Z95) -> tuple[float, float]:
    """The Wilson score interval of a share, within [0, 1].

    Args:
        successes: how many of the ``n`` were, in [0, n].
        n: how many were counted, at least 1.
        z: the normal quantile; the default gives 95%.

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


def turned(one: Estimate) -> Estimate:
    """The figure with the other sign, as of a difference taken the other way.

    >>> turned(Estimate(0.25, -0.5, 1.0))[:3]
    (-0.25, -1.0, 0.5)
    """
    value, low, high = (None if each is None else -each for each in one[:3])
    return one._replace(value=value, low=high, high=low)


def together(shares: Iterable[Estimate]) -> Estimate:
    """The share of several groups that are counted whole, as one; it has no interval.

    >>> together([Estimate(0.5, n=2), Estimate(1.0, n=6)])[:1], together([]).n
    ((0.875,), 0)
    """
    known = [(one.value, one.n) for one in shares if one.value is not None]
    n = sum(number for _, number in known)
    hits = sum(round(value * number) for value, number in known)
    return Estimate(hits / n, n=n, hits=hits) if n else Estimate(None)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The first share minus the second, with its 95% interval (Newcombe 1998, method 10).

    The interval is made of both Wilson intervals, so that it holds for few observations and for
    shares of 0 and 1. Raises ``ValueError`` where either has none.

    Newcombe's example, 56 of 70 against 48 of 80:

    >>> [round(each, 4) for each in difference(Estimate.share(56, 70), Estimate.share(48, 80))[:3]]
    [0.2, 0.0524, 0.3339]
    """
    one, low, high, *_ = first
    other, other_low, other_high, *_ = second
    if one is None or low is None or high is None:
        raise ValueError("both shares need observations")
    if other is None or other_low is None or other_high is None:
        raise ValueError("both shares need observations")
    gap = one - other
    down = sqrt((one - low) ** 2 + (other_high - other) ** 2)
    up = sqrt((high - one) ** 2 + (other - other_low) ** 2)
    return Estimate(gap, gap - down, gap + up, n=first.n + second.n)
