"""Runs from plan to results: what is counted, what is shown, what can be asked of them."""

from __future__ import annotations

import pytest

from core.domain.runs import RunItemFilter, RunItemSort, RunPlan
from core.domain.votes import ItemBallots
from core.errors import Conflict, NotFound
from core.store.store import Store
from tests.store.making import (
    AT,
    DATASET,
    ITEMS,
    LATER,
    NOW,
    PANEL,
    RUBRIC,
    claimed,
    derive,
    failure,
    queued_run,
    record,
    vote,
)


def test_a_run_comes_back_with_its_whole_plan(store: Store) -> None:
    rubric = store.rubrics.create(RUBRIC, now=NOW)
    dataset = store.datasets.create(DATASET, now=NOW)
    plan = RunPlan(
        "Mine",
        rubric.id,
        dataset.id,
        PANEL,
        seed=3,
        replicates=2,
        budget=1.5,
        calibration={"version": dataset.id, "ids": ["a"]},
        versions={"prompt": "1"},
        details={"whole": False},
    )
    run = store.runs.create(plan, ITEMS, now=NOW)
    assert run.plan == plan
    assert (run.status, run.items, run.planned, run.votes) == ("queued", 3, 12, 0)  # 3 x 4
    assert (run.rubric_name, run.rubric_number, run.dataset_name) == ("Essay", 1, "Essays")
    assert run.panel == PANEL
    assert store.runs.get(run.id) == run
    assert store.runs.item_ids(run.id) == ["a", "b", "c"]


def test_the_same_plan_has_the_same_hash_and_another_seed_another(store: Store) -> None:
    first, second = (store.runs.get(queued_run(store)) for _ in range(2))
    assert first.plan_hash == second.plan_hash
    plan = RunPlan("First", first.rubric_version_id, first.dataset_version_id, PANEL, seed=8)
    assert store.runs.create(plan, ITEMS, now=NOW).plan_hash != first.plan_hash


def test_a_run_over_what_is_not_there_is_refused(store: Store) -> None:
    rubric = store.rubrics.create(RUBRIC, now=NOW).id
    dataset = store.datasets.create(DATASET, now=NOW).id
    with pytest.raises(NotFound, match="no rubric version 9"):
        store.runs.create(RunPlan("x", 9, dataset, PANEL), ITEMS, now=NOW)
    with pytest.raises(NotFound, match="no dataset version 9"):
        store.runs.create(RunPlan("x", rubric, 9, PANEL), ITEMS, now=NOW)
    with pytest.raises(NotFound, match="no item 'zz'"):
        store.runs.create(RunPlan("x", rubric, dataset, PANEL), [("zz", 4)], now=NOW)
    assert store.runs.count() == 0


def test_runs_are_listed_newest_first_by_kind(store: Store) -> None:
    first, spot, last = queued_run(store), queued_run(store, kind="spot"), queued_run(store)
    assert [row.id for row in store.runs.list()] == [last, first]
    assert [row.id for row in store.runs.list(limit=1, offset=1)] == [first]
    assert [row.id for row in store.runs.list(kind="spot")] == [spot]
    assert (store.runs.count(), store.runs.count("spot")) == (2, 1)


def test_notes_are_merged_by_key(store: Store, run_id: int) -> None:
    store.runs.set_notes(run_id, {"training": {"ann": 1}})
    store.runs.set_notes(run_id, {"warning": "few labels"})
    assert store.runs.get(run_id).notes == {"training": {"ann": 1}, "warning": "few labels"}


def test_a_queued_run_is_cancelled_at_once_and_can_be_queued_again(
    store: Store, run_id: int
) -> None:
    assert store.runs.request_cancel(run_id, now=LATER) == "cancelled"
    row = store.runs.row(run_id)
    assert (row.finished, row.cancel, row.active) == (LATER, True, False)
    assert store.runs.request_cancel(run_id, now=LATER) == "cancelled"
    assert store.runs.request_queue(run_id) == "queued"
    row = store.runs.row(run_id)
    assert (row.finished, row.cancel, row.active) == (None, False, True)


def test_a_running_run_is_told_to_stop(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    assert store.runs.request_cancel(run_id, now=NOW) == "running"
    assert store.runs.request_queue(run_id) == "running"  # at work: nothing to queue
    assert store.leases.heartbeat(lease, at=AT, seconds=60) is True


def test_a_run_whose_owner_is_gone_is_cancelled_at_once(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)  # for a minute from NOW; LATER is an hour later
    assert store.runs.request_cancel(run_id, now=LATER) == "cancelled"
    assert store.leases.heartbeat(lease, at=AT, seconds=60) is None


def three_items(store: Store, run_id: int) -> None:
    """a: score 1 of 2 votes; b: score 0.5 of 2 and a failure; c: an abstention only."""
    record(
        store,
        claimed(store, run_id),
        vote("a"),
        vote("a", judge="bob"),
        vote("b", judge="bob"),
        vote("b", "Brief", option=1),
        failure("b"),
        vote("c", option=2),
    )


def test_items_show_counts_score_and_agreement(store: Store, run_id: int) -> None:
    three_items(store, run_id)
    a, b, c = store.results.items(run_id)
    assert (a.votes, a.abstentions, a.failures, a.score, a.planned) == (2, 0, 0, 1.0, 4)
    assert (b.votes, b.abstentions, b.failures, b.score) == (2, 0, 1, 0.5)
    assert (c.votes, c.abstentions, c.failures, c.score, c.agreement) == (1, 1, 0, None, None)
    assert (a.preview, a.system, a.split) == ("An essay about rain.", "x", "calibration")
    assert a.trace is None
    assert store.results.item(run_id, "a").trace == {"ballots": 2}
    with pytest.raises(NotFound):
        store.results.item(run_id, "zz")
    assert store.results.systems(run_id) == ["x", "y"]
    row = store.runs.row(run_id)
    assert (row.votes, row.abstentions, row.failures_open) == (5, 1, 1)


@pytest.mark.parametrize(
    ("sort", "descending", "order"),
    [
        ("position", True, "cba"),
        ("item_id", False, "abc"),
        ("score", False, "bac"),  # no score comes last ...
        ("score", True, "abc"),  # ... either way
        ("agreement", True, "abc"),
        ("failures", True, "bac"),  # equal ones by position
        ("abstentions", True, "cab"),
    ],
)
def test_items_are_sorted(
    store: Store, run_id: int, sort: RunItemSort, descending: bool, order: str
) -> None:
    three_items(store, run_id)
    rows = store.results.items(run_id, sort=sort, descending=descending)
    assert "".join(row.item_id for row in rows) == order
    assert "".join(store.results.ids(run_id, sort=sort, descending=descending)) == order
    (second,) = store.results.items(run_id, sort=sort, descending=descending, offset=1, limit=1)
    assert second.item_id == order[1]


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        (RunItemFilter(), "abc"),
        (RunItemFilter(has_failures=True), "b"),
        (RunItemFilter(has_abstentions=False), "ab"),
        (RunItemFilter(complete=True), ""),
        (RunItemFilter(review=False), "abc"),
        (RunItemFilter(signs=(("split", None),)), ""),  # no cell has two votes that differ
        (RunItemFilter(signs=(("failed", None),)), "b"),
        (RunItemFilter(signs=(("failed", "Brief"),)), ""),
        (RunItemFilter(signs=(("none", "Brief"),)), "ac"),
        (RunItemFilter(signs=(("none", "Brief"), ("settled", None))), ""),
        (RunItemFilter(min_score=0.5, max_score=0.9), "b"),
        (RunItemFilter(search="SNOW"), "b"),
        (RunItemFilter(system="x"), "ac"),
        (RunItemFilter(tag="odd"), "b"),
        (RunItemFilter(tag="od"), ""),
        (RunItemFilter(split="calibration"), "a"),
        (RunItemFilter(item_ids=("c", "b")), "bc"),
        (RunItemFilter(item_ids=()), ""),
        (RunItemFilter(criterion="Clear", option=0), "ab"),
        (RunItemFilter(criterion="Brief", option=1), "b"),
        (RunItemFilter(criterion="Brief"), ""),  # abstained there: nobody
        (RunItemFilter(search="s", system="x", has_abstentions=True), "c"),
    ],
)
def test_items_are_filtered(store: Store, run_id: int, where: RunItemFilter, kept: str) -> None:
    three_items(store, run_id)
    assert "".join(row.item_id for row in store.results.items(run_id, where)) == kept
    assert store.results.count(run_id, where) == len(kept)


def test_verdicts_are_read_by_item_in_bulk_and_counted(store: Store, run_id: int) -> None:
    three_items(store, run_id)
    brief, clear = store.results.cells(run_id, "b")
    assert (brief.criterion, brief.option, brief.value, brief.abstained) == ("Brief", 1, 0.0, False)
    assert (clear.criterion, clear.option, clear.failures, clear.tie) == ("Clear", 0, 1, False)
    assert {(item, v.criterion) for item, v in store.results.verdicts(run_id)} == {
        ("a", "Clear"), ("b", "Clear"), ("b", "Brief"),
    }  # fmt: skip
    assert [item for item, _ in store.results.verdicts(run_id, "Brief")] == ["b"]
    assert store.results.verdict_counts(run_id) == [
        {"criterion": "Brief", "option": 1, "abstained": False, "count": 1},
        {"criterion": "Clear", "option": 0, "abstained": False, "count": 2},
    ]


def test_results_are_replaced_and_can_be_made_anew_from_the_votes(
    store: Store, run_id: int
) -> None:
    three_items(store, run_id)
    before = store.results.items(run_id), store.results.verdicts(run_id)
    store.results.put(run_id, derive([ItemBallots("b", (), {})]))  # as if b had no votes
    assert store.results.item(run_id, "b").score is None
    assert store.results.cells(run_id, "b") == []
    assert store.results.rebuild(run_id, derive, batch=2) == 3
    assert (store.results.items(run_id), store.results.verdicts(run_id)) == before


def test_open_failures_are_asked_again_on_request(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    record(store, lease, failure("a"), failure("b", "server", "Oops."))
    with pytest.raises(Conflict, match="still going"):
        store.runs.reopen_failures(run_id)
    store.leases.release(lease, "done", now=LATER)
    assert store.runs.reopen_failures(run_id) == 2
    row = store.runs.row(run_id)
    assert (row.status, row.failures_open) == ("queued", 0)
    assert [item.failures for item in store.results.items(run_id)] == [0, 0, 0]
    assert store.votes.failed(run_id) == set()
    assert store.runs.reopen_failures(run_id) == 0
