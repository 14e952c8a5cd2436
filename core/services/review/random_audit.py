"""A queue's random audit: what it was drawn from, and what it says of cells nobody reviewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from core.domain.review import QueueRule, Settled
from core.domain.review_records import QueueRow
from core.domain.runs import CellRow
from core.services.queueing.draw_chances import DrawnFrom, Stratum, stratum_of
from core.services.queueing.queue_cells import asked_about, audited
from core.services.results.browsing import judged_options
from core.services.review.adjudication import settled
from core.store.store import Store
from core.text.numbers import plural

if TYPE_CHECKING:
    from core.metrics.estimate import Estimate
    from core.metrics.intervals.acceptance import Acceptance


# What a queue's random audit was drawn from, and what is known of it by now.
#
# The frame: the cells with a verdict that the queue looked at, that no rule wanted, and that were
# not settled yet. Each had the same chance. It stays the frame whoever settles its cells afterwards
# and why: take those out and the audit is no random draw of what is left any more.


UNEVEN = (
    "This audit drew some cells more often than others; what is left is bounded from an even draw "
    "alone."
)


class Framed(NamedTuple):
    """A cell of the frame; ``decided`` is what people settled, ``None`` while it does not count.

    Cells of one ``stratum`` had the same chance to be drawn.
    """

    row: CellRow
    drawn: bool
    decided: Settled | None
    stratum: Stratum

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
    draw, margins = queue.rule.draw, margins_of(store, queue)
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
        about = DrawnFrom(row.criterion, row.judged, margins.get(place))
        drawn = cell is not None and cell.audit
        cells.append(Framed(row, drawn, decided, stratum_of(draw, about)))
    return Frame(tuple(cells), _behind(store, queue, waiting, before))


def margins_of(store: Store, queue: QueueRow) -> dict[tuple[str, str], float | None]:
    """How far the votes agree, where a queue's draw asks for it."""
    if queue.rule.draw != "doubt":
        return {}
    return {place: sign.margin for place, sign in store.signs.of_cells(queue.run_id).items()}


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
class AuditSample:
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


def labelled_sample(store: Store, queue_id: int) -> AuditSample:
    """What decisions say of the votes, with the chance that each cell had to be looked at.

    They are those on the queue's cells, and on those that it left out because they were settled.
    Cells that nobody can assess, or on which the panel abstained or has no verdict, are not in it.
    """
    queue = store.queues.get(queue_id)
    known = settled(store, queue.run_id)
    judged = judged_options(store, queue.run_id)
    cells = store.queues.cells(queue_id)
    found = AuditSample([], [], [], [], sum(cell.state != "resolved" for cell in cells))
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
    rest. ``acceptance`` is ``None`` then. Its confidence is the agreement of the votes.
    """

    audited: int
    right: int
    rest: int
    missing: int
    accuracy: Estimate
    acceptance: Acceptance | None
    elsewhere: int = 0
    elsewhere_right: int = 0
    behind: int = 0


def unseen(store: Store, queue_id: int, alpha: float = 0.1, *, delta: float = 0.05) -> Unseen:
    """What the audit of a queue says of the cells that nobody looked at.

    A cell that people could not assess counts against its verdict: nobody would have given it.
    ``alpha`` is the largest share of accepted verdicts that may disagree with people, ``delta`` the
    largest chance of breaking that promise, both in (0, 1).
    """
    from core.metrics.estimate import Estimate
    from core.metrics.intervals.acceptance import KnownLabels, acceptance, share_of_rest

    found = frame(store, store.queues.get(queue_id))
    audit = [cell for cell in found.cells if cell.drawn and cell.decided]
    others = [cell for cell in found.cells if not cell.drawn and cell.decided]
    rest = [cell for cell in found.cells if not cell.drawn and not cell.decided]
    missing = len(found.cells) - len(audit) - len(others) - len(rest) + found.behind
    right, right_besides = _right(audit), _right(others)
    known = KnownLabels(len(others), len(others) - sum(right_besides))
    left = len(rest) - found.behind
    accuracy = share_of_rest(sum(right), len(audit), left, missing=missing, known=known)
    if len({cell.stratum for cell in found.cells}) > 1:
        accuracy = Estimate.undefined(UNEVEN, len(audit))
    promise = None
    if accuracy.value is not None:
        promise = acceptance(
            *(_sure(audit), right, alpha),
            unseen=_sure(rest),
            known=(_sure(others), right_besides),
            delta=delta,
        )
    return Unseen(
        *(len(audit), sum(right), left, missing, accuracy, promise),
        *(len(others), sum(right_besides), found.behind),
    )


def _sure(cells: Sequence[Framed]) -> list[float]:
    return [cell.row.agreement or 0.0 for cell in cells]


def _right(cells: Sequence[Framed]) -> list[bool]:
    return [cell.right for cell in cells]
