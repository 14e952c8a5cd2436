"""A queue's random audit: what it was drawn from, and what it says of cells nobody reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.review import QueueRule
from core.domain.review_records import QueueRow
from core.services.queueing.queue_cells import audited
from core.store.store import Store
from core.text.numbers import plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.metrics.estimate import Estimate
    from core.metrics.intervals.acceptance import Acceptance
    from core.services.queueing.queue_table import CellTable

    Numbers = npt.NDArray[Any]


# What a queue's random audit was drawn from, and what is known of it by now.
#
# The frame: the cells with a verdict that the queue looked at, that no rule wanted, and that were
# not settled yet. Each had the same chance. It stays the frame whoever settles its cells afterwards
# and why: take those out and the audit is no random draw of what is left any more.


UNEVEN = (
    "This audit drew some cells more often than others; what is left is bounded from an even draw "
    "alone."
)


def may_break(draw: int) -> float:
    """How often a run's first random draw may break its promise, and its second, and so on.

    Whoever draws afresh until something is accepted gets a lucky draw in the end; all together
    they break a promise in at most 5%. Nearly all of it is the first's: most runs have no other.

    >>> [round(may_break(draw), 4) for draw in (1, 2, 3)]
    [0.04, 0.008, 0.0016]
    >>> round(sum(map(may_break, range(1, 30))), 6)
    0.05
    """
    return float(0.05 * 4 / 5**draw)


class Framed(NamedTuple):
    """The cells of a frame, a column for each: which of the run's cells they are, what the votes
    gave, whether they were drawn, what people settled (as in ``CellTable.decided``: negative where
    that is no option), and the stratum. Cells of one stratum had the same chance to be drawn.
    """

    cells: Numbers
    judged: Numbers
    drawn: Numbers
    decided: Numbers
    stratum: Numbers

    @property
    def known(self) -> Numbers:
        """Whether people settled each, be it that nobody can say."""
        from core.services.results.run_columns import NO_LABEL

        known: Numbers = self.decided != NO_LABEL
        return known

    @property
    def right(self) -> Numbers:
        """Whether people give the verdict as well; nobody gives one that cannot be assessed."""
        right: Numbers = self.decided == self.judged
        return right


@dataclass(frozen=True)
class Frame:
    """``behind`` cells came later, and would be drawn if the queue were brought up to date."""

    table: CellTable
    cells: Framed
    behind: int


def frame(store: Store, queue: QueueRow, table: CellTable | None = None) -> Frame:
    """The frame of a queue's audit; ``table`` has the run's cells, where somebody has it. Raises
    ``NotFound``.
    """
    import numpy as np

    from core.services.queueing import draw_chances, queued_columns
    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import NO_LABEL

    table = table or CellTable(store, store.runs.get(queue.run_id))
    inside = queued_columns.queued(store, queue, table).stratum
    outside = inside == queued_columns.OUTSIDE
    before = table.among(store.settled.active_at(queue.run_id, queue.created))
    framed = table.asked_about(queue.rule) & has_verdict(table) & (inside != queued_columns.RULE)
    # What was settled already could not have been drawn.
    framed &= ~(outside & before & (table.decided != NO_LABEL))
    cells = np.flatnonzero(framed)
    judged = table.judged[cells]
    of, _ = draw_chances.strata(queue.rule.draw, table.drawn_from(cells, judged))
    drawn = inside[cells] == queued_columns.AUDIT
    return Frame(
        table,
        Framed(cells, judged, drawn, table.decided[cells], of),
        _behind(store, queue, table, framed & outside & (table.decided == NO_LABEL), before),
    )


def has_verdict(table: CellTable) -> Numbers:
    """On which cells the votes gave an option that may be right or wrong: no abstention."""
    import numpy as np

    scored = table.by_option(lambda c: [float(at in c.scored) for at in range(len(c.choices))])
    found: Numbers = scored[table.question, np.maximum(table.judged, -1)] == 1
    return found


def _behind(
    store: Store, queue: QueueRow, table: CellTable, waiting: Numbers, before: Numbers
) -> int:
    """How many of the cells nobody looked at would be in the audit if it were drawn now."""
    late = waiting & before
    if not voted_before(store, queue):
        late |= waiting & table.among(store.votes.cells_after(queue.run_id, queue.created))
    return int((late & audited(store, table, queue)).sum()) if late.any() else 0


def waiting(store: Store, queue_id: int) -> int:
    """How many cells of a queue people are not done with."""
    states = store.queues.states(queue_id)
    return sum(count for state, (count, *_) in states.items() if state != "resolved")


def voted_before(store: Store, queue: QueueRow) -> bool:
    """Whether all votes surely came before a queue was made."""
    finished = store.runs.row(queue.run_id).finished
    return finished is not None and finished < queue.created


@dataclass(frozen=True)
class AuditSample:
    """The cells that people settled as an option, for ``metrics.intervals.sampling``.

    ``right``: 1.0 where the votes gave the same, else 0.0. ``stands``: for how many cells each
    speaks: 1 for the queue's and for those settled before it was made; those of the frame as
    ``stands_for`` says.
    ``audited``: the random audit chose it; ``queued``: a rule did. ``missing`` counts cells that
    are still to be decided, or to be drawn: what is reviewed first is not drawn at random.
    """

    right: list[float]
    stands: list[float]
    audited: list[bool]
    queued: list[bool]
    missing: int


def stands_for(stratum: Numbers, drawn: Numbers) -> Numbers:
    """For how many cells each speaks: drawn ones for all of their stratum, others for none.

    Strata of which none was drawn are taken to be like the others.
    """
    import numpy as np

    _, of = np.unique(stratum, return_inverse=True)
    sizes, labels = np.bincount(of), np.bincount(of[drawn], minlength=of.max(initial=-1) + 1)
    reached = int(sizes[labels > 0].sum())
    each = sizes / np.maximum(labels, 1) * (len(of) / reached if reached else 0.0)
    stands: Numbers = np.where(drawn, each[of], 0.0)
    return stands


def labelled_sample(store: Store, queue_id: int) -> AuditSample:
    """What decisions say of the votes, and for how many cells each of them speaks.

    They are those on the queue's cells, and on those that it left out because they were settled.
    Cells that nobody can assess, or on which the panel abstained or has no verdict, are not in it.
    """
    import numpy as np

    from core.services.queueing import queued_columns

    queue = store.queues.get(queue_id)
    found = frame(store, queue)
    table, framed = found.table, found.cells
    inside = queued_columns.queued(store, queue, table).stratum
    before = table.among(store.settled.active_at(queue.run_id, queue.created))
    there = (inside != queued_columns.OUTSIDE) | (before & table.asked_about(queue.rule))
    kept = there & (table.decided >= 0) & has_verdict(table)
    stands = np.ones(len(table))
    stands[framed.cells] = stands_for(framed.stratum, framed.drawn)
    return AuditSample(
        right=(table.decided == table.judged)[kept].astype(float).tolist(),
        stands=stands[kept].tolist(),
        audited=(inside == queued_columns.AUDIT)[kept].tolist(),
        queued=(inside == queued_columns.RULE)[kept].tolist(),
        missing=waiting(store, queue_id) + found.behind,
    )


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


# What nobody reviewed: how often it is right, and how much of it may be accepted.
#
# Both rest on a queue's random audit alone: it was drawn, each cell with the same chance, from the
# cells that no rule queued (``audit_frame``). Those of them that somebody settled besides are
# known; those that are left are what is spoken of.


@dataclass(frozen=True)
class Unseen:
    """``audited`` cells were drawn and decided, ``right`` of them confirmed; ``missing`` drawn ones
    are still to be decided, or to be drawn: ``behind`` of them got their verdict later.

    ``rest`` cells nobody saw. ``elsewhere`` were not drawn and are settled all the same, through
    another queue or for their known label, ``elsewhere_right`` of them as the votes said.

    ``accuracy``: the share of the rest whose verdict people would give as well, with its exact 95%
    interval; undefined with fewer than ten audited cells, while some are missing, and without a
    rest. ``acceptance`` is ``None`` then. Its confidence is the agreement of the votes. ``so_far``:
    the 95% range of that share while drawn ones are open, whatever they turn out to be.

    ``draw``: of the run's random audits this is the first, the second, and so on; its promise is
    broken with a chance of at most ``delta``, so that all of them together are in at most 5%.
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


def unseen(store: Store, queue_id: int, alpha: float = 0.1) -> Unseen:
    """What the audit of a queue says of the cells that nobody looked at.

    A cell that people could not assess counts against its verdict: nobody would have given it.
    ``alpha`` is the largest share of accepted verdicts that may disagree with people, in (0, 1).
    """
    from core.metrics.estimate import Estimate
    from core.metrics.intervals.acceptance import acceptance, share_of_rest, share_so_far
    from core.metrics.intervals.finite import KnownLabels

    queue = store.queues.get(queue_id)
    draw = _draw(store, queue)
    delta = may_break(draw)
    found = frame(store, queue)
    cells, behind = found.cells, found.behind
    audit, others = cells.drawn & cells.known, ~cells.drawn & cells.known
    rest = ~cells.drawn & ~cells.known
    drawn, besides, left = (int(one.sum()) for one in (audit, others, rest))
    missing, left = len(rest) - drawn - besides - left + behind, left - behind
    right, right_besides = (int(cells.right[one].sum()) for one in (audit, others))
    known = KnownLabels(besides, besides - right_besides)
    accuracy = share_of_rest(right, drawn, left, missing=missing, known=known)
    so_far = None
    if missing and not behind:
        so_far = share_so_far(right, drawn, missing, left, known=known)
    if len(set(cells.stratum.tolist())) > 1:
        accuracy, so_far = Estimate.undefined(UNEVEN, drawn), None
    promise = None
    if accuracy.value is not None:
        sure = _agreement(store, queue.run_id, found)
        promise = acceptance(
            *(sure[audit], cells.right[audit], alpha),
            unseen=sure[rest],
            known=(sure[others], cells.right[others]),
            delta=delta,
        )
    return Unseen(
        *(drawn, right, left, missing, accuracy, promise, draw, delta),
        *(besides, right_besides, behind, so_far),
    )


def _draw(store: Store, queue: QueueRow) -> int:
    """Which of its run's random audits a queue's is, from 1; those put away count."""
    rows = store.queues.ever(queue.run_id)
    return 1 + sum(one.id < queue.id and one.rule.audit_share > 0 for one in rows)


def _agreement(store: Store, run_id: int, found: Frame) -> Numbers:
    """How far the votes agree on the cells of a frame; 0 where nobody knows."""
    import numpy as np

    rows = store.results.agreements(run_id)
    places, values = ((item, name) for item, name, _ in rows), [one for *_, one in rows]
    return found.table.spread(places, np.array(values, np.float64), 0.0)[found.cells.cells]
