"""Rubrics for the tests, built through the door that files use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.base import build_model
from core.domain.rubric import Rubric

MET, UNMET, ABSTAINED = 0, 1, 2


def rubric(criteria: Sequence[Mapping[str, Any]], **rest: Any) -> Rubric:
    """A rubric; criteria without a name are called c0, c1, ..."""
    named = [{"name": f"c{i}", "requirement": "r", **c} for i, c in enumerate(criteria)]
    return build_model(Rubric, {"criteria": named, **rest}, "rubric")


def binary(*weights: float, **rest: Any) -> Rubric:
    return rubric([{"weight": w} for w in weights], **rest)


def options(*values: float) -> list[dict[str, Any]]:
    """Options labelled by their position: L0, L1, ..."""
    return [{"label": f"L{i}", "value": v} for i, v in enumerate(values)]


def answers(text: str) -> dict[str, int]:
    """Verdicts of c0, c1, ... from letters: M met, U unmet, A abstained, - no verdict."""
    return {f"c{i}": "MUA".index(letter) for i, letter in enumerate(text) if letter != "-"}
