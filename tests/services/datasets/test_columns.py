"""`--map` of a dataset: what a person says of its columns is what is read, headless too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.cli.main import main
from core.errors import InputError
from core.formats.datasets.dataset_file import build_dataset, parse_dataset
from core.formats.datasets.mapping import guess_mapping
from core.formats.tables.table import read_table
from core.store.store import Store

RUBRIC = "criteria:\n- {name: short, requirement: Is short.}\n"
CHATS = "".join(
    json.dumps(
        {
            "key": f"c{n}",
            "note": "kept",
            "messages": [
                {"role": "user", "content": f"Question {n}?"},
                {"role": "assistant", "content": f"Answer {n}."},
            ],
        }
    )
    + "\n"
    for n in range(3)
)
SAYS = ("submission=messages[-1].content", "prompt=messages[0].content")


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    file = tmp_path / "chats.jsonl"
    file.write_text(CHATS)
    return file


def run(tmp_path: Path, *words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words), "--db", str(tmp_path / "x.db"), "--json"])


def mapped(*changes: str) -> list[str]:
    return [word for change in changes for word in ("--map", change)]


def test_import_reads_the_column_that_was_said(tmp_path: Path, chats: Path) -> None:
    done = run(tmp_path, "import", chats, "--format", "dataset", *mapped(*SAYS))
    assert done.exit_code == 0, done.stderr
    store = Store(tmp_path / "x.db")
    item = store.datasets.item(json.loads(done.stdout)["dataset_version"], "c1")
    assert (item.submission, item.prompt) == ("Answer 1.", "Question 1?")
    assert item.meta["note"] == "kept"


def test_grade_reads_the_column_that_was_said(tmp_path: Path, chats: Path) -> None:
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(RUBRIC)
    judge = ("--judge", "some-model", "--api-base", "http://127.0.0.1:9/v1")
    words = ("grade", rubric, chats, *judge, "--estimate")
    refused = run(tmp_path, *words)
    assert refused.exit_code == 2
    assert "Say which column it is: --map 'submission=messages[-1].content'." in refused.stderr
    done = run(tmp_path, *words, *mapped(*SAYS))
    assert done.exit_code == 0, done.stderr
    # Three items, one criterion, one judge.
    assert json.loads(done.stdout)["calls"] == 3


@pytest.mark.parametrize(
    ("table", "changes", "found"),
    [
        (
            "answer,text\nwrong,right\n",
            ["submission=text"],
            {"submission": "right", "meta": {"answer": "wrong"}},
        ),
        ("who,text\nann,x\n", ["id=who"], {"id": "ann", "submission": "x"}),
        ("text,a,b\nx,1,2\n", ["context=a", "context=b"], {"context": {"a": "1", "b": "2"}}),
        ("text,a\nx,1\n", ["meta="], {"meta": {}}),
        ("text,kind\nx,p;q\n", ["tags=kind", "system="], {"tags": ("p", "q"), "system": ""}),
        ('text,raw\nx,"{""reply"": ""y""}"\n', ["submission=raw.reply"], {"submission": "y"}),
    ],
)
def test_a_column_that_gets_a_place_leaves_the_one_it_had(
    table: str, changes: list[str], found: dict[str, Any]
) -> None:
    item = parse_dataset(table, "items.csv", changes=changes).value.items[0]
    assert {name: getattr(item, name) for name in found} == found


def test_a_label_of_a_criterion_is_said_by_its_name() -> None:
    changes = ["label:short=gold", "reason:short=why"]
    item = parse_dataset("text,gold,why\nx,MET,few\n", "i.csv", changes=changes).value.items[0]
    assert (item.labels["short"].label, item.labels["short"].reason) == ("MET", "few")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("submision=text", "Did you mean 'submission'"),
        ("submission", "Write FIELD=COLUMN"),
        ("submission=txt", "'txt', which is not there"),
        ("submission=text[0].x", "'text[0].x', which is not there"),
    ],
)
def test_what_is_not_understood_is_refused(change: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_dataset("text,other\nx,y\n", "items.csv", changes=[change])
    assert says in str(refused.value)


def test_a_row_that_lacks_the_place_is_named_with_its_line() -> None:
    rows = '{"m": [{"c": "x"}]}\n{"m": []}\n'
    with pytest.raises(InputError) as refused:
        parse_dataset(rows, "items.jsonl", changes=["submission=m[0].c"])
    assert [(p.line, p.message) for p in refused.value.problems] == [(2, "is missing.")]


def test_what_the_app_says_of_a_table_without_a_submission_names_neither_app_nor_option() -> None:
    table = read_table("a,b\n1,2\n", "items.csv")
    with pytest.raises(InputError) as refused:
        build_dataset(table, guess_mapping(table), "items.csv")
    said = str(refused.value)
    assert "Say which column it is" in said
    assert "the app" not in said
    assert "--map" not in said
