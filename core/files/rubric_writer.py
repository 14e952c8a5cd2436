"""Rubric files out: YAML as a person would write it, and JSON. What is written reads back equal."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import yaml

from core.domain.rubric import BINARY, Criterion, Option, Rubric
from core.files.document import BadNumber
from core.files.yaml_source import resolve

#: What only double quotes keep exactly: control characters and every line break but one.
_ODD = re.compile(
    "[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
#: What a literal block does not keep: spaces before a line break or at the end, breaks at the end.
_LOOSE = re.compile(r"[ ]\n|\n\n\Z|[ ]\Z")


def dump_rubric(rubric: Rubric, format: Literal["yaml", "json"] = "yaml") -> str:
    """The rubric as a file's text: ``parse_rubric(dump_rubric(r)).value == r``, always.

    Defaults are left out, except weight and scale. A section is kept as a key of its criteria, so
    that the order of criteria is kept too.

    >>> from core.files.rubrics import parse_rubric
    >>> rubric = parse_rubric("- {name: cites, requirement: Cites a source.}", "essay.yaml").value
    >>> print(dump_rubric(rubric), end="")
    name: essay
    criteria:
      - name: cites
        requirement: Cites a source.
        weight: 10
        scale: binary
    """
    data = rubric_data(rubric)
    if format == "json":
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=96,
    )


def rubric_data(rubric: Rubric) -> dict[str, Any]:
    """The rubric as plain data, in the order a person would write it, defaults left out."""
    return _filled(
        {
            "name": rubric.name,
            "description": rubric.description,
            "guidelines": rubric.guidelines,
            "scoring": _plain(rubric.scoring.model_dump(mode="json", exclude_defaults=True)),
            "decision": rubric.decision
            and _plain(rubric.decision.model_dump(mode="json", exclude_defaults=True)),
            "criteria": [_criterion(c) for c in rubric.criteria],
            "gates": [
                _plain(gate.model_dump(mode="json", by_alias=True, exclude_defaults=True))
                for gate in rubric.gates
            ],
            "prechecks": [
                _plain(check.model_dump(mode="json", exclude_defaults=True))
                for check in rubric.prechecks
            ],
            "meta": rubric.meta,
        }
    )


def _criterion(criterion: Criterion) -> dict[str, Any]:
    as_default = criterion.scale == "binary" and criterion.options == BINARY
    data: dict[str, Any] = {
        "name": criterion.name,
        "requirement": criterion.requirement,
        "weight": _number(criterion.weight),
        "scale": criterion.scale,
        "options": [] if as_default else [_option(o) for o in criterion.options],
    }
    if criterion.section is not None:
        data["section"] = criterion.section
    data["tags"] = list(criterion.tags)
    if criterion.aggregation is not None:
        data["aggregation"] = criterion.aggregation
    data["forced_choice"] = criterion.forced_choice or None
    data["meta"] = criterion.meta
    return _filled(data, keep=("section", "weight"))


def _option(option: Option) -> dict[str, Any]:
    data: dict[str, Any] = {"label": option.label}
    if not option.na and option.value is not None:
        data["value"] = _number(option.value)
    if option.na:
        data["na"] = True
    if option.description:
        data["description"] = option.description
    return data


def _filled(data: dict[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    """``data`` without its empty entries."""
    return {key: v for key, v in data.items() if key in keep or v not in (None, "", [], {})}


def _plain(value: Any) -> Any:
    """``value`` with whole numbers written without a point."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


class _Dumper(yaml.SafeDumper):
    """Lists indented below their key, no aliases, literal blocks, and doubtful text in quotes."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    if _ODD.search(text):
        return '"'
    if "\n" in text:
        return '"' if text[0].isspace() or _LOOSE.search(text) else "|"
    return "'" if _misread(text) else None


def _misread(text: str) -> bool:
    """Whether our reader would take the plain text for something else. (PyYAML knows its own.)"""
    try:
        return not isinstance(resolve(text), str)
    except BadNumber:
        return True


_Dumper.add_representer(str, _text)
