"""Gates that do nothing: what is told, and near misses that do something."""

from __future__ import annotations

from typing import Any

import pytest

from core.lint.check import check
from tests.lint.made import criterion, levels, rubric

LEVELS = levels(
    ("None", "No claim has a source beside it."),
    ("Some", "At least one claim has a source, and one has none."),
    ("Each", "Each claim has a source beside it."),
    name="Backed",
    weight=6,
)
YES = criterion("The first line gives the result.", name="First", weight=4, tags=["form"])


def gate(
    when: dict[str, Any], then: dict[str, Any], name: str = "G", **rest: Any
) -> dict[str, Any]:
    return {"name": name, "when": when, "then": then, **rest}


def rules_of(*gates: dict[str, Any], **fields: Any) -> list[str]:
    return [f.rule for f in check(rubric(LEVELS, YES, gates=list(gates), **fields))]


ON = {"criterion": "Backed"}
CAP = {"cap": 0.2}


@pytest.mark.parametrize(
    ("when", "then", "rule"),
    [
        (ON | {"below": "None"}, CAP, "inert-gate"),  # nothing is below the lowest level
        (ON | {"below": "Some"}, CAP, None),
        (ON | {"above": 1.0}, CAP, "inert-gate"),
        (ON | {"at_least": 0.0}, CAP, "always-gate"),
        (ON | {"at_least": 0.4}, CAP, None),
        # With "None" the best possible score is (0 + 4) / 10 = 0.4: a cap there holds nothing down.
        (ON | {"is": "None"}, {"cap": 0.4}, "inert-gate"),
        (ON | {"is": "None"}, {"cap": 0.39}, None),
        (ON | {"is": "None"}, {"cap": 0.4, "flag": "unsourced"}, None),
        (ON | {"is": "None"}, {"cap": 0.4, "verdict": "review"}, None),
        (ON | {"is": "None"}, {"multiply": 1.0}, "inert-gate"),
        (ON | {"is": "None"}, {"multiply": 0.9}, None),
        ({"criterion": "First", "abstained": True}, CAP, None),
        ({"tag": "form", "is": "MET", "count_at_least": 2}, CAP, "inert-gate"),  # one has the tag
        ({"tag": "form", "is": "MET", "count_at_least": 1}, CAP, None),
    ],
)
def test_a_gate_without_effect_is_told(when, then, rule) -> None:
    assert rules_of(gate(when, then)) == ([rule] if rule else [])


def test_an_abstention_that_fires_keeps_a_gate_alive() -> None:
    # On "None" the cap of 0.4 holds nothing down; after an abstention 4 / 4 = 1 would be reached.
    fires = gate(ON | {"is": "None"}, {"cap": 0.4}, on_missing="fire")
    assert rules_of(fires, scoring={"min_coverage": 0.4}) == []
    # Only 4 of 10 are assessed then: below the usual half there is no grade to hold down.
    assert rules_of(fires) == ["inert-gate"]


def test_a_gate_behind_a_stricter_one_is_told() -> None:
    mild = gate(ON | {"is": "None"}, {"cap": 0.3}, "mild")
    strict = gate(ON | {"below": "Each"}, {"cap": 0.2}, "strict")
    (found,) = check(rubric(LEVELS, YES, gates=[mild, strict]))
    assert (found.rule, found.gate, found.also) == ("shadowed-gate", 0, (("gates", 1),))
    wider = gate(ON | {"below": "Each"}, {"cap": 0.3}, "wider")
    stricter = gate(ON | {"is": "None"}, {"cap": 0.2}, "stricter")
    assert rules_of(wider, stricter) == []  # the ladder of the samples
    flagged = gate(ON | {"is": "None"}, {"cap": 0.3, "flag": "x"}, "flagged")
    assert rules_of(flagged, strict) == []


def test_of_two_equal_gates_the_later_one_is_told() -> None:
    twins = [gate(ON | {"is": "None"}, CAP, name) for name in ("one", "two")]
    (found,) = check(rubric(LEVELS, YES, gates=twins))
    assert (found.rule, found.gate) == ("shadowed-gate", 1)


def test_scores_in_points_are_no_reason_to_call_a_gate_idle() -> None:
    points = {"scoring": {"normalize": False}}
    assert rules_of(gate(ON | {"is": "None"}, {"cap": 0.39}), **points) == []
