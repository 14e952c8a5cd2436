"""Rubric files: YAML and JSON; a written file reads back equal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import yaml

from core.domain.base import Noun, Path, build_model
from core.domain.rubric import BINARY, Criterion, Option, Rubric
from core.errors import InputError, Problem
from core.formats.rubrics.keys import numbers_as_text
from core.formats.rubrics.shapes import Shaper
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_RUBRIC_BYTES, BadNumber, Parsed, refusal, stem
from core.formats.source.yaml_reader import resolve


def parse_rubric(text: str | bytes | Opened, name: str) -> Parsed[Rubric]:
    """Return the rubric in a YAML or JSON file, with notices of unused keys.

    The file may be a list of criteria (sections may be mixed in), or a mapping with ``criteria``,
    ``sections`` (a list, or a mapping from name to list) or ``rubric`` around any of these, with
    ``guidelines`` next to it or inside. If several are present, rubric takes precedence over
    sections, and sections over criteria. A rubric without a name takes the file's.

    Args:
        text: the file's content.
        name: the file's name; ``.json`` is read as JSON, anything else as YAML unless it begins
            like JSON.

    Raises:
        InputError: with every problem found, each with its line.

    >>> parse_rubric("- Cites a source.", "essay.yaml").value.criteria[0].name
    'Cites a source'
    """
    document = Opened.of(text, name).document("rubric", MAX_RUBRIC_BYTES)
    return rubric_from_data(document.value, name, document.line_of)


def rubric_from_data(
    value: Any, name: str, line_of: Callable[[Path], int | None], default: str = ""
) -> Parsed[Rubric]:
    """Return the rubric in plain data of any accepted layout.

    Args:
        value: the data.
        name: the file, for messages, and the rubric's name if it has none and ``default`` is empty.
        line_of: the line of a place in ``value``.
        default: the name of a rubric that has none.
    """
    shaper = Shaper()
    shaper.shape(value)
    problems = shaper.problems
    if problems and not shaper.data["criteria"]:
        raise refusal("rubric", _located(problems, line_of), name)
    # Criteria are already tidied; gates, scoring and texts are not.
    head = {key: part for key, part in shaper.data.items() if key != "criteria"}
    head = _without_null(numbers_as_text(head, (), problems))
    data = {"name": default or stem(name, "Untitled rubric"), **head}
    data["criteria"] = shaper.data["criteria"]
    rubric, refused = _build_rubric(data)
    problems += _without_repeated_places(
        [_with_path(p, shaper.source_path(p.path)) for p in refused], problems
    )
    if rubric is None or problems:
        raise refusal("rubric", _located(problems, line_of), name)
    notices = tuple(_located(shaper.notices, line_of))
    return Parsed(rubric, notices, lambda path: line_of(shaper.source_path(path)))


def rubric_of_rows(
    data: dict[str, Any], name: str, lines: Sequence[int | None], notices: Iterable[Problem]
) -> Parsed[Rubric]:
    """Return the rubric in data with a line for each criterion; ``notices`` precede its own.

    Raises ``InputError``.
    """

    def line_of(path: Path) -> int | None:
        at = path[1] if len(path) > 1 else None
        return lines[at] if isinstance(at, int) and at < len(lines) else None

    read = rubric_from_data(data, name, line_of)
    return Parsed(read.value, (*notices, *read.notices), read.line_of)


def _with_path(problem: Problem, path: Path) -> Problem:
    return replace(problem, path=path)


def _located(problems: list[Problem], line_of: Callable[[Path], int | None]) -> list[Problem]:
    """Return the problems with their lines, in the order of the file."""
    located = [replace(p, line=line_of(p.path), path=_readable_path(p.path)) for p in problems]
    return sorted(located, key=lambda p: p.line or 0)


def _readable_path(path: Path) -> Path:
    # For a bare list, "3, weight" would say too little.
    return ("criteria", *path) if path and isinstance(path[0], int) else path


def _without_null(part: Any) -> Any:
    """Return ``part`` without null entries, except in meta."""
    if isinstance(part, dict):
        return {
            key: value if key == "meta" else _without_null(value)
            for key, value in part.items()
            if value is not None
        }
    return [_without_null(value) for value in part] if isinstance(part, list) else part


def _build_rubric(data: dict[str, Any]) -> tuple[Rubric | None, list[Problem]]:
    try:
        return build_model(Rubric, data, "rubric"), []
    except InputError as error:
        return None, [_with_path(p, _existing_path(data, p.path)) for p in error.problems]


def _existing_path(data: Any, path: Path) -> Path:
    """Return ``path`` as far as it exists in ``data``, plus one missing key.

    Pydantic names the branches of a union in its paths, which mean nothing to users.
    """
    for index, step in enumerate(path):
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            extra = 1 if isinstance(data, dict) else 0
            return path[: index + extra]
    return path


def _without_repeated_places(more: list[Problem], reported: list[Problem]) -> list[Problem]:
    """Return the problems of ``more`` whose places have none in ``reported``."""
    paths, fresh = {p.path for p in reported}, list[Problem]()
    for problem in more:
        if problem.path not in paths:
            paths.add(problem.path)
            fresh.append(problem)
    return fresh


#: Characters that only double quotes preserve: control characters, and line breaks other than \n.
_ODD = re.compile(
    "[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
#: What a literal block loses: spaces before a line break or at the end, and breaks at the end.
_LOOSE = re.compile(r"[ ]\n|\n\n\Z|[ ]\Z")


def dump_rubric(rubric: Rubric, format: Literal["yaml", "json"] = "yaml") -> str:
    """Return the rubric as a file's text, which reads back equal.

    Defaults are left out, except weight and scale. A section is a key of its criteria, which
    preserves the order of criteria.

    >>> from core.formats.rubrics.rubric_file import parse_rubric
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
    return as_yaml(data)


def as_yaml(data: Mapping[str, Any]) -> str:
    """Return plain data as YAML that our reader reads as the same data."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=96,
    )


def rubric_data(rubric: Rubric) -> dict[str, Any]:
    """Return the rubric as plain data in a readable order, without defaults."""
    data = _dump_part(rubric, "criteria") | {"name": rubric.name}
    data["criteria"] = [_criterion_data(c) for c in rubric.criteria]
    return _without_empty({name: data.get(name) for name in (*_FIRST, *Rubric.model_fields)})


#: Keys before the criteria, which may be long.
_FIRST = ("name", "description", "guidelines", "scoring", "decision")


def _dump_part(noun: Noun, *without: str) -> dict[str, Any]:
    data: dict[str, Any] = _plain_value(
        noun.model_dump(by_alias=True, exclude_defaults=True, exclude={*without}, warnings=False)
    )
    return data


def _criterion_data(criterion: Criterion) -> dict[str, Any]:
    data = _dump_part(criterion, "options")
    data |= {"weight": _plain_value(criterion.weight), "scale": criterion.scale}
    if criterion.scale != "binary" or criterion.options != BINARY:
        # The description comes last, since it may be long.
        options = (_dump_part(option) for option in criterion.options)
        data["options"] = [
            dict(sorted(o.items(), key=lambda e: e[0] == "description")) for o in options
        ]
    return _without_empty(
        {name: data.get(name) for name in Criterion.model_fields}, keep=("section",)
    )


def _without_empty(data: dict[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return ``data`` without empty entries, except non-null ones in ``keep``."""
    return {
        key: v
        for key, v in data.items()
        if v is not None and (key in keep or v not in ("", [], {}))
    }


def _plain_value(value: Any) -> Any:
    """Return ``value`` with plain lists and whole numbers; meta stays unchanged."""
    if isinstance(value, dict):
        return {key: v if key == "meta" else _plain_value(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(part) for part in value]
    is_integer = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return int(value) if is_integer else value


class _Dumper(yaml.SafeDumper):
    """Writes indented lists and literal blocks, quotes ambiguous text, and uses no aliases."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style_of_text(text))


def _style_of_text(text: str) -> str | None:
    if _ODD.search(text):
        return '"'
    if "\n" in text:
        return '"' if text[0].isspace() or _LOOSE.search(text) else "|"
    return "'" if _would_be_misread(text) else None


def _would_be_misread(text: str) -> bool:
    """Return whether our reader would misread the plain text."""
    try:
        return not isinstance(resolve(text), str)
    except BadNumber:
        return True


_Dumper.add_representer(str, _represent_text)


# The JSON Schema of rubric files, generated from the model, for completion in editors.


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
