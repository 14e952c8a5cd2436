"""A run under another version that begins with the votes of an earlier one."""

from __future__ import annotations

import pytest

from core.domain.review import QueueSettings, ReviewerAnswer
from core.domain.rubric import Option
from core.errors import Conflict
from core.rubric_diff.edits import VersionMapping
from core.services.review import claims, commit_reveal, queues
from core.services.runs.ready_run import load_job
from core.services.versions import carry_votes
from core.store.store import Store
from tests.services import reviewed
from tests.services.versions.edited_run import (
    DEPTH,
    LEVELS,
    RIGHT,
    RUBRIC,
    SCORES,
    changed,
    graded,
    rubric,
    saved,
    scores,
)

POLITE = changed(RIGHT, name="Polite", requirement="No harsh words stand in the reply.")


def test_only_what_is_asked_otherwise_is_asked_again(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    # 8 items x 3 judges: Depth's 24 votes are carried over, Right's 24 are asked.
    assert carry_votes.carry_counts(store, run.id, new.id, asked_again=["Right"]) == (24, 24)
    made = carry_votes.start_under(store, lea, run.id, new.id, asked_again=["Right"])
    row = store.runs.get(made)
    assert (row.status, row.votes, row.planned, row.calls) == ("queued", 24, 48, 0)
    assert row.plan.seed == run.plan.seed
    assert row.plan.panel == run.plan.panel
    done = load_job(store, made).done
    assert {cell.criterion for cell in done} == {"Depth"}
    assert len(done) == 24
    # The earlier run stays as it was.
    assert (scores(store, run.id), store.runs.get(run.id)) == (SCORES, run)


def test_a_carried_vote_says_where_it_came_from(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, requirement="It is true."), DEPTH))
    made = carry_votes.start_under(store, lea, run.id, new.id, asked_again=["Right"])
    (old,) = [v for v in store.votes.for_item(run.id, "i4") if v.cell[1:3] == ("Depth", "ann")]
    (copy,) = [v for v in store.votes.for_item(made, "i4") if v.cell[1:3] == ("Depth", "ann")]
    assert copy.detail["carried"] == {"run": run.id, "vote": old.id}
    assert (copy.option, copy.reason, copy.created) == (old.option, old.reason, old.created)


def test_merged_options_are_read_as_mapped_and_dropped_ones_are_asked(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    merged = changed(DEPTH, options=[LEVELS[0], LEVELS[2]])
    new = saved(store, run, rubric(RIGHT, merged))
    mapped = VersionMapping(options={"Depth": (0, 1, 1, 2)})
    made = carry_votes.start_under(store, lea, run.id, new.id, mapped)
    # Mid counts 1 instead of .5 on items 1, 4, 7; nothing is left to ask.
    assert scores(store, made) == [0.75, 0.25, 1.0, 0.0, 1.0, 0.25, 0.75, 0.25]
    assert store.runs.get(made).status == "done"
    dropped = VersionMapping(options={"Depth": (0, None, 1, 2)})
    made = carry_votes.start_under(store, lea, run.id, new.id, dropped)
    row = store.runs.get(made)
    # Three items said Mid, three judges each: nine of 48 votes are to be asked.
    assert (row.votes, row.planned, row.status) == (39, 48, "queued")


def test_a_split_option_keeps_the_votes_where_they_are_put(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    split = changed(DEPTH, options=[*LEVELS[:2], Option(label="Fair", value=0.75), LEVELS[2]])
    new = saved(store, run, rubric(RIGHT, split))
    moves = VersionMapping(options={"Depth": (0, 2, 3, 4)})  # Mid becomes Fair
    made = carry_votes.start_under(store, lea, run.id, new.id, moves)
    # .25 more of Depth's quarter on items 1, 4, 7.
    assert scores(store, made) == [0.75, 0.1875, 1.0, 0.0, 0.9375, 0.25, 0.75, 0.1875]


def test_a_renamed_criterion_keeps_its_votes_and_a_removed_one_leaves_them_behind(
    store: Store,
) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, name="Correct")))
    made = carry_votes.start_under(store, lea, run.id, new.id)
    row = store.runs.get(made)
    assert (row.status, row.votes, row.planned) == ("done", 24, 24)
    assert scores(store, made) == [1.0, 0.0] * 4
    assert {v.cell.criterion for v in store.votes.for_item(made, "i0")} == {"Correct"}
    assert store.runs.get(run.id).votes == 48


def test_an_added_criterion_waits_until_somebody_resumes_the_run(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(RIGHT, DEPTH, POLITE))
    made = carry_votes.start_under(store, lea, run.id, new.id, ask=False)
    row = store.runs.get(made)
    assert (row.status, row.votes, row.planned) == ("cancelled", 48, 72)
    assert scores(store, made) == SCORES  # a cell without any vote leaves the score
    assert not any(item.complete for item in store.results.items(made))


def test_items_with_a_rubric_of_their_own_are_carried_as_they_are(store: Store) -> None:
    run, lea = graded(store, own=RUBRIC), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(changed(RIGHT, name="Correct")))
    made = carry_votes.start_under(store, lea, run.id, new.id)
    assert {v.cell.criterion for v in store.votes.for_item(made, "i0")} == {"Right", "Depth"}
    # Its own two criteria, one for each of the seven others; three judges.
    assert store.runs.get(made).planned == 6 + 7 * 3


def test_what_people_settled_stays_settled_where_the_question_is_the_same(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    settings = QueueSettings(mode="blind")
    row = queues.make_queue(store, lea, run.id, "All", reviewed.EVERYTHING, settings)
    ticket = claims.claim(store, lea, row.id, "i1")
    commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(0), "Depth": ReviewerAnswer(2)})
    other = changed(RIGHT, requirement="It is true.")
    new = saved(store, run, rubric(other, changed(DEPTH, name="How deep")))
    made = carry_votes.start_under(store, lea, run.id, new.id, ask=False)
    (kept,) = store.settled.of_run(made)
    assert (kept.criterion, kept.label, kept.people) == ("How deep", "High", ("Lea",))


def test_a_run_that_is_being_graded_is_not_carried_over(store: Store) -> None:
    run, lea = graded(store), reviewed.sit(store, "Lea")
    new = saved(store, run, rubric(RIGHT))
    store.runs.request_queue(run.id)
    with pytest.raises(Conflict):
        carry_votes.start_under(store, lea, run.id, new.id)
