"""What the votes gave, cell by cell, apart from what people made of it."""

from __future__ import annotations

from collections.abc import Mapping

from core.services.scored import scored_rubric
from core.store.store import Store


def judged_options(store: Store, run_id: int) -> Mapping[tuple[str, str], int]:
    """The option that the votes gave, by item id and criterion, also where people settled another.

    Cells on which the panel abstained or gave nothing are not in it: there is no verdict there that
    could be right or wrong. Raises ``NotFound``.
    """
    rubric = scored_rubric(store, store.runs.get(run_id))
    own = store.signs.own_rubrics(run_id)
    scored = {c.name: frozenset(c.scored) for c in rubric.criteria}
    theirs = {
        item: {c.name: frozenset(c.scored) for c in one.criteria} for item, one in own.items()
    }
    return {
        (item, criterion): option
        for item, options in store.results.judged(run_id).items()
        for criterion, option in options.items()
        if option is not None and option in theirs.get(item, scored)[criterion]
    }
