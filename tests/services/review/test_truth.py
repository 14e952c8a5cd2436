"""What people settle is what later runs learn, and what earlier ones learned stays."""

from __future__ import annotations

from dataclasses import replace

from core.domain.panel import Asking, Judge, Panel
from core.domain.review import ReviewerAnswer
from core.domain.runs import Run
from core.services.results.scored_items import calibration_items, derivation_for, settled_lookup
from core.services.review import commit_reveal, other_acts
from core.services.runs.planning import RunRequest, plan_run
from core.services.runs.ready_run import load_job
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit

FEW_SHOT = Panel(judges=(Judge(name="dan", model="m"),), asking=Asking(few_shot=2))


def request(run: Run) -> RunRequest:
    return RunRequest(run.rubric_version_id, run.dataset_version_id, FEW_SHOT, "Next", 7)


def test_a_later_run_learns_what_was_settled_and_does_not_grade_it(store: Store) -> None:
    run = reviewed.graded(store, 12)
    queue = reviewed.make_queue(store, run)
    assert {i.id for i in plan_run(store, request(run)).calibration} <= {"i0", "i1"}
    for item in ("i2", "i3", "i5", "i6", "i7", "i9", "i10", "i11"):
        reviewed.settle(store, sit(store, "Ada"), queue, item, UNMET)
    planned = plan_run(store, request(run))
    # Ten labelled items (two of the dataset's, eight settled), of which a fifth is learned from.
    assert len(planned.calibration) == 2
    learned = {item.id for item in planned.calibration}
    assert not learned & {item.id for item in planned.items}
    assert planned.plan.details["truth_upto"] == store.settled.last_event()
    labels = [label.label for item in planned.calibration for label in item.labels.values()]
    assert "UNMET" in labels


def test_a_resumed_run_learns_what_it_would_have_learned(store: Store) -> None:
    run = reviewed.graded(store, 12)
    queue = reviewed.make_queue(store, run)
    ada = sit(store, "Ada")
    reviewed.settle(store, ada, queue, "i2", UNMET)
    upto = store.settled.last_event()
    calibration = {"dataset_version": run.dataset_version_id, "items": ["i0", "i2", "i3"]}
    plan = replace(run.plan, calibration=calibration, details={"truth_upto": upto})
    then = calibration_items(store, plan)
    # Later: taken back, decided otherwise, and something more settled.
    other_acts.undo_last(store, ada, queue)
    other_acts.undo_last(store, ada, queue)
    reviewed.settle(store, ada, queue, "i2", MET)
    reviewed.settle(store, ada, queue, "i3", MET)
    assert calibration_items(store, plan) == then
    assert {name: label.label for name, label in then[1].labels.items()} == {
        "Right": "UNMET",
        "Short": "UNMET",
    }
    assert then[2].labels == {}
    now = calibration_items(store, replace(plan, details={"truth_upto": 10**9}))
    assert [item.labels["Right"].label for item in now] == ["MET", "MET", "MET"]
    unpinned = calibration_items(store, replace(plan, details={}))
    assert [len(item.labels) for item in unpinned] == [1, 0, 0]


def test_other_weights_are_another_score_of_the_same_votes_and_decisions(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ticket = reviewed.take(store, sit(store, "Ada"), queue, "i2")
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)}).ticket
    commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(MET)})
    assert store.results.item(run.id, "i2").score == 0.75
    right, short = reviewed.RUBRIC.criteria
    lighter = reviewed.RUBRIC.model_copy(
        update={"criteria": (right.model_copy(update={"weight": 1.0}), short)}
    )
    derive = derivation_for(run.plan, lighter, reviewed.items(4), settled_lookup(store, run.id))
    before = store.runs.get(run.id)
    store.results.rebuild(run.id, derive)
    assert store.results.item(run.id, "i2").score == 0.5
    after = store.runs.get(run.id)
    assert (after.calls, after.votes) == (before.calls, before.votes)


def test_what_a_runner_derives_keeps_what_people_settled(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    reviewed.settle(store, sit(store, "Ada"), queue, "i2", MET)
    pictures = reviewed.pictures(store, run.id)
    store.results.rebuild(run.id, load_job(store, run.id).derive)
    assert reviewed.pictures(store, run.id) == pictures


def test_the_newest_decision_of_several_runs_is_the_truth(store: Store) -> None:
    one = reviewed.graded(store, 4)
    two = store.runs.create(one.plan, [(i.id, 6) for i in reviewed.items(4)], now=reviewed.NOW)
    reviewed.record(store, store.runs.get(two.id), reviewed.items(4))
    ada = sit(store, "Ada")
    first, second = reviewed.make_queue(store, one), reviewed.make_queue(store, two)
    reviewed.settle(store, ada, first, "i2", MET)
    reviewed.settle(store, ada, second, "i2", UNMET)
    truth = store.settled.truth(one.dataset_version_id)
    label = truth["i2"]["Right"]
    assert label is not None
    assert label.label == "UNMET"
    assert store.settled.truth(one.dataset_version_id, upto=store.settled.last_event()) == truth
    # The first run's verdict stays what was settled in it.
    assert store.results.item(one.id, "i2").score == 1.0
    assert store.results.item(two.id, "i2").score == 0.0
