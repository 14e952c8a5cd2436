"""EvalAssist test cases: a criterion, rows with expected results and verdicts.

The app's file holds everything as JSON within JSON, under ``content``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.format import Fit
from core.formats.source.json_reader import decode
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_DOCUMENT_BYTES, Document

#: The parts of a test case that are kept in addition to its criterion and its rows.
_NAMED = ("judge", "evaluator")
_KNOWN = {"id", "contextVariables", "context", "expectedResult", "response", "result", "metadata"}


def case_in(value: Any) -> dict[str, Any] | None:
    """Return the unwrapped test case in plain data, or ``None``.

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
    is_case = isinstance(value.get("criteria"), dict) and isinstance(value.get("instances"), list)
    return value if is_case else None


def unwrapped(document: Document) -> Document:
    """Return the document with its test case unwrapped, all on one line."""
    case = case_in(document.value)
    if case is None or case is document.value:
        return document
    return Document(case, lambda path: document.line_of(("content",)))


def recognised_rows(opened: Opened) -> Fit | None:
    """Return the fit of a test case with rows; a criterion alone is a rubric."""
    if opened.size > MAX_DOCUMENT_BYTES or not opened.has_words("instances", "criteria"):
        return None
    case = case_in(opened.value)
    fits = case is not None and bool(rows_of(case)) and not is_pairwise(case)
    return Fit(3, "its criterion and its rows") if fits else None


def is_pairwise(case: Mapping[str, Any]) -> bool:
    """Return whether rows hold several answers to compare."""
    return case.get("type") == "pairwise" or any("responses" in row for row in _rows_under(case))


def why_unreadable(case: Mapping[str, Any]) -> Problem | None:
    """Return why a test case's rows cannot become items, or ``None``."""
    if is_pairwise(case):
        responses = [row.get("responses") for row in _rows_under(case)]
        most = max((len(answers) for answers in responses if isinstance(answers, list)), default=2)
        message = f"compares {most} answers a row with each other."
        mend = "Give each answer an item of its own with its system, and use Compare systems."
        return Problem(message, mend, ("instances",), 1)
    for key in ("instances", "examples"):
        listed = case.get(key) or []
        strange = not isinstance(listed, list) or [
            row for row in listed if not isinstance(row, dict)
        ]
        if strange:
            return Problem("is not a list of rows.", "Write an object per row: {...}.", (key,), 1)
    return None


def rows_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a test case's rows as items; examples for its judge become calibration items."""
    name = str(case["criteria"].get("name") or "Criterion 1")
    rows = [_row_data(row, name, None) for row in _rows_under(case)]
    return rows + [_row_data(row, name, "calibration") for row in _rows_under(case, "examples")]


def notes_of(case: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of a test case's judge; its settings could hold secrets."""
    notes = {key: case.get(key) for key in _NAMED}
    return {
        key: str(note["name"])
        for key, note in notes.items()
        if isinstance(note, dict) and note.get("name")
    }


def parts_beside_rows(case: Mapping[str, Any]) -> list[Problem]:
    """Return notices about parts of a test case that do not become items and labels."""
    notices = []
    results = sum(
        bool(row.get("result")) for row in [*_rows_under(case), *_rows_under(case, "examples")]
    )
    if results:
        message = (
            f"The votes of its judge on {_rows_counted(results)} are kept under meta, not as votes."
        )
        notices.append(Problem(message, "Grade here to have votes."))
    if examples := len(_rows_under(case, "examples")):
        message = f"{_rows_counted(examples)} shown to its judge as an example"
        notices.append(Problem(f"{message} is for calibration here, by its split."))
    if notes_of(case):
        names = ", ".join(f"{key} {name!r}" for key, name in notes_of(case).items())
        notices.append(Problem(f"Only the names of its {names} are kept; settings are left out."))
    if case.get("syntheticGenerationConfig"):
        notices.append(Problem("How rows were to be made up is left out."))
    return notices


def parts_beside_criterion(case: Mapping[str, Any]) -> list[Problem]:
    """Return notices about parts of a test case that a rubric cannot hold."""
    rows = rows_of(case)
    if not rows:
        return []
    labelled = sum(bool(row["labels"]) for row in rows)
    expected = f"{labelled:,} with an expected result"
    message = f"{_rows_counted(len(rows))} ({expected}) are not part of a rubric"
    mend = "Import the file as a dataset to have them, with the results as labels."
    return [Problem(f"Left out: {message}.", mend)]


def _rows_counted(rows: int) -> str:
    return f"{rows:,} row{'s' if rows != 1 else ''}"


def _rows_under(case: Mapping[str, Any], key: str = "instances") -> Sequence[Mapping[str, Any]]:
    rows = case.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _row_data(row: Mapping[str, Any], criterion: str, split: str | None) -> dict[str, Any]:
    expected = row.get("expectedResult")
    meta = {key: part for key, part in row.items() if key not in _KNOWN}
    meta |= {key: row[key] for key in ("metadata", "result") if row.get(key)}
    return {
        "id": row.get("id"),
        "submission": row.get("response"),
        **{f"context: {name}": text for name, text in _context_of_row(row).items()},
        "labels": {criterion: expected} if expected not in (None, "") else {},
        "split": split,
        "meta": meta,
    }


def _context_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    listed = row.get("contextVariables")
    if isinstance(listed, list):
        named = [entry for entry in listed if isinstance(entry, dict) and entry.get("name")]
        return {str(entry["name"]): entry.get("value") for entry in named}
    plain = row.get("context")
    return {str(k): v for k, v in plain.items()} if isinstance(plain, dict) else {}
