"""Second looks: show a person the same item again, later and blind, to measure consistency.

The second verdicts are logged and change nothing: no verdict, no score, no state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core import clock
from core.domain.dataset import Submission
from core.domain.review import ReviewerAnswer, Seat
from core.domain.review_records import EventRow, QueueRow, VerdictRow
from core.domain.rubric import Criterion
from core.errors import Conflict
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.review.adjudication import Act
from core.services.review.commit_reveal import normalised_verdicts
from core.services.review.reviewers import now_seated
from core.store.review.settled import answer_data, answer_from_data
from core.store.store import Store

#: How many other items a person decides before an item returns for a second look.
REST = 5


@dataclass(frozen=True)
class SecondLook:
    """An item for a second look, as a blind reviewer sees it, without the first verdicts."""

    queue_id: int
    item_id: str
    number: int
    submission: Submission
    prompt: str
    context: Mapping[str, str]
    reference: str
    guidelines: str
    criteria: tuple[Criterion, ...]


def items_to_repeat(store: Store, seat: Seat, queue_id: int) -> list[str]:
    """Return the items that this person should look at again, in the order they were decided.

    The queue's seed draws them (``QueueSettings.repeat_share``) from the items that this person
    decided at least ``REST`` items ago. Raises ``NotFound``.
    """
    queue = store.queues.get(queue_id)
    share = queue.settings.repeat_share
    if not share:
        return []
    decided = _decided_items(store.verdicts.of_queue(queue_id), seat.name)
    repeated = {e.item_id for e in _repeated_events(store, queue) if e.actor == seat.name}
    order = sorted(decided, key=lambda item: decided[item])
    return [
        item
        for index, item in enumerate(order)
        if len(order) - 1 - index >= REST
        and item not in repeated
        and seeded_random("repeat", queue.seed, item, seat.name.casefold()).random() < share
    ]


def second_look(store: Store, seat: Seat, queue_id: int) -> SecondLook | None:
    """Return the next item for a second look, or ``None``."""
    item_ids = items_to_repeat(store, seat, queue_id)
    if not item_ids:
        return None
    queue, item_id = store.queues.get(queue_id), item_ids[0]
    run = store.runs.get(queue.run_id)
    (item,) = resolved_items(store, run.dataset_version_id, [item_id], upto=0)
    rubric = rubric_in_force(item, scored_rubric(store, run))
    names = {
        v.criterion for v in _own_verdicts(store.verdicts.of_item(queue_id, item_id), seat.name)
    }
    return SecondLook(
        queue_id=queue_id,
        item_id=item_id,
        number=store.queues.item(queue_id, item_id).position + 1,
        submission=item.submission,
        prompt=item.prompt,
        context=item.context,
        reference=item.reference,
        guidelines=rubric.guidelines,
        criteria=tuple(
            c.model_copy(update={"meta": {}}) for c in rubric.criteria if c.name in names
        ),
    )


@allowed("review")
def say_again(
    store: Store,
    seat: Seat,
    look: SecondLook,
    answers: Mapping[str, ReviewerAnswer],
    *,
    ms_active: int | None = None,
) -> int:
    """Record the verdicts of a second look; return the number of this act in the history.

    Raises:
        InputError: a verdict does not fit the criterion, or lacks a reason.
        Conflict: the item does not (or no longer) wait for this person.
    """
    with store.write():
        seat = now_seated(store, seat)
        if look.item_id not in items_to_repeat(store, seat, look.queue_id):
            raise Conflict("You have looked at this item again already. Go on with the next.")
        queue = store.queues.get(look.queue_id)
        run = store.runs.get(queue.run_id)
        act = Act(store, seat, run, look.item_id, queue, clock.now())
        for name, verdict in normalised_verdicts(act, answers).items():
            act.record(
                "repeat",
                name,
                part="review",
                after=answer_data(verdict),
                reason=verdict.note,
                mode="blind",
                ms_active=ms_active,
            )
        return act.step


def repeated_verdicts(store: Store, queue_id: int) -> list[tuple[str, bool]]:
    """Return for each second look at a cell who took it, and whether it gave the same option.

    First verdicts that are no longer in force are left out.
    """
    queue = store.queues.get(queue_id)
    first = {
        (v.reviewer, v.item_id, v.criterion): v.first
        for v in store.verdicts.of_queue(queue_id)
        if v.part == "review"
    }
    return [
        (e.actor, first[key].option == answer_from_data(e.after).option)
        for e in _repeated_events(store, queue)
        if (key := (e.actor, e.item_id, e.criterion)) in first
    ]


def _repeated_events(store: Store, queue: QueueRow) -> list[EventRow]:
    return [e for e in store.events.of_run(queue.run_id, queue.id) if e.action == "repeat"]


def _own_verdicts(verdicts: list[VerdictRow], name: str) -> list[VerdictRow]:
    return [v for v in verdicts if v.reviewer == name and v.part == "review" and v.final]


def _decided_items(verdicts: list[VerdictRow], name: str) -> dict[str, int]:
    """Return the items that a person decided, with their last event on each."""
    last_events: dict[str, int] = {}
    for verdict in _own_verdicts(verdicts, name):
        last_events[verdict.item_id] = max(
            last_events.get(verdict.item_id, 0), verdict.final_event or 0
        )
    return last_events
