"""Which effects are told: surely there, and large enough to matter.

All checks of a run are corrected together (Holm 1979), so the rate of false alarms is one of
whole runs: data in which nothing ails raise any finding in at most ``FALSE_ALARMS`` of runs. That
was simulated, and holds as far as the simulation goes (``PROMISED``). An effect that is surely
there and too small to matter is not told either.

What is only observed stands apart (``OBSERVED``): a slope on length is there in healthy judges as
soon as longer answers are better than their labels can tell, so it is told for what it is, without
a promise, and corrected by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.metrics.ailments.effect import BiasEffect, Null
from core.metrics.comparison import holm

#: At most this share of runs without any ailment raises a finding.
FALSE_ALARMS = 0.01
#: What was simulated (``bench/ailments.py``), for whoever reads the promise.
PROMISED = (
    f"In simulated runs in which nothing ails at most {FALSE_ALARMS:.0%} raise any finding, but "
    "for length, of which nothing is promised. Their judges err at random in a fifth of the "
    "answers; their labels are right, or err as often. Labels that err more than the judges may "
    "raise more."
)

Kind = Literal[
    "position",
    "flips",
    "inconsistency",
    "verbosity",
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
OBSERVED: frozenset[Kind] = frozenset({"verbosity"})


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
    there is one. ``estimate`` with its 95 % interval ``low`` to ``high`` (``None`` where all items
    show the same), from ``n`` independent items or answers. ``p`` is corrected for all checks of
    the run; ``false_alarms`` is the share of runs without any ailment that raise a finding, and
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
    """For every check its p, corrected for all of them, where it is to be told; else ``None``.

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
