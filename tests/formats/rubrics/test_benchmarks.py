"""Rubrics of an item in the shapes of HealthBench and PaperBench; the samples are our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.rubrics.forms import read_rubrics

HEALTH: list[dict[str, Any]] = [
    {"criterion": "Says to call a doctor.", "points": 8, "tags": ["level:example", "axis:safety"]},
    {"criterion": "Names a dose.", "points": -6, "tags": ["axis:accuracy"]},
]
ROW = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "I have a cough."}],
    "rubrics": HEALTH,
    "example_tags": ["theme:x"],
    "completion": "Call your doctor.",
}


def node(text: str, weight: float, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": text, "requirements": text, "weight": weight, "sub_tasks": list(parts), **more}


#: Code weighs 3 of 4, of which training 2 of 3 and data 1 of 3; the result 1 of 4.
TREE = node(
    "The paper is reproduced.",
    1,
    node(
        "The code is written.",
        3,
        node("It trains.", 2, task_category="Code Development"),
        node("Data", 1, node("It loads.", 5, task_category="Code Execution")),
    ),
    node("The result holds.", 1, task_category="Result Analysis"),
)


def test_an_item_of_healthbench_brings_its_own_rubric() -> None:
    read = parse_dataset(json.dumps(ROW) + "\n", "health.jsonl")
    (item,) = read.value.items
    assert (item.prompt, item.text) == ("user: I have a cough.", "Call your doctor.")
    assert item.rubric is not None
    assert [(c.requirement, c.weight, c.tags) for c in item.rubric.criteria] == [
        ("Says to call a doctor.", 8, ("level:example", "axis:safety")),
        ("Names a dose.", -6, ("axis:accuracy",)),
    ]


def test_a_tree_of_paperbench_weighs_its_leaves_by_their_shares_multiplied() -> None:
    (read,) = read_rubrics(json.dumps(TREE), "rubric.json")
    # 3/4 * 2/3 = 1/2, 3/4 * 1/3 * 5/5 = 1/4, 1/4; together 100 points.
    assert [(c.name, c.weight, c.section, c.tags) for c in read.value.criteria] == [
        ("It trains", 50, "The code is written.", ("Code Development",)),
        ("It loads", 25, "The code is written.", ("Code Execution",)),
        ("The result holds", 25, None, ("Result Analysis",)),
    ]
    assert read.value.criteria[1].meta["above"] == ["Data"]
    row = {"id": "p", "submission": "Done.", "rubric": TREE}
    (item,) = parse_dataset(json.dumps(row) + "\n", "x.jsonl").value.items
    assert item.rubric is not None
    assert sum(c.weight for c in item.rubric.criteria) == 100


def test_a_tree_with_too_many_leaves_is_several_rubrics() -> None:
    def branch(name: str, leaves: int) -> dict[str, Any]:
        return node(name, 1, *(node(f"{name}: step {n} is done.", 1) for n in range(leaves)))

    whole = node("The paper is reproduced.", 1, branch("A", 900), branch("B", 60), branch("C", 9))
    read = [rubric.value for rubric in read_rubrics(json.dumps(whole), "rubric.json")]
    # 500 are the limit: 500 of A; 400 of A, 60 of B and 9 of C.
    assert [len(rubric.criteria) for rubric in read] == [500, 469]
    assert [rubric.name for rubric in read] == [
        f"Part {n} of 2: The paper is reproduced." for n in (1, 2)
    ]
    assert {c.section for c in read[1].criteria} == {"Part 2 of 2: A", "B", "C"}


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (node("Whole", 1, node("Part", -1)), "has the weight -1"),
        (node("Whole", 1, {"requirements": "Part"}), "has a part that is not a task"),
        ({**node("Whole", 1), "sub_tasks": "none"}, "sub_tasks that are not a list"),
    ],
)
def test_a_broken_tree_is_refused_with_its_task(broken: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as error:
        read_rubrics(json.dumps(broken), "rubric.json")
    assert says in str(error.value)
