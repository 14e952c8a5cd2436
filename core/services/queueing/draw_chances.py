"""With what chance the audit draws a cell, where not every cell has the same.

The chance hangs on what the votes say, by strata: a drawn cell stands for its stratum, so that
whatever is drawn speaks of all. Everything is known beforehand and written down with each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.review import DrawKind

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[Any]

#: Cells of one stratum are drawn alike.
Stratum = tuple[str, int]
#: From this margin of the votes on they are nearly of one mind; at 1 of one.
NEARLY = 0.5
#: How far people's answers are expected to spread around a verdict, by how much votes agree: the
#: root of q (1 - q) where 12, 30 and 50 % are wrong (unanimous panels: docs/adjudication.md).
SPREADS = (0.33, 0.46, 0.5)


class DrawnFrom(NamedTuple):
    """What is known of cells that may be drawn, a column for each: which of ``names`` their
    criterion has, the votes' option (negative: none) and margin (NaN: none).
    """

    names: Sequence[str]
    name: Numbers
    option: Numbers
    margin: Numbers


def strata(draw: DrawKind, cells: DrawnFrom) -> tuple[Numbers, list[Stratum]]:
    """In which of the strata given each cell is; these stand in their order, and each has cells.

    >>> import numpy as np
    >>> cells = DrawnFrom(["Tone"], np.array([0, 0]), np.array([2, -2]), np.array([1, 0.2]))
    >>> strata("strata", cells)[1], strata("doubt", cells)[1]
    ([('Tone', -1), ('Tone', 2)], [('', 0), ('', 2)])
    """
    import numpy as np

    if draw == "even":
        found, at = [("", 0)] if len(cells.name) else [], np.zeros(len(cells.name), np.int64)
    elif draw == "strata":
        names = sorted(set(cells.names))
        place = np.array([names.index(name) for name in cells.names], np.int64)
        option = np.maximum(cells.option, -1) + 1
        many = int(option.max(initial=0)) + 1
        kinds, at = np.unique(place[cells.name] * many + option, return_inverse=True)
        found = [(names[kind // many], kind % many - 1) for kind in kinds.tolist()]
    else:
        split = np.where(cells.margin < NEARLY, 2, np.where(cells.margin < 1, 1, 0))
        kinds, at = np.unique(split, return_inverse=True)
        found = [("", kind) for kind in kinds.tolist()]
    return at, found


def chances(draw: DrawKind, share: float, sizes: Mapping[Stratum, int]) -> dict[Stratum, float]:
    """The chance of a cell of each stratum, of which there are so many; their mean over all cells
    is ``share``.

    ``strata``: as many cells of each stratum, or all there are. ``doubt``: in proportion to how far
    people are expected to be off (Neyman 1934).

    >>> chances("strata", 0.3, {("A", 0): 90, ("A", 1): 10})
    {('A', 0): 0.22222222222222224, ('A', 1): 1.0}
    """
    if draw == "even":
        return dict.fromkeys(sizes, share)
    if draw == "strata":
        weights = {one: 1 / size for one, size in sizes.items()}
    else:
        weights = {one: SPREADS[one[1]] for one in sizes}
    return _filled(sizes, weights, share * sum(sizes.values()))


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


def fixed_draw(numbers: Numbers, among: Numbers, wanted: int) -> tuple[Numbers, float]:
    """The cells with the smallest numbers of some, as many as are wanted, and their chance."""
    import numpy as np

    cells = np.flatnonzero(among)
    size = min(wanted, len(cells))
    drawn = np.zeros(len(numbers), np.bool_)
    drawn[cells[np.argsort(numbers[cells], kind="stable")[:size]]] = True
    return drawn, size / len(cells) if size else 0.0
