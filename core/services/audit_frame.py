"""What a queue's random audit was drawn from, and what is known of it by now.

The frame: the cells with a verdict that the queue looked at, that no rule wanted, and that were not
settled yet. Each had the same chance. It stays the frame whoever settles its cells afterwards and
why: take those out and the audit is no random draw of what is left any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.domain.review import QueueRule, Settled
from core.domain.review_records import QueueRow
from core.domain.runs import CellRow
from core.services.judged import judged_options
from core.services.numbers import plural
from core.services.queue_cells import asked_about, audited
from core.services.settling import settled
from core.store.store import Store


class Framed(NamedTuple):
    """A cell of the frame; ``decided`` is what people settled, ``None`` while it does not count."""

    row: CellRow
    drawn: bool
    decided: Settled | None

    @property
    def right(self) -> bool:
        """Whether people give the verdict as well; nobody gives one that cannot be assessed."""
        return self.decided is not None and self.decided.option == self.row.judged


@dataclass(frozen=True)
class Frame:
    """``behind`` cells came later, and would be drawn if the queue were brought up to date."""

    cells: tuple[Framed, ...]
    behind: int


def frame(store: Store, queue: QueueRow) -> Frame:
    """The frame of a queue's audit. Raises ``NotFound``."""
    known = {place: s for place, s in settled(store, queue.run_id).items() if s.state == "active"}
    judged = judged_options(store, queue.run_id)
    queued = {(c.item_id, c.criterion): c for c in store.queues.cells(queue.id)}
    before = store.settled.active_at(queue.run_id, queue.created)
    cells, waiting = list[Framed](), set[tuple[str, str]]()
    for row in store.results.all_cells(queue.run_id):
        place = (row.item_id, row.criterion)
        cell, decided = queued.get(place), known.get(place)
        if place not in judged or not asked_about(queue.rule, *place):
            continue
        if cell is None:
            if decided is not None and place in before:
                continue  # It could not have been drawn.
            if decided is None:
                waiting.add(place)
        elif cell.stratum == "rule":
            continue
        cells.append(Framed(row, cell is not None and cell.audit, decided))
    return Frame(tuple(cells), _behind(store, queue, waiting, before))


def _behind(
    store: Store,
    queue: QueueRow,
    waiting: set[tuple[str, str]],
    before: set[tuple[str, str]],
) -> int:
    """How many of the cells nobody looked at would be in the audit if it were drawn now."""
    late = waiting & (before | store.votes.cells_after(queue.run_id, queue.created))
    return len(late & audited(store, queue)) if late else 0


@dataclass(frozen=True)
class Sample:
    """The cells that people settled as an option, for ``metrics.selection``.

    ``right``: 1.0 where the votes gave the same, else 0.0. ``chances``: that of being queued; 1 for
    what was settled before the queue was made. ``audited``: the random audit chose it; ``queued``:
    a rule did. ``missing`` counts the queue's cells that are not resolved: the chances are true
    once there are none, for what is reviewed first is not drawn at random.
    """

    right: list[float]
    chances: list[float]
    audited: list[bool]
    queued: list[bool]
    missing: int


def labelled_sample(store: Store, queue_id: int) -> Sample:
    """What decisions say of the votes, with the chance that each cell had to be looked at.

    They are those on the queue's cells, and on those that it left out because they were settled.
    Cells that nobody can assess, or on which the panel abstained or has no verdict, are not in it.
    """
    queue = store.queues.get(queue_id)
    known = settled(store, queue.run_id)
    judged = judged_options(store, queue.run_id)
    cells = store.queues.cells(queue_id)
    found = Sample([], [], [], [], sum(cell.state != "resolved" for cell in cells))
    drawn = {(cell.item_id, cell.criterion): cell for cell in cells}
    before = store.settled.active_at(queue.run_id, queue.created) - drawn.keys()
    for place in [*drawn, *sorted(p for p in before if asked_about(queue.rule, *p))]:
        decided, voted, cell = known.get(place), judged.get(place), drawn.get(place)
        if decided is None or decided.state != "active" or decided.uncertain or voted is None:
            continue
        found.right.append(float(decided.option == voted))
        found.chances.append(1.0 if cell is None else cell.chance)
        found.audited.append(cell is not None and cell.audit)
        found.queued.append(cell is not None and cell.stratum == "rule")
    return found


def narrowed(rule: QueueRule) -> str:
    """What a rule is narrowed to, in words; empty where it looks at all cells of a run."""
    if rule.criteria is None and rule.items is None:
        return ""
    parts = []
    if rule.criteria is not None:
        names = " and ".join(f"“{name}”" for name in rule.criteria)
        parts.append(names if len(rule.criteria) < 3 else f"{len(rule.criteria)} criteria")
    if rule.items is not None:
        parts.append(plural(len(rule.items), "item"))
    return f"{' of '.join(parts)} only"
