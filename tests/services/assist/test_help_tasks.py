"""Every kind of help task is worked on by the module that begins it."""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, fields
from inspect import iscoroutinefunction
from typing import Any

import pytest

from core.domain.panel import Judge, Panel
from core.domain.review import Case
from core.domain.rubric import Rubric
from core.services.assist import (
    counterfactuals,
    generated_items,
    improvement_loop,
    proposals,
    rubric_draft,
    written_twins,
)
from core.services.assist.help_tasks import MODULES, request_data, request_from, work_of
from core.store.store import Store
from tests.services.reviewed import NOW


def test_each_kind_has_its_work() -> None:
    begun = {
        m.KIND
        for m in (
            *(rubric_draft, generated_items, counterfactuals, proposals, improvement_loop),
            written_twins,
        )
    }
    assert set(MODULES) == begun
    assert all(iscoroutinefunction(work_of(kind)) for kind in MODULES)
    for module in (rubric_draft, generated_items, counterfactuals, proposals, written_twins):
        assert MODULES[module.KIND] == module.__name__


RUBRIC = Rubric.model_validate(
    {
        "criteria": [{"name": "Right", "requirement": "It is right."}],
        "gates": [{"name": "g", "when": {"criterion": "Right", "is": "MET"}, "then": {"cap": 0.5}}],
    }
)
ADA = Judge(name="ada", model="tiny", temperature=0.3, params={"top_p": 0.5})
#: Every field differs from its default.
REQUESTS = (
    proposals.ImproveRequest(
        judge=ADA,
        rubric=RUBRIC,
        subject="7",
        targets=("Right",),
        findings={"Right": ["a"], "": ["b"]},
        cases=(Case("Right", "A text.", "MET", "UNMET", "So.", "Not so."),),
        seed=3,
        budget=1.5,
    ),
    improvement_loop.LoopRequest(
        judge=ADA,
        panel=Panel(judges=(ADA,)),
        rubric=RUBRIC,
        subject="7",
        targets=("Right",),
        dataset_version=2,
        findings={"Right": ["a"]},
        rounds=2,
        held_share=0.4,
        seed=5,
        budget=2.5,
    ),
    generated_items.DataRequest(
        judge=ADA,
        criterion=RUBRIC.criteria[0],
        counts={0: 2, 1: 1},
        borderline=1,
        tasks=("A task.",),
        invent=2,
        length="long",
        subject="s",
        seed=4,
        budget=0.5,
    ),
    counterfactuals.EditRequest(
        judge=ADA,
        rubric=RUBRIC,
        criterion="Right",
        aimed=1,
        dataset_version=2,
        items=("a", "b"),
        subject="s",
        seed=3,
        budget=0.25,
    ),
)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: type(request).__name__)
def test_every_field_of_a_request_comes_back_from_the_task(request_: Any, store: Store) -> None:
    usual = [
        field.name for field in fields(request_) if _usual(field) == getattr(request_, field.name)
    ]
    assert not usual
    kept = json.loads(json.dumps(request_data(request_)))
    task_id = store.helps.create(
        "any", request_.subject, kept, planned=1, budget=request_.budget, now=NOW
    )
    assert request_from(type(request_), store.helps.get(task_id)) == request_


def _usual(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()
