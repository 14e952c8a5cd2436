"""What a run asks: together or apart, in which layout, and with which examples."""

from typing import Any

import pytest

from core.domain.dataset import Item, Label
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import Cell
from core.services.runs.questions import QuestionBuilder

RUBRIC = Rubric(
    criteria=tuple(Criterion(name=f"c{n}", requirement=f"Names cause {n}.") for n in range(3))
)
MODEL = Judge(name="model", model="x", door="openai")
LABELS = {f"c{n}": Label(label="MET", reason=f"why {n}") for n in range(3)}
TEACHERS = [Item(id=f"t{n}", submission=f"teacher {n} " * 60, labels=LABELS) for n in range(6)]
ITEMS = [Item(id=f"i{n}", submission=f"item {n} " * 60) for n in range(10)]


def asker(**asking: Any) -> QuestionBuilder:
    panel = Panel(judges=(MODEL,), asking=Asking(**asking))
    plan = RunPlan(name="r", rubric_version_id=1, dataset_version_id=1, panel=panel, seed=7)
    return QuestionBuilder(RUBRIC, plan, ITEMS, TEACHERS)


@pytest.mark.parametrize(
    ("asking", "wanted"),
    [
        # 10 x 2 submissions are shared by item; by criterion only 3 x 9 short requirements.
        ({}, "item_first"),
        # Three examples as long as a submission: 3 x 9 x 3 against 10 x 2 submissions.
        ({"few_shot": 3}, "criterion_first"),
        ({"few_shot": 3, "layout": "item_first"}, "item_first"),
        ({"layout": "criterion_first"}, "criterion_first"),
        # An item's submission is sent once, so there is nothing to share by item.
        ({"mode": "rubric"}, "criterion_first"),
    ],
)
def test_the_layout_is_the_one_chosen_or_else_the_cheaper_one(
    asking: dict[str, Any], wanted: str
) -> None:
    made = list(asker(**asking).questions(MODEL, set()))
    assert {question.layout for question in made} == {wanted}


def test_what_is_left_of_a_run_is_asked_in_the_layout_it_was_begun_in() -> None:
    run = asker(few_shot=3)
    done = {Cell(item.id, "c0", "model") for item in ITEMS}
    left = list(run.questions(MODEL, done))
    assert left == [q for q in run.questions(MODEL, set()) if q.cell.criterion != "c0"]


def test_the_criteria_still_open_are_asked_together_with_the_examples_of_each() -> None:
    done = {Cell("i0", "c1", "model")}
    first, second, *_ = asker(mode="rubric", few_shot=2).questions(MODEL, done)
    assert [ask.criterion.name for ask in first.asks] == ["c0", "c2"]
    assert [example.criterion for example in first.examples] == ["c0", "c0", "c2", "c2"]
    assert [ask.criterion.name for ask in second.asks] == ["c0", "c1", "c2"]


def test_items_share_their_examples_with_reasons_unless_they_are_not_wanted() -> None:
    made = list(asker(few_shot=2).questions(MODEL, set()))
    of_c0 = {tuple(e.item.id for e in q.examples) for q in made if q.criterion.name == "c0"}
    assert len(of_c0) == 1
    assert {e.reason for e in made[0].examples} == {"why 0"}
    bare = next(asker(few_shot=2, few_shot_reasons=False).questions(MODEL, set()))
    assert {e.reason for e in bare.examples} == {""}
