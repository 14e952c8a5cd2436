"""With what chance the audit draws a cell, where not every cell has the same.

The chance hangs on what the votes say, by strata: a drawn cell stands for its stratum, so that
whatever is drawn speaks of all. Everything is known beforehand and written down with each cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from core.domain.review import DrawKind

#: Cells of one stratum are drawn alike.
Stratum = tuple[str, int]
#: From this margin of the votes on they are nearly of one mind; at 1 of one.
NEARLY = 0.5
#: How far people's answers are expected to spread around a verdict, by how much votes agree: the
#: root of q (1 - q) where 12, 30 and 50 % are wrong (unanimous panels: docs/adjudication.md).
SPREADS = (0.33, 0.46, 0.5)


class DrawnFrom(NamedTuple):
    """What is known of a cell that may be drawn: the votes' option and margin."""

    criterion: str
    option: int | None
    margin: float | None


def stratum_of(draw: DrawKind, cell: DrawnFrom) -> Stratum:
    """Which stratum a cell is in.

    >>> stratum_of("strata", DrawnFrom("Tone", 2, 1.0)), stratum_of("doubt", DrawnFrom("A", 0, 0.2))
    (('Tone', 2), ('', 2))
    """
    if draw == "even":
        return ("", 0)
    if draw == "strata":
        return (cell.criterion, -1 if cell.option is None else cell.option)
    margin = 1.0 if cell.margin is None else cell.margin
    return ("", 0 if margin >= 1 else 1 if margin >= NEARLY else 2)


def chances(draw: DrawKind, share: float, cells: Iterable[Stratum]) -> dict[Stratum, float]:
    """The chance of a cell of each stratum; their mean over all cells is ``share``.

    ``strata``: as many cells of each stratum, or all there are. ``doubt``: in proportion to how far
    people are expected to be off (Neyman 1934).

    >>> chances("strata", 0.3, [("A", 0)] * 90 + [("A", 1)] * 10)
    {('A', 0): 0.22222222222222224, ('A', 1): 1.0}
    """
    sizes = Counter(cells)
    if draw == "even":
        return dict.fromkeys(sizes, share)
    if draw == "strata":
        weights = {one: 1 / size for one, size in sizes.items()}
    else:
        weights = {one: SPREADS[one[1]] for one in sizes}
    return _filled(sizes, weights, share * sizes.total())


def _filled(
    sizes: Mapping[Stratum, int], weights: Mapping[Stratum, float], number: float
) -> dict[Stratum, float]:
    """Chances in proportion to the weights, at most 1, that draw so many cells."""
    full = set[Stratum]()
    while True:
        left = number - sum(sizes[one] for one in full)
        among = sum(sizes[one] * weights[one] for one in sizes if one not in full)
        factor = left / among if among else 0.0
        over = {one for one in sizes if one not in full and factor * weights[one] >= 1}
        if not over:
            return {one: 1.0 if one in full else factor * weights[one] for one in sizes}
        full |= over
