"""Who settled a cell, when, from what, and what the votes had given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.review import Settled
from core.services.preparing import resolved_items
from core.services.scored import scored_rubric
from core.services.truth import effective
from core.store.store import Store

__all__ = ["Decided", "decided"]


@dataclass(frozen=True)
class Decided:
    """What people settled a cell as. ``when`` is an ISO moment; ``queue`` where it happened.

    ``voted`` is the label of what the votes gave, ``None`` where they gave nothing.
    """

    settled: Settled
    when: str
    queue: int | None
    voted: str | None

    @property
    def how(self) -> str:
        """How they came to it, in words."""
        return {
            "human_single": "one person",
            "human_consensus": "people who agree",
            "adjudicated": "an adjudicator, after a disagreement",
            "imported": "imported",
        }[self.settled.provenance]


def decided(store: Store, run_id: int, item_id: str) -> Mapping[str, Decided]:
    """What people settled of an item, by criterion, in whichever state; raises ``NotFound``."""
    run = store.runs.get(run_id)
    cells = store.results.cells(run_id, item_id)
    known = [store.settled.get(run_id, item_id, cell.criterion) for cell in cells]
    found = [one for one in known if one is not None]
    if not found:
        return {}
    (item,) = resolved_items(store, run.dataset_version_id, [item_id], upto=0)
    rubric = effective(item, scored_rubric(store, run))
    criteria = {criterion.name: criterion for criterion in rubric.criteria}
    voted = {
        cell.criterion: cell.voted if cell.rule == "adjudicated" else cell.option for cell in cells
    }
    made = {}
    for one in found:
        event, option = store.events.get(one.event_id), voted.get(one.criterion)
        criterion = criteria.get(one.criterion)
        label = None
        if criterion is not None and option is not None:
            label = criterion.choices[option].label
        made[one.criterion] = Decided(one, event.ts, event.queue_id, label)
    return made
