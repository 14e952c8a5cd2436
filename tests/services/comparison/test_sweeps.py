"""Sweeps: which runs, on which items, at what price; and what they cost beside what they reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.domain.dataset import Dataset
from core.domain.panel import Judge, Panel
from core.errors import InputError
from core.services.comparison.costs import cost_points, spending_of_run
from core.services.runs.cost_estimate import estimate_request
from core.services.runs.planning import RunRequest, plan_run
from core.services.runs.sweeps import (
    SweepAxes,
    estimate_sweep,
    plan_sweep,
    runs_of_sweep,
    start_sweep,
)
from core.store.store import Store
from tests.services.comparison.world import NOW, ONE, RUBRIC, TWO, dataset, run_with

LABELS = {"clear": ["MET", "UNMET"] * 10, "tone": ["Cold", "Fair", "Warm", ""] * 5}
OFFLINE = Judge(name="words", kind="classifier")


def request(store: Store, data: Dataset | None = None, **changes: Any) -> RunRequest:
    made = RunRequest(
        rubric_version=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version=store.datasets.create(data or dataset(LABELS), now=NOW).id,
        panel=Panel(judges=(ONE, TWO)),
        name="My sweep",
        seed=3,
    )
    return replace(made, **changes)


def test_every_combination_is_a_run_named_after_what_varies(store: Store) -> None:
    found = plan_sweep(store, request(store), SweepAxes(few_shot=(0, 3), judging="both"))

    assert [v.name for v in found.variants] == [
        "My sweep: all judges, 0 examples",
        "My sweep: all judges, 3 examples",
        "My sweep: one, 0 examples",
        "My sweep: one, 3 examples",
        "My sweep: two, 0 examples",
        "My sweep: two, 3 examples",
    ]
    assert {v.seed for v in found.variants} == {3}
    values = found.variants[0].details["sweep"]["values"]
    assert values == {"judges": "all judges", "examples": "0 examples"}


def test_all_runs_grade_the_same_items_without_any_that_teaches(store: Store) -> None:
    axes = SweepAxes(few_shot=(0, 1, 5), label_shares=(0.1, 0.4))
    found = plan_sweep(store, request(store), axes)
    planned = [plan_run(store, v) for v in found.variants]

    # 20 labelled items: 40% teach at most, so 12 are graded in every run, with examples or not.
    assert len(found.teaching) == 8
    assert {tuple(i.id for i in p.items) for p in planned} == {found.items}
    assert len(found.items) == 12
    taught = [{i.id for i in p.calibration} for p in planned]
    # 0 examples (once), then 10% and 40% for 1 and for 5: the smaller a part of the larger.
    assert [len(one) for one in taught] == [0, 2, 8, 2, 8]
    assert taught[1] < taught[2] == set(found.teaching)
    assert not set(found.items) & set(found.teaching)
    assert found.same == 1


def test_a_marked_calibration_part_teaches_whatever_the_share(store: Store) -> None:
    data = dataset(LABELS)
    marked = tuple(i.model_copy(update={"split": "calibration"}) for i in data.items[:4])
    data = data.model_copy(update={"items": (*marked, *data.items[4:])})

    found = plan_sweep(store, request(store, data), SweepAxes(few_shot=(0, 2)))

    assert found.teaching == ("i0", "i1", "i2", "i3")


def test_a_sweep_is_estimated_run_by_run(store: Store) -> None:
    found = plan_sweep(store, request(store), SweepAxes(judging="both", replicates=(1, 2)))
    whole = estimate_sweep(store, found)

    # 20 items x 2 criteria x (2 judges + 1 + 1) x (1 + 2 times).
    assert sum(run.calls for run in whole) == 20 * 2 * 4 * 3
    assert whole == [estimate_request(store, v) for v in found.variants]


def test_starting_makes_all_runs_and_remembers_that_they_belong_together(store: Store) -> None:
    found = plan_sweep(
        store, request(store, limit=5, drawn=True), SweepAxes(modes=("criterion", "rubric"))
    )
    made = start_sweep(store, found)

    runs = [store.runs.get(one) for one in made]
    assert [run.plan.details["sweep"]["values"]["mode"] for run in runs] == [
        "one criterion a call",
        "whole rubric",
    ]
    assert [len(store.runs.item_ids(run.id)) for run in runs] == [5, 5]
    assert runs_of_sweep(store, runs[1]) == made
    alone = store.runs.get(run_with(store, dataset(LABELS), {}))
    assert runs_of_sweep(store, alone) == ()


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        (SweepAxes(), "needs two runs or more"),
        (SweepAxes(few_shot=tuple(range(21)), replicates=(1, 2, 3)), "at most 60"),
        (SweepAxes(few_shot=(0, 1), label_shares=(0.99,)), "nothing to grade"),
    ],
)
def test_what_makes_no_sweep_is_refused(store: Store, axes: SweepAxes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan_sweep(store, request(store), axes)


def test_examples_without_labels_are_refused(store: Store) -> None:
    data = dataset({"other": ["x"] * 3})
    with pytest.raises(InputError, match="there are none whose labels fit"):
        plan_sweep(store, request(store, data), SweepAxes(few_shot=(0, 1)))


def test_offline_judges_make_no_runs_that_differ_in_how_models_are_asked(store: Store) -> None:
    offline = request(store, panel=Panel(judges=(OFFLINE,)))
    with pytest.raises(InputError, match="needs two runs or more"):
        plan_sweep(store, offline, SweepAxes(few_shot=(0, 1, 3)))


def answers(right: int, of: int = 10) -> dict[str, dict[str, list[int]]]:
    return {"one": {"clear": [0] * right + [1] * (of - right)}}


def test_runs_that_another_beats_in_price_and_accuracy_are_not_efficient(store: Store) -> None:
    data = dataset({"clear": ["MET"] * 10})
    made = [
        run_with(store, data, answers(right), name=f"{right}", cost=cost)
        for right, cost in ((6, 0.01), (8, 0.02), (7, 0.03), (9, 0.03), (9, None))
    ]

    found = cost_points(store, made)

    assert [one.accuracy.value for one in found] == [0.6, 0.8, 0.7, 0.9, 0.9]
    # 10 calls on 10 items: a call's cost times 1,000.
    assert [one.per_thousand for one in found] == [
        pytest.approx(10),
        pytest.approx(20),
        pytest.approx(30),
        pytest.approx(30),
        None,
    ]
    assert [one.efficient for one in found] == [True, True, False, True, None]
    assert found[4].spent.reason == "The price of 10 calls is not known."
    assert found[0].accuracy.low is not None


def test_kept_answers_cost_what_they_cost_first(store: Store) -> None:
    data = dataset({"clear": ["MET"] * 10})
    kept = run_with(store, data, answers(5), cost=0.0, cached=True, first_cost=0.02)
    blind = run_with(store, data, answers(5), cost=0.0, cached=True, first_cost=None)

    now, saved, whole, *_ = spending_of_run(store.runs.get(kept))
    assert now == 0.0
    assert saved == whole == pytest.approx(0.2)
    unknown = spending_of_run(store.runs.get(blind))
    assert unknown.whole is None
    assert "what they cost then is not known" in unknown.reason


def test_abstentions_are_left_out_and_counted(store: Store) -> None:
    data = dataset({"clear": ["MET"] * 4})
    first = run_with(store, data, {"one": {"clear": [0, 0, 1, 2]}})
    second = run_with(store, data, {"one": {"clear": [0, 0, 0, 0]}})

    one, other = cost_points(store, [first, second])

    assert one.accuracy.value == pytest.approx(2 / 3)
    assert (one.decided, one.labelled) == (3, 4)
    assert (other.accuracy.value, other.decided, other.labelled) == (1.0, 4, 4)
    with pytest.raises(InputError, match="two runs or more"):
        cost_points(store, [first])
