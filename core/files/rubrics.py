"""Rubric files in: YAML and JSON, every shape, every problem with its line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.domain.base import Path, build
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files.json_source import read_json
from core.files.parsed import Parsed, refusal, stem
from core.files.rubric_keys import tidied
from core.files.rubric_shapes import Shaper
from core.files.text import MAX_RUBRIC_BYTES, read_text
from core.files.yaml_source import read_yaml

#: A bracket, then a quoted key or text: in YAML the brackets would rarely be followed by quotes.
_JSON = re.compile(r'\s*[\[{][\s\[{]*"')


def parse_rubric(text: str | bytes, name: str) -> Parsed[Rubric]:
    """The rubric in a YAML or JSON file, and notices about keys that were kept but not used.

    Accepted are a list of criteria (sections may be mixed in), a mapping with ``criteria``,
    ``sections`` (a list, or a mapping from name to list) or ``rubric`` around any of these, with
    ``guidelines`` beside or inside. Where several stand side by side, rubric wins over sections,
    and sections over criteria. A rubric without a name takes the file's.

    Args:
        text: the file's content.
        name: the file's name; ``.json`` is read as JSON, anything else as YAML unless it begins
            like JSON.

    Raises:
        InputError: with every problem found, each with its line.

    >>> parse_rubric("- Cites a source.", "essay.yaml").value.criteria[0].name
    'Cites a source'
    """
    source = read_text(text, name, "rubric", MAX_RUBRIC_BYTES)
    document = (read_json if is_json(source, name) else read_yaml)(source, name)
    return rubric_from(document.value, name, document.line_of)


def is_json(source: str, name: str) -> bool:
    """Whether a rubric's text is read as JSON rather than YAML.

    JSON in a file of another name is JSON, too: YAML reads all of it but a character that JSON
    writes as two escapes (an emoji, say).
    """
    ending = name.lower().rpartition(".")[2]
    if ending == "json" or not _JSON.match(source):
        return ending == "json"
    if ending not in ("yaml", "yml"):
        return True
    try:
        json.loads(source)
    except (ValueError, RecursionError):
        return False
    return True


def rubric_from(
    value: Any, name: str, line_of: Callable[[Path], int | None], default: str = ""
) -> Parsed[Rubric]:
    """The rubric in plain data of any accepted shape.

    Args:
        value: the data.
        name: the file, for messages, and the rubric's name where it has none and ``default`` is
            empty.
        line_of: the line of a place in ``value``.
        default: the name of a rubric that has none.
    """
    shaper = Shaper()
    shaper.shape(value)
    problems = shaper.problems
    if problems and not shaper.data["criteria"]:
        raise refusal("rubric", _located(problems, line_of), name)
    # Criteria are tidied already; gates, scoring and the texts are not.
    head = {key: part for key, part in shaper.data.items() if key != "criteria"}
    head = _given(tidied(head, (), problems))
    data = {"name": default or stem(name, "Untitled rubric"), **head}
    data["criteria"] = shaper.data["criteria"]
    rubric, refused = _built(data)
    problems += _without_doubles([_at(p, shaper.origin(p.path)) for p in refused], problems)
    if rubric is None or problems:
        raise refusal("rubric", _located(problems, line_of), name)
    notices = tuple(_located(shaper.notices, line_of))
    return Parsed(rubric, notices, lambda path: line_of(shaper.origin(path)))


def _at(problem: Problem, path: Path) -> Problem:
    return replace(problem, path=path)


def _located(problems: list[Problem], line_of: Callable[[Path], int | None]) -> list[Problem]:
    """The problems with their lines, in the order of the file."""
    found = [replace(p, line=line_of(p.path), path=_readable(p.path)) for p in problems]
    return sorted(found, key=lambda p: p.line or 0)


def _readable(path: Path) -> Path:
    # In a bare list, "3, weight" says too little.
    return ("criteria", *path) if path and isinstance(path[0], int) else path


def _given(part: Any) -> Any:
    """``part`` without null entries, which count as not given; meta is left alone."""
    if isinstance(part, dict):
        return {
            key: value if key == "meta" else _given(value)
            for key, value in part.items()
            if value is not None
        }
    return [_given(value) for value in part] if isinstance(part, list) else part


def _built(data: dict[str, Any]) -> tuple[Rubric | None, list[Problem]]:
    try:
        return build(Rubric, data, "rubric"), []
    except InputError as error:
        return None, [_at(p, _walkable(data, p.path)) for p in error.problems]


def _walkable(data: Any, path: Path) -> Path:
    """``path`` as far as ``data`` goes, and one key more where that key is missing.

    Pydantic names the branches of a union in its paths; they mean nothing to a person.
    """
    for index, step in enumerate(path):
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            extra = 1 if isinstance(data, dict) else 0
            return path[: index + extra]
    return path


def _without_doubles(more: list[Problem], known: list[Problem]) -> list[Problem]:
    """Those of ``more`` that say something of a place that has no problem yet."""
    taken, fresh = {p.path for p in known}, list[Problem]()
    for problem in more:
        if problem.path not in taken:
            taken.add(problem.path)
            fresh.append(problem)
    return fresh
