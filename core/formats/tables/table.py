"""Convert any kind of table to columns and rows; paths into cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from core.domain.base import Path
from core.errors import InputError, Problem
from core.formats.office.columnar import columnar_kind, read_columnar
from core.formats.office.documents import marks_in
from core.formats.office.markdown import text_table
from core.formats.office.workbook import EVERY, book_in
from core.formats.rubrics.benchmarks import feedback_row
from core.formats.rubrics.evalassist import (
    case_in,
    notes_of,
    parts_beside_rows,
    rows_of,
    unwrapped,
    why_unreadable,
)
from core.formats.rubrics.unitxt import unitxt_data
from core.formats.source.csv_reader import MAX_COLUMNS, bad_columns
from core.formats.source.one_hot import with_options_joined
from core.formats.source.opened import Opened
from core.formats.source.parsed import (
    MAX_DATASET_BYTES,
    MAX_DOCUMENT_BYTES,
    Document,
    TableRows,
    kind_of,
    refusal,
    too_many,
)
from core.formats.source.several_answers import answers_as_rows
from core.formats.source.summary_rows import left_out_notices, scale_cells, summary_rows
from core.formats.tables.cells import is_nested, parsed_cell, steps_of, value_at, values_at
from core.formats.tables.json_tables import ROW, json_table
from core.formats.tables.packed_cells import with_scores_apart
from core.formats.tables.parents import with_text_of_parents
from core.formats.tables.raters_in_rows import raters_as_rows
from core.formats.tables.sheets import chosen_sheet, joined_sheets, sheet_rows
from core.formats.tables.submissions import submission_rows, submissions_in
from core.formats.tables.surveys import survey_rows
from core.formats.tables.turned_tables import turned_rows

T = TypeVar("T")
Kind = Literal["csv", "jsonl", "json", "xlsx", "ods", "docx", "parquet", "arrow", "files"]


@dataclass(frozen=True)
class Table:
    """Rows of a file.

    Cells are text in a CSV or workbook, plain data otherwise. A row may lack columns.

    ``lines[i]`` is the first line of row ``i``. ``header`` holds a JSON document's other entries
    (name, prompt, rubric ...), or what lines above the table give. ``notices`` report what was left
    out of the table. ``scales`` are a row's scales by column, ``questions`` a survey's texts
    by name, ``told`` the lines of words beside the table.
    """

    name: str
    kind: Kind
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    lines: tuple[int | None, ...]
    header: dict[str, Any] = field(default_factory=dict)
    document: Document | None = None
    places: Sequence[Path] = ()
    notices: tuple[Problem, ...] = ()
    scales: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    @property
    def flat(self) -> bool:
        """Return whether every cell is text, as in a CSV or a workbook."""
        return self.kind in ("csv", "xlsx", "ods", "docx")

    @property
    def maxima(self) -> set[str]:
        """Return the columns of which a row gives the points possible."""
        return {column for column, scale in self.scales.items() if scale.startswith("max ")}

    @cached_property
    def nested(self) -> frozenset[str]:
        """Return the columns with objects or lists in cells, which are never labels or names."""
        return frozenset(c for c in self.columns if any(is_nested(r.get(c)) for r in self.rows))

    @cached_property
    def word_counts(self) -> dict[str, Counter[str]]:
        """Return the number of occurrences of each word, by column, for columns counted so far."""
        return {}

    @cached_property
    def _views(self) -> dict[tuple[Callable[..., Any], tuple[str, ...]], Any]:
        return {}

    def once(self, view: Callable[..., T], *columns: str) -> T:
        """Return ``view`` of this table (and of columns), computed on the first call."""
        if (view, columns) not in self._views:
            self._views[view, columns] = view(self, *columns)
        result: T = self._views[view, columns]
        return result

    def line_of(self, row: int, path: Path = ()) -> int | None:
        """Return the line of a row, or of a place in it if the format allows."""
        if self.document is None:
            return self.lines[row]
        return self.document.line_of((*self.places[row], *path))

    def line_of_header(self, path: Path) -> int | None:
        """Return the line of a place in ``header``."""
        return None if self.document is None else self.document.line_of(path)


def first_of_table(table: Table, most: int) -> Table:
    """Return up to ``most`` rows of a table, as rows of text: without the places in a document."""
    rows, lines = table.rows[:most], table.lines[:most]
    first = Table(table.name, table.kind, table.columns, rows, lines)
    return replace(first, scales=table.scales, questions=table.questions)


def read_table(
    data: str | bytes | Opened, name: str, sheet: str | None = None, most: int | None = None
) -> Table:
    """Return the table in a CSV, TSV, JSON, YAML, Excel, ODS or Arrow file.

    CSV, TSV and sheets need a header, which may follow titles. In JSONL every line is an object.
    JSON (or YAML) is a list of objects, or an object whose ``items`` is such a list. ``sheet``
    names the sheet of a workbook if several have rows; `*` is all of them, with the same columns.
    Submissions become a table of ids and texts. CSV and JSONL are read up to ``most`` rows.

    Raises:
        InputError: every invalid line; ``SheetNotChosen`` if several sheets have rows.

    >>> read_table('{"id": "a", "submission": "x"}', "items.jsonl").columns
    ('id', 'submission')
    """
    opened = Opened.of(data, name)
    table, read_to = opened.once(_tables_read).get(sheet, (None, 0))
    if table is None or not (read_to is None or len(table.rows) < read_to or most == read_to):
        table = _tidy_table(_read_binary(opened, sheet, most) or _read_text(opened, sheet, most))
        opened.once(_tables_read)[sheet] = table, most
    return table


def _tables_read(opened: Opened) -> dict[str | None, tuple[Table, int | None]]:
    """Return a file's tables read so far, by sheet, each with the limit of its rows."""
    return {}


def _tidy_table(table: Table) -> Table:
    """Return the table without summary rows, with related fields merged into one column."""
    if table.flat and (summaries := summary_rows(table.columns, table.rows, table.lines)):
        rows = tuple(row for at, row in enumerate(table.rows) if at not in summaries)
        lines = tuple(line for at, line in enumerate(table.lines) if at not in summaries)
        notices = (*table.notices, *left_out_notices(summaries, table.lines))
        scales = scale_cells(table.columns, table.rows, summaries)
        told = (*table.told, *summaries.values())
        table = replace(table, rows=rows, lines=lines, notices=notices, scales=scales, told=told)
    columns, rows, apart = with_scores_apart(table.columns, table.rows)
    columns, rows, said = with_options_joined(columns, rows)
    columns, rows, of_parents = with_text_of_parents(columns, rows)
    said = (*apart, *said, *of_parents)
    if table.document is None:
        columns, rows, lines, as_rows = answers_as_rows(columns, rows, table.lines)
        columns, rows, lines, of_raters = raters_as_rows(columns, rows, lines)
        table, said = replace(table, lines=lines), (*said, *as_rows, *of_raters)
    table = replace(table, columns=columns, rows=rows, notices=(*table.notices, *said))
    if "orig_response" not in table.columns:
        return table
    rows = tuple(feedback_row(row) or row for row in table.rows)
    notice = Problem("Read as rows of the Feedback Collection; its training texts are left out.")
    notices, columns = (*table.notices, notice), _keys_of_rows(rows, table.name)
    return replace(table, rows=rows, columns=columns, notices=notices)


def _read_text(opened: Opened, sheet: str | None, most: int | None) -> Table:
    name = opened.name
    if sheet is not None:
        raise InputError("Only a workbook has sheets; name none.", (), name)
    text = opened.text("dataset", MAX_DATASET_BYTES, table=True)
    kind = _kind_of_file(opened)
    if kind == "csv":
        table = _table_of_rows("csv", text_table(opened, text, most), name)
        return replace(table, notices=(*opened.notices, *table.notices))
    opened.text("dataset", MAX_DATASET_BYTES)  # only spreadsheets write other encodings than UTF-8
    if kind == "jsonl":
        return _table_from_jsonl(opened, most)
    return _table_from_document(opened.document("dataset", MAX_DOCUMENT_BYTES), name)


def _table_of_rows(kind: Kind, rows: TableRows, name: str) -> Table:
    rows = survey_rows(turned_rows(rows))
    table = Table(name, kind, rows.columns, rows.rows, rows.lines, notices=rows.notices)
    return replace(table, questions=rows.questions, header={**rows.above}, told=rows.told)


def _read_binary(opened: Opened, sheet: str | None, most: int | None) -> Table | None:
    """Return the table of a workbook, columnar file or submissions, or ``None``."""
    kind, book = columnar_kind(opened.head), opened.once(book_in)
    if kind is not None:
        return _table_of_rows(kind, read_columnar(opened.data, opened.name, most), opened.name)
    if book is not None and sheet == EVERY:
        return _table_of_rows(book.kind, joined_sheets(book, opened.name), opened.name)
    if book is not None:
        return _table_of_rows(book.kind, chosen_sheet(book, sheet, opened.name), opened.name)
    if (marks := opened.once(marks_in)) is not None:
        return _table_of_rows("docx", sheet_rows(marks, opened.name), opened.name)
    texts = submissions_in(opened)
    return None if texts is None else _table_of_rows("files", texts, opened.name)


def table_of_files(files: Mapping[str, bytes | Opened], name: str) -> Table:
    """Return submitted files, by path, as a table. Raises ``InputError``."""
    return _table_of_rows("files", submission_rows(files, name), name)


def _kind_of_file(opened: Opened) -> Literal["csv", "jsonl", "document"]:
    ending = opened.ending
    if ending in ("jsonl", "ndjson", "yaml", "yml"):
        return "document" if ending in ("yaml", "yml") else "jsonl"
    if ending in ("csv", "tsv", "tab") or opened.start[:1] not in ("{", "["):
        return "document" if ending == "json" else "csv"
    are_lines = opened.start[:1] == "{" and opened.shapes == ("rows",) and opened.first_row
    return "jsonl" if are_lines else "document"


def _table_from_jsonl(opened: Opened, most: int | None) -> Table:
    rows, lines, problems = list[dict[str, Any]](), list[int](), list[Problem]()
    for line, value, faults in opened.json_lines("table"):
        problems += [Problem(f.message, f.mend or ROW, f.path, line) for f in faults]
        if not faults and not isinstance(value, dict):
            problems.append(Problem(f"is {kind_of(value)}, not an item.", ROW, (), line))
        rows.append(value)
        lines.append(line)
        if too_many(problems) or len(rows) == most:
            break
    if problems:
        raise refusal("dataset", problems, opened.name)
    return Table(opened.name, "jsonl", _keys_of_rows(rows, opened.name), tuple(rows), tuple(lines))


def _table_from_document(document: Document, name: str) -> Table:
    document_unwrapped = unwrapped(document)
    case = case_in(document_unwrapped.value)
    if case is not None:
        return _table_from_case(case, document_unwrapped, name)
    table = json_table(document, name)
    lines = tuple(document.line_of(place) for place in table.places)
    return Table(
        name, "json", _keys_of_rows(table.rows, name), tuple(table.rows), lines, table.header,
        document, table.places, table.notices,
    )  # fmt: skip


def _table_from_case(case: dict[str, Any], document: Document, name: str) -> Table:
    """Return the rows of an EvalAssist test case, with its rubric as header."""
    if problem := why_unreadable(case):
        raise refusal("dataset", [problem], name)
    rubric, notices, _ = unitxt_data(document, name)
    rows = tuple(rows_of(case))
    header = {"name": case.get("name"), "rubric": rubric, "meta": notes_of(case)}
    lines = tuple(document.line_of(("instances", at)) for at in range(len(rows)))
    said = (*notices, *parts_beside_rows(case))
    return Table(name, "json", _keys_of_rows(rows, name), rows, lines, header, notices=said)


def _keys_of_rows(rows: Sequence[dict[str, Any]], name: str) -> tuple[str, ...]:
    """Return every key of the rows, in the order of first use."""
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    if len(columns) > MAX_COLUMNS:
        raise refusal("dataset", bad_columns(columns, 1), name)
    return columns


# Paths into cells: ``messages[-1].content`` names a value inside a column.

#: The depth and number of suggested paths.
_DEPTH, _KEYS = 8, 60


def with_paths(table: Table, names: Iterable[str]) -> Table:
    """Return the table with a new column for each name that is a path into cells, or joins several
    columns.

    Rows without a value at the path lack the column. A path that no row has adds no column. ``a +
    b`` joins the values of the columns ``a`` and ``b``, ``a[].b`` lists the ``b`` of all in ``a``.
    """
    for name in dict.fromkeys(names):
        if name not in table.columns and _EACH in name:
            head, _, tail = name.partition(_EACH)
            values = [values_at(row.get(head), steps_of(tail)) for row in table.rows]
            rows = tuple({**row, name: cell} for row, cell in zip(table.rows, values, strict=True))
            if any(values):
                table = replace(table, columns=(*table.columns, name), rows=rows)
            continue
        if name not in table.columns and (parts := joined_parts(name, table.columns)):
            rows = tuple({**row, name: _joined_cell(row, parts)} for row in table.rows)
            table = replace(table, columns=(*table.columns, name), rows=rows)
            continue
        steps = steps_of(name)
        if name in table.columns or len(steps) < 2 or steps[0] not in table.columns:
            continue
        reached = [(row, value_at(row, steps)) for row in table.rows]
        if any(hit for _, hit in reached):
            rows = tuple({**row, name: hit[0]} if hit else row for row, hit in reached)
            table = replace(table, columns=(*table.columns, name), rows=rows)
    return table


#: Precedes a key that all objects of a list share.
_EACH = "[]."


#: Separates the names of columns that form an id together.
JOINED = " + "


def joined_parts(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a name joins, or () if it joins none.

    >>> joined_parts("doc + turn", ["doc", "turn"]), joined_parts("doc", ["doc"])
    (('doc', 'turn'), ())
    """
    parts = tuple(name.split(JOINED))
    return parts if len(parts) > 1 and set(parts) <= set(columns) else ()


def _joined_cell(row: Mapping[str, Any], parts: Sequence[str]) -> str | None:
    cells = [row.get(part) for part in parts]
    if any(cell in (None, "") for cell in cells):
        return None
    return " / ".join(
        str(int(c) if isinstance(c, float) and c.is_integer() else c).strip() for c in cells
    )


def value_paths(table: Table) -> dict[str, Any]:
    """Return paths to values in nested cells, with values from the first rows.

    Paths lead into the last message of a conversation, and into the first entry of other lists.
    """
    values: dict[str, Any] = {}
    for row in table.rows[:20]:
        for column in table.columns:
            if steps_of(column) == (column,):
                for path, value in _paths_within(parsed_cell(row.get(column)), column, 0):
                    if len(values) < _KEYS or path in values:
                        values.setdefault(path, value)
    return values


def _paths_within(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        parts = [(f"{path}.{key}", part) for key, part in value.items() if steps_of(key) == (key,)]
    elif isinstance(value, list) and value:
        last = isinstance(value[0], dict) and {"role", "content"} <= value[0].keys()
        parts = [(f"{path}[{-1 if last else 0}]", value[-1 if last else 0])]
    else:
        return
    for inner, part in parts:
        if isinstance(part, dict | list):
            yield from _paths_within(part, inner, depth + 1)
        else:
            yield inner, part
