"""Which way a rater leans, named by the option and never by the sign of a level.

A level is a place in a list: of a binary criterion MET comes first, so that a rater who always says
MET has a *negative* bias in levels. ``metrics --json`` keeps that number, by its contract; whatever
is read by people says which option the rater gives more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.domain.rubric import MET
from core.domain.rules import Scale

#: Figures of levels whose sign says which way a rater leans, and in what they are counted.
DIRECTED = {"bias_levels": "in options", "bias_effect_size": "in standard deviations"}
_OF_TWO = {"bias_levels": "as a share of the items", "bias_effect_size": "in standard deviations"}


class Lean(NamedTuple):
    """A bias turned so that it is positive: ``words`` name its way, ``unit`` what it counts.

    The interval is turned as well, so its lower end may be negative: the other way.
    """

    words: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None


def positive(labels: Sequence[str]) -> int:
    """The level that rates of a binary criterion are about: MET, in whichever order it is listed.

    >>> positive(["UNMET", "met"]), positive(["a", "b"])
    (1, 0)
    """
    folded = [label.casefold() for label in labels]
    return folded.index(MET.casefold()) if MET.casefold() in folded else 0


def lean(
    name: str,
    scale: Scale,
    labels: Sequence[str],
    value: float,
    low: float | None = None,
    high: float | None = None,
) -> Lean:
    """A figure of ``DIRECTED`` with its way in words.

    >>> lean("bias_levels", "binary", ["MET", "UNMET"], -0.5)[:3]
    ('says MET more often', 'as a share of the items', 0.5)
    >>> lean("bias_levels", "ordinal", ["low", "mid", "high"], 0.5, -0.1, 0.9)[:3]
    ('leans towards high', 'in options', 0.5)
    """
    binary = scale == "binary"
    unit = (_OF_TWO if binary else DIRECTED)[name]
    if not value:
        level = positive(labels) if binary else len(labels) - 1
        words = f"says {labels[level]} as often" if binary else "leans neither way"
    else:
        level = 0 if value < 0 else len(labels) - 1
        words = f"says {labels[level]} more often" if binary else f"leans towards {labels[level]}"
    if level > 0 or low is None or high is None:
        return Lean(words, unit, abs(value), low, high)
    return Lean(words, unit, abs(value), 0.0 - high, 0.0 - low)
