"""Files made to hurt: refused after little work, with a line and one sentence."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import InputError
from core.formats import known
from core.formats.datasets import dataset_file
from core.formats.source import csv_reader, json_reader, opened, parsed
from core.formats.tables import table as tables
from core.formats.votes.sources import open_bytes
from core.services.imports import import_files
from tests.formats.refusals import dataset_refused, rubric_refused

#: Each would take minutes or gigabytes if it were worked off to its end.
HOSTILE_RUBRICS = {
    "foreign keys": ("- requirement: a\n" + "".join(f"  k{n}: 1\n" for n in range(9000)), "keys"),
    "criteria": ("- same words here\n" * 9000, "500 criteria are the limit"),
    "options": (
        "- requirement: a\n  options: [" + "{lable: x}, " * 9000 + "]\n",
        "1,000 is the limit",
    ),
    "aliases": ("a: &a x\nb: [" + "*a, " * 250_000 + "]\n", "once its aliases are written out"),
}


@pytest.mark.parametrize("name", HOSTILE_RUBRICS)
def test_a_rubric_of_absurd_size_is_refused(name: str) -> None:
    text, words = HOSTILE_RUBRICS[name]
    line, said = rubric_refused(text)[0]
    assert line is not None
    assert words in said


def test_json_with_endless_faults_is_read_no_further_than_a_thousand() -> None:
    found = rubric_refused("[" + "NaN," * 100_000 + "1]", "r.json")
    assert found[-1] == (None, "and at least 950 more; reading stopped there.")  # 1000 - 50


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("a,b\n" + "1\n" * 50_000, "x.csv", "has 1 cells"),
        ('{"id": 1, "submission": "x"}\n' * 20_000, "x.jsonl", "repeats the id '1' of line 1."),
        ('{"id": 1, "sub\n' * 20_000, "x.jsonl", "is not valid JSON"),
        ("[" + "1," * 50_000 + "1]", "x.json", "is a number, not an item."),
    ],
)
def test_a_dataset_of_bad_rows_is_read_no_further_than_a_thousand(
    text: str, name: str, words: str
) -> None:
    found = dataset_refused(text, name)
    assert words in found[0][1]
    assert found[-1] == (None, "and at least 950 more; reading stopped there.")


def test_a_line_of_commas_is_refused_before_its_cells_are_kept() -> None:
    # Eight million cells of one row would take ten times the memory of the file.
    ((line, said),) = dataset_refused("id,submission\n" + "," * 8_000_001, "x.csv")
    assert line == 2
    assert "a line of more than 8,000,000 characters. A cell may hold 2,000,000" in said


def test_more_items_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_file, "MAX_ITEMS", 3)
    text = "id,submission\n" + "".join(f"{n},Because.\n" for n in range(4))
    # What comes after them is not looked at.
    assert "has more than 3 items, which is the limit" in dataset_refused(text + "1", "x.csv")[0][1]
    lines = '{"submission": "Because."}\n' * 4 + "{"
    assert "has more than 3 items" in dataset_refused(lines, "x.jsonl")[0][1]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_no_more_rows_are_read_than_are_asked_for(kind: str) -> None:
    rows = pa.table({"a": ["1", "2", "3", "4"]})
    data = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(rows, data)
    elif kind == "arrow":
        with pa.ipc.new_file(data, rows.schema) as file:
            file.write_table(rows)
    elif kind == "csv":
        data.write(b'Our course\n\na,b,c\n1,0,0\n\n2,0,0\n3,0,0\n"')
    else:
        data.write(b'{"a":1}\n\n{"a":2}\n{"a":3}\n{')
    found = tables.read_table(data.getvalue(), f"x.{kind}", most=3)
    assert [str(row["a"]) for row in found.rows] == ["1", "2", "3"]


def test_what_a_long_file_holds_is_seen_in_its_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (dataset_file, known, import_files):
        monkeypatch.setattr(module, "MAX_ITEMS", 4)
    items = open_bytes(b"id,submission\n" + b"1,Because.\n" * 5 + b'"', "x.csv")
    assert import_files.look(items).kind == "dataset"
    unknown = open_bytes(b"when,what\n" + b"1,2\n" * 5 + b'"', "x.csv")
    assert import_files.look(unknown).kind == "unknown"
    votes = b"item,rater,label\n" + b"1,ann,yes\n" * 5
    found = import_files.look(open_bytes(votes, "x.csv"))
    assert (found.kind, found.table and len(found.table.rows)) == ("long", 5)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_lists_and_objects_count_as_rows_and_brackets_in_texts_do_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_reader, "MAX_PARTS", 100)
    monkeypatch.setattr(opened, "MAX_ROWS", 100)

    def item(lists: int) -> str:
        row = {"submission": '[{ \\" [' * 200 + "\\", "meta": {"a": [[]] * lists}}
        return json.dumps([row] if name == "x.json" else row)

    # Three are around them, or with the list of items four.
    assert dataset_file.parse_dataset(item(96), name).value.items
    assert dataset_refused(item(98), name)[0][1].startswith(
        "has more than 100 rows, with the lists"
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [("1,2\n", "x.csv"), ("1\t2\n", "x.tsv"), ('{"a":1}\n', "x.jsonl"), ('{"a":1},', "x.json")],
)
def test_more_rows_than_the_limit_are_refused_and_as_many_as_it_are_read(
    line: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (csv_reader, opened, parsed):
        monkeypatch.setattr(module, "MAX_ROWS", 100)
    monkeypatch.setattr(json_reader, "MAX_PARTS", 100)

    def table(rows: int) -> str:
        if name.endswith(".json"):
            return f"[{line * (rows - 1)}{line[:-1]}]"
        return {"x.csv": "a,b\n", "x.tsv": "a\tb\n"}.get(name, "") + line * rows

    # The list around them counts as well.
    most = 99 if name == "x.json" else 100
    assert len(tables.read_table(table(most), name).rows) == most
    with pytest.raises(InputError, match="more than 100 rows"):
        tables.read_table(table(101), name)


def test_lines_inside_of_texts_are_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (csv_reader, parsed):
        monkeypatch.setattr(module, "MAX_ROWS", 100)
    essay = '"' + "line\n" * 70 + '"'
    found = tables.read_table("id,submission\n" + f"1,{essay}\n2,{essay}\n", "x.csv")
    assert len(found.rows) == 2


def test_endless_columns_are_refused() -> None:
    wide = "a," * 100_000 + "\n"
    assert "names 100,001 columns; 2,000 is the limit." in dataset_refused(wide, "x.csv")[0][1]
    rows = "\n".join(json.dumps({"submission": "x", f"c{n}": 1}) for n in range(3000))
    assert "names 3,001 columns" in dataset_refused(rows, "x.jsonl")[0][1]


def test_endless_labels_of_one_item_are_refused() -> None:
    row = json.dumps({"submission": "x", "labels": {f"c{n}": "MET" for n in range(20_000)}})
    assert len(dataset_refused(row, "x.jsonl", "[a]")) == 51


def test_a_json_dataset_over_the_limit_of_documents_is_pointed_to_jsonl() -> None:
    text = '[{"submission": "' + "x" * 20_000_000 + '"}]'
    [(_, said)] = dataset_refused(text, "x.json")
    assert "20 MB is the limit. Split it, or write JSONL or CSV." in said
