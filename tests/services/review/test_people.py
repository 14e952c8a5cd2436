"""Several reviewers, one queue: leases, turns, independent verdicts, disagreements."""

from __future__ import annotations

import pytest

from core import clock
from core.domain.review import QueueSettings, ReviewerAnswer
from core.errors import Conflict, InputError
from core.services.review import adjudication, claims, commit_reveal, other_acts, queues, reviewers
from core.services.review.other_acts import VerdictsCompared
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit, states, take


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of leases; add seconds to its one number."""
    at = [1_000_000.0]
    monkeypatch.setattr(clock, "seconds_now", lambda: at[0])
    return at


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
    assert reviewers.seat_of(store, "ada", "x").resolves
    with pytest.raises(InputError, match="1 to 100"):
        reviewers.sign_in(store, "   ")


def test_two_people_are_never_handed_the_same_item(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    assert take(store, ada, queue).item_id == "i1"
    assert take(store, bea, queue).item_id == "i2"
    with pytest.raises(Conflict, match="Ada has item 2 open until"):
        claims.claim(store, bea, queue, "i1")


def test_an_item_comes_back_when_its_lease_runs_out_and_the_late_one_is_told(
    store: Store, wait: list[float]
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    mine = take(store, ada, queue)
    wait[0] += 599
    assert claims.heartbeat(store, mine)
    wait[0] += 599  # still held, for the heartbeat counted from then
    assert take(store, bea, queue).item_id == "i2"
    wait[0] += 2
    theirs = take(store, bea, queue, "i1")
    assert not claims.heartbeat(store, mine)
    with pytest.raises(Conflict, match="do not have item 2 open any more; Bea opened it since"):
        commit_reveal.commit(store, mine, {"Right": ReviewerAnswer(MET)})
    commit_reveal.commit(store, theirs, {"Right": ReviewerAnswer(UNMET)})
    assert [v.reviewer for v in store.verdicts.of_queue(queue)] == ["Bea"]


def test_a_lease_that_ran_out_still_counts_while_nobody_came(
    store: Store, wait: list[float]
) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    (ada,) = reviewed.seats(store, "Ada")
    ticket = take(store, ada, queue)
    wait[0] += 10_000
    assert commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)}).confirm == ("Right",)


def test_two_windows_of_one_person_cannot_commit_the_same_cell(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    one, other = sit(store, "Ada", "one"), sit(store, "Ada", "other")
    mine = take(store, one, queue, "i1")
    with pytest.raises(Conflict, match="You have item 2 open in another window"):
        claims.claim(store, other, queue, "i1")
    assert take(store, other, queue).item_id == "i2"  # not the one that is open already
    again = claims.claim(store, other, queue, "i1", take_over=True)
    commit_reveal.commit(store, again, {"Right": ReviewerAnswer(MET)})
    with pytest.raises(Conflict, match="you, in another window"):
        commit_reveal.commit(store, mine, {"Right": ReviewerAnswer(UNMET)})


def test_what_somebody_else_settled_meanwhile_is_not_overwritten(store: Store) -> None:
    run = reviewed.graded(store, 4)
    first, second = reviewed.make_queue(store, run), reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    mine = take(store, ada, first, "i1")
    reviewed.settle(store, bea, second, "i1", UNMET)  # through another queue of the run
    with pytest.raises(Conflict, match=r"'Right' was settled by Bea at \d\d:\d\d UTC"):
        commit_reveal.commit(store, mine, {"Right": ReviewerAnswer(MET)})
    assert adjudication.settled_cells(store, run.id)["i1", "Right"].option == UNMET
    assert states(store, first, "i1") == {"resolved"}


def test_a_lead_can_take_an_item_over_and_that_is_on_record(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    mine = take(store, ada, queue, "i1")
    with pytest.raises(Conflict):
        claims.claim(store, bea, queue, "i1", take_over=True)
    claims.claim(store, sit(store, "Lea"), queue, "i1", take_over=True)
    assert not claims.heartbeat(store, mine)
    (event,) = [e for e in store.events.of_run(1) if e.action == "take_over"]
    assert (event.actor, event.before["holder"]) == ("Lea", "Ada")


def test_a_skip_comes_last_for_me_alone_and_counts_as_nothing(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    before = queues.queue_progress(store, queue)
    other_acts.skip(store, take(store, ada, queue), "too long")
    other_acts.skip(store, take(store, ada, queue), "too odd")
    assert queues.queue_progress(store, queue) == before
    order = [t.item_id for t in claims.next_items(store, ada, queue, limit=9)]
    assert order == ["i3", "i5", "i6", "i7", "i1", "i2"]
    assert claims.next_items(store, bea, queue, limit=1)[0].item_id == "i1"
    other_acts.undo_last(store, ada, queue)
    assert claims.next_items(store, ada, queue, limit=1)[0].item_id == "i2"


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
    assert adjudication.settled_cells(store, run.id) == {}
    # Done for Ada, open to others, and nothing of hers is in what Bea sees.
    assert claims.queue_for_person(store, ada, queue).counts["mine_done"] == 1
    ticket = take(store, bea, queue, "i1")
    seen = commit_reveal.blind_item(store, ticket)
    assert all(cell.first is None and cell.mine for cell in seen.cells)
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)}).ticket
    assert commit_reveal.reveal(store, ticket)[0].others == ()
    commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(MET)})
    found = adjudication.settled_cells(store, run.id)["i1", "Right"]
    assert (found.provenance, found.people) == ("human_consensus", ("Ada", "Bea"))
    assert ("i1", "Short") not in adjudication.settled_cells(store, run.id)
    # Both places are taken while Bea has it open: a third person gets another item.
    assert take(store, cid, queue).item_id == "i2"


def test_a_verdict_that_has_met_anothers_gets_no_second_try(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(reviewers=2))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    reviewed.settle(store, ada, queue, "i1", MET)
    # Nobody has answered yet: Ada may take back what she confirmed, and what she said first.
    for _ in ("final", "verdict"):
        assert other_acts.undo_last(store, ada, queue) is not None
    reviewed.settle(store, ada, queue, "i1", MET)
    done = reviewed.settle(store, bea, queue, "i1", UNMET, note="No.")
    assert done.effect is not None
    assert {cell.state for cell in done.effect.cells} == {"disagreement"}
    # Now Bea knows that Ada said something else: taking hers back would let her follow.
    for who in (bea, ada):
        with pytest.raises(Conflict, match="has met another reviewer's"):
            other_acts.undo_last(store, who, queue)
    assert states(store, queue, "i1") == {"disagreement"}
    # Sent back, everybody reviews it again.
    lea = reviewed.sit(store, "Lea")
    cells = [("i1", "Right"), ("i1", "Short")]
    other_acts.send_back(store, lea, queue, cells, "Both once more.")
    assert states(store, queue, "i1") == {"needs_review"}


def test_what_cannot_be_taken_back_is_flagged_for_a_lead_and_earlier_acts_still_can(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(reviewers=2))
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    reviewed.settle(store, ada, queue, "i2", UNMET)
    for seat in (ada, bea):
        reviewed.settle(store, seat, queue, "i1", MET)
    with pytest.raises(VerdictsCompared) as refused:
        other_acts.undo_last(store, ada, queue)
    met = refused.value
    assert (met.item_id, met.criteria) == ("i1", ("Right", "Short"))
    # Both said MET, so the cells are resolved; Ada asks a lead all the same.
    with pytest.raises(InputError, match="Say what is wrong"):
        other_acts.flag_met(store, ada, queue, "i1", ("Right",), " ")
    other_acts.flag_met(store, ada, queue, "i1", ("Right",), "I misread it.")
    (flagged,) = other_acts.flagged_decisions(store, queue)
    assert (flagged.item_id, flagged.criterion) == ("i1", "Right")
    assert (flagged.actor, flagged.reason) == ("Ada", "I misread it.")
    # Whoever gave no verdict there has nothing to ask for.
    with pytest.raises(Conflict, match="You gave no verdict"):
        other_acts.flag_met(store, reviewed.sit(store, "Cid"), queue, "i1", ("Right",), "Hm.")
    # The flag is Ada's newest act; taken back, what came before the other verdict is reachable.
    assert other_acts.undo_last(store, ada, queue, before=met.step) is not None
    assert states(store, queue, "i2") == {"needs_review"}
    # Sent back, the flag is done with: reviewers may go on with the cell.
    lea = reviewed.sit(store, "Lea")
    other_acts.send_back(store, lea, queue, [("i1", "Right")], "Once more.")
    assert other_acts.flagged_decisions(store, queue) == []
    cells = {cell.criterion: cell for cell in store.queues.cells(queue, "i1")}
    assert (cells["Right"].state, cells["Right"].flagged) == ("needs_review", None)
    # Taking that back brings the flag back, too.
    other_acts.undo_last(store, lea, queue)
    assert [cell.criterion for cell in other_acts.flagged_decisions(store, queue)] == ["Right"]


def test_no_more_people_than_needed_have_an_item_open(store: Store) -> None:
    queue = reviewed.make_queue(
        store, reviewed.graded(store, 2), settings=QueueSettings(reviewers=2)
    )
    ada, bea, cid = reviewed.seats(store, "Ada", "Bea", "Cid")
    assert take(store, ada, queue).item_id == take(store, bea, queue).item_id == "i1"
    assert claims.claim_next(store, cid, queue) is None
    assert (
        "1 open elsewhere (Ada, Bea; the first until"
        in claims.queue_for_person(store, cid, queue).why
    )


def test_only_a_share_of_the_items_needs_several_reviewers(store: Store) -> None:
    settings = QueueSettings(reviewers=3, overlap_share=0.25)
    queue = reviewed.make_queue(store, reviewed.graded(store, 200), reviewed.EVERYTHING, settings)
    several = [item for item in store.queues.items(queue) if item.required == 3]
    # 200 draws of .25: mean 50, standard deviation 6.1.
    assert 30 <= len(several) <= 70
