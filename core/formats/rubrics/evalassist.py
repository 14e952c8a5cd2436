"""A test case of EvalAssist: one criterion, rows with expected results, what a judge said of them.

The file that its app writes holds all of it as JSON within JSON, under ``content``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import InputError, Problem
from core.formats.source.json_reader import decode
from core.formats.source.parsed import MAX_DOCUMENT_BYTES, Document, read_text

#: What is kept of a test case beside its criterion and its rows.
_NAMED = ("judge", "evaluator")
_KNOWN = {"id", "contextVariables", "context", "expectedResult", "response", "result", "metadata"}


def case_in(value: Any) -> dict[str, Any] | None:
    """The test case in plain data, out of its wrapping; ``None`` where it is none.

    >>> case_in({"name": "a", "content": '{"criteria": {}, "instances": []}'})
    {'criteria': {}, 'instances': [], 'name': 'a'}
    >>> case_in({"criteria": [], "items": []})
    """
    if not isinstance(value, dict):
        return None
    content = value.get("content")
    if isinstance(content, str) and "instances" in content:
        inner, problems = decode(content)
        if not problems and isinstance(inner, dict):
            value = inner | {"name": value.get("name") or inner.get("name") or "Test case"}
    whole = isinstance(value.get("criteria"), dict) and isinstance(value.get("instances"), list)
    return value if whole else None


def unwrapped(document: Document) -> Document:
    """The document with a wrapped test case laid bare; its places are then all on one line."""
    case = case_in(document.value)
    if case is None or case is document.value:
        return document
    return Document(case, lambda path: document.line_of(("content",)))


def holds_rows(data: bytes, name: str) -> bool:
    """Whether a file is a test case with rows, so that there is more to it than a rubric."""
    if b"instances" not in data or b"criteria" not in data or len(data) > MAX_DOCUMENT_BYTES:
        return False
    try:
        value, problems = decode(read_text(data, name, "dataset", MAX_DOCUMENT_BYTES))
    except InputError:
        # It is something else, whose own reader says what is wrong with it.
        return False
    case = None if problems else case_in(value)
    return case is not None and bool(rows_of(case)) and not is_pairwise(case)


def is_pairwise(case: Mapping[str, Any]) -> bool:
    """Whether its rows hold several answers each, which are compared with each other."""
    return case.get("type") == "pairwise" or any("responses" in row for row in _rows(case))


def unreadable(case: Mapping[str, Any]) -> Problem | None:
    """Why its rows cannot become items, or ``None``."""
    if is_pairwise(case):
        given = [one.get("responses") for one in _rows(case)]
        most = max((len(one) for one in given if isinstance(one, list)), default=2)
        message = f"compares {most} answers a row with each other."
        mend = "Give each answer an item of its own with its system, and use Compare systems."
        return Problem(message, mend, ("instances",), 1)
    for key in ("instances", "examples"):
        listed = case.get(key) or []
        strange = not isinstance(listed, list) or [
            one for one in listed if not isinstance(one, dict)
        ]
        if strange:
            return Problem("is no list of rows.", "Write an object per row: {...}.", (key,), 1)
    return None


def rows_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Its rows as items in our keys; examples shown to its judge are for calibration here."""
    name = str(case["criteria"].get("name") or "Criterion 1")
    rows = [_row(one, name, None) for one in _rows(case)]
    return rows + [_row(one, name, "calibration") for one in _rows(case, "examples")]


def notes_of(case: Mapping[str, Any]) -> dict[str, str]:
    """By whom it was judged there: names only, because settings may hold what is secret."""
    found = {key: case.get(key) for key in _NAMED}
    return {
        key: str(one["name"])
        for key, one in found.items()
        if isinstance(one, dict) and one.get("name")
    }


def beside_rows(case: Mapping[str, Any]) -> list[Problem]:
    """What does not become items and labels, for whoever imports the rows."""
    said = []
    results = sum(bool(one.get("result")) for one in [*_rows(case), *_rows(case, "examples")])
    if results:
        message = f"What its judge said of {_count(results)} is kept under meta, not as votes."
        said.append(Problem(message, "Grade here to have votes."))
    if examples := len(_rows(case, "examples")):
        message = f"{_count(examples)} shown to its judge as an example"
        said.append(Problem(f"{message} is for calibration here, by its split."))
    if notes_of(case):
        names = ", ".join(f"{key} {name!r}" for key, name in notes_of(case).items())
        said.append(Problem(f"Only the names of its {names} are kept; settings are left out."))
    if case.get("syntheticGenerationConfig"):
        said.append(Problem("How rows were to be made up is left out."))
    return said


def beside_criterion(case: Mapping[str, Any]) -> list[Problem]:
    """What a rubric cannot hold of it, for whoever imports the criterion."""
    rows = rows_of(case)
    if not rows:
        return []
    labelled = sum(bool(row["labels"]) for row in rows)
    message = f"{_count(len(rows))} ({labelled:,} with an expected result) are no part of a rubric"
    mend = "Import the file as a dataset to have them, with the results as labels."
    return [Problem(f"Left out: {message}.", mend)]


def _count(rows: int) -> str:
    return f"{rows:,} row{'s' if rows != 1 else ''}"


def _rows(case: Mapping[str, Any], key: str = "instances") -> Sequence[Mapping[str, Any]]:
    given = case.get(key)
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _row(given: Mapping[str, Any], criterion: str, split: str | None) -> dict[str, Any]:
    expected = given.get("expectedResult")
    meta = {key: part for key, part in given.items() if key not in _KNOWN}
    meta |= {key: given[key] for key in ("metadata", "result") if given.get(key)}
    return {
        "id": given.get("id"),
        "submission": given.get("response"),
        **{f"context: {name}": text for name, text in _context(given).items()},
        "labels": {criterion: expected} if expected not in (None, "") else {},
        "split": split,
        "meta": meta,
    }


def _context(given: Mapping[str, Any]) -> dict[str, Any]:
    listed = given.get("contextVariables")
    if isinstance(listed, list):
        named = [one for one in listed if isinstance(one, dict) and one.get("name")]
        return {str(one["name"]): one.get("value") for one in named}
    plain = given.get("context")
    return {str(k): v for k, v in plain.items()} if isinstance(plain, dict) else {}
