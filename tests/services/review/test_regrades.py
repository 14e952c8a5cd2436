"""Regrade requests: from a note by somebody outside to an answer; what a reviewer sees of it."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from core.domain.review import QueueSettings, ReviewerAnswer, Seat
from core.errors import InputError
from core.services.review import adjudication, audit_trail, commit_reveal, other_acts, regrades
from core.services.review.regrades import RegradeRequest
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit, take

WHY = "Qzwhy: the second page was not read."


def asked(store: Store, *items: str) -> tuple[int, Seat]:
    """The run with a request on Right of each of these items, by its lead."""
    run, lea = reviewed.graded(store), sit(store, "Lea")
    wanted = [RegradeRequest(item, "Right", WHY, "Qzstudent") for item in items]
    assert regrades.request(store, lea, run.id, wanted) == len(items)
    return run.id, lea


def test_a_request_is_kept_once_and_changes_nothing_by_itself(store: Store) -> None:
    run = reviewed.graded(store)
    before = reviewed.pictures(store, run.id)
    lea = sit(store, "Lea")
    whole = [RegradeRequest("i1", "", WHY, "Tom")]
    assert regrades.request(store, lea, run.id, whole) == 2  # both criteria
    assert regrades.request(store, lea, run.id, whole) == 0
    assert reviewed.pictures(store, run.id) == before
    found = regrades.requests_of(store, run.id)
    # By majority i1 is MET on both (tests.services.reviewed).
    assert {(one.criterion, one.before, one.status) for one in found} == {
        ("Right", "MET", "open"),
        ("Short", "MET", "open"),
    }


def test_a_note_reaches_nobody_before_they_committed_and_everybody_with_the_votes(
    store: Store,
) -> None:
    run, lea = asked(store, "i1")
    queue = regrades.queue_open(store, lea, run)
    ada = sit(store, "Ada")
    ticket = take(store, ada, queue.id, "i1")
    item = commit_reveal.blind_item(store, ticket)
    assert "Qz" not in json.dumps(asdict(item), default=lambda noun: noun.model_dump())
    assert "Qz" not in str(audit_trail.cell_story(store, ada, run, "i1", "Right"))
    done = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)})
    (cell,) = commit_reveal.reveal(store, done.ticket)
    assert cell.asked == (("Qzstudent", WHY),)
    assert cell.reasons == ("regrade",)


def test_what_people_settled_stays_in_force_until_they_decide_anew_and_may_be_kept(
    store: Store,
) -> None:
    run = reviewed.graded(store)
    first = reviewed.make_queue(store, run)
    reviewed.settle(store, sit(store, "Ada"), first, "i1", MET)
    reviewed.settle(store, sit(store, "Ada"), first, "i2", MET)
    lea = sit(store, "Lea")
    wanted = [RegradeRequest(item, "Right", WHY, "Tom") for item in ("i1", "i2")]
    regrades.request(store, lea, run.id, wanted)
    queue = regrades.queue_open(store, lea, run.id, QueueSettings(reviewers=2))
    assert store.queues.states(queue.id)["needs_review"][0] == 2
    reviewed.settle(store, sit(store, "Ada"), queue.id, "i1", MET)
    # One of two has spoken: the old decision holds, and the cell is not done.
    assert reviewed.states(store, queue.id, "i1") == {"needs_others"}
    assert adjudication.settled_cells(store, run.id)["i1", "Right"].option == MET
    reviewed.settle(store, sit(store, "Ben"), queue.id, "i1", MET)
    for name in ("Ada", "Ben"):
        reviewed.settle(store, sit(store, name), queue.id, "i2", UNMET, note="Read it again.")
    found = {one.item_id: one for one in regrades.requests_of(store, run.id)}
    assert (found["i1"].before, found["i1"].now, found["i1"].status) == ("MET", "MET", "kept")
    assert (found["i2"].before, found["i2"].now, found["i2"].status) == ("MET", "UNMET", "changed")
    with pytest.raises(InputError, match="No request waits"):
        regrades.queue_open(store, lea, run.id)


def test_the_same_person_saying_the_same_again_answers_a_request_and_undo_opens_it(
    store: Store,
) -> None:
    run = reviewed.graded(store)
    ada, lea = sit(store, "Ada"), sit(store, "Lea")
    reviewed.settle(store, ada, reviewed.make_queue(store, run), "i1", MET)
    regrades.request(store, lea, run.id, [RegradeRequest("i1", "Right", WHY, "Tom")])
    queue = regrades.queue_open(store, lea, run.id).id
    reviewed.settle(store, ada, queue, "i1", MET)
    assert regrades.requests_of(store, run.id)[0].status == "kept"
    other_acts.undo_last(store, ada, queue)
    assert regrades.requests_of(store, run.id)[0].status == "open"
    assert reviewed.states(store, queue, "i1") == {"needs_review"}


def test_later_requests_join_the_queue_unless_it_answered_that_cell_before(store: Store) -> None:
    run, lea = asked(store, "i1")
    queue = regrades.queue_open(store, lea, run).id
    regrades.request(store, lea, run, [RegradeRequest("i2", "Right", WHY, "Tom")])
    assert regrades.queue_open(store, lea, run).id == queue
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", MET)
    regrades.request(store, lea, run, [RegradeRequest("i1", "Right", "Once more.", "Tom")])
    again = regrades.queue_open(store, lea, run).id
    assert again != queue
    # i2 still waits in the first.
    assert {cell.item_id for cell in store.queues.cells(again)} == {"i1"}
    states = {(one.item_id, one.note): one.status for one in regrades.requests_of(store, run)}
    assert states["i1", "Once more."] == "open"


def test_a_table_brings_requests_and_all_that_is_wrong_with_it_is_said(store: Store) -> None:
    run = reviewed.graded(store)
    lea = sit(store, "Lea")
    good = "Item;Criterion;Note;From\ni1;;Not read.;Tom\ni2;Short;=1+1;Tim\n"
    wanted = regrades.read_requests(good.encode(), "requests.csv")
    assert wanted == [
        RegradeRequest("i1", "", "Not read.", "Tom"),
        RegradeRequest("i2", "Short", "=1+1", "Tim"),
    ]
    assert regrades.request(store, lea, run.id, wanted) == 3
    # The note that a spreadsheet would work out is made harmless.
    assert "'=1+1" in regrades.requests_as_csv(store, run.id)
    with pytest.raises(InputError, match="no column note"):
        regrades.read_requests(b"item,from\ni1,Tom\n", "requests.csv")
    bad = [
        RegradeRequest("zz", "", "x", "y"),
        RegradeRequest("i1", "Nope", "x", "y"),
        RegradeRequest("i1", "", " ", ""),
    ]
    with pytest.raises(InputError) as refused:
        regrades.request(store, lea, run.id, bad)
    assert len(refused.value.problems) == 4
    assert len(regrades.requests_of(store, run.id)) == 3


def test_a_mistaken_request_is_taken_back_and_stays_in_the_record(store: Store) -> None:
    run, lea = asked(store, "i1", "i2")
    mistaken = next(one for one in regrades.requests_of(store, run) if one.item_id == "i1")
    regrades.withdraw(store, lea, run, mistaken.event_id, "Another student's.")
    states = {one.item_id: one.status for one in regrades.requests_of(store, run)}
    assert states == {"i1": "withdrawn", "i2": "open"}
    queue = regrades.queue_open(store, lea, run).id
    assert {cell.item_id for cell in store.queues.cells(queue)} == {"i2"}
    lines = audit_trail.cell_story(store, lea, run, "i1", "Right")
    assert "Another student's." in str(lines)
    # What a reviewer of i1 would see elsewhere no longer has the note, and the same may be asked.
    again = [RegradeRequest("i1", "Right", WHY, "Qzstudent")]
    assert regrades.request(store, lea, run, again) == 1


@pytest.mark.parametrize(
    ("number", "words"),
    [(99_999, "has no request"), (0, "waits in queue")],
)
def test_what_cannot_be_taken_back_is_refused(store: Store, number: int, words: str) -> None:
    run, lea = asked(store, "i1")
    (one,) = regrades.requests_of(store, run)
    queue = regrades.queue_open(store, lea, run).id
    with pytest.raises(InputError, match=words):
        regrades.withdraw(store, lea, run, number or one.event_id)
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", MET)
    with pytest.raises(InputError, match="is kept already"):
        regrades.withdraw(store, lea, run, one.event_id)
