"""A reviewer's view of an item: without votes before their own verdict, with votes after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.domain.dataset import Submission
from core.domain.review import Mode, Part, Reason, ReviewerAnswer, Role
from core.domain.review_records import QueuedCell, QueueRow, VerdictRow
from core.domain.rubric import Criterion
from core.errors import Conflict
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.results.item_view import CriterionView, item_view
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.review.claims import Ticket
from core.store.review.settled import answer_data, answer_from_data
from core.store.store import Store


@dataclass(frozen=True)
class BlindCell:
    """A cell to review. ``first`` and ``final`` are the reviewer's own verdicts so far.

    ``mine``: the reviewer may decide it now; otherwise it waits for others and is shown as context.
    ``remark`` says why another person flagged it or sent it back.
    """

    criterion: Criterion
    mine: bool
    first: ReviewerAnswer | None
    final: ReviewerAnswer | None
    draft: ReviewerAnswer | None
    flagged: Role | None
    remark: str = ""


@dataclass(frozen=True)
class BlindItem:
    """Everything that may be sent to a page before a verdict is committed.

    It omits the submission's id and name, labels, votes, scores, other reviewers' verdicts, and why
    the item is queued. ``assisted``: the votes may be revealed at once. ``two_steps``: a verdict is
    committed, then confirmed.
    """

    number: int
    part: Part
    mode: Mode
    assisted: bool
    two_steps: bool
    submission: Submission
    prompt: str
    context: Mapping[str, str]
    reference: str
    rubric_name: str
    guidelines: str
    cells: tuple[BlindCell, ...]

    def cell(self, criterion: str) -> BlindCell:
        """Return the cell of a criterion, which must exist."""
        return next(cell for cell in self.cells if cell.criterion.name == criterion)


@dataclass(frozen=True)
class RevealedCell:
    """The votes on a cell, and the reviewer's own verdict. ``view`` is that of the Run page,
    without labels.

    ``unanimous`` is the option that all judges chose, if any; another verdict needs a note.
    ``others`` are reviewers' verdicts, for adjudicators. ``asked`` has (person, reason) of each
    regrade request.
    """

    view: CriterionView
    first: ReviewerAnswer | None
    reasons: tuple[Reason, ...]
    unanimous: int | None
    others: tuple[ReviewerAnswer, ...]
    asked: tuple[tuple[str, str], ...] = ()


def item_mode(queue: QueueRow, assisted: bool, part: Part) -> Mode:
    """Return how a verdict on an item is given.

    Adjudicators first commit their own verdict, and then see everything.
    """
    if part == "resolve":
        return "until_commit"
    if queue.settings.mode == "blind":
        return "blind"
    return "assisted" if assisted else "until_commit"


def blind_item(store: Store, ticket: Ticket) -> BlindItem:
    """Return what may be shown of an item before a verdict, with the reviewer's verdicts and
    drafts.

    Raises:
        Conflict: this ticket's session no longer has the item.
    """
    require_held(store, ticket)
    queue = store.queues.get(ticket.queue_id)
    run = store.runs.get(queue.run_id)
    (item,) = resolved_items(store, run.dataset_version_id, [ticket.item_id], upto=0)
    rubric = rubric_in_force(item, scored_rubric(store, run))
    mode = item_mode(queue, store.queues.item(queue.id, item.id).assisted, ticket.part)
    own_verdicts = {v.criterion: v for v in my_verdicts(store, ticket)}
    queued = {cell.criterion: cell for cell in store.queues.cells(queue.id, item.id)}
    drafted = drafts_of(store, ticket)
    remarks = remarks_on(store, queue, ticket.item_id)
    cells = tuple(
        replace(
            _blind_cell(c, queued[c.name], own_verdicts.get(c.name), drafted.get(c.name), ticket),
            remark=remarks.get(c.name, ""),
        )
        for c in rubric.criteria
        if c.name in queued and _is_revealed(queued[c.name], own_verdicts.get(c.name), ticket)
    )
    return BlindItem(
        number=ticket.number,
        part=ticket.part,
        mode=mode,
        assisted=mode == "assisted",
        two_steps=mode == "until_commit",
        submission=item.submission,
        prompt=item.prompt,
        context=item.context,
        reference=item.reference,
        rubric_name=rubric.name,
        guidelines=rubric.guidelines,
        cells=cells,
    )


def remarks_on(store: Store, queue: QueueRow, item_id: str) -> dict[str, str]:
    """Return, by criterion, why open cells of an item were last flagged or sent back in this
    queue.
    """
    events = [
        event
        for event in store.events.of_cell(queue.run_id, item_id)
        if event.queue_id == queue.id and event.action in ("flag", "unflag", "send_back")
    ]
    undone = store.events.undone([event.id for event in events])
    last = {event.criterion: event for event in events if event.id not in undone}
    return {name: event.reason for name, event in last.items() if event.action != "unflag"}


def _is_revealed(cell: QueuedCell, verdict: VerdictRow | None, ticket: Ticket) -> bool:
    return verdict is not None or needs_verdict(cell, ticket)


def needs_verdict(cell: QueuedCell, ticket: Ticket) -> bool:
    """Return whether the cell's state needs a verdict of this ticket's part."""
    if ticket.part == "resolve":
        return cell.state == "disagreement"
    return cell.state in ("needs_review", "needs_others")


def _blind_cell(
    criterion: Criterion,
    cell: QueuedCell,
    verdict: VerdictRow | None,
    draft: ReviewerAnswer | None,
    ticket: Ticket,
) -> BlindCell:
    final = None if verdict is None else verdict.final
    return BlindCell(
        criterion=criterion.model_copy(update={"meta": {}}),
        mine=final is None
        and needs_verdict(cell, ticket)
        and may_decide_flagged(cell.flagged, ticket.seat.role),
        first=None if verdict is None else verdict.first,
        final=final,
        draft=draft,
        flagged=cell.flagged,
    )


_RANK: dict[Role, int] = {"reviewer": 0, "adjudicator": 1, "lead": 2}


def may_decide_flagged(flagged: Role | None, role: Role) -> bool:
    """Return whether this role may decide a cell that is flagged for a role."""
    return flagged is None or _RANK[role] >= _RANK[flagged]


def revealed_votes(store: Store, ticket: Ticket) -> tuple[RevealedCell, ...]:
    """Return the votes on cells that may be seen: committed ones, or all of an assisted item; for
    adjudicators with the reviewers' verdicts.

    Labels are left out, since they are other people's verdicts.
    """
    queue = store.queues.get(ticket.queue_id)
    view = item_view(store, queue.run_id, ticket.item_id)
    own_verdicts = {v.criterion: v for v in my_verdicts(store, ticket)}
    queued = {cell.criterion: cell for cell in store.queues.cells(queue.id, ticket.item_id)}
    assisted = store.queues.item(queue.id, ticket.item_id).assisted
    mode = item_mode(queue, assisted, ticket.part)
    verdicts = store.verdicts.of_item(queue.id, ticket.item_id)
    agreed = unanimous_options(store, queue.run_id, ticket.item_id)
    requests = _regrade_requests(store, queue, ticket.item_id)
    cells = []
    for criterion_view in view.criteria:
        name = criterion_view.criterion.name
        if name not in queued or not (name in own_verdicts or mode == "assisted"):
            continue
        reviewed = [v for v in verdicts if v.criterion == name and v.part == "review"]
        cells.append(
            RevealedCell(
                view=replace(criterion_view, truth=None, truth_label=None, truth_reason=""),
                first=own_verdicts[name].first if name in own_verdicts else None,
                reasons=queued[name].reasons,
                unanimous=agreed.get(name),
                others=_other_verdicts(reviewed, ticket, name),
                asked=requests.get(name, ()),
            )
        )
    return tuple(cells)


def _regrade_requests(
    store: Store, queue: QueueRow, item_id: str
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return, by criterion, who requested a regrade and why; empty outside queues of regrades."""
    requests: dict[str, tuple[tuple[str, str], ...]] = {}
    if queue.rule.requested:
        withdrawn = store.events.withdrawn(queue.run_id)
        for event in store.events.of_cell(queue.run_id, item_id):
            if event.action == "request" and event.id not in withdrawn:
                request = (str(event.after["by"]), event.reason)
                requests[event.criterion] = (*requests.get(event.criterion, ()), request)
    return requests


def _other_verdicts(
    verdicts: list[VerdictRow], ticket: Ticket, criterion: str
) -> tuple[ReviewerAnswer, ...]:
    """Return others' verdicts in an anonymous order, for adjudicators only."""
    if ticket.part != "resolve":
        return ()
    verdicts_of_others = [
        v.final for v in verdicts if v.final is not None and v.reviewer != ticket.seat.name
    ]
    seeded_random("others", ticket.queue_id, ticket.item_id, criterion).shuffle(verdicts_of_others)
    return tuple(verdicts_of_others)


def unanimous_options(store: Store, run_id: int, item_id: str) -> dict[str, int]:
    """Return, by criterion, the option that all judges (at least two) chose."""
    options = {}
    for cell in store.results.cells(run_id, item_id):
        option = cell.voted if cell.rule == "adjudicated" else cell.option
        if cell.agreement == 1.0 and cell.votes >= 2 and option is not None:
            options[cell.criterion] = option
    return options


def my_verdicts(store: Store, ticket: Ticket) -> list[VerdictRow]:
    """Return this person's verdicts on the item's cells in this part."""
    return [
        v
        for v in store.verdicts.of_item(ticket.queue_id, ticket.item_id)
        if v.reviewer == ticket.seat.name and v.part == ticket.part
    ]


def require_held(store: Store, ticket: Ticket) -> None:
    """Raise ``Conflict``, naming the current holder, unless this ticket's session has the item."""
    lease = store.turns.holds(ticket.queue_id, ticket.item_id, ticket.seat)
    if lease is not None and lease.part == ticket.part:
        return
    leases = store.turns.leases_in_force(ticket.queue_id, at=0.0, item_id=ticket.item_id)
    holders = [h.reviewer for h in leases if h.part == ticket.part]
    name = "you, in another window" if ticket.seat.name in holders else ", ".join(holders)
    reason = f"; {name} opened it since" if holders else _reason_to_continue(store, ticket)
    raise Conflict(f"You do not have item {ticket.number} open any more{reason}. Nothing was lost.")


def _reason_to_continue(store: Store, ticket: Ticket) -> str:
    run_id = store.queues.get(ticket.queue_id).run_id
    events = store.events.of_cell(run_id, ticket.item_id)
    if not events or events[-1].actor == ticket.seat.name:
        return ""
    return f"; {events[-1].actor} went on with it at {events[-1].ts[11:16]} UTC"


def drafts_of(store: Store, ticket: Ticket) -> Mapping[str, ReviewerAnswer]:
    """Return this person's drafts on the item, by criterion."""
    row = store.drafts.get(draft_key(ticket))
    if row is None:
        return {}
    return {name: answer_from_data(data) for name, data in row.content.items()}


@allowed("review")
def save_drafts(
    store: Store, ticket: Ticket, answers: Mapping[str, ReviewerAnswer], *, now: str
) -> None:
    """Replace this person's drafts on the item; an empty mapping deletes them."""
    key = draft_key(ticket)
    if answers:
        store.drafts.save(key, {name: answer_data(g) for name, g in answers.items()}, now=now)
    else:
        store.drafts.delete(key)


def draft_key(ticket: Ticket) -> str:
    """Return the key of drafts, which a person shares between windows."""
    return f"review/{ticket.queue_id}/{ticket.part}/{ticket.seat.name}/{ticket.item_id}"
