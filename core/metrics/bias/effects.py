"""An effect: how large, how sure, how likely by chance; and which effects are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc, ndtr, stdtr, stdtrit

from core.metrics.estimate import Estimate, wilson
from core.metrics.intervals.bootstrap import holm
from core.metrics.measure import Array

#: Which side of the null value ails. ``both``: either.
Side = Literal["both", "above", "below"]

#: With fewer items than this an effect is not judged: its p would rest on the model, not on data.
FEW = 20
#: Differences that should be zero may miss it by this much.
EXACT = 1e-12


class Null(NamedTuple):
    """The value that a healthy rater or question has at most (``above``) or at least (``below``).

    >>> Null(0.4, "below").value
    0.4
    """

    value: float = 0.0
    side: Side = "both"


class BiasEffect(NamedTuple):
    """An estimate with its 95% interval and the p of the null value.

    ``n`` counts independent units: items, however many answers each has, or answers where a test
    is exact for them. Without an estimate ``reason`` says why; an interval is ``None`` where all
    items show the same, and then ``p`` is 1 or comes from one more item that shows the null.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    p: float | None
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> BiasEffect:
        """An effect that cannot be judged, and why.

        >>> BiasEffect.undefined("Nothing was labelled.").p is None
        True
        """
        return cls(None, None, None, n, None, reason)

    @property
    def figure(self) -> Estimate:
        """The estimate with its interval, without the p."""
        return Estimate(self.estimate, self.low, self.high, self.reason, self.n)


def too_few(n: int) -> BiasEffect:
    """The effect of fewer than ``FEW`` items: undefined.

    >>> too_few(3).reason
    'Only 3 items can be compared; 20 are needed.'
    """
    return BiasEffect.undefined(f"Only {n} items can be compared; {FEW} are needed.", n)


def normal_p(z: float, side: Side) -> float:
    """The p of a standard normal deviate on the side that ails, in [0, 1].

    >>> round(normal_p(1.959964, "both"), 4), round(normal_p(1.959964, "below"), 4)
    (0.05, 0.975)
    """
    if side == "both":
        return float(2 * ndtr(-abs(z)))
    return float(ndtr(-z if side == "above" else z))


def judged(estimate: float, error: float, n: int, null: Null) -> BiasEffect:
    """The effect of an estimate whose standard error rests on ``n`` independent items.

    Student's t with n - 1 degrees of freedom (Student 1908). ``error`` must be positive.

    >>> effect = judged(0.3, 0.1, 101, Null())
    >>> round(effect.low, 2), round(effect.high, 2), round(effect.p, 4)
    (0.1, 0.5, 0.0034)
    """
    freedom = n - 1
    reach = float(stdtrit(freedom, 0.975)) * error
    t = (estimate - null.value) / error
    if null.side == "both":
        p = 2 * float(stdtr(freedom, -abs(t)))
    else:
        p = float(stdtr(freedom, -t if null.side == "above" else t))
    return BiasEffect(estimate, estimate - reach, estimate + reach, n, min(1.0, p))


def alike(estimate: float, n: int, null: Null) -> BiasEffect:
    """The effect where all ``n`` items show the same, so that nothing tells how it varies.

    There is no interval. The p is that of one item more which shows the null: then the estimate
    lies n + 1 standard errors from it (n values e and one 0 have the standard error e / (n + 1)).

    >>> alike(0.0, 30, Null()).p, alike(1.0, 30, Null()).p < 1e-20
    (1.0, True)
    """
    beyond = estimate - null.value
    if abs(beyond) <= EXACT or (null.side == "above" and beyond < 0):
        return BiasEffect(estimate, None, None, n, 1.0)
    if null.side == "below" and beyond > 0:
        return BiasEffect(estimate, None, None, n, 1.0)
    sides = 2 if null.side == "both" else 1
    return BiasEffect(estimate, None, None, n, sides * float(stdtr(n - 1, -(n + 1))))


def jackknifed(
    estimate: float, left_out: Array, null: Null, times: Array | None = None
) -> BiasEffect:
    """The effect of a statistic from its values without one item each (Tukey 1958).

    ``times`` says how many items each value stands for. Undefined where a value is NaN.

    >>> values = np.arange(21.0)
    >>> effect = jackknifed(10.0, (210 - values) / 20, Null())
    >>> round((effect.high - 10) / 2.086, 3)  # the standard error of the mean, sqrt(38.5 / 21)
    1.354
    """
    number = np.ones(len(left_out)) if times is None else times
    n = int(number.sum())
    if n < FEW:
        return too_few(n)
    if not np.isfinite(estimate) or not np.isfinite(left_out).all():
        return BiasEffect.undefined("One item decides whether it is defined at all.", n)
    gap = left_out - np.average(left_out, weights=number)
    error = sqrt((n - 1) / n * float((number * gap**2).sum()))
    return judged(estimate, error, n, null) if error > EXACT else alike(estimate, n, null)


def share_above(hits: npt.ArrayLike, items: npt.ArrayLike, limit: float) -> BiasEffect:
    """The share of ``hits``, and the p of it being at most ``limit``.

    Cells of one item may go together, so all counts are divided by the design effect (Kish 1965,
    section 8.2), taken as no less than 1; then the test is the exact binomial one and the interval
    Wilson's. Undefined for fewer than 20 items.

    Args:
        hits: one truth value per cell, shape (cells,).
        items: the item of each cell, shape (cells,).
        limit: the share that is still healthy, in (0, 1).

    >>> effect = share_above([1] * 30 + [0] * 70, np.arange(100), 0.1)
    >>> effect.estimate, effect.p < 1e-6
    (0.3, True)
    """
    hit, of = np.asarray(hits, np.float64), np.asarray(items, np.int64)
    codes = np.unique(of, return_inverse=True)[1]
    number = int(codes.max()) + 1 if len(codes) else 0
    if number < FEW:
        return too_few(number)
    share = float(hit.mean())
    spread = _design(hit - share, codes, share)
    cells, found = len(hit) / spread, float(hit.sum()) / spread
    whole, counted = round(cells), min(round(found), round(cells))
    low, high = wilson(counted, whole)
    p = float(bdtrc(floor(found) - 1, whole, limit)) if found >= 1 else 1.0
    return BiasEffect(share, min(low, share), max(high, share), number, p)


def _design(residuals: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], p: float) -> float:
    """How many times larger the variance is than that of independent cells; at least 1."""
    if not 0 < p < 1:
        return 1.0
    together = float((np.bincount(codes, residuals) ** 2).sum())
    return max(1.0, together / (len(residuals) * p * (1 - p)))


def hardly_used(picked: int, n: int, limit: float) -> BiasEffect:
    """The share of items for which an option was picked, and the p of it being ``limit`` or more.

    The exact binomial test; the interval is Wilson's. ``picked`` counts the items for which anybody
    picked it, of ``n`` that anybody answered. Undefined for fewer than 20 items.

    >>> effect = hardly_used(0, 200, 0.05)
    >>> effect.estimate, round(effect.high, 3), f"{effect.p:.1e}"  # 0.95^200
    (0.0, 0.019, '3.5e-05')
    """
    if n < FEW:
        return too_few(n)
    low, high = wilson(picked, n)
    return BiasEffect(picked / n, low, high, n, float(bdtr(picked, n, limit)))


# Which effects are significant: surely there, and large enough to matter.
#
# All checks of a run are corrected together (Holm 1979), so the rate of false alarms is one of
# whole runs: data in which nothing ails raise any finding in at most ``FALSE_ALARMS`` of runs. That
# was simulated, and holds as far as the simulation goes (``PROMISED``). An effect that is surely
# there and too small to matter is not shown either.
#
# What is only observed stands apart (``OBSERVED``): a slope on length is there in healthy judges as
# soon as longer answers are better than their labels can tell, and likewise with answers of the
# judge's own maker; so it is shown for what it is, without a promise, and corrected by itself.
# Whether it is a cause is for probes to tell (``core.metrics.bias.probes``).

#: At most this share of runs without any fault raises a finding.
FALSE_ALARMS = 0.01
#: What was simulated (``bench/findings.py``), for whoever reads the promise.
PROMISED = (
    f"In simulated runs in which nothing ails at most {FALSE_ALARMS:.0%} raise any finding, but "
    "for length and own answers, of which nothing is promised. Their judges err at random in a "
    "fifth of the answers; their labels are right, or err as often. Labels that err more than the "
    "judges may raise more."
)

Kind = Literal[
    "position",
    "flips",
    "inconsistency",
    "verbosity",
    "own_maker",
    "leniency",
    "leaning",
    "extremes",
    "halo",
    "abstention",
    "drift",
    "agreement",
    "discrimination",
    "unused",
    "merge",
    "redundancy",
]
Severity = Literal["slight", "serious"]


#: Effects that healthy judges show too, wherever it is deserved: no false-alarm rate can be given.
OBSERVED: frozenset[Kind] = frozenset({"verbosity", "own_maker"})


class Bound(NamedTuple):
    """What a healthy subject has, and how far beyond that it matters.

    >>> BOUNDS["agreement"]
    Bound(null=Null(value=0.4, side='below'), matters=0.1)
    """

    null: Null
    matters: float


#: Values are in [0, 1] (an option's value, a share, a correlation), so bounds are, too. Where a
#: healthy judge shows some of it (it abstains now and then, people hardly do), so does the null.
BOUNDS: dict[Kind, Bound] = {
    "position": Bound(Null(0.0, "both"), 0.05),
    "flips": Bound(Null(0.10, "above"), 0.05),
    "inconsistency": Bound(Null(0.10, "above"), 0.05),
    "verbosity": Bound(Null(0.0, "both"), 0.02),
    "own_maker": Bound(Null(0.0, "above"), 0.05),
    "leniency": Bound(Null(0.0, "both"), 0.05),
    "leaning": Bound(Null(0.0, "both"), 0.10),
    "extremes": Bound(Null(0.0, "both"), 0.10),
    "halo": Bound(Null(0.0, "above"), 0.10),
    "abstention": Bound(Null(0.05, "above"), 0.03),
    "drift": Bound(Null(0.0, "both"), 0.05),
    "agreement": Bound(Null(0.4, "below"), 0.1),
    "discrimination": Bound(Null(0.2, "below"), 0.1),
    "unused": Bound(Null(0.05, "below"), 0.04),
    "merge": Bound(Null(0.2, "below"), 0.1),
    "redundancy": Bound(Null(0.8, "above"), 0.1),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that ails a judge or a criterion, as a sentence with its evidence.

    ``subject`` names it, ``role`` says which of the two it is, ``other`` the second subject where
    there is one. ``estimate`` with its 95% interval ``low`` to ``high`` (``None`` where all items
    show the same), from ``n`` independent items or answers. ``p`` is corrected for all checks of
    the run; ``false_alarms`` is the share of runs without any fault that raise a finding, and
    ``None`` where it is only observed. ``serious``: the whole interval lies where it matters.
    """

    kind: Kind
    role: Literal["judge", "criterion"]
    subject: str
    sentence: str
    estimate: float
    low: float | None
    high: float | None
    n: int
    p: float
    severity: Severity
    other: str = ""
    false_alarms: float | None = FALSE_ALARMS


def significant(
    checks: Sequence[tuple[Kind, BiasEffect]], rate: float = FALSE_ALARMS
) -> list[float | None]:
    """For every check its p, corrected for all of them, where it is significant; else ``None``.

    >>> there = BiasEffect(0.2, 0.1, 0.3, 100, 1e-5)
    >>> significant([("leniency", there), ("leniency", there._replace(estimate=0.01))])
    [2e-05, None]
    """
    corrected = [
        own if kind in OBSERVED else promised
        for (kind, _), own, promised in zip(
            checks,
            holm([effect.p if kind in OBSERVED else None for kind, effect in checks]),
            holm([None if kind in OBSERVED else effect.p for kind, effect in checks]),
            strict=True,
        )
    ]
    return [
        p if p is not None and p <= rate and _matters(kind, effect.estimate) else None
        for p, (kind, effect) in zip(corrected, checks, strict=True)
    ]


def severity(kind: Kind, effect: BiasEffect) -> Severity:
    """``serious`` where both ends of the interval lie where it matters, on one side.

    What is only observed never is: it may be deserved.

    >>> severity("leniency", BiasEffect(0.2, 0.1, 0.3, 100, 1e-5))
    'serious'
    >>> severity("leniency", BiasEffect(0.06, 0.01, 0.11, 100, 1e-5))
    'slight'
    """
    if kind in OBSERVED:
        return "slight"
    ends = [effect.estimate if end is None else end for end in (effect.low, effect.high)]
    beyond = [_beyond(kind, end) for end in ends if end is not None]
    matters = BOUNDS[kind].matters
    sure = min(beyond) >= matters
    if BOUNDS[kind].null.side == "both":
        sure = sure or max(beyond) <= -matters
    return "serious" if sure else "slight"


def _beyond(kind: Kind, value: float) -> float:
    """How far a value lies beyond the null on the side that ails."""
    null = BOUNDS[kind].null
    if kind == "redundancy":
        return abs(value) - null.value
    return null.value - value if null.side == "below" else value - null.value


def _matters(kind: Kind, value: float | None) -> bool:
    if value is None:
        return False
    beyond = _beyond(kind, value)
    size = abs(beyond) if BOUNDS[kind].null.side == "both" else beyond
    return size >= BOUNDS[kind].matters
