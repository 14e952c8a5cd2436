"""A queue's random audit: the cells it was drawn from, and estimates for unreviewed cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.review import QueueRule
from core.domain.review_records import QueueRow
from core.metrics.estimate import USUAL, Estimate
from core.services.queueing.queue_cells import audited_cells
from core.store.store import Store
from core.text.numbers import plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.metrics.intervals.acceptance import Acceptance
    from core.services.queueing.queue_table import CellTable

    Numbers = npt.NDArray[Any]


# The frame of a queue's random audit: the cells it was drawn from.
#
# These are the cells with a verdict that the queue considered, that no rule selected, and that were
# not settled then. Each had the same chance. The frame stays the same when its cells are settled
# later for other reasons: without them, the audit would not be a random sample of the rest.


UNEVEN = (
    "This audit drew some cells more often than others; what is left is bounded from an even draw "
    "alone."
)


def may_break(draw: int) -> float:
    """Return the allowed probability that a run's n-th random draw breaks its promise.

    With enough new draws, one of them will be lucky. Therefore all draws together may break a
    promise in at most 5%. Most of that goes to the first draw, since most runs have no other.

    >>> [round(may_break(draw), 4) for draw in (1, 2, 3)]
    [0.04, 0.008, 0.0016]
    >>> round(sum(map(may_break, range(1, 30))), 6)
    0.05
    """
    return float(0.05 * 4 / 5**draw)


class AuditFrame(NamedTuple):
    """The cells of a frame, in columns: their index in the run, the voted option, whether they were
    drawn, the settled option (as in ``CellTable.decided``: negative if it is not an option), and
    the stratum. Cells of one stratum had the same chance to be drawn. ``behind`` counts later
    cells, which a refreshed queue would draw from.
    """

    table: CellTable
    behind: int
    cells: Numbers
    judged: Numbers
    drawn: Numbers
    decided: Numbers
    stratum: Numbers

    @property
    def known(self) -> Numbers:
        """Return which cells are settled, including as "cannot assess"."""
        from core.services.results.run_columns import NO_LABEL

        known: Numbers = self.decided != NO_LABEL
        return known

    @property
    def right(self) -> Numbers:
        """Return which verdicts people confirmed; "cannot assess" does not confirm one."""
        right: Numbers = self.decided == self.judged
        return right


def audit_frame_of(store: Store, queue: QueueRow) -> AuditFrame:
    """Return the frame of a queue's audit. Raises ``NotFound``."""
    import numpy as np

    from core.services.queueing import draw_chances, queued_columns
    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import NO_LABEL

    table = CellTable(store, store.runs.get(queue.run_id))
    in_queue, _ = queued_columns.queued_columns(store, queue, table)
    outside = in_queue == queued_columns.OUTSIDE
    before = table.among(store.settled.active_at(queue.run_id, queue.created))
    framed = table.asked_about(queue.rule) & has_verdict(table) & (in_queue != queued_columns.RULE)
    # Cells that were already settled before the draw could not be drawn.
    framed &= ~(outside & before & (table.decided != NO_LABEL))
    cells = np.flatnonzero(framed)
    judged = table.judged[cells]
    strata, _ = draw_chances.strata(queue.rule.draw, table.drawn_from(cells, judged))
    drawn = in_queue[cells] == queued_columns.AUDIT
    waiting = framed & outside & (table.decided == NO_LABEL)
    behind = _newly_covered(store, queue, table, waiting, before)
    return AuditFrame(table, behind, cells, judged, drawn, table.decided[cells], strata)


def has_verdict(table: CellTable) -> Numbers:
    """Return which cells have a voted option that can be right or wrong, which excludes
    abstentions.
    """
    import numpy as np

    scored = table.by_option(
        lambda c: [float(index in c.scored) for index in range(len(c.choices))]
    )
    scored_cells: Numbers = scored[table.question, np.maximum(table.judged, -1)] == 1
    return scored_cells


def _newly_covered(
    store: Store, queue: QueueRow, table: CellTable, waiting: Numbers, before: Numbers
) -> int:
    """Return how many unreviewed cells an audit drawn now would include."""
    late = waiting & before
    if not all_voted_before(store, queue):
        late |= waiting & table.among(store.votes.cells_after(queue.run_id, queue.created))
    return int((late & audited_cells(store, table, queue)).sum()) if late.any() else 0


def unresolved_cells(store: Store, queue_id: int) -> int:
    """Return how many cells of a queue are not resolved."""
    states = store.queues.states(queue_id)
    return sum(count for state, (count, *_) in states.items() if state != "resolved")


def all_voted_before(store: Store, queue: QueueRow) -> bool:
    """Return whether all votes certainly came before a queue was created."""
    finished = store.runs.row(queue.run_id).finished
    return finished is not None and finished < queue.created


def represented_cells(stratum: Numbers, drawn_cells: Numbers) -> Numbers:
    """Return how many cells each represents: drawn ones share their stratum, others represent none.

    Strata without a drawn cell are assumed to be like the others.
    """
    import numpy as np

    _, index = np.unique(stratum, return_inverse=True)
    sizes, labels = (
        np.bincount(index),
        np.bincount(index[drawn_cells], minlength=index.max(initial=-1) + 1),
    )
    reached = int(sizes[labels > 0].sum())
    weights = sizes / np.maximum(labels, 1) * (len(index) / reached if reached else 0.0)
    cells_represented: Numbers = np.where(drawn_cells, weights[index], 0.0)
    return cells_represented


@dataclass(frozen=True)
class VerdictAccuracy:
    """How often verdicts match people's decisions, from a queue's decided cells.

    ``weighted`` describes all cells that the queue's rule considered, and those it skipped because
    they were settled before. It is undefined with fewer than ten audited cells, and while the queue
    has open cells, because the first decided cells are not a random sample. ``hard`` covers only
    the rule's cells, ``naive`` covers all decided cells. ``missing`` cells are open; ``audited``
    and ``queued`` cells were decided here, ``others`` earlier, or queued here for their known
    label.
    """

    queue: QueueRow
    weighted: Estimate
    hard: Estimate
    naive: Estimate
    audited: int
    queued: int
    missing: int
    others: int


def verdict_accuracy(store: Store, queue_id: int, level: float = USUAL.level) -> VerdictAccuracy:
    """Return how often verdicts are right on all cells, and on hard cells.

    It covers the queue's cells, and cells it skipped because they were settled. A decided cell
    represents itself, or in the frame the cells of ``represented_cells``. Cells that people could
    not assess, or without a verdict of the panel, are excluded. Raises ``NotFound``.
    """
    import numpy as np

    from core.metrics.intervals.sampling import mean_of_selected, plain_mean
    from core.services.queueing import queued_columns

    queue = store.queues.get(queue_id)
    framed = audit_frame_of(store, queue)
    table = framed.table
    in_queue, _ = queued_columns.queued_columns(store, queue, table)
    before = table.among(store.settled.active_at(queue.run_id, queue.created))
    considered = (in_queue != queued_columns.OUTSIDE) | (before & table.asked_about(queue.rule))
    counted = considered & (table.decided >= 0) & has_verdict(table)
    cells_represented = np.ones(len(table))
    cells_represented[framed.cells] = represented_cells(framed.stratum, framed.drawn)
    right = (table.decided == table.judged)[counted].astype(float)
    drawn = (in_queue == queued_columns.AUDIT)[counted]
    picked = (in_queue == queued_columns.RULE)[counted]
    weighted = mean_of_selected(right, cells_represented[counted], drawn, level)
    missing = unresolved_cells(store, queue_id) + framed.behind
    if missing:
        reason = (
            f"{plural(missing, 'cell')} of the queue {'is' if missing == 1 else 'are'} still "
            "open. What is decided first is not a random draw."
        )
        weighted = Estimate.undefined(reason, len(right))
    audited, queued = int(drawn.sum()), int(picked.sum())
    return VerdictAccuracy(
        queue,
        weighted,
        hard=plain_mean(right[picked], level),
        naive=plain_mean(right, level),
        audited=audited,
        queued=queued,
        missing=missing,
        others=len(right) - audited - queued,
    )


def scope_words(rule: QueueRule) -> str:
    """Return what a rule is limited to, in words; an empty string if it covers all cells."""
    if rule.criteria is None and rule.items is None:
        return ""
    parts = []
    if rule.criteria is not None:
        names = " and ".join(f"“{name}”" for name in rule.criteria)
        parts.append(names if len(rule.criteria) < 3 else f"{len(rule.criteria)} criteria")
    if rule.items is not None:
        parts.append(plural(len(rule.items), "item"))
    return f"{' of '.join(parts)} only"


# Unreviewed cells: how often their verdicts are right, and how many may be accepted.
#
# Both rest on a queue's random audit alone: an even draw from the cells that no rule queued
# (``audit_frame``). Cells of the frame that were settled elsewhere are known; the estimates are
# about the remaining ones.


@dataclass(frozen=True)
class UnauditedCells:
    """Drawn and decided cells are ``audited``, and people confirmed ``right`` of them. ``missing``
    cells are still to be decided or drawn; ``behind`` of them got their verdict later.

    ``rest`` cells are unreviewed. ``elsewhere`` were settled without being drawn, in another queue
    or here because of a known label, and ``elsewhere_right`` of them match the votes.

    ``accuracy``: the share of the rest whose verdict people would confirm, with its exact 95%
    interval. It is undefined with fewer than ten audited cells, while cells are missing, and
    without a rest; ``acceptance`` is then ``None``. Its confidence is the agreement of the votes.
    ``so_far``: the 95% range of that share while drawn cells are open, whatever their result.

    ``draw``: the number of this random audit in the run, from 1. Its promise fails with a
    probability of at most ``delta``, so that all audits together fail in at most 5%.
    """

    audited: int
    right: int
    rest: int
    missing: int
    accuracy: Estimate
    acceptance: Acceptance | None
    draw: int
    delta: float
    elsewhere: int = 0
    elsewhere_right: int = 0
    behind: int = 0
    so_far: tuple[float, float] | None = None


def unaudited_cells(store: Store, queue_id: int, alpha: float = 0.1) -> UnauditedCells:
    """Return what a queue's audit says about unreviewed cells.

    A cell that people could not assess counts against its verdict, since they did not confirm it.
    ``alpha`` is the largest share of accepted verdicts that may disagree with people, in (0, 1).
    """
    from core.metrics.intervals.acceptance import acceptance, share_of_rest, share_so_far
    from core.metrics.intervals.finite import KnownLabels

    queue = store.queues.get(queue_id)
    draw = _audit_number(store, queue)
    delta = may_break(draw)
    cells = audit_frame_of(store, queue)
    behind = cells.behind
    audit, others = cells.drawn & cells.known, ~cells.drawn & cells.known
    unreviewed = ~cells.drawn & ~cells.known
    drawn, elsewhere, remaining = (int(flags.sum()) for flags in (audit, others, unreviewed))
    missing, remaining = (
        len(unreviewed) - drawn - elsewhere - remaining + behind,
        remaining - behind,
    )
    right, right_besides = (int(cells.right[flags].sum()) for flags in (audit, others))
    known_labels = KnownLabels(elsewhere, elsewhere - right_besides)
    accuracy = share_of_rest(right, drawn, remaining, missing=missing, known_labels=known_labels)
    range_so_far = None
    if missing and not behind:
        range_so_far = share_so_far(right, drawn, missing, remaining, known_labels=known_labels)
    if len(set(cells.stratum.tolist())) > 1:
        accuracy, range_so_far = Estimate.undefined(UNEVEN, drawn), None
    promise = None
    if accuracy.value is not None:
        agreement = _vote_agreement(store, queue.run_id, cells)
        promise = acceptance(
            *(agreement[audit], cells.right[audit], alpha),
            unseen=agreement[unreviewed],
            known=(agreement[others], cells.right[others]),
            delta=delta,
        )
    return UnauditedCells(
        *(drawn, right, remaining, missing, accuracy, promise, draw, delta),
        *(elsewhere, right_besides, behind, range_so_far),
    )


def _audit_number(store: Store, queue: QueueRow) -> int:
    """Return the number of a queue's random audit in its run, from 1; archived audits count."""
    rows = store.queues.all_of_run(queue.run_id)
    return 1 + sum(row.id < queue.id and row.rule.audit_share > 0 for row in rows)


def _vote_agreement(store: Store, run_id: int, audit_frame: AuditFrame) -> Numbers:
    """Return how far the votes agree on the cells of a frame; 0 if unknown."""
    import numpy as np

    rows = store.results.agreements(run_id)
    places, values = ((item, name) for item, name, _ in rows), [value for *_, value in rows]
    values_of_all = audit_frame.table.values_on_cells(places, np.array(values, np.float64), 0.0)
    return values_of_all[audit_frame.cells]
