"""The record of reviewing: only ever added to, and safe with hostile text."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Span
from core.domain.review_records import EventRow, QueuedCell, QueuedItem, QueueRow
from core.errors import NotFound
from core.store.review.settled import answer_data, answer_from_data
from core.store.store import Store
from tests.store.making import NOW, queued_run

LONE = chr(0xD800)


def event(run_id: int, **fields: object) -> EventRow:
    who: Any = {"actor": f"Ada{LONE}", "role": "reviewer", "session": "tab"}
    what: Any = {"item_id": "a", "criterion": "Clear", **fields}
    return EventRow(ts=NOW, run_id=run_id, rubric_version_id=1, action="verdict", **who, **what)


def queue_of(store: Store, run_id: int) -> QueueRow:
    asked = (run_id, "Q", QueueRule(margin=0.5), QueueSettings())
    return store.queues.create(*asked, order="impact", seed=1, author="Ada", now=NOW)


def test_events_are_never_updated_nor_deleted(store: Store, run_id: int) -> None:
    store.events.add(event(run_id))
    for statement in ("UPDATE review_event SET actor = 'Eve'", "DELETE FROM review_event"):
        with (
            pytest.raises(sqlite3.IntegrityError, match="review_event rows are never"),
            store.write() as db,
        ):
            db.execute(statement)


def test_an_event_is_taken_back_at_most_once(store: Store, run_id: int) -> None:
    first = store.events.add(event(run_id))
    store.events.add(event(run_id, undo_of=first))
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        store.events.add(event(run_id, undo_of=first))
    assert store.events.undone([first, 99]) == {first}


def test_events_of_one_step_are_found_by_it(store: Store, run_id: int) -> None:
    step = store.events.add(event(run_id, after=answer_data(ReviewerAnswer(1))))
    store.events.add(event(run_id, step=step, before=[1, None], reason=f"odd {LONE}"))
    one, two = store.events.of_step(step)
    assert (one.step, two.step, two.id) == (step, step, step + 1)
    assert (one.actor, two.reason) == ("Ada?", "odd ?")
    assert (one.after, two.before) == ({"option": 1}, [1, None])
    with pytest.raises(NotFound, match="no review step 77"):
        store.events.of_step(77)


def test_events_of_one_queue_are_not_those_of_another_queue_or_run(
    store: Store, run_id: int
) -> None:
    one, two = (queue_of(store, run_id).id for _ in range(2))
    mine = store.events.add(event(run_id, queue_id=one))
    other = store.events.add(event(run_id, queue_id=two))
    elsewhere = store.events.add(event(queued_run(store)))
    assert [found.id for found in store.events.of_run(run_id)] == [mine, other]
    assert [found.id for found in store.events.of_run(run_id, one)] == [mine]
    assert store.events.get(elsewhere).queue_id is None
    with pytest.raises(NotFound, match="no review event 77"):
        store.events.get(77)


def test_a_verdict_comes_back_as_it_was() -> None:
    given = ReviewerAnswer(2, None, "Why? Because.", (Span(3, 9, "quoted"), Span(0, 1, "x")))
    assert answer_from_data(answer_data(given)) == given


def test_a_reviewers_name_is_one_whatever_its_case(store: Store) -> None:
    assert store.reviewers.make("Ada", now=NOW).role == "lead"
    assert store.reviewers.make("ADA", now=NOW).name == "Ada"
    assert store.reviewers.make("Bea", now=NOW).role == "reviewer"
    assert [row.name for row in store.reviewers.list()] == ["Ada", "Bea"]
    with pytest.raises(NotFound, match="no reviewer 'Cid'"):
        store.reviewers.get("Cid")


def test_cells_that_are_queued_stay_as_they_are_when_queued_again(
    store: Store, run_id: int
) -> None:
    made = queue_of(store, run_id)
    item = QueuedItem("a", 0, 0.5, False, 1)
    cell = QueuedCell("a", "Clear", ("split",), 1.0, False, 0.25, 0.1, 0.9, 0.3, None)
    assert store.queues.add(made.id, [item], [cell]) == 1
    store.queues.set_state(made.id, "a", "Clear", "resolved", raised=True)
    assert store.queues.add(made.id, [item], [cell]) == 0
    (found,) = store.queues.cells(made.id)
    assert (found.state, found.version, found.reasons) == ("resolved", 2, ("split",))
    assert store.queues.get(made.id) == made
    assert store.queues.holding(run_id, "a", "Clear") == [made.id]
    with pytest.raises(NotFound, match="no item 'zzz' in review queue"):
        store.queues.item(made.id, "zzz")
