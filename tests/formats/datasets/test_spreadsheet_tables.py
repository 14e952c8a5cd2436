"""Tables as spreadsheets write them: titles above the header, and other encodings than UTF-8."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.tables.table import read_table
from tests.formats.refusals import refused


@pytest.mark.parametrize(
    "text",
    [
        "Essays of spring\nid,answer,mark\na,x,1\nb,y,2\n",
        "Essays of spring,,\n,,\nid,answer,mark\na,x,1\nb,y,2\n",
        "Course:;Logic\nTerm:;Spring\n\nid;answer;mark\na;x;1\nb;y;2\n",
        "Essays of spring\n\nid\tanswer\tmark\na\tx\t1\nb\ty\t2\n",
    ],
)
def test_titles_above_the_header_are_left_out_and_said(text: str) -> None:
    table = read_table(text, "x.csv")
    assert table.columns == ("id", "answer", "mark")
    assert [row["mark"] for row in table.rows] == ["1", "2"]
    assert "above the header" in table.notices[0].message


@pytest.mark.parametrize(
    "text",
    [
        "answer\nParis, France\nRome, Italy\n",
        "id,answer\n1,a,b\n2,c,d\n",
        "answer\nOne, two, three\nFour, five, six\n",
    ],
)
def test_texts_with_commas_and_no_quotes_are_refused_as_before(text: str) -> None:
    assert "cells, but the header names" in refused(lambda: read_table(text, "x.csv"))[0][1]


def test_a_western_encoding_and_utf_16_are_read_and_said() -> None:
    text = "id;answer\n1;Köln – “schön”, 5 €\n2;Straße\n"
    for encoding, word in (("cp1252", "Windows-1252"), ("utf-16", "UTF-16")):
        table = read_table(text.encode(encoding), "x.csv")
        assert [row["answer"] for row in table.rows] == ["Köln – “schön”, 5 €", "Straße"]
        assert word in table.notices[0].message
        # What a table's reader says comes with the dataset.
        assert word in str(parse_dataset(text.encode(encoding), "x.csv").notices[0])
    assert read_table(text.encode(), "x.csv").notices == ()


@pytest.mark.parametrize(
    "data",
    [
        # Russian in its own one-byte encoding: most letters are beyond ASCII.
        "id;answer\n1;Привет всем вам\n".encode("cp1251"),
        # UTF-8 that breaks off within a letter has other letters of UTF-8 before.
        "id;answer\n1;é è ü".encode()[:-1],
        # A byte that Windows-1252 has no letter for.
        b"id;answer\n1;long enough text \x81 here\n",
    ],
)
def test_another_encoding_is_not_guessed(data: bytes) -> None:
    assert "is not UTF-8" in refused(lambda: read_table(data, "x.csv"))[0][1]


def _row(id: str, asked: str, said: str, mark: float | None) -> dict[str, Any]:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": said}]
    inside = {"question": asked}
    return {"id": id, "messages": turns, "inputs": inside, "mark": mark, "raw": b"\x00"}


ROWS = [_row("a", "Is it?", "Yes.", 2.0), _row("b", "So?", "No.", None)]


def columnar(kind: str) -> bytes:
    buffer = io.BytesIO()
    table: Any = pa.Table.from_pylist(ROWS)
    if kind == "parquet":
        pq.write_table(table, buffer)
    elif kind == "feather":
        feather.write_feather(table, buffer)
    else:
        with pa.ipc.new_stream(buffer, table.schema) as writer:
            writer.write_table(table)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream"])
def test_files_of_columns_keep_their_nested_rows(kind: str) -> None:
    data = columnar(kind)
    table = read_table(data, "no.ending")
    assert table.columns == ("id", "messages", "inputs", "mark")
    assert table.rows[0] == {key: ROWS[0][key] for key in table.columns}
    assert table.rows[1]["mark"] is None
    assert "'raw' holds bytes" in table.notices[0].message
    changes = ["submission=messages[-1].content", "prompt=inputs.question"]
    items = parse_dataset(data, "x", changes=changes).value.items
    assert [(i.text, i.prompt) for i in items] == [("Yes.", "Is it?"), ("No.", "So?")]


def test_a_truncated_file_of_columns_is_refused_with_one_sentence() -> None:
    for kind in ("parquet", "feather", "stream"):
        data = columnar(kind)
        with pytest.raises(InputError, match=r"cannot be read|has no rows"):
            read_table(data[: len(data) // 2], "x.parquet")


def test_lines_that_begin_with_a_hash_precede_the_header_and_are_said() -> None:
    notes = "# Written on Monday, 3 Feb\n# AGENT: a reader (one, two)\n"
    rows = "".join(f"p{n},s{n},{n % 7}\n" for n in range(5))
    table = read_table(f"{notes}person,sentence,rating\n{rows}", "trials.csv")
    assert (table.columns, len(table.rows), table.lines[0]) == (
        ("person", "sentence", "rating"),
        5,
        4,
    )
    assert "The 2 lines above the header are left out: '# Written on" in table.notices[0].message
    headed = read_table(f"#person,sentence,rating\n{rows}", "trials.csv")
    assert (headed.columns[0], len(headed.rows)) == ("#person", 5)
