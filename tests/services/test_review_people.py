"""Several reviewers, one queue: leases, turns, independent verdicts, disagreements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.review import Given, QueueSettings, Seat
from core.errors import Conflict, InputError
from core.services import claiming, clock, queueing, review_acts, reviewers, reviewing, settling
from core.services.claiming import QueueFilter
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit, take


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = reviewed.open_store(tmp_path)
    yield made
    made.close()


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of leases; add seconds to its one number."""
    at = [1_000_000.0]
    monkeypatch.setattr(clock, "at", lambda: at[0])
    return at


def states(store: Store, queue: int, item: str) -> set[str]:
    return {cell.state for cell in store.queues.cells(queue, item)}


def test_the_first_to_sign_in_is_the_lead_and_there_is_always_one(store: Store) -> None:
    assert reviewers.sign_in(store, "  Lea ").name == "Lea"
    lea, ada = sit(store, "Lea"), sit(store, "Ada")
    assert (lea.name, lea.role, ada.role) == ("Lea", "lead", "reviewer")
    assert sit(store, "LEA").name == "Lea"  # the same person, whatever the case
    with pytest.raises(InputError, match="only lead"):
        reviewers.set_role(store, lea, "Lea", "reviewer")
    with pytest.raises(Conflict, match="Only a lead may change roles"):
        reviewers.set_role(store, ada, "Ada", "lead")
    reviewers.set_role(store, lea, "Ada", "adjudicator")
    assert reviewers.seat(store, "ada", "x").resolves
    with pytest.raises(InputError, match="1 to 100"):
        reviewers.sign_in(store, "   ")


def test_two_people_are_never_handed_the_same_item(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    assert take(store, ada, queue).item_id == "i1"
    assert take(store, bea, queue).item_id == "i2"
    with pytest.raises(Conflict, match="Ada has item 2 open until"):
        claiming.claim(store, bea, queue, "i1")


def test_an_item_comes_back_when_its_lease_runs_out_and_the_late_one_is_told(
    store: Store, wait: list[float]
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    mine = take(store, ada, queue)
    wait[0] += 599
    assert claiming.heartbeat(store, mine)
    wait[0] += 599  # still held, for the heartbeat counted from then
    assert take(store, bea, queue).item_id == "i2"
    wait[0] += 2
    theirs = take(store, bea, queue, "i1")
    assert not claiming.heartbeat(store, mine)
    with pytest.raises(Conflict, match="do not have item 2 open any more; Bea opened it since"):
        reviewing.commit(store, mine, {"Right": Given(MET)})
    reviewing.commit(store, theirs, {"Right": Given(UNMET)})
    assert [v.reviewer for v in store.verdicts.of_queue(queue)] == ["Bea"]


def test_a_lease_that_ran_out_still_counts_while_nobody_came(
    store: Store, wait: list[float]
) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    (ada,) = reviewed.seats(store, "Ada")
    ticket = take(store, ada, queue)
    wait[0] += 10_000
    assert reviewing.commit(store, ticket, {"Right": Given(MET)}).confirm == ("Right",)


def test_two_windows_of_one_person_cannot_commit_the_same_cell(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    one, other = sit(store, "Ada", "one"), sit(store, "Ada", "other")
    mine = take(store, one, queue, "i1")
    with pytest.raises(Conflict, match="You have item 2 open in another window"):
        claiming.claim(store, other, queue, "i1")
    assert take(store, other, queue).item_id == "i2"  # not the one that is open already
    again = claiming.claim(store, other, queue, "i1", take_over=True)
    reviewing.commit(store, again, {"Right": Given(MET)})
    with pytest.raises(Conflict, match="you, in another window"):
        reviewing.commit(store, mine, {"Right": Given(UNMET)})


def test_what_somebody_else_settled_meanwhile_is_not_overwritten(store: Store) -> None:
    run = reviewed.graded(store, 4)
    first, second = reviewed.make_queue(store, run), reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    mine = take(store, ada, first, "i1")
    reviewed.settle(store, bea, second, "i1", UNMET)  # through another queue of the run
    with pytest.raises(Conflict, match=r"'Right' was settled by Bea at \d\d:\d\d UTC"):
        reviewing.commit(store, mine, {"Right": Given(MET)})
    assert settling.settled(store, run.id)["i1", "Right"].option == UNMET
    assert states(store, first, "i1") == {"resolved"}


def test_a_lead_can_take_an_item_over_and_that_is_on_record(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    mine = take(store, ada, queue, "i1")
    with pytest.raises(Conflict):
        claiming.claim(store, bea, queue, "i1", take_over=True)
    claiming.claim(store, sit(store, "Lea"), queue, "i1", take_over=True)
    assert not claiming.heartbeat(store, mine)
    (event,) = [e for e in store.events.of_run(1) if e.action == "take_over"]
    assert (event.actor, event.before["holder"]) == ("Lea", "Ada")


def test_a_skip_comes_last_for_me_alone_and_counts_as_nothing(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    before = queueing.progress(store, queue)
    review_acts.skip(store, take(store, ada, queue), "too long")
    review_acts.skip(store, take(store, ada, queue), "too odd")
    assert queueing.progress(store, queue) == before
    order = [t.item_id for t in claiming.ahead(store, ada, queue, limit=9)]
    assert order == ["i3", "i5", "i6", "i7", "i1", "i2"]
    assert claiming.ahead(store, bea, queue, limit=1)[0].item_id == "i1"
    review_acts.undo_last(store, ada, queue)
    assert claiming.ahead(store, ada, queue, limit=1)[0].item_id == "i2"


def test_independent_reviewers_do_not_see_each_other_and_agree_by_themselves(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(reviewers=2)
    queue = reviewed.make_queue(store, run, settings=settings)
    ada, bea, cid = reviewed.seats(store, "Ada", "Bea", "Cid")
    done = reviewed.settle(store, ada, queue, "i1", MET)
    assert done.effect is not None
    assert done.effect.score_before == done.effect.score_after
    assert states(store, queue, "i1") == {"needs_others"}
    assert settling.settled(store, run.id) == {}
    # Done for Ada, open to others, and nothing of hers is in what Bea sees.
    assert claiming.standing(store, ada, queue).counts["mine_done"] == 1
    ticket = take(store, bea, queue, "i1")
    seen = reviewing.blind_item(store, ticket)
    assert all(cell.first is None and cell.mine for cell in seen.cells)
    ticket = reviewing.commit(store, ticket, {"Right": Given(MET)}).ticket
    assert reviewing.reveal(store, ticket).cells[0].others == ()
    reviewing.finish(store, ticket, {"Right": Given(MET)})
    found = settling.settled(store, run.id)["i1", "Right"]
    assert (found.provenance, found.people) == ("human_consensus", ("Ada", "Bea"))
    assert ("i1", "Short") not in settling.settled(store, run.id)
    # Both places are taken while Bea has it open: a third person gets another item.
    assert take(store, cid, queue).item_id == "i2"


def test_no_more_people_than_needed_have_an_item_open(store: Store) -> None:
    queue = reviewed.make_queue(
        store, reviewed.graded(store, 2), settings=QueueSettings(reviewers=2)
    )
    ada, bea, cid = reviewed.seats(store, "Ada", "Bea", "Cid")
    assert take(store, ada, queue).item_id == take(store, bea, queue).item_id == "i1"
    assert claiming.claim_next(store, cid, queue) is None
    assert "1 open elsewhere (Ada, Bea; the first until" in claiming.standing(store, cid, queue).why


def test_only_a_share_of_the_items_needs_several_reviewers(store: Store) -> None:
    settings = QueueSettings(reviewers=3, overlap_share=0.25)
    queue = reviewed.make_queue(store, reviewed.graded(store, 200), reviewed.EVERYTHING, settings)
    several = [item for item in store.queues.items(queue) if item.required == 3]
    # 200 draws of .25: mean 50, standard deviation 6.1.
    assert 30 <= len(several) <= 70


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
