"""One reviewer, one queue: what they see, what follows at once, and taking it back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from core import clock
from core.domain.base import build_model
from core.domain.review import Mode, QueueRule, QueueSettings, ReviewerAnswer
from core.domain.review_records import ItemTurn
from core.errors import Conflict, InputError
from core.services.agreement.load_ratings import run_ratings
from core.services.agreement.ratings import PANEL
from core.services.results.scored_items import resolved_items
from core.services.review import (
    adjudication,
    audit_trail,
    claims,
    commit_reveal,
    other_acts,
    queues,
    reviewer_quality,
)
from core.store.review import turns
from core.store.review.turns import Turns
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, NA, UNMET, sit, take


def test_nothing_that_others_said_or_made_is_in_a_blind_item(store: Store) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    seat = sit(store, "Ada")
    item = commit_reveal.blind_item(store, take(store, seat, queue))
    sent = json.dumps(asdict(item), default=lambda noun: noun.model_dump())
    # The world's secrets are the system, tag, meta, model, labels and reasons of votes.
    for secret in ("secret", "i0", *reviewed.JUDGES, "split", "score"):
        assert secret not in sent
    assert "Answer number 0." in sent
    assert "It is right." in sent


def test_votes_are_revealed_only_after_a_verdict_and_only_of_those_cells(store: Store) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run)
    ticket = take(store, sit(store, "Ada"), queue)
    with pytest.raises(Conflict, match="Commit a verdict first"):
        commit_reveal.reveal(store, ticket)
    done = commit_reveal.commit(
        store, ticket, {"Right": ReviewerAnswer(UNMET)}, ms_active={"Right": 1200}
    )
    assert done.confirm == ("Right",)
    assert done.effect is None
    (cell,) = commit_reveal.reveal(store, done.ticket)
    assert cell.view.criterion.name == "Right"
    assert [vote.label for vote in cell.view.votes] == ["MET", "MET", "UNMET"]
    assert cell.view.truth is None  # i1 has a label, which is another person's verdict
    assert cell.reasons == ("split",)
    actions = [e.action for e in store.events.of_cell(run.id, "i1", "Right")]
    assert actions == ["verdict", "reveal"]
    assert store.events.of_cell(run.id, "i1", "Right")[0].ms_active == 1200


def test_what_a_queue_is_to_a_person_follows_whatever_anybody_does_elsewhere(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING)
    ada, ben = sit(store, "Ada"), sit(store, "Ben")
    # Another process, as it were: it knows nothing of what the first has looked at.
    other = Store(store.path)

    def left(of: Store) -> int:
        found = claims.queue_for_person(of, ada, queue).counts
        assert found == Store(store.path).turns.counts(queue, ada, at=clock.seconds_now())
        return found["available"]

    assert left(store) == 8
    ticket = take(other, ben, queue, "i1")
    assert left(store) == 7
    claims.release(other, ticket)
    assert left(store) == 8
    reviewed.settle(other, ben, queue, "i0", MET, note="So.")
    assert left(store) == 7
    queues.archive(other, sit(store, "Lea"), queue)
    assert left(store) == 7


def test_a_confirmed_verdict_counts_at_once(store: Store) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run)
    done = reviewed.settle(store, sit(store, "Ada"), queue, "i2", MET)
    assert done.effect is not None
    # The majority said UNMET twice (score 0, fail); now both are MET: (3 + 1) / 4 = 1, pass.
    assert (done.effect.score_before, done.effect.score_after) == (0.0, 1.0)
    assert (done.effect.outcome_before, done.effect.outcome_after) == ("fail", "pass")
    right = done.effect.cells[0]
    assert (right.voted, right.before, right.after) == ("UNMET", "UNMET", "MET")
    assert right.hits_after == (0, 1)
    cell = {c.criterion: c for c in store.results.cells(run.id, "i2")}["Right"]
    assert (cell.rule, cell.option, cell.voted) == ("adjudicated", MET, UNMET)
    assert cell.agreement == pytest.approx(2 / 3)  # that of the votes
    (item,) = resolved_items(store, run.dataset_version_id, ["i2"])
    assert item.labels["Right"].label == "MET"
    found = adjudication.settled_cells(store, run.id)["i2", "Right"]
    assert (found.provenance, found.people) == ("human_single", ("Ada",))


def test_the_panel_is_measured_by_what_it_voted_not_by_what_people_settled(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    reviewed.settle(store, sit(store, "Ada"), queue, "i2", MET)
    right = run_ratings(store, run.id).criteria[0]
    assert right.gold.tolist() == [0, 0, 0, -1]  # labels of i0 and i1, and the settled i2
    assert right.columns[PANEL].tolist() == [0, 0, 1, 1]  # i2: UNMET, as the votes said
    assert PANEL == "panel"


def test_what_nobody_can_assess_is_an_abstention_and_no_truth(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    done = reviewed.settle(store, sit(store, "Ada"), queue, "i1", None, why="ambiguous_item")
    assert done.effect is not None
    assert done.effect.score_after is None  # both criteria are left out: nothing to score
    cell = store.results.cells(run.id, "i1")[0]
    assert (cell.option, cell.abstained) == (NA, True)
    (item,) = resolved_items(store, run.dataset_version_id, ["i1"])
    assert "Right" not in item.labels  # the dataset's own label is taken away
    found = adjudication.settled_cells(store, run.id)["i1", "Right"]
    assert found.uncertain
    assert found.why == "ambiguous_item"


def test_the_added_abstention_needs_a_reason_like_cannot_assess(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ticket = take(store, sit(store, "Ada"), queue)
    with pytest.raises(InputError, match="cannot be assessed, but why not"):
        commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(NA)})
    with pytest.raises(InputError, match="no such option"):
        commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(7)})
    done = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(NA, "missing_info")})
    assert commit_reveal.blind_item(store, done.ticket).cell("Right").first == ReviewerAnswer(
        None, "missing_info"
    )


def test_to_decide_against_judges_who_all_agree_needs_a_note(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    ticket = take(store, sit(store, "Ada"), queue, "i0")  # three judges said MET
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)}).ticket
    commit_reveal.reveal(store, ticket)
    with pytest.raises(InputError, match="against judges who all agree"):
        commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(UNMET)})
    done = commit_reveal.finish(
        store, ticket, {"Right": ReviewerAnswer(UNMET, note="It is false.")}
    )
    assert adjudication.settled_cells(store, run.id)["i0", "Right"].note == "It is false."
    assert done.confirm == ()


def test_a_change_of_mind_after_the_reveal_needs_a_note_and_both_verdicts_stay(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ticket = take(store, sit(store, "Ada"), queue, "i1")
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)}).ticket
    commit_reveal.reveal(store, ticket)
    with pytest.raises(InputError, match="after you saw the votes"):
        commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(MET)})
    commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(MET, note="I misread it.")})
    final = store.events.of_cell(run.id, "i1", "Right")[2]
    assert (final.before["option"], final.after["option"]) == (UNMET, MET)
    assert final.revealed_at is not None


def test_undoing_everything_brings_every_number_back(store: Store) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run)
    before, labels = reviewed.pictures(store, run.id), run_ratings(store, run.id)
    seat = sit(store, "Ada")
    for item in ("i1", "i2", "i3"):
        reviewed.settle(store, seat, queue, item, MET)
    other_acts.skip(store, take(store, seat, queue, "i5"), "later")
    assert reviewed.pictures(store, run.id) != before
    undone = 0
    while other_acts.undo_last(store, seat, queue) is not None:
        undone += 1
    # Three items in two steps each, and a skip.
    assert undone == 7
    assert reviewed.pictures(store, run.id) == before
    after = run_ratings(store, run.id)
    for one, other in zip(labels.criteria, after.criteria, strict=True):
        assert one.gold.tolist() == other.gold.tolist()
        assert one.levels.tolist() == other.levels.tolist()
    assert queues.queue_progress(store, queue).cells == {"needs_review": 12}
    assert adjudication.settled_cells(store, run.id) == {}


def test_whoever_saw_the_votes_and_took_the_verdict_back_is_not_blind_any_more(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    seat = sit(store, "Ada")
    ticket = commit_reveal.commit(
        store, take(store, seat, queue, "i1"), {"Right": ReviewerAnswer(MET)}
    ).ticket
    commit_reveal.reveal(store, ticket)
    other_acts.undo_last(store, seat, queue)
    commit_reveal.commit(
        store, claims.renewed_ticket(store, ticket), {"Right": ReviewerAnswer(UNMET)}
    )
    modes = [e.mode for e in store.events.of_cell(run.id, "i1") if e.action == "verdict"]
    assert modes == ["until_commit", "assisted"]


def test_only_what_stands_last_can_be_taken_back_and_only_once(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    seat = sit(store, "Ada")
    ticket = take(store, seat, queue, "i1")
    first = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)})
    final = commit_reveal.finish(store, first.ticket, {"Right": ReviewerAnswer(MET)})
    with pytest.raises(Conflict, match="has acted on 'Right' since"):
        other_acts.undo(store, seat, first.step)
    other_acts.undo(store, seat, final.step)
    with pytest.raises(Conflict, match="taken back already"):
        other_acts.undo(store, seat, final.step)
    other_acts.undo(store, seat, first.step)
    assert (
        commit_reveal.blind_item(store, claims.renewed_ticket(store, ticket)).cell("Right").first
        is None
    )


def test_others_cannot_take_back_what_i_did_but_a_lead_can(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    done = reviewed.settle(store, ada, queue, "i1", MET)
    with pytest.raises(Conflict, match="Ada did this"):
        other_acts.undo(store, bea, done.step)
    undone = other_acts.undo(store, sit(store, "Lea"), done.step, "Wrong item.")
    assert undone.acts == ("final",)
    assert store.events.of_step(undone.step)[0].reason == "Wrong item."


def test_a_draft_survives_and_goes_when_it_is_committed(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ticket = take(store, sit(store, "Ada"), queue)
    drafted = {"Right": ReviewerAnswer(UNMET, note="Hm."), "Short": ReviewerAnswer(MET)}
    commit_reveal.save_draft(store, ticket, drafted)
    claims.release(store, ticket)
    again = take(store, sit(store, "Ada", "another tab"), queue)
    assert commit_reveal.blind_item(store, again).cell("Right").draft == drafted["Right"]
    commit_reveal.commit(store, again, {"Right": drafted["Right"]})
    assert dict(commit_reveal.drafts_of(store, again)) == {"Short": ReviewerAnswer(MET)}


def test_a_blind_queue_never_shows_votes_and_needs_one_step(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(mode="blind"))
    ticket = take(store, sit(store, "Ada"), queue, "i1")
    done = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)})
    assert done.confirm == ()
    assert ("i1", "Right") in adjudication.settled_cells(store, run.id)
    with pytest.raises(Conflict, match="never shown"):
        commit_reveal.reveal(store, done.ticket)


@pytest.mark.parametrize(("mode", "blind"), [("blind", True), ("until_commit", False)])
def test_taking_back_in_a_blind_queue_tells_nothing_of_the_votes(
    store: Store, mode: Mode, blind: bool
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(mode=mode))
    ada = sit(store, "Ada")
    reviewed.settle(store, ada, queue, "i2", MET)
    undone = other_acts.undo_last(store, ada, queue)
    assert undone is not None
    (effect,) = undone.effects
    right = effect.cells[0]
    # By the votes i2 scores 0 and fails; Right is UNMET there.
    shown = (effect.score_after, effect.outcome_after, right.voted, right.after)
    assert shown == ((None, None, None, None) if blind else (0.0, "fail", "UNMET", "UNMET"))
    assert effect.blind == blind


def test_assisted_items_show_votes_at_once_and_a_share_of_items_stays_blind(store: Store) -> None:
    run = reviewed.graded(store, 200)
    settings = QueueSettings(mode="assisted", assisted_share=0.2)
    queue = reviewed.make_queue(store, run, EVERYTHING, settings)
    assisted = [item.item_id for item in store.queues.items(queue) if item.assisted]
    # 200 draws of .2: mean 40, standard deviation 5.7; the seed decides once and for all.
    assert 20 <= len(assisted) <= 60
    ticket = take(store, sit(store, "Ada"), queue, assisted[0])
    assert len(commit_reveal.reveal(store, ticket)) == 2
    assert (
        commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET, note="Yes.")}).confirm
        == ()
    )
    mode = store.events.of_cell(run.id, assisted[0], "Right")[-2].mode
    assert mode == "assisted"


def test_decisions_stay_while_the_run_goes_on(store: Store) -> None:
    run = reviewed.queued(store, 8)
    everyone = reviewed.items(8)
    reviewed.record(store, run, everyone[:2])
    rule = QueueRule(near_mark=None, audit_share=0.0)
    queue = reviewed.make_queue(store, run, rule)
    assert {c.item_id for c in store.queues.cells(queue)} == {"i1"}
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", UNMET)
    reviewed.record(store, run, everyone)  # i1's votes are there already; the rest is new
    assert store.results.item(run.id, "i1").score == 0.0
    assert queues.refresh(store, sit(store, "Ada"), queue) == 10  # i2, i3, i5, i6, i7
    assert queues.refresh(store, sit(store, "Ada"), queue) == 0


def test_a_cell_that_nobody_voted_on_can_be_settled_and_is_as_before_when_undone(
    store: Store,
) -> None:
    run = reviewed.queued(store, 2)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    before = reviewed.pictures(store, run.id)
    seat = sit(store, "Ada")
    done = reviewed.settle(store, seat, queue, "i0", MET)
    assert done.effect is not None
    assert done.effect.score_after == 1.0
    while other_acts.undo_last(store, seat, queue):
        pass
    assert reviewed.pictures(store, run.id) == before


def test_a_verdict_that_is_the_panels_too_is_confirmed_by_itself_where_the_queue_says_so(
    store: Store,
) -> None:
    run = reviewed.graded(store)
    settings = QueueSettings(confirm_same=True)
    queue = reviewed.make_queue(store, run, settings=settings)
    ada = sit(store, "Ada")
    # i1: two of three judges say MET on both criteria.
    ticket = take(store, ada, queue, "i1")
    done = commit_reveal.commit(
        store, ticket, {"Right": ReviewerAnswer(MET), "Short": ReviewerAnswer(UNMET)}
    )
    assert (done.confirm, done.same) == (("Short",), ("Right",))
    assert done.effect is not None
    assert [cell.criterion for cell in done.effect.cells] == ["Right"]
    assert adjudication.settled_cells(store, run.id)["i1", "Right"].option == MET
    assert ("i1", "Short") not in adjudication.settled_cells(store, run.id)
    told = store.events.of_cell(run.id, "i1", "Right")
    assert [e.action for e in told] == ["verdict", "final", "reveal", "settle"]
    final = next(e for e in told if e.action == "final")
    assert (final.after, final.revealed_at) == ({"option": MET, "itself": True}, None)
    assert "so it was confirmed automatically" in " ".join(
        line.what for line in audit_trail.cell_story(store, ada, run.id, "i1", "Right")
    )
    # What seeing the votes did is told of the other cell only, which waits to be confirmed.
    commit_reveal.reveal(store, done.ticket)
    commit_reveal.finish(store, done.ticket, {"Short": ReviewerAnswer(MET, note="They are right.")})
    found = reviewer_quality.anchoring_effect(store, queue)
    assert (found.revealed, found.toward.n, found.away.n) == (1, 1, 0)


def test_taking_back_what_was_confirmed_by_itself_leaves_nobody_blind(store: Store) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(confirm_same=True))
    ada = sit(store, "Ada")
    before = reviewed.pictures(store, run.id)
    reviewed.settle(store, ada, queue, "i1", MET)
    other_acts.undo_last(store, ada, queue)
    assert reviewed.pictures(store, run.id) == before
    ticket = take(store, ada, queue, "i1")
    commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)})
    (verdict,) = [v for v in store.verdicts.of_item(queue, "i1") if v.criterion == "Right"]
    assert verdict.mode == "assisted"
    assert reviewer_quality.anchoring_effect(store, queue).blind.n == 0


@pytest.mark.parametrize(("item", "option"), [("i3", NA), ("i1", UNMET)])
def test_nothing_else_is_confirmed_by_itself(store: Store, item: str, option: int) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run, settings=QueueSettings(confirm_same=True))
    says = ReviewerAnswer(None, "missing_info") if option == NA else ReviewerAnswer(option)
    done = commit_reveal.commit(store, take(store, sit(store, "Ada"), queue, item), {"Right": says})
    assert done.confirm == ("Right",)
    plain = reviewed.make_queue(store, run)
    done = commit_reveal.commit(
        store, take(store, sit(store, "Ben"), plain, "i1"), {"Right": ReviewerAnswer(MET)}
    )
    assert done.confirm == ("Right",)


def test_at_once_only_a_verdict_against_judges_who_agree_waits_for_a_note(store: Store) -> None:
    run = reviewed.graded(store)
    queue = reviewed.make_queue(store, run, EVERYTHING, settings=QueueSettings(confirm_same=True))
    ada = sit(store, "Ada")

    def commit(item: str) -> commit_reveal.ActResult:
        verdicts = {name: ReviewerAnswer(UNMET) for name in ("Right", "Short")}
        return commit_reveal.commit(store, take(store, ada, queue, item), verdicts, at_once=True)

    # i1: two of three judges say MET on both criteria. i0: all three do.
    split, agreed = commit("i1"), commit("i0")

    assert (split.confirm, split.same) == ((), ())
    assert adjudication.settled_cells(store, run.id)["i1", "Short"].option == UNMET
    assert "not against judges who all agree, so it was confirmed automatically" in " ".join(
        line.what for line in audit_trail.cell_story(store, ada, run.id, "i1", "Right")
    )
    assert set(agreed.confirm) == {"Right", "Short"}
    commit_reveal.reveal(store, agreed.ticket)
    with pytest.raises(InputError, match="note"):
        commit_reveal.finish(store, agreed.ticket, {"Right": ReviewerAnswer(UNMET)})
    # Taken back, it is open again.
    other_acts.undo_last(store, ada, queue)
    other_acts.undo_last(store, ada, queue)
    assert ("i1", "Short") not in adjudication.settled_cells(store, run.id)


def test_a_blind_queue_confirms_nothing_by_itself_for_that_would_tell() -> None:
    with pytest.raises(InputError, match="blind queue never does"):
        build_model(QueueSettings, {"mode": "blind", "confirm_same": True}, "settings")


def test_a_long_queue_is_looked_through_once_for_many_decisions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reviewed.graded(store, 12)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    monkeypatch.setattr(turns, "MANY", 8)
    monkeypatch.setattr(claims, "_AT_ONCE", 2)
    whole = list[object]()
    standing = Turns.items_with_status

    def counted(self: Turns, *given: Any, **more: Any) -> list[ItemTurn]:
        whole.extend([()] if more.get("items") is None else [])
        return standing(self, *given, **more)

    monkeypatch.setattr(Turns, "items_with_status", counted)
    people, taken = [sit(store, name) for name in ("Ada", "Ben")], []
    # Two at once, item by item: nobody is given what the other one has or had.
    for turn in range(10):
        seat = people[turn % 2]
        ticket = take(store, seat, queue)
        taken.append(ticket.item_id)
        reviewed.settle(store, seat, queue, ticket.item_id, MET, note="So.")
    assert taken == [f"i{n}" for n in range(10)]
    # One look each, and one more near the end, where fewer than two are left of what was seen.
    assert len(whole) <= 4
    # How many are left is right for whoever decided, whatever was seen when.
    left = reviewer_quality.reviewer_pace(store, people[0], queue)
    assert (left.done, left.left) == (5, 2)
