"""A queue of at most so many cells: what the rule wants is cut, what was drawn never is.

Cut cells join those that the audit is drawn from: nobody looks at them for what their votes say
any more. So that this falsifies no chance, how many cells the rule keeps rests on how many were
drawn in all, never on which; among as many drawn cells, each draw is as likely as any other. The
chance that is recorded is then the share that was drawn (docs/decisions/0032).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from core.domain.review import Order, QueueRule, QueueSettings
from core.domain.review_records import QueuedCell, QueueRow
from core.domain.runs import Run
from core.identity import seeded
from core.services.queueing.queue_cells import (
    Cells,
    ChosenCells,
    DrawCounts,
    QueueCandidate,
    QueuePreview,
    choose,
    either,
    foreseen,
)
from core.services.queueing.queue_order import weigh
from core.services.results.scored_items import stale_cells
from core.store.store import Store

#: With fewer timed verdicts than this nobody is told how long a queue takes.
FORETOLD = 3
#: So many of the newest verdicts tell the usual pace.
NEWEST = 500
#: Longer than this on one cell, and the person was elsewhere.
AWAY_MS = 15 * 60 * 1000


def choose_within(
    store: Store,
    run_id: int,
    rule: QueueRule,
    *,
    order: Order = "impact",
    seed: int = 0,
    stale: Cells = (),
) -> ChosenCells:
    """The cells of a new queue: what the rule chooses, of it at most as many as its cap lets in.

    Raises ``NotFound`` for an unknown run.
    """
    chosen = choose(store, run_id, rule, seed=seed, stale=stale)
    return _cut(store, store.runs.get(run_id), chosen, order, seed, rule.most)


def preview(
    store: Store,
    run_id: int,
    rule: QueueRule,
    *,
    order: Order = "impact",
    seed: int = 0,
    stale: Cells = (),
) -> QueuePreview:
    """What the rule would queue now; writes nothing. The order says what a cap leaves out.

    Without a cap no cell is taken in hand for it.
    """
    if rule.most is None:
        return foreseen(store, run_id, rule, seed=seed, stale=stale)
    return choose_within(store, run_id, rule, order=order, seed=seed, stale=stale).preview


def choose_more(store: Store, queue: QueueRow, *, stale: Cells = ()) -> list[QueueCandidate]:
    """The cells that a queue does not hold and its rule chooses by now.

    A queue with a cap takes only cells that were settled, had no verdict, or had not gone stale
    when it was made: what it left out then is a part of what its audit was drawn from.
    """
    inside = {(cell.item_id, cell.criterion) for cell in store.queues.cells(queue.id)}
    most = queue.rule.most
    if most is None:
        chosen = choose(store, queue.run_id, queue.rule, seed=queue.seed, stale=stale)
        return [c for c in chosen.cells if (c.item_id, c.criterion.name) not in inside]
    if queue.rule.stale and not stale:
        stale = stale_cells(store, queue.run_id)
    late = store.votes.cells_after(queue.run_id, queue.created)
    late |= store.settled.active_at(queue.run_id, queue.created)
    among = (late | set(stale)) - inside
    chosen = choose(store, queue.run_id, queue.rule, seed=queue.seed, stale=stale, among=among)
    room = max(0, most - len(inside))
    run = store.runs.get(queue.run_id)
    return list(_cut(store, run, chosen, queue.order, queue.seed, room).cells)


def _cut(
    store: Store, run: Run, chosen: ChosenCells, order: Order, seed: int, most: int | None
) -> ChosenCells:
    ruled = [cell for cell in chosen.cells if cell.ruled]
    drawn = chosen.draws.audit + chosen.draws.gold
    if most is None or len(ruled) + drawn <= most:
        return chosen
    room = max(0, most - drawn)
    first = _first(store, run, ruled, order, seed)[:room] if room else []
    kept = {(cell.item_id, cell.criterion) for cell in first}
    cells = []
    for cell in chosen.cells:
        if cell.ruled and (cell.item_id, cell.criterion.name) in kept:
            cells.append(cell)
        elif cell.drawn:
            chance = _share_drawn(chosen.draws, labelled=cell.labelled)
            cells.append(cell._replace(reasons=cell.drawn, chance=chance))
    return replace(chosen, cells=tuple(cells), left_out=len(chosen.cells) - len(cells))


def _share_drawn(draws: DrawCounts, *, labelled: bool) -> float:
    """The chance of a cell to be among those drawn, as many as they are."""
    audit = draws.audit / draws.audit_of
    return either(audit, draws.gold / draws.gold_of if labelled else 0.0)


def _first(
    store: Store, run: Run, cells: Sequence[QueueCandidate], order: Order, seed: int
) -> list[QueuedCell]:
    """The cells in the queue's order: as ``store.turns`` hands them out, cell by cell."""
    places = {cell.item_id: cell.position for cell in cells}
    key = _KEYS[order]

    def at(cell: QueuedCell) -> tuple[Any, ...]:
        draw = seeded("queue", seed, cell.item_id).random() if order == "random" else 0.0
        return (*key(cell), draw, places[cell.item_id])

    return sorted(weigh(store, run, cells), key=at)


def _none_first(value: float | None, default: float) -> float:
    return default if value is None else value


_KEYS: dict[Order, Callable[[QueuedCell], tuple[Any, ...]]] = {
    "impact": lambda c: (not c.failed, -c.flip, -c.change, -_none_first(c.entropy, 1.0)),
    "change": lambda c: (not c.failed, -c.change, -_none_first(c.entropy, 1.0)),
    "entropy": lambda c: (-_none_first(c.entropy, 1.0),),
    "margin": lambda c: (_none_first(c.margin, 0.0),),
    "spread": lambda c: (-_none_first(c.spread, 0.0),),
    "random": lambda c: (),
    "dataset": lambda c: (),
}


def minutes(store: Store, run_id: int, cells: int, settings: QueueSettings) -> float | None:
    """About how long people work on so many cells; ``None`` where nobody's pace is known.

    At the median time of the newest verdicts on any version of the run's rubric. Cells that
    several people look at take that time from each.
    """
    rubric = store.rubrics.version(store.runs.row(run_id).rubric_version_id).rubric_id
    times = store.events.newest_times(rubric, NEWEST)
    if len(times) < FORETOLD:
        return None
    each = median(min(ms, AWAY_MS) for ms in times)
    people = 1 + (settings.reviewers - 1) * settings.overlap_share
    return cells * people * each / 60_000
