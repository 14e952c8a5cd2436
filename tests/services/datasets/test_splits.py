"""An item becomes an example for later runs, and evidence again; earlier runs keep theirs."""

from __future__ import annotations

import pytest

from core.domain.dataset import Dataset, Item, Label
from core.domain.library import DatasetVersion
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services.datasets import splits
from core.services.runs.cost_estimate import estimate_request
from core.services.runs.planning import RunRequest, plan_run
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(name="R", criteria=(Criterion(name="Clear", requirement="It is clear."),))
MET = {"Clear": Label(label="MET")}


@pytest.fixture
def version(store: Store) -> DatasetVersion:
    """Ten labelled items and one without a label."""
    items = [Item(id=f"i{n}", submission=f"Text {n}.", labels=MET) for n in range(10)]
    dataset = Dataset(name="D", items=(*items, Item(id="bare", submission="x")))
    return store.datasets.create(dataset, now=NOW)


def request(store: Store, version: int, **asking: object) -> RunRequest:
    panel = Panel(judges=(Judge(name="a", model="m"),), asking=Asking(**asking))  # type: ignore[arg-type]
    return RunRequest(store.rubrics.create(RUBRIC, now=NOW).id, version, panel, seed=1)


def test_an_example_is_in_the_next_version_only_and_is_not_graded_there(
    store: Store, version: DatasetVersion
) -> None:
    made = splits.set_split(store, version.id, "i3", "calibration")

    assert made.number == 2
    assert store.datasets.item(made.id, "i3").split == "calibration"
    assert store.datasets.item(version.id, "i3").split is None
    planned = plan_run(store, request(store, made.id, few_shot=3))
    assert [item.id for item in planned.calibration] == ["i3"]
    assert "i3" not in [item.id for item in planned.items]


def test_examples_add_up_whichever_version_they_were_seen_in(
    store: Store, version: DatasetVersion
) -> None:
    splits.set_split(store, version.id, "i3", "calibration")
    splits.set_split(store, version.id, "i5", "calibration")

    assert splits.part_of(store, version.id, "i5") == ("calibration", 2)


def test_an_example_can_go_back_to_evaluation(store: Store, version: DatasetVersion) -> None:
    splits.set_split(store, version.id, "i3", "calibration")
    splits.set_split(store, version.id, "i3", "evaluation")

    assert splits.part_of(store, version.id, "i3") == ("evaluation", 0)


def test_what_is_so_already_makes_no_version(store: Store, version: DatasetVersion) -> None:
    first = splits.set_split(store, version.id, "i3", "calibration")

    assert splits.set_split(store, version.id, "i3", "calibration").id == first.id


def test_an_item_without_labels_teaches_nothing(store: Store, version: DatasetVersion) -> None:
    with pytest.raises(InputError, match="has no labels"):
        splits.set_split(store, version.id, "bare", "calibration")


def test_an_item_that_left_the_dataset_cannot_be_moved(
    store: Store, version: DatasetVersion
) -> None:
    rest = Dataset(name="D", items=(Item(id="i0", submission="x"),))
    store.datasets.add_version(version.dataset_id, rest, parent=1, now=NOW)

    assert splits.part_of(store, version.id, "i3") is None
    with pytest.raises(InputError, match="has no item 'i3'"):
        splits.set_split(store, version.id, "i3", "calibration")


@pytest.mark.parametrize(
    ("asking", "votes", "calls"),
    [
        # 11 items, 1 criterion, 1 judge.
        ({}, 11, 11),
        ({"flip": "check"}, 22, 22),
        ({"mode": "two_step"}, 11, 22),
        ({"mode": "rubric", "flip": "check"}, 22, 22),
        # 2 of the 10 labelled items (20%) are examples, so 9 are graded.
        ({"few_shot": 2}, 9, 9),
    ],
)
def test_estimates_follow_how_judges_are_asked(
    store: Store, version: DatasetVersion, asking: dict[str, object], votes: int, calls: int
) -> None:
    found = estimate_request(store, request(store, version.id, **asking))

    assert (found.votes, found.calls) == (votes, calls)


def test_examples_make_the_estimate_of_tokens_larger(store: Store, version: DatasetVersion) -> None:
    without = estimate_request(store, request(store, version.id))
    shown = estimate_request(store, request(store, version.id, few_shot=2))

    assert shown.tokens_in / shown.calls > without.tokens_in / without.calls
