"""Who may do what: disagreements, flags, assignments, and roles that change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.review import QueueSettings, ReviewerAnswer, Seat
from core.domain.review_records import QueueFilter
from core.errors import Conflict, InputError
from core.services.review import adjudication, claims, commit_reveal, other_acts, queues, reviewers
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit, states, take


def test_a_disagreement_waits_for_an_adjudicator_who_says_first_what_they_think(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(reviewers=2))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    reviewed.settle(store, ada, queue, "i1", MET)
    reviewed.settle(store, bea, queue, "i1", UNMET, note="No.")
    assert states(store, queue, "i1") == {"disagreement"}
    assert claims.queue_for_person(store, ada, queue).counts["waiting"] == 1
    with pytest.raises(Conflict, match="waits for an adjudicator"):
        claims.claim(store, ada, queue, "i1")
    eve = sit(store, "Eve")
    reviewers.set_role(store, sit(store, "Lea"), "Eve", "adjudicator")
    ticket = take(store, eve, queue, "i1")
    assert ticket.part == "resolve"
    with pytest.raises(Conflict, match="Commit a verdict first"):
        commit_reveal.reveal(store, ticket)
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)}).ticket
    (cell,) = commit_reveal.reveal(store, ticket)
    assert sorted(given.option for given in cell.others) == sorted([MET, UNMET])
    with pytest.raises(InputError, match="resolves a disagreement"):
        commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(UNMET)})
    commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(UNMET, note="It is not.")})
    found = adjudication.settled_cells(store, run.id)["i1", "Right"]
    assert (found.provenance, found.people, found.option) == ("adjudicated", ("Eve",), UNMET)
    with pytest.raises(Conflict, match="Eve has acted on"):
        other_acts.undo_last(store, ada, queue)


def test_most_of_three_settle_where_the_queue_says_so(store: Store) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(reviewers=3, policy="majority")
    queue = reviewed.make_queue(store, run, settings=settings)
    people = reviewed.seats(store, "Ada", "Bea", "Cid")
    for seat, option in zip(people, (MET, UNMET, MET), strict=True):
        reviewed.settle(store, seat, queue, "i3", option)
    found = adjudication.settled_cells(store, run.id)["i3", "Right"]
    assert (found.option, found.people) == (MET, ("Ada", "Cid"))


def test_a_flag_sends_a_cell_to_its_role_and_nobody_else_goes_on_with_it(store: Store) -> None:
    run = reviewed.graded(store, 2)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    ticket = take(store, ada, queue)
    with pytest.raises(InputError, match="what is wrong"):
        other_acts.flag(store, ticket, "Right", "lead", " ")
    ticket = other_acts.flag(store, ticket, "Right", "lead", "The text is cut off.").ticket
    item = commit_reveal.blind_item(store, ticket)
    assert [cell.mine for cell in item.cells] == [False, True]
    ticket = commit_reveal.commit(store, ticket, {"Short": ReviewerAnswer(MET)}).ticket
    commit_reveal.finish(store, ticket, {"Short": ReviewerAnswer(MET)})
    claims.release(store, ticket)
    assert claims.queue_for_person(store, bea, queue).counts == {"waiting": 1}
    assert claims.queue_for_person(store, sit(store, "Lea"), queue).available == 1
    only = QueueFilter(flagged=True)
    assert claims.queue_for_person(store, sit(store, "Lea"), queue, only).available == 1


def test_a_flagged_cell_cannot_be_committed_by_who_may_not(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2))
    (ada,) = reviewed.seats(store, "Ada")
    ticket = take(store, ada, queue)
    ticket = other_acts.flag(store, ticket, "Right", "adjudicator", "Odd.").ticket
    with pytest.raises(Conflict, match="flagged for a"):
        commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)})


def test_sent_back_cells_are_reviewed_again_and_the_record_keeps_everything(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    (ada,) = reviewed.seats(store, "Ada")
    reviewed.settle(store, ada, queue, "i1", UNMET)
    settled = reviewed.pictures(store, run.id)
    lea = sit(store, "Lea")
    with pytest.raises(Conflict, match="Only an adjudicator"):
        other_acts.send_back(store, ada, queue, [("i1", "Right")], "Again.")
    other_acts.send_back(store, lea, queue, [("i1", "Right"), ("i1", "Short")], "Read again.")
    assert states(store, queue, "i1") == {"needs_review"}
    assert adjudication.settled_cells(store, run.id) == {}
    assert store.results.item(run.id, "i1").score == 1.0  # what the votes say
    assert other_acts.undo_last(store, lea, queue) is not None
    assert reviewed.pictures(store, run.id) == settled


def test_assigned_items_are_for_those_named(store: Store) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(assignment="round_robin", assignees=("Ada", "Bea"))
    queue = reviewed.make_queue(store, run, settings=settings)
    ada, bea, cid = reviewed.seats(store, "Ada", "Bea", "Cid")
    assert [i.assigned for i in store.queues.items(queue)] == [("Ada",), ("Bea",), ("Ada",)]
    assert claims.queue_for_person(store, ada, queue).counts == {"available": 2, "assigned": 1}
    assert claims.queue_for_person(store, cid, queue).why == (
        "No item is available to you now: 3 assigned to others, or written by you."
    )
    claims.assign(store, sit(store, "Lea"), queue, ["i1"], ["cid"])
    assert take(store, cid, queue).item_id == "i1"
    with pytest.raises(Conflict, match="assigned to them, or written by you"):
        claims.claim(store, bea, queue, "i1")


def test_an_empty_queue_says_why(store: Store) -> None:
    run = reviewed.graded(store, 2)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    ticket = take(store, ada, queue)
    assert "open elsewhere (Ada" in claims.queue_for_person(store, bea, queue).why
    claims.release(store, ticket)
    nowhere = QueueFilter(criterion="No such")
    assert "left out by your filter" in claims.queue_for_person(store, bea, queue, nowhere).why
    assert claims.queue_for_person(store, bea, queue).why == ""
    reviewed.settle(store, ada, queue, "i1", MET)
    assert claims.queue_for_person(store, bea, queue).why == "Everything in this queue is done."


def test_who_lost_their_role_meanwhile_cannot_go_on_with_it(store: Store) -> None:
    queue = reviewed.make_queue(
        store, reviewed.graded(store, 2), settings=QueueSettings(policy="adjudicator")
    )
    lea = sit(store, "Lea")
    (ada,) = reviewed.seats(store, "Ada")
    reviewed.settle(store, ada, queue, "i1", MET)
    sit(store, "Eve")
    reviewers.set_role(store, lea, "Eve", "adjudicator")
    ticket = take(store, reviewers.seat_of(store, "Eve", "tab"), queue)
    reviewers.set_role(store, lea, "Eve", "reviewer")
    with pytest.raises(Conflict, match="Only an adjudicator or a lead may resolve"):
        commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)})


def test_fewer_reviewers_settle_what_waited_and_more_never_open_what_is_done(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(reviewers=2))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    reviewed.settle(store, ada, queue, "i1", MET)
    reviewed.settle(store, ada, queue, "i2", MET)
    reviewed.settle(store, bea, queue, "i2", MET)
    lea = sit(store, "Lea")
    queues.change(store, lea, queue, settings=QueueSettings(reviewers=3))
    assert states(store, queue, "i1") == {"needs_others"}
    assert states(store, queue, "i2") == {"resolved"}
    queues.change(store, lea, queue, settings=QueueSettings(reviewers=1))
    assert states(store, queue, "i1") == {"resolved"}
    assert adjudication.settled_cells(store, run.id)["i1", "Right"].people == ("Ada",)


def test_a_forged_seat_has_the_role_of_its_name(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2))
    (ada,) = reviewed.seats(store, "Ada")
    forged = replace(ada, role="lead")
    assert isinstance(forged, Seat)
    with pytest.raises(Conflict, match="Only a lead"):
        claims.assign(store, forged, queue, ["i1"], [])
    with pytest.raises(Conflict, match="Only an adjudicator or a lead"):
        other_acts.unmask(store, take(store, forged, queue), "I want to know.")


def test_unmasking_is_recorded(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2))
    lea = sit(store, "Lea")
    assert other_acts.unmask(store, take(store, lea, queue), "A complaint.") == "secret-system"
    assert [e.action for e in store.events.of_run(1)] == ["unmask"]
