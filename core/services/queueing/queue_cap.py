"""A queue of at most so many cells, of which the audit is a share.

The first of the cells that the rule wants are kept. All others with a verdict are what the audit is
drawn from: a fixed number of them, each with the same chance, which is recorded with the drawn ones
(docs/decisions/0053).
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from statistics import median
from typing import TYPE_CHECKING, Any

from core.domain.review import Order, QueueRule, QueueSettings
from core.domain.review_records import QueuedCell, QueueRow
from core.domain.runs import Run
from core.identity import seeded
from core.services.queueing.draw_chances import fixed_draw
from core.services.queueing.queue_cells import (
    CellDraws,
    Cells,
    ChosenCells,
    QueueCandidate,
    QueuePreview,
    SoughtCells,
    capped_audit,
    choose,
    foreseen,
    seek,
)
from core.services.queueing.queue_order import weigh
from core.services.results.scored_items import stale_cells
from core.store.store import Store
from core.text.numbers import count

if TYPE_CHECKING:
    from core.services.queueing.queue_table import Flags

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
    """The cells of a new queue: what the rule chooses, at most as many in all as its cap says.

    Raises ``NotFound`` for an unknown run.
    """
    if rule.most is None:
        return choose(store, run_id, rule, seed=seed, stale=stale)
    sought = seek(store, run_id, rule, seed=seed, stale=stale)
    audit, gold = random_cells(rule, rule.most)
    run = store.runs.get(run_id)
    kept = _first(store, run, sought, order, seed, rule.most - audit - gold)
    return sought.capped(kept, sought.fixed_draws(kept, audit, gold))


def random_cells(rule: QueueRule, most: int) -> tuple[int, int]:
    """How many of at most so many cells the audit draws, and how many for their known label.

    Labels get what the audit leaves.

    >>> random_cells(QueueRule(audit_share=0.2), 60)
    (12, 0)
    >>> random_cells(QueueRule(audit_share=0.75, gold_share=0.5), 10)
    (8, 2)
    """
    audit = _rounded(rule.audit_share * most)
    return audit, min(_rounded(rule.gold_share * most), most - audit)


def _rounded(number: float) -> int:
    # Halves go up, as people count: round() would make 2 of 2.5.
    return floor(number + 0.5 + 1e-9)


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
    when it was made, as far as there is room: what it left out then is a part of what its audit was
    drawn from.
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
    sought = seek(store, queue.run_id, queue.rule, seed=queue.seed, stale=stale, among=among)
    return list(_later(store, queue, sought, max(0, most - len(inside))).cells)


def _later(store: Store, queue: QueueRow, sought: SoughtCells, room: int) -> ChosenCells:
    """What there is room for of cells that came later: first those that the audit draws, with the
    chance of those it drew before, then what the rule wants, in order.

    How many wanted cells are kept rests on how many are drawn in all, never on which.
    """
    import numpy as np

    numbers = sought.table.chances(queue.seed)
    audit = capped_audit(store, sought.table, queue)
    drawn = sought.drawn_from & (numbers < audit.below)
    run = store.runs.get(queue.run_id)
    kept = _first(store, run, sought, queue.order, queue.seed, room - int(drawn.sum()))
    fitting, _ = fixed_draw(numbers, drawn & ~kept, room)
    nothing = np.zeros(len(drawn), np.bool_)
    return sought.capped(kept, CellDraws(fitting, nothing, np.full(len(drawn), audit.chance)))


def _first(
    store: Store, run: Run, sought: SoughtCells, order: Order, seed: int, room: int
) -> Flags:
    """The first wanted cells in the queue's order, cell by cell, as many as there is room for."""
    wanted = sought.wanted
    if int(wanted.sum()) <= room:
        return wanted
    if room <= 0:
        return wanted & False
    cells = sought.candidates(wanted)
    places = {cell.item_id: cell.position for cell in cells}
    key = _KEYS[order]

    def at(cell: QueuedCell) -> tuple[Any, ...]:
        draw = seeded("queue", seed, cell.item_id).random() if order == "random" else 0.0
        return (*key(cell), draw, places[cell.item_id])

    ordered = sorted(weigh(store, run, cells), key=at)
    return sought.table.among((cell.item_id, cell.criterion) for cell in ordered[:room])


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


def parts(doubtful: int, random: int, earlier: Callable[[], int] = lambda: 0) -> str:
    """How many cells a reason queues, and how many a draw, in words.

    ``earlier`` counts drawn ones of the run that have their label; it is called where these few
    alone would say too little.

    >>> parts(48, 12)
    '48 doubtful, 12 random'
    >>> parts(33, 9)
    '33 doubtful, 9 random (too few to speak of all cells: that takes 10)'
    >>> parts(33, 9, earlier=lambda: 80)
    '33 doubtful, 9 random'
    """
    from core.metrics.intervals.sampling import AUDIT

    too_few = 0 < random < AUDIT and random + earlier() < AUDIT
    few = f" (too few to speak of all cells: that takes {AUDIT})" if too_few else ""
    return f"{count(doubtful)} doubtful, {count(random)} random{few}"


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
