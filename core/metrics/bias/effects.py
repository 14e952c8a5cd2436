"""Effects: their size, certainty and p; and the rules for showing them."""

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

#: The harmful side of the null value; ``both`` means either.
Side = Literal["both", "above", "below"]

#: With fewer items an effect is not tested, because its p value would depend more on the model than
#: on the data.
FEW = 20
#: The tolerance for differences that should be zero.
EXACT = 1e-12


class NullValue(NamedTuple):
    """The largest (``above``) or smallest (``below``) value of a healthy rater or question.

    ``matters`` is the smallest excess over it that matters.

    >>> BOUNDS["agreement"]
    NullValue(value=0.4, side='below', matters=0.1)
    """

    value: float = 0.0
    side: Side = "both"
    matters: float = 0.0


class BiasEffect(NamedTuple):
    """An estimate with its 95% interval and the p of the null value.

    ``n`` counts independent units: items, however many answers each has, or answers if the test is
    exact for them. Without an estimate, ``reason`` says why. The interval is ``None`` if all items
    are equal; then ``p`` is 1, or assumes one more item at the null.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    p: float | None
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> BiasEffect:
        """Return an effect that cannot be tested, with the reason.

        >>> BiasEffect.undefined("Nothing was labelled.").p is None
        True
        """
        return cls(None, None, None, n, None, reason)

    @property
    def figure(self) -> Estimate:
        """Return the estimate with its interval, without the p."""
        return Estimate(self.estimate, self.low, self.high, self.reason, self.n)


def effect_of_too_few(n: int) -> BiasEffect:
    """Return the undefined effect of fewer than ``FEW`` items.

    >>> effect_of_too_few(3).reason
    'Only 3 items can be compared; 20 are needed.'
    """
    return BiasEffect.undefined(f"Only {n} items can be compared; {FEW} are needed.", n)


def normal_p(z: float, side: Side) -> float:
    """Return the p of a standard normal deviate on the harmful side, in [0, 1].

    >>> round(normal_p(1.959964, "both"), 4), round(normal_p(1.959964, "below"), 4)
    (0.05, 0.975)
    """
    if side == "both":
        return float(2 * ndtr(-abs(z)))
    return float(ndtr(-z if side == "above" else z))


def effect_of_estimate(estimate: float, error: float, n: int, null: NullValue) -> BiasEffect:
    """Return the effect of an estimate and its standard error over ``n`` independent items.

    Student's t with n - 1 degrees of freedom (Student 1908). ``error`` must be positive.

    >>> effect = effect_of_estimate(0.3, 0.1, 101, NullValue())
    >>> round(effect.low, 2), round(effect.high, 2), round(effect.p, 4)
    (0.1, 0.5, 0.0034)
    """
    freedom = n - 1
    half_width = float(stdtrit(freedom, 0.975)) * error
    t = (estimate - null.value) / error
    if null.side == "both":
        p = 2 * float(stdtr(freedom, -abs(t)))
    else:
        p = float(stdtr(freedom, -t if null.side == "above" else t))
    return BiasEffect(estimate, estimate - half_width, estimate + half_width, n, min(1.0, p))


def effect_of_equal_items(estimate: float, n: int, null: NullValue) -> BiasEffect:
    """Return the effect if all ``n`` items are equal, so that their variance is unknown.

    It has no interval. The p assumes one more item at the null: the estimate is then n + 1 standard
    errors from it (n values e and one 0 have the standard error e / (n + 1)).

    >>> effect_of_equal_items(0.0, 30, NullValue()).p
    1.0
    >>> effect_of_equal_items(1.0, 30, NullValue()).p < 1e-20
    True
    """
    beyond = estimate - null.value
    if abs(beyond) <= EXACT or (null.side == "above" and beyond < 0):
        return BiasEffect(estimate, None, None, n, 1.0)
    if null.side == "below" and beyond > 0:
        return BiasEffect(estimate, None, None, n, 1.0)
    sides = 2 if null.side == "both" else 1
    return BiasEffect(estimate, None, None, n, sides * float(stdtr(n - 1, -(n + 1))))


def jackknife_effect(
    estimate: float, left_out: Array, null: NullValue, times: Array | None = None
) -> BiasEffect:
    """Return the effect of a statistic from its values without one item each (Tukey 1958).

    ``times`` is the number of items of each value. Undefined if a value is NaN.

    >>> values = np.arange(21.0)
    >>> effect = jackknife_effect(10.0, (210 - values) / 20, NullValue())
    >>> round((effect.high - 10) / 2.086, 3)  # the standard error of the mean, sqrt(38.5 / 21)
    1.354
    """
    number = np.ones(len(left_out)) if times is None else times
    n = int(number.sum())
    if n < FEW:
        return effect_of_too_few(n)
    if not np.isfinite(estimate) or not np.isfinite(left_out).all():
        return BiasEffect.undefined("One item decides whether it is defined at all.", n)
    gap = left_out - np.average(left_out, weights=number)
    error = sqrt((n - 1) / n * float((number * gap**2).sum()))
    return (
        effect_of_estimate(estimate, error, n, null)
        if error > EXACT
        else effect_of_equal_items(estimate, n, null)
    )


def share_above_limit(hits: npt.ArrayLike, items: npt.ArrayLike, limit: float) -> BiasEffect:
    """Return the share of ``hits``, and the p of it being at most ``limit``.

    Cells of one item may be correlated, so all counts are divided by the design effect (Kish 1965,
    section 8.2), at least 1. The test is then exact binomial, and the interval Wilson's. Undefined
    for fewer than 20 items.

    Args:
        hits: one truth value per cell, shape (cells,).
        items: the item of each cell, shape (cells,).
        limit: the largest healthy share, in (0, 1).

    >>> effect = share_above_limit([1] * 30 + [0] * 70, np.arange(100), 0.1)
    >>> effect.estimate, effect.p < 1e-6
    (0.3, True)
    """
    hit, item_of = np.asarray(hits, np.float64), np.asarray(items, np.int64)
    codes = np.unique(item_of, return_inverse=True)[1]
    number = int(codes.max()) + 1 if len(codes) else 0
    if number < FEW:
        return effect_of_too_few(number)
    share = float(hit.mean())
    spread = _design_effect(hit - share, codes, share)
    cells, hit_cells = len(hit) / spread, float(hit.sum()) / spread
    effective, counted = round(cells), min(round(hit_cells), round(cells))
    low, high = wilson(counted, effective)
    p = float(bdtrc(floor(hit_cells) - 1, effective, limit)) if hit_cells >= 1 else 1.0
    return BiasEffect(share, min(low, share), max(high, share), number, p)


def _design_effect(
    residuals: npt.NDArray[np.float64], codes: npt.NDArray[np.int64], p: float
) -> float:
    """Return the variance relative to the variance of independent cells; at least 1."""
    if not 0 < p < 1:
        return 1.0
    together = float((np.bincount(codes, residuals) ** 2).sum())
    return max(1.0, together / (len(residuals) * p * (1 - p)))


def share_of_rare_option(n_picked: int, n: int, limit: float) -> BiasEffect:
    """Return the share of items with a picked option, and the p of it being ``limit`` or more.

    The exact binomial test; the interval is Wilson's. ``n_picked`` counts items for which any rater
    picked it, of ``n`` answered items. Undefined for fewer than 20 items.

    >>> effect = share_of_rare_option(0, 200, 0.05)
    >>> effect.estimate, round(effect.high, 3), f"{effect.p:.1e}"  # 0.95^200
    (0.0, 0.019, '3.5e-05')
    """
    if n < FEW:
        return effect_of_too_few(n)
    low, high = wilson(n_picked, n)
    return BiasEffect(n_picked / n, low, high, n, float(bdtr(n_picked, n, limit)))


# Significant effects: not by chance, and large enough to matter.
#
# All checks of a run are corrected together (Holm 1979), so the false alarm rate is per run: at
# most a share ``FALSE_ALARMS`` of runs without faults has any finding, as simulated in the cases of
# ``PROMISED``. Effects that are significant but too small are not shown either.
#
# Effects of length and of a judge's own maker (``OBSERVED``) are only associations. A healthy judge
# shows them, too, if such answers are better in ways that the labels do not capture. So they are
# corrected separately, and shown without a false alarm rate. Only probes can show that length or
# maker is the cause (``core.metrics.bias.probes``).

#: The largest share of runs without faults that raise a finding.
FALSE_ALARMS = 0.01
#: A description of the simulated cases (``bench/findings.py``) for readers of a diagnosis.
PROMISED = (
    f"At most {FALSE_ALARMS:.0%} of simulated runs without faults raise any finding, except on "
    "length and own answers, which have no such limit. The simulated judges err at random in a "
    "fifth of the answers; the labels are right, or err as often. Labels that err more often than "
    "the judges may raise more findings."
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
    "agreement",
    "discrimination",
    "unused",
    "merge",
    "redundancy",
]
Severity = Literal["slight", "serious"]


#: Effects that healthy judges also show, if deserved, so that they have no false alarm rate.
OBSERVED: frozenset[Kind] = frozenset({"verbosity", "own_maker"})


#: The limits of healthy judges. Values and bounds are in [0, 1] (an option's value, a share, a
#: correlation). If healthy judges also show some of an effect, the null value allows for it (for
#: example, judges abstain now and then, while people hardly do).
BOUNDS: dict[Kind, NullValue] = {
    "position": NullValue(0.0, "both", 0.05),
    "flips": NullValue(0.10, "above", 0.05),
    "inconsistency": NullValue(0.10, "above", 0.05),
    "verbosity": NullValue(0.0, "both", 0.02),
    "own_maker": NullValue(0.0, "above", 0.05),
    "leniency": NullValue(0.0, "both", 0.05),
    "leaning": NullValue(0.0, "both", 0.10),
    "extremes": NullValue(0.0, "both", 0.10),
    "halo": NullValue(0.0, "above", 0.10),
    "abstention": NullValue(0.05, "above", 0.03),
    "agreement": NullValue(0.4, "below", 0.1),
    "discrimination": NullValue(0.2, "below", 0.1),
    "unused": NullValue(0.05, "below", 0.04),
    "merge": NullValue(0.2, "below", 0.1),
    "redundancy": NullValue(0.8, "above", 0.1),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a judge or a criterion, as a sentence with its evidence.

    ``subject`` names it, ``role`` says which of the two it is, ``other`` is the second subject, if
    any. ``estimate`` has the 95% interval ``low`` to ``high`` (``None`` if all items are equal),
    from ``n`` independent items or answers. ``p`` is corrected for all checks of the run.
    ``false_alarms`` is the share of runs without faults that raise a finding, ``None`` for observed
    kinds. ``serious``: the whole interval is in the range that matters.
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


def corrected_if_significant(checks: Sequence[tuple[Kind, BiasEffect]]) -> list[float | None]:
    """Return every check's p, corrected for all of them, if significant, otherwise ``None``.

    >>> large = BiasEffect(0.2, 0.1, 0.3, 100, 1e-5)
    >>> corrected_if_significant([("leniency", large), ("leniency", large._replace(estimate=0.01))])
    [2e-05, None]
    """
    corrected = [
        corrected_p if kind in OBSERVED else promised
        for (kind, _), corrected_p, promised in zip(
            checks,
            holm([effect.p if kind in OBSERVED else None for kind, effect in checks]),
            holm([None if kind in OBSERVED else effect.p for kind, effect in checks]),
            strict=True,
        )
    ]
    return [
        p
        if p is not None and p <= FALSE_ALARMS and _is_in_harmful_range(kind, effect.estimate)
        else None
        for p, (kind, effect) in zip(corrected, checks, strict=True)
    ]


def severity(kind: Kind, effect: BiasEffect) -> Severity:
    """Return ``serious`` if both ends of the interval are in the range that matters, on one side.

    Observed kinds are never serious, since they may be deserved.

    >>> severity("leniency", BiasEffect(0.2, 0.1, 0.3, 100, 1e-5))
    'serious'
    >>> severity("leniency", BiasEffect(0.06, 0.01, 0.11, 100, 1e-5))
    'slight'
    """
    if kind in OBSERVED:
        return "slight"
    ends = [effect.estimate if end is None else end for end in (effect.low, effect.high)]
    beyond = [_excess_over_null(kind, end) for end in ends if end is not None]
    matters = BOUNDS[kind].matters
    is_beyond_limit = min(beyond) >= matters
    if BOUNDS[kind].side == "both":
        is_beyond_limit = is_beyond_limit or max(beyond) <= -matters
    return "serious" if is_beyond_limit else "slight"


def _excess_over_null(kind: Kind, value: float) -> float:
    """Return how far a value exceeds the null on the harmful side."""
    null = BOUNDS[kind]
    if kind == "redundancy":
        return abs(value) - null.value
    return null.value - value if null.side == "below" else value - null.value


def _is_in_harmful_range(kind: Kind, value: float | None) -> bool:
    if value is None:
        return False
    beyond = _excess_over_null(kind, value)
    size = abs(beyond) if BOUNDS[kind].side == "both" else beyond
    return size >= BOUNDS[kind].matters
