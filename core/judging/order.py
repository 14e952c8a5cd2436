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


def balanced_order(criterion: Criterion, *, seed: int, judge: str, turn: int) -> tuple[int, ...]:
    """An order that rotates with ``turn``; in as many turns as options each stands everywhere.

    The order that is rotated is drawn from the criterion and the judge; abstentions stay last.

    >>> both = Criterion(name="c", requirement="Names the capital.")
    >>> {balanced_order(both, seed=7, judge="j", turn=turn)[0] for turn in (0, 1)}
    {0, 1}
    """
    base = shown_order(criterion, seed=seed, item="", judge=judge, replicate=0)
    scored = len(criterion.scored)
    at = turn % scored
    return (*base[at:scored], *base[:at], *base[scored:])


def reversed_order(criterion: Criterion, order: tuple[int, ...]) -> tuple[int, ...]:
    """The order with its options reversed; abstentions stay last.

    >>> both = Criterion(name="c", requirement="Names the capital.")
    >>> reversed_order(both, (0, 1, 2))
    (1, 0, 2)
    """
    scored = len(criterion.scored)
    return (*reversed(order[:scored]), *order[scored:])
