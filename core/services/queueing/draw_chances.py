"""The chance of each cell to be drawn by the audit, if chances differ.

The chance depends on the votes, by stratum. A drawn cell represents its stratum, so any draw
represents all cells. All chances are known before the draw and stored with each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.review import DrawKind

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[Any]

#: Cells of one stratum have the same chance.
Stratum = tuple[str, int]
#: Votes with at least this margin nearly agree; at a margin of 1 they agree.
NEARLY = 0.5
#: The expected spread of people's answers around a verdict, by the agreement of the votes: the root
#: of q (1 - q) with 12, 30 and 50 % wrong verdicts (unanimous panels: docs/adjudication.md).
SPREADS = (0.33, 0.46, 0.5)


class DrawableCells(NamedTuple):
    """Facts on cells that may be drawn, in columns: the index of their criterion in ``names``, the
    votes' option (negative: none) and their margin (NaN: none).
    """

    names: Sequence[str]
    name: Numbers
    option: Numbers
    margin: Numbers


def strata(draw: DrawKind, cells: DrawableCells) -> tuple[Numbers, list[Stratum]]:
    """Return each cell's stratum as an index, and the non-empty strata in order.

    >>> import numpy as np
    >>> cells = DrawableCells(["Tone"], np.array([0, 0]), np.array([2, -2]), np.array([1, 0.2]))
    >>> strata("strata", cells)[1], strata("doubt", cells)[1]
    ([('Tone', -1), ('Tone', 2)], [('', 0), ('', 2)])
    """
    import numpy as np

    if draw == "even":
        present, stratum = [("", 0)] if len(cells.name) else [], np.zeros(len(cells.name), np.int64)
    elif draw == "strata":
        names = sorted(set(cells.names))
        place = np.array([names.index(name) for name in cells.names], np.int64)
        option = np.maximum(cells.option, -1) + 1
        options = int(option.max(initial=0)) + 1
        kinds, stratum = np.unique(place[cells.name] * options + option, return_inverse=True)
        present = [(names[kind // options], kind % options - 1) for kind in kinds.tolist()]
    else:
        split = np.where(cells.margin < NEARLY, 2, np.where(cells.margin < 1, 1, 0))
        kinds, stratum = np.unique(split, return_inverse=True)
        present = [("", kind) for kind in kinds.tolist()]
    return stratum, present


def chances_by_stratum(
    draw: DrawKind, share: float, sizes: Mapping[Stratum, int]
) -> dict[Stratum, float]:
    """Return the chance of a cell by stratum; their mean over all cells is ``share``.

    ``sizes`` has the number of cells of each stratum. ``strata``: draw equally many cells of each
    stratum, or all of a small one. ``doubt``: draw in proportion to people's expected error (Neyman
    1934).

    >>> chances_by_stratum("strata", 0.3, {("A", 0): 90, ("A", 1): 10})
    {('A', 0): 0.22222222222222224, ('A', 1): 1.0}
    """
    if draw == "even":
        return dict.fromkeys(sizes, share)
    if draw == "strata":
        weights = {stratum: 1 / size for stratum, size in sizes.items()}
    else:
        weights = {stratum: SPREADS[stratum[1]] for stratum in sizes}
    return _proportional_chances(sizes, weights, share * sum(sizes.values()))


def _proportional_chances(
    sizes: Mapping[Stratum, int], weights: Mapping[Stratum, float], number: float
) -> dict[Stratum, float]:
    """Return chances in proportion to the weights, at most 1, that draw ``number`` cells."""
    full = set[Stratum]()
    while True:
        remaining = number - sum(sizes[stratum] for stratum in full)
        total_weight = sum(
            sizes[stratum] * weights[stratum] for stratum in sizes if stratum not in full
        )
        factor = remaining / total_weight if total_weight else 0.0
        above_one = {
            stratum for stratum in sizes if stratum not in full and factor * weights[stratum] >= 1
        }
        if not above_one:
            return {
                stratum: 1.0 if stratum in full else factor * weights[stratum] for stratum in sizes
            }
        full |= above_one


def fixed_draw(numbers: Numbers, candidates: Numbers, wanted: int) -> tuple[Numbers, float]:
    """Return the ``wanted`` cells with the smallest numbers, and their chance."""
    import numpy as np

    cells = np.flatnonzero(candidates)
    size = min(wanted, len(cells))
    drawn = np.zeros(len(numbers), np.bool_)
    drawn[cells[np.argsort(numbers[cells], kind="stable")[:size]]] = True
    return drawn, size / len(cells) if size else 0.0
