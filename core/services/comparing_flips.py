"""Which verdicts are another one in the second run: per criterion and direction, with the items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.services.comparing_pairs import Paired, Sides
from core.services.rated_matrix import ABSTAINED, FAILED, Levels

ABSTENTION, NO_VERDICT = "abstained", "no verdict"


class Flip(NamedTuple):
    """Items whose verdict went from ``before`` to ``after``.

    Of those with a label, ``mended`` were wrong and are right now, ``broken`` the other way round.
    ``up`` is the change in levels on an ordered scale, else ``None``.
    """

    criterion: str
    before: str
    after: str
    items: tuple[str, ...]
    mended: int
    broken: int
    up: int | None


def flips(paired: Paired) -> tuple[Flip, ...]:
    """Every direction in which verdicts flipped, the most frequent of a criterion first."""
    return tuple(flip for sides in paired.criteria for flip in _of(sides, paired.match.both))


def _of(sides: Sides, items: tuple[str, ...]) -> list[Flip]:
    first, second = (_states(side) for side in sides.verdicts)
    moved = np.flatnonzero(first != second)
    ways: dict[tuple[int, int], list[int]] = {}
    for at in moved.tolist():
        ways.setdefault((int(first[at]), int(second[at])), []).append(at)
    found = []
    for (before, after), rows in ways.items():
        truth = sides.gold[rows]
        levels = sides.scale != "nominal" and before >= 0 and after >= 0
        found.append(
            Flip(
                sides.name,
                _word(sides, before),
                _word(sides, after),
                tuple(items[at] for at in rows),
                int(((truth >= 0) & (truth == after)).sum()),
                int(((truth >= 0) & (truth == before)).sum()),
                after - before if levels else None,
            )
        )
    return sorted(found, key=lambda flip: (-len(flip.items), flip.before, flip.after))


def _states(levels: Levels) -> Levels:
    """A level, an abstention, or nothing (not asked and failed are alike here)."""
    return np.where((levels >= 0) | (levels == ABSTAINED), levels, FAILED)


def _word(sides: Sides, level: int) -> str:
    if level >= 0:
        return sides.labels[level]
    return ABSTENTION if level == ABSTAINED else NO_VERDICT
