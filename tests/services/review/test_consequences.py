"""What people settle is the truth everywhere at once, without a call; taken back, it never was."""

from __future__ import annotations

import json

import pytest

from core.domain.panel import Judge, Panel
from core.domain.review import QueueRule, QueueSettings
from core.services.agreement.metrics_report import metrics_source
from core.services.exports.run_export import export
from core.services.reports import worked_example
from core.services.reports.run_report import report_run
from core.services.review import other_acts
from core.services.review.corrected_estimates import corrected_means
from core.services.review.queues import queue_progress
from core.services.review.random_audit import unaudited_cells, verdict_accuracy
from core.services.review.reviewer_quality import anchoring_effect
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest, plan_run
from core.services.runs.ready_run import load_job, trained_judge
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit

RULE = QueueRule(near_mark=None, audit_share=0.5)


def everything(store: Store, run: int, queue: int) -> str:
    """All that is said about a run anywhere, as text."""
    about = report_run(store, run, resamples=20, created="then").to_dict()
    return json.dumps(
        [
            about,
            metrics_source(lambda: store, str(run)),
            [repr(one) for one in worked_example.panel_against_labels(store, run)],
            [
                repr(f(store, queue))
                for f in (
                    verdict_accuracy,
                    corrected_means,
                    anchoring_effect,
                    unaudited_cells,
                    queue_progress,
                )
            ],
            export(store, run, "csv").text,
            export(store, run, "labelled").text,
            repr(reviewed.pictures(store, run)),
        ],
        sort_keys=True,
    )


def test_undo_everything_and_all_figures_are_exactly_what_they_were(store: Store) -> None:
    run = reviewed.graded(store, 16)
    queue = reviewed.make_queue(store, run, RULE, QueueSettings(reviewers=2, overlap_share=0.5))
    before = everything(store, run.id, queue)
    ada, bob, lea = sit(store, "Ada"), sit(store, "Bob"), sit(store, "Lea")
    for item in store.queues.items(queue):
        reviewed.settle(store, ada, queue, item.item_id, UNMET, note="No.")
        if item.required == 2:
            reviewed.settle(store, bob, queue, item.item_id, MET, note="Yes.")
            reviewed.settle(store, lea, queue, item.item_id, MET, note="Bob is right.")
    assert queue_progress(store, queue).resolved == len(store.queues.cells(queue))
    assert everything(store, run.id, queue) != before

    # The adjudicator first: nothing is taken back while something builds on it. Then a lead who
    # gave no verdict, because Ada and Bob do not get a second try where theirs have met.
    while other_acts.undo_last(store, lea, queue):
        pass
    leo = reviewed.lead(store, "Leo")
    for who in (bob, ada):
        while (step := store.events.last_act(queue, who.name)) is not None:
            other_acts.undo(store, leo, step)
    assert everything(store, run.id, queue) == before


def test_reports_follow_every_decision_without_a_call(store: Store) -> None:
    run = reviewed.graded(store, 8)
    queue = reviewed.make_queue(store, run)
    before = report_run(store, run.id, resamples=20)
    # i0 and i1 are labelled, on Right alone: MET, as the votes say.
    assert (before.labelled_items, before.counts.adjudicated) == (2, 0)
    calls, votes = store.runs.get(run.id).calls, store.runs.get(run.id).votes
    reviewed.settle(store, sit(store, "Ada"), queue, "i2", MET)
    after = report_run(store, run.id, resamples=20)
    assert (after.labelled_items, after.counts.adjudicated) == (3, 2)
    assert after.scores.mean.value != before.scores.mean.value
    found = store.runs.get(run.id)
    assert (found.calls, found.votes) == (calls, votes)
    # Agreement with the truth is of what the votes said: 2 of 2 before, 2 of 3 now.
    lines = worked_example.panel_against_labels(store, run.id)
    (right,) = [line for line, _ in lines if line.name == "Right"]
    assert (right.n, right.accuracy.value) == (3, pytest.approx(2 / 3))


def test_a_new_run_trains_offline_judges_on_what_was_settled_and_leaves_it_out(
    store: Store,
) -> None:
    run = reviewed.graded(store, 40)
    queue = reviewed.make_queue(store, run, QueueRule(everything=True, audit_share=0.0))
    for n in range(2, 40):
        option = MET if n % 2 else UNMET
        reviewed.settle(store, sit(store, "Ada"), queue, f"i{n}", option)
    panel = Panel(judges=(Judge(name="C", kind="classifier"),))
    request = RunRequest(run.rubric_version_id, run.dataset_version_id, panel, "Next", 7)
    planned = plan_run(store, request)
    # The new n: what teaches is not graded.
    learned = {item.id for item in planned.calibration}
    assert learned
    assert len(planned.items) == 40 - len(learned)
    assert not learned & {item.id for item in planned.items}

    job = load_job(store, start(store, request))
    spec = job.plan.panel.judges[0]
    _, reports = trained_judge(spec, job.rubric, job.calibration, job.items, job.plan.seed)
    # The dataset labels Short nowhere: all that it learned of it, people settled.
    assert reports["Short"]["n"] == len(learned - {"i0", "i1"})
