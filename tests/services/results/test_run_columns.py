"""Votes and verdicts of a run as columns: kept with the run, and never older than it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.errors import WriteBlocked
from core.services.agreement.load_ratings import sheet_of_run
from core.services.datasets import item_columns, splits, twins
from core.services.diagnostics import diagnosis
from core.services.guided import judging
from core.services.pairwise.system_answers import shared_tasks
from core.services.reports import run_report
from core.services.results import browsing, run_columns
from core.services.results.run_columns import cell_columns, orders_shown, vote_columns
from core.services.results.scored_items import resolved_items
from core.services.review import corrected_estimates, queues
from core.services.runs import cost_estimate
from core.services.runs.planning import RunRequest
from core.store.library.datasets import Items
from core.store.runs.cells import CellVerdicts
from core.store.runs.kept import Columns
from core.store.runs.votes import Votes
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, RUBRIC, make_queue, seats, settle


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of a handful of items are kept, too."""
    for module in (run_columns, item_columns, twins):
        monkeypatch.setattr(module, "MANY", 1)


def plain(columns: list[Any]) -> list[Any]:
    """Columns as lists, to be compared; what is not a number is the word for it."""
    return [
        [np.nan_to_num(part, nan=-9.0).tolist() if hasattr(part, "dtype") else part for part in one]
        for one in columns
    ]


def all_of(store: Store, run_id: int) -> list[Any]:
    run = store.runs.get(run_id)
    return [
        plain(vote_columns(store, run)),
        plain(cell_columns(store, run)),
        orders_shown(store, run, 1),
    ]


def read_anew(store: Store, run_id: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    with monkeypatch.context() as patch:
        patch.setattr(type(store.kept), "_get_entry", lambda *_: None)
        return all_of(store, run_id)


def at_rest(store: Store, count: int = 8) -> int:
    run = reviewed.graded(store, count)
    store.runs.request_cancel(run.id, now=reviewed.NOW)
    return run.id


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("read from the votes")


def test_columns_are_made_once_and_are_what_votes_and_verdicts_say(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = at_rest(store)
    found = all_of(store, run_id)
    # Item 3 of the table in `reviewed`: MET, UNMET and an abstention, which is the third option.
    assert [one[4][3] for one in found[0][:3]] == [0, 1, 2]
    assert [one[1] for one in found[0][:3]] == ["ann", "bob", "cem"]
    # Its verdict is UNMET; 2 votes count, 1 is an abstention.
    right = dict(zip(run_columns.CellColumn._fields, found[1][0], strict=True))
    assert [right[name][3] for name in ("option", "judged", "votes", "abstentions")] == [1, 1, 2, 1]

    for where, what in (
        (Votes, "columns"),
        (CellVerdicts, "cell_columns"),
        (Votes, "orders_shown"),
    ):
        monkeypatch.setattr(where, what, refuse)
    assert all_of(store, run_id) == found


@pytest.mark.parametrize("change", ["votes", "settled", "put again"])
def test_columns_are_never_older_than_the_run(
    store: Store, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    run = reviewed.queued(store, 6)
    reviewed.record(store, run, reviewed.items(6)[:4])
    store.runs.request_cancel(run.id, now=reviewed.NOW)
    before = all_of(store, run.id)
    (ann,) = seats(store, "Ann")
    acts: dict[str, Callable[[], object]] = {
        "votes": lambda: reviewed.record(store, again(store, run.id), reviewed.items(6)[4:]),
        "settled": lambda: settle(store, ann, make_queue(store, run), "i2", MET),
        "put again": lambda: store.results.forget(run.id, "i0"),
    }
    acts[change]()
    after = all_of(store, run.id)
    assert after != before
    assert after == read_anew(store, run.id, monkeypatch)


def again(store: Store, run_id: int) -> Any:
    store.runs.request_queue(run_id)
    return store.runs.get(run_id)


def test_what_was_read_before_a_change_and_kept_after_it_is_not_taken_for_new(store: Store) -> None:
    run_id = at_rest(store)
    (ann,) = seats(store, "Ann")
    queue = make_queue(store, store.runs.get(run_id))

    def slow() -> Columns:
        settle(store, ann, queue, "i2", MET)
        return Columns({"read": "before"}, {})

    store.kept.cached_columns("x", store.results.derived(run_id), slow)
    found = store.kept.cached_columns("x", store.results.derived(run_id), lambda: Columns({}, {}))
    assert found.head == {}


def test_a_file_that_cannot_be_written_is_read_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = at_rest(store)

    def busy() -> None:
        raise WriteBlocked("somebody writes")

    monkeypatch.setattr(store.kept._files, "write", busy)
    first = all_of(store, run_id)
    assert all_of(store, run_id) == first


def test_a_run_that_is_going_keeps_nothing(store: Store) -> None:
    run = reviewed.graded(store, 4)
    assert run.active
    all_of(store, run.id)
    assert (
        store.kept._get_entry(f"votes of run {run.id}, form {run_columns.FORM}", run.votes) is None
    )


def test_the_systems_tags_and_splits_are_those_of_the_runs_items(store: Store) -> None:
    run_id = at_rest(store, 2)
    assert browsing.item_groups(store, run_id) == (["secret-system"], ["secret-tag"], [])


def test_arrays_of_every_kind_come_back_as_they_were(store: Store) -> None:
    arrays = {
        "flags": np.array([True, False, True]),
        "small": np.array([-2, 7], np.int8),
        "none": np.zeros(0, np.int32),
        "numbers": np.array([1 / 3, np.nan]),
    }
    store.kept.cached_columns("a", 1, lambda: Columns({"é": [1, None]}, arrays))
    found = store.kept.cached_columns("a", 1, lambda: Columns({}, {}))
    assert found.head == {"é": [1, None]}
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)


def test_nobody_reads_all_texts_to_count_to_plan_or_to_split(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = at_rest(store)
    run = store.runs.get(run_id)
    gold = make_queue(store, run, reviewed.DOUBTFUL)
    rule = store.queues.get(gold).rule.model_copy(update={"gold_share": 0.5})
    asked = RunRequest(run.rubric_version_id, run.dataset_version_id, run.panel, seed=1, limit=3)

    def everything() -> list[object]:
        return [
            sheet_of_run(store, run_id).items,
            diagnosis.examination_of_run(store, run_id),
            run_report.report_run(store, run_id, created="now"),
            shared_tasks(store, run),
            queues.preview_queue(store, run_id, rule, seed=1),
            cost_estimate.estimate_request(store, asked),
            splits.split_of_version(
                store, run.dataset_version_id, {"train": 50, "calibration": 0, "test": 50}, 1
            ),
            judging.count_labelled(store, run.dataset_version_id, RUBRIC),
        ]

    first, read = everything(), Items.contents

    def some(self: Items, version_id: int, ids: list[str] | None = None) -> object:
        assert ids is not None, "all items were read"
        return read(self, version_id, ids)

    monkeypatch.setattr(Items, "contents", some)
    assert everything() == first


def test_labels_of_a_run_are_counted_with_what_people_settled(store: Store) -> None:
    run_id = at_rest(store)
    (ann,) = seats(store, "Ann")
    queue = make_queue(store, store.runs.get(run_id), reviewed.EVERYTHING)
    for item in ("i0", "i5"):
        settle(store, ann, queue, item, MET)
    found = corrected_estimates.selection_of(store, run_id)
    assert found is not None
    items = resolved_items(store, store.runs.row(run_id).dataset_version_id, None)
    # i0 and i1 had a label on Right; i0 got one on Short, i5 both.
    assert found.labels == sum(len(item.labels) for item in items) == 2 + 1 + 2
