"""The JSON Schema of rubric files, generated from the model, for completion in editors."""

from __future__ import annotations

import json
from typing import Any

from core.domain.rubric import Criterion, Option, Rubric


def rubric_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a rubric file in our keys.

    It describes what ``parse_rubric`` reads without a notice, except some layouts of other tools.
    Only reading checks unique names, options of gates and rising levels.
    """
    model = Rubric.model_json_schema(by_alias=True)
    parts: dict[str, Any] = model.pop("$defs")
    parts["Rubric"] = model
    for noun in (Rubric, Criterion, Option):
        for name in noun.model_fields:
            parts[noun.__name__]["properties"][name]["description"] = noun.field_row(name).schema
    _relax_types(parts)
    for part in parts.values():
        _without_titles(part)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rubric Studio rubric",
        "anyOf": [{"$ref": "#/$defs/Rubric"}, {"$ref": "#/$defs/Entries"}],
        "$defs": dict(sorted(parts.items())),
    }


def _relax_types(parts: dict[str, Any]) -> None:
    """Relax types in the schema as far as reading tidies them."""
    parts["Criterion"]["required"] = ["requirement"]
    parts["Criterion"]["properties"]["options"].pop("default")
    parts["Option"]["required"] = ["label"]
    parts["Option"]["properties"]["label"] = {
        **parts["Option"]["properties"]["label"],
        "type": ["string", "number"],
    }
    parts["Section"] = {
        "type": "object",
        "description": "Criteria under one heading.",
        "properties": {"name": {"type": "string"}, "criteria": {"$ref": "#/$defs/Entries"}},
        "required": ["criteria"],
        "additionalProperties": False,
    }
    parts["Entries"] = {
        "type": "array",
        "description": "Criteria; a text alone is the requirement of a yes-or-no criterion.",
        "items": {
            "anyOf": [
                {"$ref": "#/$defs/Criterion"},
                {"$ref": "#/$defs/Section"},
                {"type": "string"},
            ]
        },
        "minItems": 1,
        "maxItems": 500,
    }
    about = Rubric.field_row("criteria").schema
    parts["Rubric"]["properties"]["criteria"] = {"$ref": "#/$defs/Entries", "description": about}
    # Editors insist on required keys, but the name may come from the file.
    parts["Rubric"]["required"] = ["criteria"]


def _without_titles(part: Any) -> None:
    """Remove pydantic's titles, which editors show instead of descriptions."""
    if isinstance(part, dict):
        if isinstance(part.get("title"), str):
            del part["title"]
        if isinstance(part.get("description"), str):
            part["description"] = " ".join(part["description"].replace("``", "").split())
        for inner in part.values():
            _without_titles(inner)
    elif isinstance(part, list):
        for inner in part:
            _without_titles(inner)


def schema_text() -> str:
    """Return the schema as the text of ``docs/rubric.schema.json``."""
    return json.dumps(rubric_schema(), indent=2, ensure_ascii=False) + "\n"
