"""Weights that were planted in totals come out again, and what cannot be told is said."""

from __future__ import annotations

import random
from typing import Any

import pytest

from core.domain.dataset import Item, Label
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.services.rubrics.weights_from_grades import infer_weights, totals_by_field

LEVELS = (
    Option(label="Low", value=0),
    Option(label="Mid", value=0.5),
    Option(label="High", value=1),
)


def question(name: str, weight: float = 1.0, **fields: Any) -> Criterion:
    return Criterion(name=name, requirement=f"{name}?", weight=weight, **fields)


RUBRIC = Rubric(
    criteria=(
        question("A"),
        question("B"),
        question("C", scale="ordinal", options=LEVELS),
        question("Wrong", -1.0),
    )
)
#: What a grader had in mind.
PLANTED = {"A": 4.0, "B": 2.5, "C": 6.0, "Wrong": -3.0}


def graded(count: int, noise: float = 0.0) -> list[Item]:
    """Items with labels drawn at random; the total is the planted weights' sum, plus noise."""
    dice, found = random.Random(3), []
    for n in range(count):
        labels, total = {}, dice.gauss(0, noise) if noise else 0.0
        for criterion in RUBRIC.criteria:
            option = dice.choice([o for o in criterion.options if not o.na])
            labels[criterion.name] = Label(label=option.label)
            total += PLANTED[criterion.name] * (option.value or 0.0)
        found.append(Item(id=f"i{n}", submission="x", labels=labels, meta={"grade": total}))
    return found


def test_planted_weights_come_out_exactly_without_noise() -> None:
    found = infer_weights(RUBRIC, graded(40), "grade")
    assert {w.criterion: w.fitted for w in found.weights} == pytest.approx(PLANTED)
    assert {w.criterion: w.rounded for w in found.weights} == pytest.approx(
        # The largest is 6, so the step is the largest of .1, .25, .5, 1 ... up to 6/10: .5.
        PLANTED
    )
    assert (found.items, found.left_out, found.misfits) == (40, 0, ())
    assert found.r2 == pytest.approx(1.0)
    coarse = infer_weights(RUBRIC, graded(40), "grade", step=5.0)
    # 4, 2.5, 6, -3 to the nearest 5 (halves to the even multiple).
    assert [w.rounded for w in coarse.weights] == [5.0, 0.0, 5.0, -5.0]
    assert coarse.r2_rounded is not None
    assert coarse.r2_rounded < 1.0


def test_with_noise_they_are_near_and_their_intervals_hold_them() -> None:
    found = infer_weights(RUBRIC, graded(200, noise=0.5), "grade")
    for weight in found.weights:
        assert weight.low is not None
        assert weight.high is not None
        # Noise of .5 over 200 items: the standard error of a weight is about .5/sqrt(200)/.5 = .07.
        assert weight.fitted == pytest.approx(PLANTED[weight.criterion], abs=0.3)
        assert weight.low - 0.15 <= PLANTED[weight.criterion] <= weight.high + 0.15
    # Variance of the totals: 4+1.5625+6+2.25 = 13.8 (a fair coin of w has w2/4, three levels w2/6).
    assert found.error == pytest.approx(0.5, abs=0.1)
    assert found.r2 == pytest.approx(1 - 0.25 / 13.8, abs=0.02)


def test_rounding_to_a_step_is_as_asked() -> None:
    found = infer_weights(RUBRIC, graded(40), "grade", step=0.5)
    assert {w.criterion: w.rounded for w in found.weights} == pytest.approx(PLANTED)


def test_an_item_that_does_not_add_up_is_named() -> None:
    items = graded(60)
    odd = items[7].model_copy(update={"meta": {"grade": float(items[7].meta["grade"]) + 5}})
    found = infer_weights(RUBRIC, [*items[:7], odd, *items[8:]], "grade")
    ((item_id, _, residual),) = found.misfits
    assert item_id == "i7"
    assert residual == pytest.approx(5, abs=0.7)


def test_a_criterion_that_nobody_failed_cannot_be_weighed() -> None:
    items = [
        item.model_copy(update={"labels": {**item.labels, "A": Label(label="MET")}})
        for item in graded(40)
    ]
    told = {w.criterion: w.told for w in infer_weights(RUBRIC, items, "grade").weights}
    assert "cannot be estimated" in told["A"]
    assert told["B"] == ""


def test_two_criteria_that_always_agree_are_told_apart_by_nobody() -> None:
    items = [
        item.model_copy(update={"labels": {**item.labels, "B": item.labels["A"]}})
        for item in graded(40)
    ]
    told = {w.criterion: w.told for w in infer_weights(RUBRIC, items, "grade").weights}
    assert "only their sum" in told["A"]
    assert "only their sum" in told["B"]


def test_items_without_a_total_or_a_label_are_left_out() -> None:
    items = graded(20)
    bare = items[0].model_copy(update={"meta": {}})
    half = items[1].model_copy(update={"labels": {"A": Label(label="MET")}})
    found = infer_weights(RUBRIC, [bare, half, *items[2:]], "grade")
    assert (found.items, found.left_out) == (18, 2)


def test_too_few_items_are_refused() -> None:
    with pytest.raises(InputError, match="at least 5"):
        infer_weights(RUBRIC, graded(4), "grade")


def test_where_all_totals_are_alike_there_is_no_r2() -> None:
    found = infer_weights(RUBRIC, graded(20), {f"i{n}": 3.0 for n in range(20)})
    assert found.r2 is None


def test_fields_that_hold_numbers_are_offered_as_totals() -> None:
    item = Item(id="a", submission="x", meta={"grade": "7,5", "who": "Ann", "late": True, "n": 3})
    assert totals_by_field([item]) == {"grade": ["a"], "n": ["a"]}
