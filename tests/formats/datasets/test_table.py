"""Tables: delimiters, quoting, ragged rows, bad lines; each row with the line it begins on."""

from __future__ import annotations

import pytest

from core.domain.dataset import MAX_TEXT
from core.formats.tables.table import read_table
from tests.formats.refusals import refused


def faults(data: str | bytes, name: str) -> list[tuple[int | None, str]]:
    return refused(lambda: read_table(data, name))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [("id", "answer"), ("1", '"a, b; c | d"'), ("2", "x")]
    text = "\n".join(delimiter.join(row) for row in rows)
    table = read_table(text, "x.csv")
    assert table.columns == ("id", "answer")
    assert table.rows[0]["answer"] == "a, b; c | d"


def test_commas_in_text_do_not_win_over_the_delimiter_of_the_header() -> None:
    table = read_table("id;answer\n1;one, two, three\n2;one, two\n", "x.csv")
    assert table.rows[1] == {"id": "2", "answer": "one, two"}


def test_a_tsv_is_split_at_tabs_whatever_else_it_holds() -> None:
    assert read_table("a,b\tc\n1,2\t3\n", "x.tsv").columns == ("a,b", "c")


def test_one_column_is_a_table_too() -> None:
    assert read_table("answer\nParis\nRome\n", "x.csv").rows == (
        {"answer": "Paris"},
        {"answer": "Rome"},
    )


def test_quoted_line_breaks_and_quotes_stay_in_the_cell_and_lines_are_the_rows_first() -> None:
    table = read_table('id,answer\r\n1,"a\nb\n""c"""\r\n2,d\r\n', "x.csv")
    assert table.rows[0]["answer"] == 'a\nb\n"c"'
    assert table.lines == (2, 5)


def test_blank_rows_are_passed_over() -> None:
    assert read_table("id,answer\n\n1,x\n,\n2,y\n", "x.csv").lines == (3, 5)


def test_cells_as_long_as_an_item_s_text_may_be_are_read() -> None:
    # Python's csv module stops at 131,072 characters unless it is told otherwise.
    text = f"id,answer\n1,{'x' * 300_000}\n"
    assert len(read_table(text, "x.csv").rows[0]["answer"]) == 300_000
    [(line, said)] = faults(f"id,answer\n1,{'x' * (MAX_TEXT + 2)}\n", "x.csv")
    assert line == 2
    assert "A cell may hold 2,000,000 characters." in said


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("id,answer\n1,x\n2,y,z\n", 3, "has 3 cells, but the header names 2 columns."),
        ("id,answer,c\n1,x,\n\n2,y\n", 4, "has 2 cells, but the header names 3 columns."),
        ("id,a,a\n1,2,3\n", 1, "names the column 'a' twice."),
        ('id,answer\n1,"x\n2,y\n', 2, "is not valid CSV"),
        ('id,answer\n1,x\n2,"y"z\n', 3, "is not valid CSV"),
        ("id,answer\n", 1, "has a header, but no rows."),
    ],
)
def test_a_bad_row_is_named_with_its_line(text: str, line: int, words: str) -> None:
    [(found, said)] = faults(text, "x.csv")
    assert found == line
    assert words in said


def test_every_ragged_row_is_named_up_to_fifty() -> None:
    found = faults("a,b\n" + "1\n" * 60, "x.csv")
    assert [line for line, _ in found[:3]] == [2, 3, 4]
    assert found[-1] == (None, "and 10 more.")


def test_a_nul_or_a_wrong_encoding_in_a_csv_is_refused_with_its_line() -> None:
    assert faults(b"id,answer\n1,x\0y\n", "x.csv")[0][0] == 2
    # A byte that no usual encoding has a letter for.
    assert faults(b"id,answer\n1,\x81\n", "x.csv")[0][0] == 2


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"id": 1}\n{"id": 2, "submi', 2, "is not valid JSON: unterminated string"),
        ('{"id": 1}\n\n[1]\n', 3, "is a list, not an item."),
        ('{"id": 1}\n{"id": 1, "id": 2}\n', 2, "id: is given twice."),
        ('{"id": 1}\n{"x": NaN}\n', 2, "is NaN"),
        ('{"id": 1}\n{"x": "\\ud83d"}\n', 2, "half of a surrogate pair"),
        ('{"id": 1}\n{"x": ' + "[" * 200_000 + "\n", 2, "nested more than 64"),
    ],
)
def test_a_bad_line_of_a_jsonl_is_named(text: str, line: int, words: str) -> None:
    [(found, said)] = faults(text, "x.jsonl")
    assert found == line
    assert words in said


def test_every_bad_line_of_a_jsonl_is_named_at_once() -> None:
    assert [line for line, _ in faults('{\n{"id": 1}\nnull\n', "x.jsonl")] == [1, 3]


def test_json_lists_and_documents_and_yaml_have_lines() -> None:
    rows = '[\n{"id": 1},\n\n{"id": 2}]'
    assert read_table(rows, "x.json").lines == (2, 4)
    table = read_table(f'{{"name": "n", "items": {rows}}}', "x.json")
    assert (table.lines, table.header) == ((2, 4), {"name": "n"})
    assert read_table("- id: 1\n- id: 2\n", "x.yaml").lines == (1, 2)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"name": "x"}', 1, "is a mapping, not a list of items."),
        ('[\n{"id": 1},\n3]', 3, "items 2: is a number, not an item."),
        ("3", 1, "is a number, not a list of items."),
    ],
)
def test_json_without_items_is_refused(text: str, line: int, words: str) -> None:
    [(found, said)] = faults(text, "x.json")
    assert found == line
    assert words in said


def test_the_kind_is_found_where_the_name_does_not_tell() -> None:
    assert read_table('{"a": 1}\n{"a": 2}\n', "pasted").kind == "jsonl"
    assert read_table('{"a": 1}\n{"a": 2}\n', "misnamed.json").kind == "jsonl"
    assert read_table('[{"a": 1}]', "pasted").kind == "json"
    assert read_table('{"items": [\n{"a": 1}]}', "pasted").kind == "json"
    assert read_table("a,b\n1,2\n", "pasted").kind == "csv"


def test_words_that_stand_in_many_lines_are_kept_once() -> None:
    # Each line is JSON of its own; of 66,667 items names and labels were half of the memory.
    lines = "".join(f'{{"id": "{at}", "labels": {{"Tone": "fair"}}}}\n' for at in range(3))
    first, *others = read_table(lines, "items.jsonl").rows
    for row in others:
        assert list(map(id, row)) == list(map(id, first))
        assert row["labels"]["Tone"] is first["labels"]["Tone"]
        assert row["id"] != first["id"]
