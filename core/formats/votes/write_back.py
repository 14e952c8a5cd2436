"""Write results into the file that items or votes came from, changing nothing else.

Inspect gets a score, promptfoo components, Label Studio a prediction or an annotation, Argilla a
suggestion, a table columns, and other rows of JSON a key.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from core.errors import InputError
from core.formats.office.sheet_editing import SheetTable, sheet_table
from core.formats.office.workbook import book_in
from core.formats.source.archives import Unpacked
from core.formats.source.csv_reader import RawTable, read_raw
from core.formats.source.csv_writer import spreadsheet_safe
from core.formats.source.heading import header_at, heading_rows
from core.formats.source.opened import Opened
from core.formats.source.summary_rows import summary_rows
from core.formats.votes.tools import annotation_tools, inspect_logs, promptfoo
from core.formats.votes.tools.known_tools import tool_of
from core.formats.votes.tools.messages import object_or_empty, objects_in
from core.formats.votes.tools.shapes import damaged_refused

#: The name under which results are written into other tools' files.
OURS = "rubric_studio"


@dataclass(frozen=True)
class BackCell:
    """A verdict in force: its label and value, who settled it (empty: the panel), and why."""

    label: str
    value: float | None
    people: str = ""
    reason: str = ""


@dataclass(frozen=True)
class BackItem:
    """An item's score and verdicts, by criterion."""

    score: float | None
    cells: Mapping[str, BackCell] = field(default_factory=dict)

    def data(self, title: str) -> dict[str, Any]:
        """Return the results as plain data."""
        people = {name: cell.people for name, cell in self.cells.items() if cell.people}
        labels = {name: cell.label for name, cell in self.cells.items()}
        result: dict[str, Any] = {"run": title, "score": self.score, "verdicts": labels}
        return result | ({"settled_by": people} if people else {})


class WrittenBack(NamedTuple):
    """The file with the results; ``written`` of its ``records`` have a result."""

    data: bytes
    written: int
    records: int


Items = Mapping[str, BackItem]


def write_back(data: bytes, name: str, items: Items, title: str) -> WrittenBack:
    """Return a copy of a file with the results of its items.

    Args:
        data: the file from which the run's items or votes were read.
        name: its name.
        items: the results, by the items' ids.
        title: the run's name in the file.

    Raises:
        InputError: the file's format takes no results, or none of its records is an item.
    """
    written = _write_results(data, name, items, title)
    if not written.written:
        mend = "Name the file that this run's items or votes came from."
        raise InputError(f"None of its {written.records:,} records is an item. {mend}", (), name)
    return written


def _write_results(data: bytes, name: str, items: Items, title: str) -> WrittenBack:
    opened = Opened(data, name)
    if sheets := _filled_sheets(opened):
        named = [_named_rows(sheet, items) for sheet in sheets]
        return _write_table(*max(named, key=lambda pair: _written_count(pair[1], items)), items)
    format = tool_of(opened)
    tool = None if format is None else format.name
    if format is not None and tool == "inspect" and opened.archive is not None:
        with damaged_refused(format.title, name):
            return _write_archive(opened.archive, items, title)
    if opened.archive is not None or (tool is not None and tool not in _TOOLS):
        kinds = "Inspect, promptfoo, Label Studio, Argilla, .xlsx, CSV, JSON and JSON lines"
        raise InputError(
            f"Results cannot be written into such a file, only into {kinds}.", (), name
        )
    if opened.start[:1] not in ("{", "["):
        return _write_table(*_named_rows(read_raw(data, name), items), items)
    text = _Text(data, name)
    at = list[int]()

    def add_to_row(value: Any) -> None:
        rows_in, add_to = _TOOLS[tool] if tool else (partial(_json_rows, items=items), _add_key)
        for id, row in rows_in(value):
            at.append(id in items)
            if id in items:
                add_to(row, items[id], title)

    with damaged_refused(format.title, name) if format else nullcontext():
        return WrittenBack(text.with_changes(add_to_row), sum(at), len(at))


# JSON, written back with the same escapes and indent.


class _Text:
    """JSON text, of one value or one value a line, that can be written back in the same style."""

    def __init__(self, data: bytes, name: str) -> None:
        self._mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""
        try:
            self._text = data[len(self._mark) :].decode()
            self._value = json.loads(self._text)
            self._lines = list[str]()
        except UnicodeDecodeError:
            raise InputError("This file is not UTF-8.", (), name) from None
        except ValueError:
            self._lines = self._text.splitlines(keepends=True)
            try:
                self._value = [json.loads(line) for line in self._lines if line.strip()]
            except ValueError as error:
                raise InputError(f"This file is not JSON: {error}.", (), name) from None

    def with_changes(self, change: Callable[[Any], None]) -> bytes:
        """Return the file after applying ``change`` to its value; other lines stay unchanged."""
        if not self._lines:
            change(self._value)
            end = self._text[len(self._text.rstrip()) :]
            return self._mark + (self._dump_like(self._value, self._text) + end).encode()
        rows = iter(self._value)
        before = [json.dumps(row) for row in self._value]
        change(self._value)
        lines, old_lines = list[str](), iter(before)
        for line in self._lines:
            if not line.strip():
                lines.append(line)
                continue
            row, old = next(rows), next(old_lines)
            end = line[len(line.rstrip("\r\n")) :]
            lines.append(line if json.dumps(row) == old else self._dump_like(row, line) + end)
        return self._mark + "".join(lines).encode()

    def _dump_like(self, value: Any, like: str) -> str:
        indent = re.match(r"\s*[\[{]\r?\n([ \t]+)", like)
        tight = not indent and '": ' not in like
        return json.dumps(
            value,
            ensure_ascii=like.isascii(),
            indent=indent[1] if indent else None,
            separators=(",", ":") if tight else None,
        )


Row = dict[str, Any]
Named = Iterator[tuple[str, Row]]


def _json_rows(value: Any, items: Items) -> Named:
    """Yield the rows of JSON by the field that identifies most items, otherwise by number."""
    given = object_or_empty(value).get("items", value)
    rows = objects_in(given) or [
        row for row in object_or_empty(given).values() if isinstance(row, dict)
    ]
    fields = dict.fromkeys(key for row in rows for key in row)
    matches = {key: sum(str(row.get(key)) in items for row in rows) for key in fields}
    best = max(matches, key=lambda key: matches[key], default="")
    for number, row in enumerate(rows, start=1):
        yield str(row.get(best)) if matches.get(best) else f"item-{number:04d}", row


def _add_key(row: Row, item: BackItem, title: str) -> None:
    row[OURS] = item.data(title)


# Inspect


def _inspect_rows(value: Any) -> Named:
    samples = objects_in(value["samples"])
    yield from zip(inspect_logs.item_ids(value, samples), samples, strict=True)


def _add_score(sample: Row, item: BackItem, title: str) -> None:
    lines = [f"{name}: {cell.label}" for name, cell in item.cells.items()]
    scores = sample.get("scores")
    sample["scores"] = (scores if isinstance(scores, dict) else {}) | {
        OURS: {
            "value": {name: cell.value for name, cell in item.cells.items()},
            "explanation": "\n".join(lines),
            "metadata": item.data(title),
        }
    }


def _write_archive(source: Unpacked, items: Items, title: str) -> WrittenBack:
    """Return the archive with changed samples; other members are copied unchanged."""
    target, at = io.BytesIO(), list[bool]()
    head = {path: json.loads(source.read(path)) for path in source.members
            if path in ("header.json", "_journal/start.json")}  # fmt: skip
    about = head.get("header.json") or head.get("_journal/start.json") or {}
    paths = [path for path in source.members if path.startswith("samples/")]
    samples = [json.loads(source.read(path)) for path in paths]
    ids = dict(zip(paths, inspect_logs.item_ids(about, samples), strict=True))
    by_path = dict(zip(paths, samples, strict=True))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, info in source.members.items():
            member = source.read(path)
            if path in ids:
                at.append(ids[path] in items)
                if at[-1]:
                    _add_score(by_path[path], items[ids[path]], title)
                    member = json.dumps(by_path[path]).encode()
            copied = zipfile.ZipInfo(info.filename, info.date_time)
            copied.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(copied, member)
    return WrittenBack(target.getvalue(), sum(at), len(at))


# promptfoo


def _promptfoo_rows(value: Any) -> Named:
    rows = objects_in(value) or objects_in(
        object_or_empty(object_or_empty(value).get("results")).get("results")
    )
    for id, row in zip(promptfoo.item_ids(rows), rows, strict=True):
        # An output that failed takes no grade.
        yield (id if isinstance(row.get("gradingResult"), dict) else ""), row


def _add_components(row: Row, item: BackItem, title: str) -> None:
    graded = row["gradingResult"]
    parts = graded.get("componentResults")
    graded["componentResults"] = [
        *(parts if isinstance(parts, list) else []),
        *(
            {
                "pass": (cell.value or 0.0) >= 0.5,
                "score": cell.value or 0.0,
                "reason": cell.reason or cell.label,
                "assertion": {"type": "llm-rubric", "metric": f"{OURS}: {name}", "value": name},
                "metadata": {"run": title, "label": cell.label, "settled_by": cell.people},
            }
            for name, cell in item.cells.items()
        ),
    ]


# Label Studio and Argilla


def _annotated_rows(value: Any) -> Named:
    rows = objects_in(value) or objects_in(object_or_empty(value).get("records"))
    yield from zip(annotation_tools.item_ids(rows), rows, strict=True)


def _add_marks(task: Row, item: BackItem, title: str) -> None:
    """Add people's decisions as an annotation, the panel's verdicts as a prediction."""
    settings = {
        region.get("from_name"): region
        for kind in ("annotations", "predictions")
        for entry in objects_in(task.get(kind))
        for region in objects_in(entry.get("result"))
    }
    for kind, mine in (("annotations", True), ("predictions", False)):
        cells = {name: c for name, c in item.cells.items() if bool(c.people) == mine}
        if not cells:
            continue
        entry: Row = {
            "result": [_region_data(name, cell, settings, task) for name, cell in cells.items()]
        }
        if kind == "predictions":
            entry |= {"model_version": f"{OURS} {title}", "score": item.score}
        else:
            entry |= {"was_cancelled": False, "ground_truth": False}
        task[kind] = [*objects_in(task.get(kind)), entry]


def _region_data(name: str, cell: BackCell, known: Mapping[Any, Row], task: Row) -> Row:
    like = known.get(name) or {}
    kind = str(like.get("type") or "choices")
    other = next(iter(known.values()), {}).get("to_name") or next(iter(task["data"]), "text")
    number = re.fullmatch(r"-?\d+(?:\.\d+)?", cell.label)
    if kind in ("rating", "number") and number:
        value: Row = {kind: float(cell.label) if "." in cell.label else int(cell.label)}
    elif kind == "pairwise":
        value = {"selected": cell.label}
    else:
        kind, value = "choices", {"choices": [cell.label]}
    to_name = like.get("to_name") or other
    return {"from_name": name, "to_name": to_name, "type": kind, "value": value}


def _add_suggestions(record: Row, item: BackItem, title: str) -> None:
    suggestions = dict(object_or_empty(record.get("suggestions")))
    for name, cell in item.cells.items():
        # A model's own suggestion stays, and the metadata holds ours.
        agent = f"{OURS} {title}"
        suggestions.setdefault(name, {"value": cell.label, "score": None, "agent": agent})
    record["suggestions"] = suggestions
    own = {f"{OURS}_{name}": cell.label for name, cell in item.cells.items()}
    record["metadata"] = object_or_empty(record.get("metadata")) | own


#: By tool: the function that returns its records by item, and the one that adds a result.
_TOOLS: dict[str, tuple[Callable[[Any], Named], Callable[[Row, BackItem, str], None]]] = {
    "inspect": (_inspect_rows, _add_score),
    "promptfoo": (_promptfoo_rows, _add_components),
    "label_studio": (_annotated_rows, _add_marks),
    "argilla": (_annotated_rows, _add_suggestions),
}


# Tables


def _filled_sheets(opened: Opened) -> list[SheetTable]:
    """Return the sheets of a workbook that have rows. Raises ``InputError``."""
    book = opened.once(book_in)
    tables = (sheet_table(opened, sheet) for sheet in (book.filled_sheets if book else ()))
    return [table for table in tables if table is not None]


def _named_rows(table: RawTable, items: Items) -> tuple[RawTable, list[str]]:
    """Return a table below its titles, and each row's item id, or ""."""
    first = [[cell.text for cell in row.cells] for row in (table.head, *table.rows[:40])]
    if titles := header_at(first):
        table = table.table_below(titles)
    deep = heading_rows(first, titles)[1]
    matches = {
        column: sum(row.text(column) in items for row in table.rows)
        for column in range(len(table.heads))
    }
    best = max(matches, key=lambda column: matches[column], default=0)
    if not matches.get(best):
        return table, _ids_or_numbers(table, deep - 1)
    return table, [row.text(best) for row in table.rows]


def _written_count(ids: Sequence[str], items: Items) -> int:
    return sum(id in items for id in ids)


def _write_table(table: RawTable, ids: Sequence[str], items: Items) -> WrittenBack:
    """Return the table with columns at its end; every row of an item gets its results."""
    names = list(dict.fromkeys(name for item in items.values() for name in item.cells))
    settled = any(cell.people for item in items.values() for cell in item.cells.values())
    heads = [f"{OURS}: score", *(f"{OURS}: {name}" for name in names)]
    heads += [f"{OURS}: settled by"] if settled else []
    rows = [_result_cells(items.get(id), names, settled) for id in ids]
    data = table.with_columns([spreadsheet_safe(head) for head in heads], rows)
    return WrittenBack(data, _written_count(ids, items), len(ids))


def _ids_or_numbers(table: RawTable, headings: int) -> list[str]:
    """Return the ids of rows without any, in the order in which they are read."""
    rows = [{str(at): cell.text for at, cell in enumerate(row.cells)} for row in table.rows]
    columns = [str(at) for at in range(len(table.heads))]
    left = {*range(headings), *(n + headings for n in summary_rows(columns, rows[headings:]))}
    numbers = count(1)
    return ["" if at in left else f"item-{next(numbers):04d}" for at in range(len(rows))]


def _result_cells(item: BackItem | None, names: Sequence[str], settled: bool) -> list[str]:
    if item is None:
        return [""] * (1 + len(names) + settled)
    cells = [item.cells.get(name) for name in names]
    score = "" if item.score is None else f"{item.score:.6g}"
    people = dict.fromkeys(cell.people for cell in cells if cell and cell.people)
    labels = [spreadsheet_safe(cell.label) if cell else "" for cell in cells]
    return [score, *labels, *([spreadsheet_safe(", ".join(people))] if settled else [])]
