"""A draft as a rubric that nobody checked: only for writing it down while it is not valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.domain.base import ModelT
from core.domain.decision import Decision
from core.domain.gates import Condition, Effect, Gate
from core.domain.prechecks import Near, Precheck
from core.domain.rubric import Criterion, LengthPenalty, Option, Rubric, ScoringPolicy
from core.services.draft_types import Draft
from core.services.drafts import payload


def loose_rubric(draft: Draft) -> Rubric:
    """The draft as an unchecked ``Rubric``: only for writing it down, never for judging."""
    data = payload(draft)
    criteria = [
        Criterion.model_construct(
            **{**c, "options": tuple(Option.model_construct(**o) for o in c["options"])}
        )
        for c in data["criteria"]
    ]
    return Rubric.model_construct(
        **{
            **data,
            "criteria": tuple(criteria),
            "scoring": _scoring(data["scoring"]),
            "gates": tuple(map(_gate, data["gates"])),
            "prechecks": tuple(map(_check, data["prechecks"])),
            "decision": data["decision"] and _made(Decision, data["decision"]),
        }
    )


def _made(model: type[ModelT], data: Mapping[str, Any]) -> ModelT:
    """The model with these fields, unchecked; what is not filled in yet is left out."""
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in data.items()
        if value is not None
    }
    return model.model_construct(None, **given)


def _scoring(data: Mapping[str, Any]) -> ScoringPolicy:
    penalty = data["length_penalty"]
    loose = penalty and _made(LengthPenalty, penalty)
    return _made(ScoringPolicy, {**data, "length_penalty": loose})


def _gate(data: Mapping[str, Any]) -> Gate:
    when, then = _made(Condition, data["when"]), _made(Effect, data["then"])
    return _made(Gate, {**data, "when": when, "then": then})


def _check(data: Mapping[str, Any]) -> Precheck:
    near = data.get("unless_near")
    return _made(Precheck, {**data, "unless_near": near and _made(Near, near)})
