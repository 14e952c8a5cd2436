"""What makes an answer of the workbench still the answer."""

from __future__ import annotations

from typing import Any

from core.domain.base import build_model
from core.domain.panel import Judge
from core.services.workbench.known_answers import judge_hash


def rules(contains: str) -> Judge:
    given: dict[str, Any] = {"name": "r", "kind": "check", "checks": {"a": {"contains": contains}}}
    return build_model(Judge, given, "judge")


def test_answers_of_checks_hold_for_the_rules_that_gave_them_and_learn_from_nothing() -> None:
    assert judge_hash(rules("x"), None) != judge_hash(rules("y"), None)
    assert judge_hash(rules("x"), None) == judge_hash(rules("x"), 7)
