"""Criteria of unitxt and EvalAssist: options with a map from option to score.

A file holds one criterion, a list of them, a criterion in a saved test case, or a list of weighted
criteria. A criterion that compares answers has no options and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.domain.base import Path
from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.rubrics.rubric_file import rubric_of_rows
from core.formats.source.parsed import Document, Parsed, kind_of, refusal, stem

#: Known keys of a criterion; snake case and camel case are equal.
_KNOWN = {"name", "description", "options", "option_map", "prediction_field", "context_fields"}
#: Known keys of an option, and those around a criterion.
_OF_OPTIONS = {"name", "description", "score"}
_AROUND = {"criteria", "criterion", "items", "name", "description", "weight"}
_AROUND |= {"required", "target_option", "score_threshold"}
#: Known keys that affect no answer.
_IDLE = {"__type__", "__id__", "artifact_type", "catalog", "type"}


def looks_like_unitxt(value: Any) -> bool:
    """Return whether plain data holds such a criterion.

    >>> looks_like_unitxt({"name": "a", "description": "b", "options": []})
    True
    >>> looks_like_unitxt({"criteria": [{"name": "a", "requirement": "b"}]})
    False
    >>> described = {"name": "a", "description": "b"}
    >>> chosen, rated = {**described, "options": ["x", "y"]}, {**described, "levels": {1: "low"}}
    >>> looks_like_unitxt([chosen]), looks_like_unitxt([chosen, rated])
    (True, False)
    """
    listed = [(given, around) for given, _, around in _criteria_with_places(value, ())]
    has_levels = any({"levels", "scale", "anchors"} & given.keys() for given, _ in listed)
    return not has_levels and any(_is_criterion(*pair) for pair in listed)


def _is_criterion(value: Mapping[str, Any], around: Mapping[str, Any]) -> bool:
    if "requirement" in value or "criteria" in value:
        return False
    typed = "criteria" in str(value.get("__type__", ""))
    return typed or (
        "description" in value
        and ("options" in value or _is_pairwise(value) or _is_pairwise(around))
    )


def _criteria_with_places(
    value: Any, path: Path
) -> Iterator[tuple[dict[str, Any], Path, dict[str, Any]]]:
    """Yield every criterion with its place and surrounding keys (weight, type ...)."""
    if isinstance(value, list):
        for at, entry in enumerate(value):
            yield from _criteria_with_places(entry, (*path, at))
        return
    if not isinstance(value, dict):
        return
    for key in ("criteria", "criterion", "items"):
        inner = value.get(key)
        if isinstance(inner, dict):
            yield _with_snake_case_keys(inner), (*path, key), _with_snake_case_keys(value)
            return
        if isinstance(inner, list) and key != "criterion":
            yield from _criteria_with_places(inner, (*path, key))
            return
    yield _with_snake_case_keys(value), path, {}


def _with_snake_case_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "".join(f"_{c.lower()}" if c.isupper() else c for c in key): part
        for key, part in value.items()
    }


def _is_pairwise(value: Mapping[str, Any]) -> bool:
    kinds = f"{value.get('__type__', '')} {value.get('type', '')}".casefold()
    return "pairwise" in kinds or ("prediction_field" in value and "options" not in value)


def read_unitxt(document: Document, name: str) -> Parsed[Rubric]:
    """Return the criteria as one rubric, of weight 10 unless the file has weights.

    Raises:
        InputError: with every problem; a criterion that compares answers is also a problem.
    """
    data, notices, lines = unitxt_data(document, name)
    return rubric_of_rows(data, name, lines, notices)


def unitxt_data(
    document: Document, name: str
) -> tuple[dict[str, Any], list[Problem], list[int | None]]:
    """Return the rubric in our keys, notices, and the line of each criterion.

    Raises:
        InputError: see `read_unitxt`.
    """
    reader = _UnitxtReader()
    criteria = list[dict[str, Any]]()
    lines = list[int | None]()
    for number, (given, path, around) in enumerate(
        _criteria_with_places(document.value, ()), start=1
    ):
        default = f"Criterion {number}"
        criterion = reader.criterion(given, str(given.get("name") or default), path, around)
        if criterion is not None:
            criteria.append(criterion)
            lines.append(document.line_of(path))
    if reader.problems:
        located = [
            Problem(p.message, p.mend, p.path, document.line_of(p.path)) for p in reader.problems
        ]
        raise refusal("criterion of unitxt", located, name)
    title = criteria[0]["name"] if len(criteria) == 1 else stem(name, "Untitled rubric")
    data = {"name": str(title), "criteria": criteria, "gates": reader.gates}
    return data, reader.notices, lines


class _UnitxtReader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.notices: list[Problem] = []
        self.gates: list[dict[str, Any]] = []

    def criterion(
        self, given: dict[str, Any], name: str, path: Path, around: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return the criterion in our keys, or ``None`` with a problem."""
        if _is_pairwise(given) or (not given.get("options") and _is_pairwise(around)):
            mend = "Use Compare systems instead; it asks which of two answers is better."
            message = f"{name!r} compares answers with each other and has no options."
            self.problems.append(Problem(message, mend, path))
            return None
        options = self._read_options(given, name, path)
        if options is None:
            return None
        values = [option["value"] for option in options]
        rising = values == sorted(values) or values == sorted(values, reverse=True)
        scale = "ordinal" if rising and len(set(values)) > 1 else "nominal"
        data: dict[str, Any] = {
            "name": name,
            "requirement": str(given.get("description") or name),
            "scale": scale,
            "options": options,
            "meta": self._read_meta(given, name, path),
        }
        if isinstance(around.get("weight"), int | float):
            data["weight"] = around["weight"]
        self._report_context_fields(given, name, path)
        self._report_unused_keys(around, name, path)
        self._add_gate(around, name, options)
        return data

    def _read_options(
        self, given: Mapping[str, Any], name: str, path: Path
    ) -> list[dict[str, Any]] | None:
        listed, options_path = given.get("options"), (*path, "options")
        if not isinstance(listed, list) or len(listed) < 2:
            fault = f"is {kind_of(listed)}." if not isinstance(listed, list) else "has too few."
            self.problems.append(Problem(fault, "List two options at least.", options_path))
            return None
        options = [option if isinstance(option, dict) else {"name": option} for option in listed]
        labels = [str(option.get("name", "")) for option in options]
        values = self._read_values(given, labels, name, path)
        if values is None:
            return None
        return [
            {"label": label, "description": str(option.get("description") or ""), "value": value}
            for label, option, value in zip(labels, options, values, strict=True)
        ]

    def _read_values(
        self, given: Mapping[str, Any], labels: Sequence[str], name: str, path: Path
    ) -> list[float] | None:
        """Return values in [0, 1] from the map of scores, or from options' scores."""
        scores = given.get("option_map")
        if not scores:
            own = [option.get("score") for option in given["options"] if isinstance(option, dict)]
            numbers = [s for s in own if isinstance(s, int | float)]
            scores = (
                dict(zip(labels, numbers, strict=True)) if len(numbers) == len(labels) else None
            )
        if not isinstance(scores, dict):
            mend = "Its options have the value 0, so it scores nothing until they get values."
            self.notices.append(Problem(f"{name!r} has no map from options to scores.", mend, path))
            return [0.0] * len(labels)
        missing = [label for label in labels if not isinstance(scores.get(label), int | float)]
        if missing:
            message = f"has no number for {', '.join(map(repr, missing))}."
            where = (*path, "option_map")
            self.problems.append(Problem(message, "Give every option a score.", where))
            return None
        values = [float(scores[label]) for label in labels]
        low, high = min(values), max(values)
        if low >= 0 and high <= 1:
            return values
        message = f"{name!r} has scores from {low:g} to {high:g}; they become values from 0 to 1."
        self.notices.append(Problem(message, "", path))
        return [round((v - low) / (high - low), 9) if high > low else 0.0 for v in values]

    def _read_meta(self, given: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
        fields = {k: given[k] for k in ("prediction_field", "context_fields") if given.get(k)}
        unknown = {k: v for k, v in given.items() if k not in _KNOWN | _IDLE}
        of_options = {
            str(option.get("name", "")): unknown_parts
            for option in given["options"]
            if isinstance(option, dict)
            and (unknown_parts := {k: v for k, v in option.items() if k not in _OF_OPTIONS | _IDLE})
        }
        texts = [
            *unknown,
            *(
                f"{', '.join(unknown_parts)} of {label!r}"
                for label, unknown_parts in of_options.items()
            ),
        ]
        if texts:
            message = f"{name!r}: {', '.join(texts)} kept under meta, not used."
            self.notices.append(Problem(message, "", path))
        return fields | unknown | ({"options": of_options} if of_options else {})

    def _report_unused_keys(self, around: Mapping[str, Any], name: str, path: Path) -> None:
        """Report unused keys around a criterion; the reader of test cases reports theirs."""
        unused = [k for k in around if k not in _AROUND | _IDLE]
        if unused and "instances" not in around:
            self.notices.append(
                Problem(f"{name!r}: {', '.join(unused)} next to it is left out.", "", path)
            )

    def _report_context_fields(self, given: Mapping[str, Any], name: str, path: Path) -> None:
        fields = given.get("context_fields")
        names = list(fields.values() if isinstance(fields, dict) else fields or ())
        if not names:
            return
        message = f"{name!r} looks at {', '.join(map(str, names))} beside the answer."
        mend = "Put them into the items' prompt, reference or sections; the text names them."
        self.notices.append(Problem(message, mend, (*path, "context_fields")))

    def _add_gate(
        self, around: Mapping[str, Any], name: str, options: Sequence[Mapping[str, Any]]
    ) -> None:
        """Add a gate for a required criterion: unmet makes the score 0."""
        if around.get("required") is not True:
            return
        then = {"cap": 0.0, "reason": f"{name} is required"}
        target, floor = around.get("target_option"), around.get("score_threshold")
        when: dict[str, Any] = {"criterion": name}
        if target in [o["label"] for o in options]:
            when["in"] = [o["label"] for o in options if o["label"] != target]
        elif isinstance(floor, int | float) and 0 <= floor <= 1:
            when["at_most"] = floor
        else:
            message = f"{name!r} is required, but nothing says what that takes."
            self.notices.append(Problem(message, "Add a gate by hand."))
            return
        self.gates.append({"name": f"{name} is required"[:200], "when": when, "then": then})
