"""CSV, JSONL, JSON and YAML to a table: columns, rows, and the line each row begins on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from core.domain.base import Path
from core.errors import Problem
from core.files.csv_source import MAX_COLUMNS, bad_columns, read_csv
from core.files.document import Document, kind_of
from core.files.evalassist import (
    beside_rows,
    case_in,
    notes_of,
    rows_of,
    unreadable,
    unwrapped,
)
from core.files.json_source import decode, read_json
from core.files.parsed import ENOUGH, enough, refusal
from core.files.text import (
    MAX_DATASET_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_ROWS,
    read_text,
    too_many_rows,
)
from core.files.unitxt import unitxt_data
from core.files.yaml_source import read_yaml

Kind = Literal["csv", "jsonl", "json"]
_ITEM = "Write one object per item: {...}."


@dataclass(frozen=True)
class Table:
    """Rows of a file. Cells are text in a CSV, plain data otherwise; a row may lack columns.

    ``lines[i]`` is where row ``i`` begins. ``header`` holds what a JSON document says beside its
    items (name, prompt, rubric ...). ``notices`` say what of the file is not in the table.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    lines: tuple[int | None, ...]
    header: dict[str, Any] = field(default_factory=dict)
    document: Document | None = None
    base: Path = ()
    notices: tuple[Problem, ...] = ()

    def line_of(self, row: int, path: Path = ()) -> int | None:
        """The line of row ``row``, or of a place in it where the file's format tells."""
        if self.document is None:
            return self.lines[row]
        return self.document.line_of((*self.base, row, *path))

    def line_of_header(self, path: Path) -> int | None:
        """The line of a place in ``header``."""
        return None if self.document is None else self.document.line_of(path)


def read_table(data: str | bytes, name: str) -> Table:
    """The table in a file.

    CSV and TSV need a header line; the delimiter is found among comma, semicolon, tab and bar. In
    JSONL every line is an object. JSON (or YAML) is a list of objects, or an object whose ``items``
    is one.

    Raises:
        InputError: with every bad line found.

    >>> read_table('{"id": "a", "submission": "x"}', "items.jsonl").columns
    ('id', 'submission')
    """
    text = read_text(data, name, "dataset", MAX_DATASET_BYTES)
    kind = _kind(text, name)
    if kind == "jsonl":
        return _from_jsonl(text, name)
    if kind in ("json", "yaml"):
        text = read_text(text, name, "dataset", MAX_DOCUMENT_BYTES)
        read = read_json if kind == "json" else read_yaml
        return _from_document(read(text, name, "dataset"), name)
    columns, rows, lines = read_csv(text, name)
    return Table(name, "csv", columns, rows, lines)


def _kind(text: str, name: str) -> str:
    ending = name.lower().rpartition(".")[2]
    if ending in ("jsonl", "ndjson"):
        return "jsonl"
    if ending in ("yaml", "yml"):
        return "yaml"
    if ending in ("csv", "tsv", "tab") or text.lstrip()[:1] not in ("{", "["):
        return "json" if ending == "json" else "csv"
    return "jsonl" if _looks_like_jsonl(text) else "json"


def _looks_like_jsonl(text: str) -> bool:
    """Whether the first line is an object of its own and another line begins one."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.lstrip().startswith("{"):
        return False
    value, _ = decode(first)
    return isinstance(value, dict)


def _from_jsonl(text: str, name: str) -> Table:
    if text.count("\n") - text.count("\n\n") > MAX_ROWS:
        raise refusal("table", [too_many_rows()], name)
    rows, lines, problems = list[dict[str, Any]](), list[int](), list[Problem]()
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        value, faults = decode(written)
        problems += [Problem(f.message, f.mend or _ITEM, f.path, line) for f in faults]
        if not faults and not isinstance(value, dict):
            problems.append(Problem(f"is {kind_of(value)}, not an item.", _ITEM, (), line))
        rows.append(value)
        lines.append(line)
        if enough(problems):
            break
    if problems:
        raise refusal("dataset", problems, name)
    return Table(name, "jsonl", _columns(rows, name), tuple(rows), tuple(lines))


def _from_document(document: Document, name: str) -> Table:
    value: Any = document.value
    case = case_in(value)
    if case is not None:
        return _from_case(case, unwrapped(document), name)
    base: Path = ()
    header: dict[str, Any] = {}
    if isinstance(value, dict) and "items" in value:
        header = {key: part for key, part in value.items() if key != "items"}
        value, base = value["items"], ("items",)
    if not isinstance(value, list):
        mend = "Write a list of items, or `items:` with the list below it."
        problem = Problem(f"is {kind_of(value)}, not a list of items.", mend, base, 1)
        raise refusal("dataset", [problem], name)
    strange = (index for index, row in enumerate(value) if not isinstance(row, dict))
    problems = [
        Problem(
            f"is {kind_of(value[index])}, not an item.",
            _ITEM,
            ("items", index),
            document.line_of((*base, index)),
        )
        for index in islice(strange, ENOUGH)
    ]
    if problems:
        raise refusal("dataset", problems, name)
    lines = tuple(document.line_of((*base, index)) for index in range(len(value)))
    return Table(name, "json", _columns(value, name), tuple(value), lines, header, document, base)


def _from_case(case: dict[str, Any], document: Document, name: str) -> Table:
    """The rows of a test case of EvalAssist; its criterion becomes the rubric in the header."""
    if problem := unreadable(case):
        raise refusal("dataset", [problem], name)
    rubric, notices, _ = unitxt_data(document, name)
    rows = tuple(rows_of(case))
    header = {"name": case.get("name"), "rubric": rubric, "meta": notes_of(case)}
    lines = tuple(document.line_of(("instances", at)) for at in range(len(rows)))
    said = (*notices, *beside_rows(case))
    return Table(name, "json", _columns(rows, name), rows, lines, header, notices=said)


def _columns(rows: Sequence[dict[str, Any]], name: str) -> tuple[str, ...]:
    """Every key of the rows, in the order of their first use."""
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    if len(columns) > MAX_COLUMNS:
        raise refusal("dataset", bad_columns(columns, 1), name)
    return columns
