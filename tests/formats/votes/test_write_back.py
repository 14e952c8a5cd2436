"""Results written into the file that they came from, of which nothing else changes."""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.source.archives import Unpacked
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.write_back import OURS, BackCell, BackItem, WrittenBack, write_back
from tests.formats import foreign_shapes
from tests.formats.office.workbooks import zipped
from tests.formats.votes.foreign_files import KNOWN
from tests.formats.votes.tools import test_inspect_logs, test_promptfoo


def results(*ids: str) -> dict[str, BackItem]:
    """Two criteria each; the second was settled by Kim."""
    cells = {"kind": BackCell("MET", 1.0), "long": BackCell("2", 0.5, "kim", "counted")}
    return {id: BackItem(0.75, cells) for id in ids}


def back(data: bytes | str, name: str, *ids: str) -> WrittenBack:
    return write_back(
        data if isinstance(data, bytes) else data.encode(), name, results(*ids), "run 3"
    )


def items_of(data: bytes, name: str) -> list[str]:
    source = open_bytes(data, name)
    return [item.id for item in read_bundle(source, kind_of(source)).dataset.items]


def test_a_table_gets_columns_and_keeps_its_bytes() -> None:
    table = 'id;text\r\na;"x;\r\ny"\r\n\r\nb;z\r\n'
    made = back(table, "x.csv", "a")
    assert made.data.decode() == (
        "id;text;rubric_studio: score;rubric_studio: kind;rubric_studio: long;"
        "rubric_studio: settled by\r\n"
        'a;"x;\r\ny";0.75;MET;2;kim\r\n\r\nb;z;;;;\r\n'
    )
    assert (made.written, made.records) == (1, 2)


def test_rows_without_ids_go_by_their_number_and_formulas_are_made_harmless() -> None:
    items = {"item-0002": BackItem(None, {"k": BackCell("=1+1", 1.0)})}
    made = write_back("\ufefftext\none\ntwo\n".encode(), "x.csv", items, "run 3")
    assert made.data.decode() == (
        "\ufefftext,rubric_studio: score,rubric_studio: k\none,,\ntwo,,'=1+1\n"
    )


def test_a_file_of_other_items_is_refused() -> None:
    with pytest.raises(InputError, match="None of its 2 records is an item"):
        back("id,text\na,x\nb,y\n", "x.csv", "other")


def test_a_kind_that_takes_no_results_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match="only into Inspect, promptfoo"):
        back(KNOWN["langfuse-scores.json"], "scores.json", "a")


def test_lines_of_json_stay_as_they_are_but_for_a_key() -> None:
    text = '{"id":"a","n":1.50}\n\n{ "id": "b" }\n'
    made = back(text, "x.jsonl", "a").data.decode().splitlines(keepends=True)
    assert made[1:] == ["\n", '{ "id": "b" }\n']
    row = json.loads(made[0])
    assert row.pop(OURS) == {
        "run": "run 3", "score": 0.75, "verdicts": {"kind": "MET", "long": "2"},
        "settled_by": {"long": "kim"},
    }  # fmt: skip
    assert row == {"id": "a", "n": 1.5}


def test_an_indented_document_keeps_its_indent_and_its_letters() -> None:
    text = json.dumps({"items": [{"id": "a", "submission": "é"}]}, indent=4, ensure_ascii=False)
    made = back(text + "\n", "x.json", "a").data.decode()
    assert made.startswith('{\n    "items": [\n        {\n            "id": "a",')
    assert "é" in made
    assert made.endswith("}\n")


@pytest.mark.parametrize("name", test_inspect_logs.FORMS)
def test_a_log_of_inspect_gets_a_score_and_nothing_else_of_it_changes(name: str) -> None:
    data = test_inspect_logs.FORMS[name]
    ids = items_of(data, name)
    made = back(data, name, *ids)
    before, after = samples(data, name), samples(made.data, name)
    assert made.written == made.records == len(before)
    for old, new in zip(before, after, strict=True):
        scores = new["scores"]
        mine = scores.pop(OURS)
        assert mine["value"] == {"kind": 1.0, "long": 0.5}
        assert mine["explanation"] == "kind: MET\nlong: 2"
        assert mine["metadata"]["settled_by"] == {"long": "kim"}
        assert {**new, "scores": scores} == {"scores": {}, **old}
    assert items_of(made.data, name) == ids


def samples(data: bytes, name: str) -> list[Any]:
    if name.endswith(".json"):
        return list(json.loads(data)["samples"])
    unpacked = Unpacked(data, name)
    return [json.loads(unpacked.read(p)) for p in unpacked.members if p.startswith("samples/")]


def test_other_members_of_an_archive_stay() -> None:
    data = test_inspect_logs.FORMS["renamed.zip"]
    made = back(data, "renamed.zip", *items_of(data, "renamed.zip"))
    old, new = (zipfile.ZipFile(io.BytesIO(of)) for of in (data, made.data))
    assert old.namelist() == new.namelist()
    others = [name for name in old.namelist() if not name.startswith("samples/")]
    assert [old.read(name) for name in others] == [new.read(name) for name in others]


@pytest.mark.parametrize("name", test_promptfoo.FORMS)
def test_outputs_of_promptfoo_get_components(name: str) -> None:
    data = test_promptfoo.FORMS[name]
    ids = items_of(data, name)
    made = back(data, name, *ids)
    old, new = (json_rows(of) for of in (data, made.data))
    failed = sum(row["gradingResult"] is None for row in old)
    assert (made.written, made.records) == (len(old) - failed, len(old))
    for before, after in zip(old, new, strict=True):
        if before["gradingResult"] is None:
            assert after == before
            continue
        mine = after["gradingResult"]["componentResults"][-2:]
        assert [(p["pass"], p["score"], p["reason"]) for p in mine] == [
            (True, 1.0, "MET"), (True, 0.5, "counted"),
        ]  # fmt: skip
        kept = copy.deepcopy(after)
        parts = kept["gradingResult"]["componentResults"][:-2]
        kept["gradingResult"]["componentResults"] = parts
        assert kept == before
    assert items_of(made.data, name) == ids


def json_rows(data: bytes) -> list[Any]:
    text = data.decode()
    if text.startswith("["):
        return list(json.loads(text))
    if "\n" in text.strip():
        return [json.loads(line) for line in text.splitlines()]
    return list(json.loads(text)["results"]["results"])


def test_tasks_of_label_studio_get_a_prediction_and_a_persons_annotation() -> None:
    data = KNOWN["label-studio.json"].encode()
    ids = items_of(data, "project.json")
    before, after = json.loads(data), json.loads(back(data, "project.json", *ids).data)
    for old, new in zip(before, after, strict=True):
        prediction, annotation = new["predictions"].pop(), new["annotations"].pop()
        assert prediction["model_version"] == "rubric_studio run 3"
        assert [r["value"] for r in prediction["result"]] == [{"choices": ["MET"]}]
        assert [r["value"] for r in annotation["result"]] == [{"choices": ["2"]}]
        assert all(r["to_name"] for r in (*prediction["result"], *annotation["result"]))
        assert (new["annotations"], new["predictions"] or None) == (
            old["annotations"], old.get("predictions") or None,
        )  # fmt: skip


def test_records_of_argilla_get_suggestions_and_keep_their_own() -> None:
    data = KNOWN["argilla-records.json"].encode()
    ids = items_of(data, "records.json")
    made = back(data, "records.json", *ids)
    rows, old = json.loads(made.data), json.loads(data)
    rows, old = (of if isinstance(of, list) else of["records"] for of in (rows, old))
    for before, after in zip(old, rows, strict=True):
        for name, suggestion in before["suggestions"].items():
            assert after["suggestions"][name] == suggestion
        assert after["suggestions"]["kind"]["value"] == "MET"
        assert after["metadata"]["rubric_studio_long"] == "2"
        assert (after["fields"], after["responses"]) == (before["fields"], before["responses"])


def test_annotations_as_a_table_get_columns_on_every_row_of_their_task() -> None:
    made = back(foreign_shapes.LABEL_STUDIO_TABLE, "project.csv", "1", "2")
    assert made.written == 3
    assert made.data.decode().splitlines()[1].endswith(",0.75,MET,2,kim")


def test_rows_below_titles_and_means_are_no_items() -> None:
    table = "Marks of course 101\nessay,kim,lee\nOne.,1,2\nTwo.,3,4\nThree.,2,2\nMean,2,2.67\n"
    items = {f"item-000{n}": BackItem(float(n)) for n in (1, 2, 3)}
    made = write_back(table.encode(), "x.csv", items, "run 3").data.decode().splitlines()
    assert made[1:] == [
        "essay,kim,lee,rubric_studio: score",
        *(f"{row},{n}" for n, row in enumerate(("One.,1,2", "Two.,3,4", "Three.,2,2"), start=1)),
        "Mean,2,2.67,",
    ]


def rich_workbook() -> bytes:
    """Three sheets with styles, widths, a formula, a merged cell, a note, a rule and a chart."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Essays"
    sheet.append(["id", "text", "marks", "twice"])
    for n in range(3):
        sheet.append([f"e{n}", f"Essay {n}.", n, f"=C{n + 2}*2"])
    sheet["A1"].font = Font(bold=True, color="FF0000")
    sheet["B2"].comment = Comment("A note.", "kim")
    sheet.column_dimensions["B"].width = 41
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = "A1:D4"
    rule = CellIsRule(operator="greaterThan", formula=["1"], font=Font(bold=True))
    sheet.conditional_formatting.add("C2:C4", rule)
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=3, min_row=1, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "H2")
    other = book.create_sheet("Rules")
    other.append(["Mark", "Meaning"])
    other.append([1, "Poor"])
    other.merge_cells("A4:B4")
    book.create_sheet("Hidden").sheet_state = "hidden"
    data = io.BytesIO()
    book.save(data)
    # Excel keeps what a formula gave; openpyxl does not.
    with zipfile.ZipFile(data) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    part = "xl/worksheets/sheet1.xml"
    parts[part] = re.sub(rb"(<f>[^<]*</f>)<v ?/?>(</v>)?", rb"\1<v>4</v>", parts[part])
    return zipped(parts)


def test_a_workbook_gets_columns_and_keeps_all_else() -> None:
    before = rich_workbook()
    made = back(before, "class.xlsx", "e0", "e2")
    assert (made.written, made.records) == (2, 3)
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(made.data)) as new:
        assert old.namelist() == new.namelist()
        changed = [name for name in old.namelist() if old.read(name) != new.read(name)]
    assert changed == ["xl/worksheets/sheet1.xml"]
    old_book, new_book = load_workbook(io.BytesIO(before)), load_workbook(io.BytesIO(made.data))
    for row in old_book["Essays"].iter_rows():
        for cell in row:
            copied = new_book["Essays"][cell.coordinate]
            assert (copied.value, copied.style_id) == (cell.value, cell.style_id)
    # The columns E to H are new.
    added = [[c.value for c in row] for row in new_book["Essays"].iter_rows(min_col=5)]
    assert added == [
        [f"rubric_studio: {name}" for name in ("score", "kind", "long", "settled by")],
        [0.75, "MET", 2, "kim"],
        [None] * 4,
        [0.75, "MET", 2, "kim"],
    ]
    sheet = new_book["Essays"]
    assert (sheet["D2"].value, sheet["B2"].comment.text) == ("=C2*2", "A note.")
    assert (len(sheet._charts), sheet.column_dimensions["B"].width) == (1, 41)
    read_only = load_workbook(io.BytesIO(made.data), read_only=True)["Essays"]
    assert read_only.max_column == 8
