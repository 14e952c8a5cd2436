"""An edited rubric and a graded run: shown first, applied without a call, and undone."""

from __future__ import annotations

import pytest

from core.domain.gates import Decision, Gate
from core.domain.review import QueueSettings, ReviewerAnswer
from core.errors import Conflict, InputError
from core.rubric_diff.edits import VersionMapping
from core.services.agreement.load_ratings import run_ratings
from core.services.results.item_view import item_view
from core.services.results.scored_items import stale_cells
from core.services.review import claims, commit_reveal, queues
from core.services.versions import follow_version
from core.store.store import Store
from tests.services import reviewed
from tests.services.versions.edited_run import (
    DEPTH,
    LEVELS,
    NOW,
    RIGHT,
    RUBRIC,
    SCORES,
    changed,
    graded,
    rubric,
    saved,
    scores,
)


def test_a_weight_is_shown_and_then_applied_from_the_same_votes(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, rubric(changed(RIGHT, weight=1), DEPTH))
    found = follow_version.version_difference(store, run.id, new.id)
    # (Right + Depth) / 2 for items 0 to 7: .5 .25 1 0 .75 .5 .5 .25.
    after = [0.5, 0.25, 1.0, 0.0, 0.75, 0.5, 0.5, 0.25]
    assert (found.items, len(found.moved), found.rising, found.falling) == (8, 6, 3, 3)
    assert found.largest is not None
    # .75 to .5 (i0, i6) and .25 to .5 (i5) all move by .25; the first of the run stands first.
    assert (found.largest.item_id, found.largest.change) == ("i0", -0.25)
    assert found.mean_before == pytest.approx(sum(SCORES) / 8)
    assert found.mean_after == pytest.approx(sum(after) / 8)
    assert scores(store, run.id) == SCORES  # nothing was written yet
    follow_version.follow(store, reviewed.sit(store, "Lea"), run.id, new.id)
    assert scores(store, run.id) == pytest.approx(after)
    row = store.runs.get(run.id)
    assert (row.rubric_number, row.scored_number, row.calls) == (1, 2, 0)
    assert (row.plan, row.votes, row.plan_hash) == (run.plan, run.votes, run.plan_hash)


def test_a_gate_a_value_and_a_threshold_cross_items_over(store: Store) -> None:
    run = graded(store)
    first = saved(store, run, rubric(decision=Decision(pass_at=0.5)))
    follow_version.follow(store, reviewed.sit(store, "Lea"), run.id, first.id)
    gate = Gate.model_validate(
        {"name": "deep", "when": {"criterion": "Depth", "is": "Low"}, "then": {"cap": 0.4}}
    )
    second = saved(store, run, rubric(decision=Decision(pass_at=0.5), gates=(gate,)))
    found = follow_version.version_difference(store, run.id, second.id)
    # Depth is Low on items 0, 3, 6; 0 and 6 scored .75 and passed.
    assert found.crossed == {("pass", "fail"): 2}
    assert found.outcomes == {"pass": (4, 2), "fail": (4, 6)}
    assert [m.item_id for m in found.moved] == ["i0", "i6"]
    value = changed(
        DEPTH, options=[LEVELS[0], LEVELS[1].model_copy(update={"value": 0.1}), LEVELS[2]]
    )
    third = saved(store, run, rubric(RIGHT, value, decision=Decision(pass_at=0.5)))
    # Items 1, 4, 7 are Mid: 1/4 of .4 less each.
    moved = follow_version.version_difference(store, run.id, third.id).moved
    assert {m.item_id: round(m.change or 0, 9) for m in moved} == dict.fromkeys(
        ("i1", "i4", "i7"), -0.1
    )


def test_verdicts_that_another_version_changes_lead_to_their_items(store: Store) -> None:
    run = reviewed.graded(store)
    right, short = reviewed.RUBRIC.criteria
    penalty = reviewed.RUBRIC.model_copy(
        update={"criteria": (changed(right, name="Wrong", weight=-3), short)}
    )
    new = saved(store, run, penalty)

    (flips,) = follow_version.version_difference(store, run.id, new.id).flips

    # i3 and i7 have one MET and one UNMET: a tie takes the worst, which of a penalty is MET.
    assert (flips.was, flips.criterion, flips.items) == ("Right", "Wrong", ("i3", "i7"))
    assert (flips.up, flips.down, flips.other) == (0, 2, 0)


def test_a_changed_requirement_makes_exactly_its_cells_stale(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    assert follow_version.version_difference(store, run.id, new.id).stale == 8
    assert stale_cells(store, run.id) == frozenset()
    follow_version.follow(store, reviewed.sit(store, "Lea"), run.id, new.id)
    assert stale_cells(store, run.id) == {(f"i{n}", "Right") for n in range(8)}
    assert scores(store, run.id) == SCORES  # the votes stand until somebody says otherwise


def test_an_item_with_a_rubric_of_its_own_never_changes(store: Store) -> None:
    run = graded(store, own=RUBRIC)
    other = changed(RIGHT, requirement="It is true.", weight=1)
    new = saved(store, run, rubric(other, DEPTH))
    follow_version.follow(store, reviewed.sit(store, "Lea"), run.id, new.id)
    assert scores(store, run.id)[0] == 0.75
    assert ("i0", "Right") not in stale_cells(store, run.id)
    assert len(stale_cells(store, run.id)) == 7


def test_answers_that_may_stand_are_not_stale_now_nor_after_another_version(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    better = changed(RIGHT, requirement="It is right, and says so.")
    follow_version.follow(
        store, lea, run.id, saved(store, run, rubric(better, DEPTH)).id, keep=["Right"]
    )
    assert stale_cells(store, run.id) == frozenset()
    heavier = saved(store, run, rubric(changed(better, weight=9), DEPTH))
    follow_version.follow(store, lea, run.id, heavier.id)
    assert stale_cells(store, run.id) == frozenset()
    again = saved(store, run, rubric(changed(better, requirement="It is wrong."), DEPTH))
    follow_version.follow(store, lea, run.id, again.id)
    assert len(stale_cells(store, run.id)) == 8


def test_rolling_back_brings_every_score_back_and_can_be_undone(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, weight=1), DEPTH))
    before = store.results.verdicts(run.id)
    follow_version.follow(store, lea, run.id, new.id, reason="Too heavy")
    after = scores(store, run.id)
    follow_version.roll_back(store, lea, run.id)
    assert scores(store, run.id) == SCORES
    assert store.results.verdicts(run.id) == before
    follow_version.roll_back(store, lea, run.id)
    assert scores(store, run.id) == after
    told = [
        (c.actor, c.from_number, c.to_number, c.reason)
        for c in follow_version.followed_versions(store, run.id)
    ]
    assert told == [
        ("Lea", 1, 2, "Back from version 1"),
        ("Lea", 2, 1, "Back from version 2"),
        ("Lea", 1, 2, "Too heavy"),
    ]


def test_without_a_change_there_is_nothing_to_roll_back(store: Store) -> None:
    run = graded(store)
    with pytest.raises(Conflict):
        follow_version.roll_back(store, reviewed.sit(store, "Lea"), run.id)


def test_a_run_that_is_being_graded_is_left_alone(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, weight=1), DEPTH))
    store.runs.request_queue(run.id)
    with pytest.raises(Conflict):
        follow_version.follow(store, lea, run.id, new.id)
    assert store.runs.get(run.id).scored_number == 1


def test_only_versions_of_its_own_rubric_can_be_followed(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    other = store.rubrics.create(rubric(changed(RIGHT, weight=1), DEPTH), now=NOW)
    with pytest.raises(InputError):
        follow_version.follow(store, lea, run.id, other.id)
    assert scores(store, run.id) == SCORES


def test_options_called_otherwise_need_somebody_who_says_which_is_which(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    options = [LEVELS[0].model_copy(update={"label": "Shallow"}), *LEVELS[1:]]
    new = saved(store, run, rubric(RIGHT, changed(DEPTH, options=options)))
    with pytest.raises(InputError):
        follow_version.follow(store, lea, run.id, new.id)
    same = VersionMapping(options={"Depth": (0, 1, 2, 3)})
    follow_version.follow(store, lea, run.id, new.id, moves=same)
    shown = item_view(store, run.id, "i0").criteria[1]
    assert (shown.verdict_label, shown.votes[0].label) == ("Shallow", "Shallow")


def test_what_is_added_or_merged_is_shown_but_not_followed_in_place(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    merged = changed(DEPTH, options=[LEVELS[0], LEVELS[2]])
    polite = changed(RIGHT, name="Polite", requirement="No harsh words stand in the reply.")
    new = saved(store, run, rubric(RIGHT, merged, polite))
    moves = VersionMapping(options={"Depth": (0, 1, 1, 2)})  # Mid becomes High
    found = follow_version.version_difference(store, run.id, new.id, moves)
    # Mid counted .5, High counts 1: + 1/8 on items 1, 4, 7. Polite (weight 3) has no verdict yet.
    assert {m.item_id: m.change for m in found.moved} == dict.fromkeys(("i1", "i4", "i7"), 0.125)
    assert found.open == 8
    with pytest.raises(InputError):
        follow_version.follow(store, lea, run.id, new.id, moves=moves)


def test_decisions_on_another_question_count_no_more_and_count_again_after_rolling_back(
    store: Store,
) -> None:
    run = graded(store)
    lea = reviewed.sit(store, "Lea")
    row = queues.make_queue(
        store, lea, run.id, "All", reviewed.EVERYTHING, QueueSettings(mode="blind")
    )
    ticket = claims.claim(store, lea, row.id, "i1")
    given = {"Right": ReviewerAnswer(0), "Depth": ReviewerAnswer(2)}  # MET, High: a score of 1
    commit_reveal.commit(store, ticket, given)
    assert scores(store, run.id)[1] == 1.0
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    follow_version.follow(store, lea, run.id, new.id)
    # Right is what the votes say again (UNMET); Depth was asked as before and stays High: 1/4.
    assert scores(store, run.id)[1] == 0.25
    assert ("i1", "Right") in stale_cells(store, run.id)
    follow_version.roll_back(store, lea, run.id)
    assert scores(store, run.id)[1] == 1.0


def test_a_decision_on_an_item_with_a_rubric_of_its_own_stays_what_it_was(store: Store) -> None:
    run, lea = graded(store, own=RUBRIC), reviewed.sit(store, "Lea")
    settings = QueueSettings(mode="blind")
    row = queues.make_queue(store, lea, run.id, "All", reviewed.EVERYTHING, settings)
    ticket = claims.claim(store, lea, row.id, "i0")
    commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(1), "Depth": ReviewerAnswer(0)})
    assert scores(store, run.id)[0] == 0.0  # UNMET, Low; the votes said .75
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    follow_version.follow(store, lea, run.id, new.id)
    assert scores(store, run.id)[0] == 0.0


def test_a_queue_of_stale_cells_holds_no_cell_that_is_only_doubtful(store: Store) -> None:
    run, lea = reviewed.graded(store), reviewed.sit(store, "Lea")  # three of four items are split
    lease = store.leases.claim("me", at=0.0, seconds=1.0, run_id=run.id)
    assert lease is not None
    store.leases.release(lease, "done", now=NOW)
    right, short = reviewed.RUBRIC.criteria
    other = (changed(right, requirement="It is true."), short)
    new = saved(store, run, reviewed.RUBRIC.model_copy(update={"criteria": other}))
    follow_version.follow(store, lea, run.id, new.id)
    row = follow_version.queue_stale(store, lea, run.id, "Asked anew")
    assert {c.criterion for c in store.queues.cells(row.id)} == {"Right"}
    assert len(store.queues.cells(row.id)) == 8


def test_what_people_settle_under_the_new_question_is_not_stale(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    follow_version.follow(store, lea, run.id, new.id)
    settings = QueueSettings(mode="blind")
    row = follow_version.queue_stale(store, lea, run.id, "Asked anew", settings)
    assert {(c.item_id, c.criterion) for c in store.queues.cells(row.id)} == stale_cells(
        store, run.id
    )
    ticket = claims.claim(store, lea, row.id, "i1")
    shown = commit_reveal.blind_item(store, ticket)
    assert [cell.criterion.requirement for cell in shown.cells] == ["It is true."]
    commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(0)})
    assert ("i1", "Right") not in stale_cells(store, run.id)
    assert len(stale_cells(store, run.id)) == 7


def test_whoever_has_a_cell_open_whose_question_changes_must_look_again(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    settings = QueueSettings(mode="blind")
    row = queues.make_queue(store, lea, run.id, "All", reviewed.EVERYTHING, settings)
    ticket = claims.claim(store, lea, row.id, "i1")
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    follow_version.follow(store, lea, run.id, new.id)
    with pytest.raises(Conflict, match="asks something else since version 2"):
        commit_reveal.commit(
            store, ticket, {"Right": ReviewerAnswer(0), "Depth": ReviewerAnswer(2)}
        )


def test_figures_of_a_run_read_its_votes_under_the_version_it_follows(store: Store) -> None:
    run = graded(store)
    options = [LEVELS[0], LEVELS[1].model_copy(update={"value": 0.25}), LEVELS[2]]
    new = saved(store, run, rubric(RIGHT, changed(DEPTH, options=options)))
    follow_version.follow(store, reviewed.sit(store, "Lea"), run.id, new.id)
    depth = run_ratings(store, run.id).of.rubric_of("i1").criterion("Depth")
    assert [o.value for o in depth.options] == [0.0, 0.25, 1.0]


def test_two_people_who_change_it_at_once_are_told(store: Store) -> None:
    run = graded(store)
    new = saved(store, run, rubric(changed(RIGHT, weight=1), DEPTH))
    store.scored.follow(run.id, new.id, before=run.rubric_version_id, actor="A", now=NOW)
    with pytest.raises(Conflict):
        store.scored.follow(run.id, new.id, before=run.rubric_version_id, actor="B", now=NOW)
    assert [c.actor for c in follow_version.followed_versions(store, run.id)] == ["A"]


def test_a_rubric_that_is_not_saved_is_compared_as_a_saved_one(store: Store) -> None:
    run = graded(store)
    heavy = rubric(changed(RIGHT, weight=1), DEPTH)
    unsaved = follow_version.score_difference(store, run.id, heavy)

    assert unsaved == follow_version.version_difference(store, run.id, saved(store, run, heavy).id)
    assert len(unsaved.moved) == 6
