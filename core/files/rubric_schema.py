"""The JSON Schema of rubric files, made from our model, for editors that complete and check."""

from __future__ import annotations

import json
from typing import Any

from core.domain.rubric import Rubric

_ABOUT = {
    "Rubric": {
        "name": "What the rubric is called; without it, the file's name.",
        "description": "What it is for. Judges do not see it.",
        "guidelines": "What every judge is told beside each criterion.",
        "criteria": "The questions, in the order in which they are shown.",
        "scoring": "How verdicts become a score.",
        "gates": "Conditions that cap, fail or flag an item, whatever its points.",
        "prechecks": "What is looked for in the text before anybody judges it.",
        "decision": "From which score on an item passes.",
        "meta": "Notes of your own; kept, never used.",
    },
    "Criterion": {
        "name": "A short name of its own; without it, the requirement's first words.",
        "requirement": "What the judge must decide.",
        "weight": "Points at best. Below 0 it is a penalty.",
        "scale": "binary: MET or UNMET. ordinal: levels, lowest first. nominal: categories.",
        "options": "The allowed answers of an ordinal or nominal criterion.",
        "section": "The heading it stands under.",
        "tags": "Words by which gates and searches find it.",
        "aggregation": "The rule that settles its votes, instead of the panel's.",
        "forced_choice": "true: judges may not abstain.",
        "meta": "Notes of your own; checks_off lists checks that were dismissed.",
    },
    "Option": {
        "label": "What is chosen.",
        "description": "The behaviour that earns it.",
        "value": "From 0 (worst) to 1 (best); none where na is true.",
        "na": "true: choosing it is an abstention.",
    },
}


def rubric_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a rubric file in our keys.

    It describes what ``parse_rubric`` reads without a notice, leaving out some shapes of peers.
    Whether names are unique, gates name options that exist, or levels rise, only reading tells.
    """
    model = Rubric.model_json_schema(by_alias=True)
    parts: dict[str, Any] = model.pop("$defs")
    parts["Rubric"] = model
    for name, texts in _ABOUT.items():
        for key, text in texts.items():
            parts[name]["properties"][key]["description"] = text
    _as_files_have_it(parts)
    for part in parts.values():
        _without_titles(part)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rubric Studio rubric",
        "anyOf": [
            {"$ref": "#/$defs/Rubric"},
            {"$ref": "#/$defs/Entries"},
        ],
        "$defs": dict(sorted(parts.items())),
    }


def _as_files_have_it(parts: dict[str, Any]) -> None:
    """What a file may say more loosely than the model: it is tidied while it is read."""
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
    about = _ABOUT["Rubric"]["criteria"]
    parts["Rubric"]["properties"]["criteria"] = {"$ref": "#/$defs/Entries", "description": about}
    # Editors insist on what is required; the name is the file's where there is none.
    parts["Rubric"]["required"] = ["criteria"]


def _without_titles(part: Any) -> None:
    """Pydantic repeats every key as a title, which editors show in place of our words."""
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
    """The schema as the text of ``docs/rubric.schema.json``."""
    return json.dumps(rubric_schema(), indent=2, ensure_ascii=False) + "\n"
