"""A queue with a limited number of cells, a share of which is the audit.

It keeps the first cells that the rule selects. The audit draws a fixed number of all other cells
with a verdict, each with the same chance, stored with the drawn ones (docs/decisions/0053).
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from statistics import median
from typing import TYPE_CHECKING, Any

from core.domain.review import Order, QueueRule, QueueSettings
from core.domain.review_records import QueuedCell, QueueRow
from core.domain.runs import Run
from core.identity import seeded_random
from core.services.queueing.draw_chances import fixed_draw
from core.services.queueing.queue_cells import (
    CellDraws,
    Cells,
    ChosenCells,
    ConsideredCells,
    QueueCandidate,
    QueuePreview,
    capped_audit,
    choose_cells,
    consider_cells,
    expected_counts,
)
from core.services.queueing.queue_order import weigh_cells
from core.services.results.scored_items import stale_cells
from core.store.store import Store
from core.text.numbers import count

if TYPE_CHECKING:
    from core.services.queueing.queue_table import Flags

#: The number of timed verdicts required to estimate a queue's time.
FORETOLD = 3
#: The number of newest verdicts that determine the usual pace.
NEWEST = 500
#: A longer time on one cell means that the person was away.
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
    """Return the cells of a new queue: those that the rule selects, limited by its cap.

    Raises ``NotFound`` for an unknown run.
    """
    if rule.most is None:
        return choose_cells(store, run_id, rule, seed=seed, stale=stale)
    considered = consider_cells(store, run_id, rule, seed=seed, stale=stale)
    audit, gold = random_cells(rule, rule.most)
    run = store.runs.get(run_id)
    selected = _first_cells(store, run, considered, order, seed, rule.most - audit - gold)
    return considered.capped(selected, considered.fixed_draws(selected, audit, gold))


def random_cells(rule: QueueRule, most: int) -> tuple[int, int]:
    """Return how many of at most ``most`` cells the audit draws, and how many are known labels.

    Labels get the cells that the audit leaves.

    >>> random_cells(QueueRule(audit_share=0.2), 60)
    (12, 0)
    >>> random_cells(QueueRule(audit_share=0.75, gold_share=0.5), 10)
    (8, 2)
    """
    audit = _rounded_number(rule.audit_share * most)
    return audit, min(_rounded_number(rule.gold_share * most), most - audit)


def _rounded_number(number: float) -> int:
    # Round halves up, as people do; round() would turn 2.5 into 2.
    return floor(number + 0.5 + 1e-9)


def preview_queue(
    store: Store,
    run_id: int,
    rule: QueueRule,
    *,
    order: Order = "impact",
    seed: int = 0,
    stale: Cells = (),
) -> QueuePreview:
    """Return what the rule would queue now, without writing. The order decides what a cap drops.

    Without a cap it counts cells without building them.
    """
    if rule.most is None:
        return expected_counts(store, run_id, rule, seed=seed, stale=stale)
    return choose_within(store, run_id, rule, order=order, seed=seed, stale=stale).preview


def choose_more(store: Store, queue: QueueRow) -> list[QueueCandidate]:
    """Return the cells that the rule selects now and that the queue lacks.

    A queue with a cap takes, as far as there is room, only cells that it could not have taken when
    it was created: cells that were settled, had no verdict yet or were not yet stale. All others
    were left out by the cap and stay among the cells from which the audit was drawn.
    """
    queued = {(cell.item_id, cell.criterion) for cell in store.queues.cells(queue.id)}
    most = queue.rule.most
    if most is None:
        chosen = choose_cells(store, queue.run_id, queue.rule, seed=queue.seed)
        return [c for c in chosen.cells if (c.item_id, c.criterion.name) not in queued]
    stale = stale_cells(store, queue.run_id) if queue.rule.stale else frozenset()
    late = store.votes.cells_after(queue.run_id, queue.created)
    late |= store.settled.active_at(queue.run_id, queue.created)
    late_cells = (late | stale) - queued
    considered = consider_cells(
        store, queue.run_id, queue.rule, seed=queue.seed, stale=stale, candidates=late_cells
    )
    return list(_later_cells(store, queue, considered, max(0, most - len(queued))).cells)


def _later_cells(
    store: Store, queue: QueueRow, considered: ConsideredCells, room: int
) -> ChosenCells:
    """Return the later cells that fit: first the audit's, with its earlier cells' chance, then
    those that the rule selects, in order.

    The number of selected cells depends on how many are drawn, not on which.
    """
    import numpy as np

    numbers = considered.table.chances(queue.seed)
    below, chance = capped_audit(store, considered.table, queue)
    drawn = considered.drawn_from & (numbers < below)
    run = store.runs.get(queue.run_id)
    selected = _first_cells(
        store, run, considered, queue.order, queue.seed, room - int(drawn.sum())
    )
    fitting, _ = fixed_draw(numbers, drawn & ~selected, room)
    no_cells = np.zeros(len(drawn), np.bool_)
    return considered.capped(selected, CellDraws(fitting, no_cells, np.full(len(drawn), chance)))


def _first_cells(
    store: Store, run: Run, considered: ConsideredCells, order: Order, seed: int, room: int
) -> Flags:
    """Return the first selected cells in the queue's order, as many as fit."""
    selected = considered.wanted
    if int(selected.sum()) <= room:
        return selected
    if room <= 0:
        return selected & False
    cells = considered.candidates(selected)
    places = {cell.item_id: cell.position for cell in cells}
    key = _KEYS[order]

    def place_in_order(cell: QueuedCell) -> tuple[Any, ...]:
        draw = seeded_random("queue", seed, cell.item_id).random() if order == "random" else 0.0
        return (*key(cell), draw, places[cell.item_id])

    ordered = sorted(weigh_cells(store, run, cells), key=place_in_order)
    return considered.table.among((cell.item_id, cell.criterion) for cell in ordered[:room])


def _value_or_default(value: float | None, default: float) -> float:
    return default if value is None else value


_KEYS: dict[Order, Callable[[QueuedCell], tuple[Any, ...]]] = {
    "impact": lambda c: (not c.failed, -c.flip, -c.change, -_value_or_default(c.entropy, 1.0)),
    "change": lambda c: (not c.failed, -c.change, -_value_or_default(c.entropy, 1.0)),
    "entropy": lambda c: (-_value_or_default(c.entropy, 1.0),),
    "margin": lambda c: (_value_or_default(c.margin, 0.0),),
    "spread": lambda c: (-_value_or_default(c.spread, 0.0),),
    "random": lambda c: (),
    "dataset": lambda c: (),
}


def queue_parts_text(doubtful: int, random: int, earlier: Callable[[], int] = lambda: 0) -> str:
    """Return in words how many cells are queued for a reason, and how many by a draw.

    ``earlier`` counts the run's earlier drawn cells with a label; it is called only if these alone
    are too few.

    >>> queue_parts_text(48, 12)
    '48 doubtful, 12 random'
    >>> queue_parts_text(33, 9)
    '33 doubtful, 9 random (too few to speak of all cells: that takes 10)'
    >>> queue_parts_text(33, 9, earlier=lambda: 80)
    '33 doubtful, 9 random'
    """
    from core.metrics.intervals.sampling import AUDIT

    too_few = 0 < random < AUDIT and random + earlier() < AUDIT
    warning = f" (too few to speak of all cells: that takes {AUDIT})" if too_few else ""
    return f"{count(doubtful)} doubtful, {count(random)} random{warning}"


def expected_minutes(
    store: Store, run_id: int, cells: int, settings: QueueSettings
) -> float | None:
    """Return the expected minutes of work on this many cells; ``None`` if no pace is known.

    The pace is the median of the newest verdicts on any version of the run's rubric. A cell for
    several people takes that time from each.
    """
    rubric = store.rubrics.version(store.runs.row(run_id).rubric_version_id).rubric_id
    times = store.events.newest_times(rubric, NEWEST)
    if len(times) < FORETOLD:
        return None
    pace = median(min(ms, AWAY_MS) for ms in times)
    people = 1 + (settings.reviewers - 1) * settings.overlap_share
    return cells * people * pace / 60_000
