"""Markdown: a table with prose around it, and texts below headings."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.known import kind_of
from core.formats.tables.table import read_table
from core.formats.votes.sources import open_bytes

TEXTS = """# Class of the harbour

Topic: A day at sea.

## 1. Ann

I like boats, and the sea.

### In the evening

We sail home; it is late.

## 2. Bob

The sea was rough.
```
## no heading
```
"""


def test_each_text_below_a_heading_is_an_item() -> None:
    read = parse_dataset(TEXTS, "texts.md")
    assert [(item.id, item.prompt) for item in read.value.items] == [
        ("1. Ann", "A day at sea."),
        ("2. Bob", "A day at sea."),
    ]
    first, second = (item.text for item in read.value.items)
    assert first.startswith("I like boats, and the sea.")
    assert first.endswith("it is late.")
    assert second.endswith("## no heading\n```")
    said = " ".join(map(str, read.notices))
    assert "Read as 2 texts, one below each heading with ##." in said
    assert "left out: 'Class of the harbour'" in said
    assert kind_of(open_bytes(TEXTS.encode(), "texts.md")) == "dataset"


def test_texts_without_a_topic_have_no_prompt() -> None:
    text = "# Ann\nI like boats.\n# Bob\nI do not, really.\n"
    items = parse_dataset(text, "texts.md").value.items
    assert [(item.id, item.text, item.prompt) for item in items] == [
        ("Ann", "I like boats.", ""),
        ("Bob", "I do not, really.", ""),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# One\n\nI like boats, and the sea.\nAll of it.\n", "text.md"),
        ("I like boats.\n\nYou do not.\n", "text.md"),
        ("I like boats.\n\nYou, on the other hand, do not.\n", "text.txt"),
    ],
)
def test_prose_is_refused_as_prose(text: str, name: str) -> None:
    with pytest.raises(InputError, match="holds prose, no table"):
        read_table(text, name)


def test_a_table_in_markdown_is_a_table_of_any_kind() -> None:
    text = "# Marks\n\n| id | answer | kim |\n|---|---|--:|\n| a | Yes, it is. | 3 |\n| b | No. |\n"
    table = read_table(text, "marks.md")
    assert table.columns == ("id", "answer", "kim")
    assert table.rows == (
        {"id": "a", "answer": "Yes, it is.", "kim": "3"},
        {"id": "b", "answer": "No.", "kim": ""},
    )
    assert table.lines == (5, 6)
    assert "left out: 'Marks'" in str(table.notices[0])


def test_a_row_with_too_many_cells_and_a_second_table_are_refused() -> None:
    text = "| id | answer |\n|---|---|\n| a | one | two |\n"
    with pytest.raises(InputError, match="line 3: has 3 cells"):
        read_table(text, "x.md")
    with pytest.raises(InputError, match="holds 2 tables"):
        read_table(f"{text}\n{text}", "x.md")
    with pytest.raises(InputError, match="no rows"):
        read_table("| id | answer |\n|---|---|\n", "x.md")


def test_lines_of_a_text_file_are_still_a_table_of_one_column() -> None:
    assert len(read_table("answer\nI like boats.\nI do not.\n", "x.txt").rows) == 2


@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000 + "x\n",
        "# " + " " * 200_000 + "x" + "# " * 100_000 + "x\n",
        "# a\n" * 100_000,
        f"| a | b |\n|---|---|\n| {'**a ' * 50_000} | {'*' * 100_000} |\n",
        f"| a | b |\n|{' ' * 200_000}\n{'-' * 200_000} |x\n",
    ],
    ids=("spaces", "signs", "headings", "stars", "rules"),
)
def test_a_hostile_text_is_read_or_refused_at_once(text: str) -> None:
    began = time.process_time()
    with suppress(InputError):
        read_table(text, "x.md")
    assert time.process_time() - began < 3


def test_a_heading_keeps_its_own_signs() -> None:
    items = parse_dataset("## C#\nIt is a language.\n## B ##\nSo is it.\n", "x.md").value.items
    assert [item.id for item in items] == ["C#", "B"]
