"""Read and write datasets: a table and its mapping, JSONL and JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Literal

from core.domain.base import build_model, hint_for
from core.domain.dataset import Dataset, Item, Pair, Sections
from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.columns.absences import (
    empty_answers_sentence,
    without_absences,
    without_absent_texts,
)
from core.formats.columns.message_texts import holds_messages
from core.formats.columns.text_columns import maps_for, prompt_map, proposed_texts
from core.formats.datasets.field_names import OWN
from core.formats.datasets.header import DatasetHeader
from core.formats.datasets.items import ItemReader
from core.formats.datasets.labels import (
    TEXT_AVAILABLE,
    UnfitValue,
    text_of,
    translated_words,
)
from core.formats.datasets.mapping import (
    ColumnMapping,
    change_items,
    equally_likely_columns,
    guess_mapping,
)
from core.formats.datasets.roles import LONGEST, private_columns, role_table
from core.formats.rubrics.rubric_file import rubric_data
from core.formats.source.opened import Opened
from core.formats.source.parsed import ColumnRole, Parsed, limited, refusal, stem, too_many
from core.formats.tables.table import Table, read_table, with_paths

#: The most items; reading more takes over five seconds and 300 MB.
MAX_ITEMS = 200_000


def parse_dataset(
    data: str | bytes | Opened,
    name: str,
    rubric: Rubric | None = None,
    changes: Sequence[str] | None = None,
    sheet: str | None = None,
    *,
    spend: bool = False,
) -> Parsed[Dataset]:
    r"""Return the dataset in a table of any format, with columns guessed by name.

    Args:
        data: the file's content.
        name: the file's name; its ending decides the format.
        rubric: validates labels and aligns lists of labels, unless the item or the dataset has its
            own rubric.
        changes: changes of guessed columns, like ``submission=messages[-1].content``; ``None`` if
            the caller cannot change any.
        sheet: the sheet of a workbook to read.
        spend: the caller needs nothing else of the opened file, which saves memory.

    Raises:
        InputError: with every problem found, each with its line; nothing is half-imported.

    >>> parse_dataset("answer,id\nParis,a1\n", "capitals.csv").value.items[0].id
    'a1'
    """
    opened = Opened.of(data, name)
    table = read_table(opened, name, sheet, most=MAX_ITEMS + 1)
    if spend := spend or opened is not data:
        opened.release_views()
    return dataset_of(table, name, rubric, changes, spend=spend)


def dataset_of(
    table: Table,
    name: str,
    rubric: Rubric | None = None,
    changes: Sequence[str] | None = None,
    *,
    spend: bool = False,
) -> Parsed[Dataset]:
    """Return the dataset of a table; ``spend``: its rows are no longer needed."""
    header = DatasetHeader(table)
    table = without_absences(table, header.rubric or rubric, translated_words(changes or ()))
    mapping = guess_mapping(table, header.rubric or rubric)
    if changes is not None:
        mapping = change_items(mapping, changes, table)
        if mapping.submission is None and table.rows and not mapping.are_tasks:
            options = maps_for("submission", proposed_texts(table))
            mend = f"Say which column it is: {options}." if options else "None of them has text."
            raise refusal("dataset", [_no_submission(table, mend)], name)
    said = {change.partition("=")[2] for change in changes or ()}
    return _build_with_header(table, mapping, name, header, rubric, said, spend=spend)


def build_dataset(
    table: Table, mapping: ColumnMapping, name: str, rubric: Rubric | None = None
) -> Parsed[Dataset]:
    """Return the dataset that ``mapping`` makes of ``table``. Raises ``InputError``.

    An item without an id gets one from its row, such as ``item-0001``. An empty answer is a real
    answer and is kept, with a notice. A null submission means that the text is missing: the item is
    kept for its votes and labels, with ``text_available: false`` in its meta.
    """
    return _build_with_header(table, mapping, name, DatasetHeader(table), rubric)


def has_text(item: Item) -> bool:
    """Return whether an item has text to grade; ``False`` if the source lacks it."""
    return item.meta.get(TEXT_AVAILABLE) is not False or bool(item.text.strip())


def _build_with_header(
    table: Table,
    mapping: ColumnMapping,
    name: str,
    header: DatasetHeader,
    rubric: Rubric | None,
    chosen: Collection[str] = (),
    *,
    spend: bool = False,
) -> Parsed[Dataset]:
    if len(table.rows) > MAX_ITEMS:
        message = f"has more than {MAX_ITEMS:,} items, which is the limit."
        raise refusal("dataset", [Problem(message, "Split it.")], name)
    table = with_paths(table, (*mapping.used.values(), *mapping.context, *mapping.meta))
    table = without_absent_texts(table, mapping.submission)
    if mapping.prompt is None:
        header.ask(mapping.submission or "")
    _check_columns(table, mapping, name)
    roles = role_table(table, mapping.roles(), chosen)
    notices = [*table.notices, *header.notices, *_column_notices(table, mapping, roles)]
    reader = ItemReader(table, mapping, header.rubric or rubric)
    ids = _row_ids(table, mapping, reader.problems)
    items = list[Item | None]()
    for row, id in enumerate(ids):
        if too_many(reader.problems):
            break
        items.append(reader.item(row, id))
        if spend:
            # With many items, rows and items together would take twice the memory.
            table.rows[row].clear()
    problems = header.problems + reader.problems
    if problems:
        raise refusal("dataset", sorted(problems, key=lambda p: p.line or 0), name)
    data = {**header.data, "items": tuple(items)}
    data.setdefault("name", stem(name, "Untitled dataset"))
    dataset = build_model(Dataset, data, "dataset", name)
    notices += _text_notices(table, mapping, reader)
    return Parsed(dataset, limited(notices + reader.remarks()), roles=roles)


def _check_columns(table: Table, mapping: ColumnMapping, name: str) -> None:
    """Refuse a mapping without a submission, or with columns that do not exist."""
    if not table.rows:
        raise refusal("dataset", [Problem("holds no items.", "Add at least one.", (), 1)], name)
    named = [*mapping.used.values(), *mapping.context, *mapping.meta]
    problems = [
        Problem(f"names the column {c!r}, which is not there.", _columns(table), ("mapping",))
        for c in dict.fromkeys(named)
        if c not in table.columns
    ]
    if mapping.submission is None and not mapping.are_tasks:
        problems.append(_no_submission(table, "Say which column it is, or name it submission."))
    if problems:
        raise refusal("dataset", problems, name)


def _no_submission(table: Table, otherwise: str) -> Problem:
    if len(near_by := equally_likely_columns(table)) > 1:
        listed = " and ".join(map(repr, near_by))
        message = f"has more than one column that could be the submission: {listed}."
        return Problem(message, otherwise)
    guesses = (hint_for(column, {"submission", "answer", "response"}) for column in table.columns)
    mend = next(filter(None, guesses), otherwise)
    return Problem("has no column that holds the submission.", f"{mend} {_columns(table)}", (), 1)


def _columns(table: Table) -> str:
    shown = ", ".join(map(repr, table.columns[:30]))
    return f"The columns are {shown}{' and more' if len(table.columns) > 30 else ''}."


def _row_ids(table: Table, mapping: ColumnMapping, problems: list[Problem]) -> list[str]:
    """Return every row's id, numbered if missing; duplicates are problems."""
    ids, first = list[str](), dict[str, int]()
    for row, cells in enumerate(table.rows):
        if too_many(problems):
            break
        value = cells.get(mapping.id) if mapping.id is not None else None
        try:
            id = text_of(value, "Use a word or a number.")
            id = id if id.strip() else ""
            if id in first:
                message = f"repeats the id {id[:80]!r} of line {table.line_of(first[id])}."
                raise UnfitValue(message, "Give every item an id of its own.")
        except UnfitValue as error:
            line = table.line_of(row, (mapping.id or "",))
            problems.append(error.problem(("items", row, mapping.id or "id"), line))
            id = ""
        if id:
            first[id] = row
        ids.append(id)
    for row, id in enumerate(ids):
        if not id:
            ids[row] = _unused_id(row, first)
    return ids


def _unused_id(row: int, taken: dict[str, int]) -> str:
    id, count = f"item-{row + 1:04d}", 1
    while id in taken:
        count += 1
        id = f"item-{row + 1:04d}-{count}"
    taken[id] = row
    return id


def _column_notices(
    table: Table, mapping: ColumnMapping, roles: Sequence[ColumnRole]
) -> list[Problem]:
    notices = _guessed_notices(table, mapping, roles)
    fields, line = {name for names in OWN.values() for name in names}, table.line_of(0)
    for column in mapping.meta:
        message = f"The column {column!r} is kept under meta; no model is shown it."
        mend = "" if mapping.prompt else prompt_map(table, [column])
        notices.append(Problem(message, mend or hint_for(column, fields), (), line))
    named = {*mapping.used.values(), *mapping.context, *mapping.meta}
    return notices + [
        Problem(f"The column {c!r} is left out.", "", (), line)
        for c in table.columns
        if c not in named
    ]


def _guessed_notices(
    table: Table, mapping: ColumnMapping, roles: Sequence[ColumnRole]
) -> list[Problem]:
    """Return notices of columns that were not chosen by name alone."""
    notices, column = list[Problem](), mapping.submission or ""
    if any(role.column == column and role.why == LONGEST for role in roles):
        message = f"The texts of {column!r} are taken for the submissions: they are the longest."
        notices.append(Problem(message, "Say so if it is another column."))
    if mapping.structured and holds_messages(table, column):
        notices.append(Problem(f"The conversations in {column!r} are read as messages."))
    if private_columns(table):
        message = "This is a form's table: who answered (addresses) is left out."
        notices.append(Problem(message, "Keep it by giving the column a role."))
    return notices


def _text_notices(table: Table, mapping: ColumnMapping, reader: ItemReader) -> list[Problem]:
    notices = list[Problem]()
    if mapping.are_tasks:
        notices.append(Problem("Tasks and rubrics, no answers yet.", "Add them as `submission`."))
    elif reader.textless:
        count, line = len(reader.textless), table.line_of(reader.textless[0])
        several = f"{count:,} items come without their text, the first here."
        message = several if count > 1 else "1 item comes without its text, here."
        mend = "Their votes and labels can be measured; they cannot be graded."
        notices.append(Problem(message, mend, (), line))
    if reader.empty:
        count, line = len(reader.empty), table.line_of(reader.empty[0])
        several = f"{count:,} answers are empty, the first here."
        message = several if count > 1 else "1 answer is empty, here."
        notices.append(Problem(message, "", (), line))
    if any(reader.empty_labels):  # blank cells alone just mean items without a label
        mend = "They count as no label. Give the rubric with it where one of them is an option."
        notices.append(Problem(empty_answers_sentence("label", reader.empty_labels), mend))
    return notices


def dump_dataset(dataset: Dataset, format: Literal["jsonl", "json"] = "jsonl") -> str:
    r"""Return the dataset as a file's text.

    JSON keeps everything: ``parse_dataset(dump_dataset(d, "json"), name).value == d``. JSONL holds
    only items, so it reads back equal to ``folded(d)``. Each item gets the dataset's prompt,
    reference and rubric, and the dataset's name is the file's.

    >>> from core.formats.datasets.dataset_file import parse_dataset
    >>> print(dump_dataset(parse_dataset("id,answer\n7,Paris\n", "x.csv").value), end="")
    {"id": "7", "submission": "Paris"}
    """
    if format == "jsonl":
        rows = map(item_data, with_shared_parts_in_items(dataset).items)
        return "".join(f"{json.dumps(r, ensure_ascii=False, allow_nan=False)}\n" for r in rows)
    head = {name: getattr(dataset, name) for name in Dataset.model_fields if name != "items"}
    head["rubric"] = rubric_data(dataset.rubric) if dataset.rubric else None
    document = _without_empty(head) | {"items": [item_data(item) for item in dataset.items]}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def with_shared_parts_in_items(dataset: Dataset) -> Dataset:
    """Return the dataset with its prompt, reference and rubric in each item.

    Items that have their own keep them. The dataset's description and meta are dropped.
    """
    items = [dataset.resolved(item) for item in dataset.items]
    if dataset.rubric:
        defaults = {"rubric": dataset.rubric}
        items = [item if item.rubric else item.model_copy(update=defaults) for item in items]
    return Dataset(name=dataset.name, items=tuple(items))


def item_data(item: Item) -> dict[str, Any]:
    """Return the item as plain data in a readable order, without empty entries."""
    data = {
        "id": item.id,
        "prompt": item.prompt,
        "context": item.context,
        "submission": _submission_data(item),
        "reference": item.reference,
        "description": item.description,
        "labels": {
            name: {"label": label.label, "reason": label.reason} if label.reason else label.label
            for name, label in item.labels.items()
        },
        "system": item.system,
        "tags": list(item.tags),
        "split": item.split,
        "rubric": rubric_data(item.rubric) if item.rubric else None,
        "meta": item.meta,
    }
    return _without_empty(data, keep=("submission",))


def _submission_data(item: Item) -> Any:
    if isinstance(item.submission, str):
        return item.submission if item.submission or has_text(item) else None
    if isinstance(item.submission, Sections | Pair):
        return item.submission.model_dump(mode="json")
    return [message.model_dump() for message in item.submission]


def _without_empty(data: dict[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    return {key: v for key, v in data.items() if key in keep or v not in (None, "", [], {})}
