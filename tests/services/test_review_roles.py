"""Who may do what: disagreements, flags, assignments, and roles that change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.review import Given, QueueSettings, Seat
from core.domain.review_records import QueueFilter
from core.errors import Conflict, InputError
from core.services import claiming, queueing, review_acts, reviewers, reviewing, settling
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
    assert claiming.standing(store, ada, queue).counts["waiting"] == 1
    with pytest.raises(Conflict, match="waits for an adjudicator"):
        claiming.claim(store, ada, queue, "i1")
    eve = sit(store, "Eve")
    reviewers.set_role(store, sit(store, "Lea"), "Eve", "adjudicator")
    ticket = take(store, eve, queue, "i1")
    assert ticket.part == "resolve"
    with pytest.raises(Conflict, match="Commit a verdict first"):
        reviewing.reveal(store, ticket)
    ticket = reviewing.commit(store, ticket, {"Right": Given(UNMET)}).ticket
    (cell,) = reviewing.reveal(store, ticket).cells
    assert {other.letter for other in cell.others} == {"A", "B"}
    assert {other.given.option for other in cell.others} == {MET, UNMET}
    with pytest.raises(InputError, match="resolves a disagreement"):
        reviewing.finish(store, ticket, {"Right": Given(UNMET)})
    reviewing.finish(store, ticket, {"Right": Given(UNMET, note="It is not.")})
    found = settling.settled(store, run.id)["i1", "Right"]
    assert (found.provenance, found.people, found.option) == ("adjudicated", ("Eve",), UNMET)
    with pytest.raises(Conflict, match="Eve went on"):
        review_acts.undo_last(store, ada, queue)


def test_most_of_three_settle_where_the_queue_says_so(store: Store) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(reviewers=3, policy="majority")
    queue = reviewed.make_queue(store, run, settings=settings)
    people = reviewed.seats(store, "Ada", "Bea", "Cid")
    for seat, option in zip(people, (MET, UNMET, MET), strict=True):
        reviewed.settle(store, seat, queue, "i3", option)
    found = settling.settled(store, run.id)["i3", "Right"]
    assert (found.option, found.people) == (MET, ("Ada", "Cid"))


def test_a_flag_sends_a_cell_to_its_role_and_nobody_else_goes_on_with_it(store: Store) -> None:
    run = reviewed.graded(store, 2)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    ticket = take(store, ada, queue)
    with pytest.raises(InputError, match="what is wrong"):
        review_acts.flag(store, ticket, "Right", "lead", " ")
    ticket = review_acts.flag(store, ticket, "Right", "lead", "The text is cut off.").ticket
    item = reviewing.blind_item(store, ticket)
    assert [cell.mine for cell in item.cells] == [False, True]
    ticket = reviewing.commit(store, ticket, {"Short": Given(MET)}).ticket
    reviewing.finish(store, ticket, {"Short": Given(MET)})
    claiming.release(store, ticket)
    assert claiming.standing(store, bea, queue).counts == {"waiting": 1}
    assert claiming.standing(store, sit(store, "Lea"), queue).available == 1
    only = QueueFilter(flagged=True)
    assert claiming.standing(store, sit(store, "Lea"), queue, only).available == 1


def test_a_flagged_cell_cannot_be_committed_by_who_may_not(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2))
    (ada,) = reviewed.seats(store, "Ada")
    ticket = take(store, ada, queue)
    ticket = review_acts.flag(store, ticket, "Right", "adjudicator", "Odd.").ticket
    with pytest.raises(Conflict, match="flagged for a"):
        reviewing.commit(store, ticket, {"Right": Given(MET)})


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
        review_acts.send_back(store, ada, queue, [("i1", "Right")], "Again.")
    review_acts.send_back(store, lea, queue, [("i1", "Right"), ("i1", "Short")], "Read again.")
    assert states(store, queue, "i1") == {"needs_review"}
    assert settling.settled(store, run.id) == {}
    assert store.results.item(run.id, "i1").score == 1.0  # what the votes say
    assert review_acts.undo_last(store, lea, queue) is not None
    assert reviewed.pictures(store, run.id) == settled


def test_assigned_items_are_for_those_named(store: Store) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(assignment="round_robin", assignees=("Ada", "Bea"))
    queue = reviewed.make_queue(store, run, settings=settings)
    ada, bea, cid = reviewed.seats(store, "Ada", "Bea", "Cid")
    assert [i.assigned for i in store.queues.items(queue)] == [("Ada",), ("Bea",), ("Ada",)]
    assert claiming.standing(store, ada, queue).counts == {"available": 2, "assigned": 1}
    assert claiming.standing(store, cid, queue).why == (
        "No item is available to you now: 3 assigned to others, or written by you."
    )
    claiming.assign(store, sit(store, "Lea"), queue, ["i1"], ["cid"])
    assert take(store, cid, queue).item_id == "i1"
    with pytest.raises(Conflict, match="assigned to them, or written by you"):
        claiming.claim(store, bea, queue, "i1")


def test_an_empty_queue_says_why(store: Store) -> None:
    run = reviewed.graded(store, 2)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    ticket = take(store, ada, queue)
    assert "open elsewhere (Ada" in claiming.standing(store, bea, queue).why
    claiming.release(store, ticket)
    nowhere = QueueFilter(criterion="No such")
    assert "left out by your filter" in claiming.standing(store, bea, queue, nowhere).why
    assert claiming.standing(store, bea, queue).why == ""
    reviewed.settle(store, ada, queue, "i1", MET)
    assert claiming.standing(store, bea, queue).why == "Everything in this queue is done."


def test_who_lost_their_role_meanwhile_cannot_go_on_with_it(store: Store) -> None:
    queue = reviewed.make_queue(
        store, reviewed.graded(store, 2), settings=QueueSettings(policy="adjudicator")
    )
    lea = sit(store, "Lea")
    (ada,) = reviewed.seats(store, "Ada")
    reviewed.settle(store, ada, queue, "i1", MET)
    sit(store, "Eve")
    reviewers.set_role(store, lea, "Eve", "adjudicator")
    ticket = take(store, reviewers.seat(store, "Eve", "tab"), queue)
    reviewers.set_role(store, lea, "Eve", "reviewer")
    with pytest.raises(Conflict, match="Only an adjudicator or a lead may resolve"):
        reviewing.commit(store, ticket, {"Right": Given(MET)})


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
    queueing.change(store, lea, queue, settings=QueueSettings(reviewers=3))
    assert states(store, queue, "i1") == {"needs_others"}
    assert states(store, queue, "i2") == {"resolved"}
    queueing.change(store, lea, queue, settings=QueueSettings(reviewers=1))
    assert states(store, queue, "i1") == {"resolved"}
    assert settling.settled(store, run.id)["i1", "Right"].people == ("Ada",)


def test_a_forged_seat_has_the_role_of_its_name(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2))
    (ada,) = reviewed.seats(store, "Ada")
    forged = replace(ada, role="lead")
    assert isinstance(forged, Seat)
    with pytest.raises(Conflict, match="Only a lead"):
        claiming.assign(store, forged, queue, ["i1"], [])
    with pytest.raises(Conflict, match="Only an adjudicator or a lead"):
        review_acts.unmask(store, take(store, forged, queue), "I want to know.")


def test_unmasking_is_recorded(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2))
    lea = sit(store, "Lea")
    assert review_acts.unmask(store, take(store, lea, queue), "A complaint.") == "secret-system"
    assert [e.action for e in store.events.of_run(1)] == ["unmask"]
