"""One plot and its table: a few series of numbers over the same places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.services.evidence import Values


@dataclass(frozen=True)
class Plate:
    """Series over ``places``, each a name and a number per place (``None``: there is none).

    ``axes`` say what places and numbers are; ``counts`` how many answers or items each place stands
    on. ``share``: the numbers are shares of 1.
    """

    axes: tuple[str, str]
    places: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]
    counts: tuple[int, ...]
    kind: Literal["bars", "dots", "lines"] = "bars"
    share: bool = False


def mean_of(values: Values) -> float:
    """The mean as a plain number; there must be values."""
    return float(values.mean())
