"""Criteria and rubrics for the checks, as short as can be."""

from __future__ import annotations

from typing import Any

from core.domain.base import build_model
from core.domain.rubric import Criterion, Rubric


def criterion(requirement: str, name: str = "K", **fields: Any) -> Criterion:
    return build_model(Criterion, {"name": name, "requirement": requirement, **fields}, "criterion")


def levels(*options: tuple[str, str], **fields: Any) -> Criterion:
    """An ordinal criterion with these labels and anchors, values spread evenly."""
    last = max(1, len(options) - 1)
    given = [
        {"label": label, "description": anchor, "value": at / last}
        for at, (label, anchor) in enumerate(options)
    ]
    fields = {"options": given, "scale": "ordinal", **fields}
    return criterion(
        fields.pop("requirement", "How many of the claims does a source back?"), **fields
    )


def rubric(*criteria: Criterion, **fields: Any) -> Rubric:
    data = [
        c.model_dump() | ({"name": f"{c.name} {at}"} if c.name == "K" and at else {})
        for at, c in enumerate(criteria)
    ]
    return build_model(Rubric, {"name": "R", "criteria": data, **fields}, "rubric")
