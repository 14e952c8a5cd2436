"""The order in which a judge is shown the options of a criterion."""

from __future__ import annotations

from core.domain.rubric import Criterion
from core.identity import seeded


def shown_order(
    criterion: Criterion, *, seed: int, item: str, judge: str, replicate: int, shuffle: bool = True
) -> tuple[int, ...]:
    """``order[shown position] = index into choices``: drawn from the cell, abstentions last.

    The same arguments give the same order on every machine. Without ``shuffle`` the order is the
    author's own.

    >>> from core.domain.rubric import Criterion
    >>> both = Criterion(name="c", requirement="Names the capital.")
    >>> shown_order(both, seed=7, item="i1", judge="j", replicate=0, shuffle=False)
    (0, 1, 2)
    >>> shown_order(both, seed=7, item="i1", judge="j", replicate=0)[-1]  # Cannot assess
    2
    """
    indices = range(len(criterion.choices))
    if not shuffle:
        return tuple(indices)
    scored = list(criterion.scored)
    seeded("order", seed, item, criterion.name, judge, replicate).shuffle(scored)
    return (*scored, *(i for i in indices if criterion.choices[i].na))
