"""`rubric-studio import`: what it keeps, what it says, and with which status it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.cli.main import main
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.datasets.test_submissions import MOODLE
from tests.formats.office.workbooks import VOTES, xlsx, zipped

LONG = "item,rater,label\na,kim,yes\na,gpt-4,no\nb,kim,no\nb,gpt-4,\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "votes.csv"
    file.write_text(LONG)
    return file


def run(tmp_path: Path, *words: object) -> Result:
    return CliRunner().invoke(main, ["import", *map(str, words), "--db", str(tmp_path / "x.db")])


def said(tmp_path: Path, *words: object) -> dict[str, Any]:
    done = run(tmp_path, *words, "--json")
    assert done.exit_code == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_table_becomes_a_run_and_the_second_time_it_is_there_already(
    tmp_path: Path, table: Path
) -> None:
    first = said(tmp_path, table)
    assert {k: first[k] for k in ("kind", "run", "existed", "votes", "failures", "items")} == {
        "kind": "long",
        "run": 1,
        "existed": False,
        "votes": 3,
        "failures": 1,
        "items": 2,
    }
    # A model beside a person: the person votes without counting.
    assert [(r["name"], r["kind"], r["counts"]) for r in first["raters"]] == [
        ("kim", "human", False),
        ("gpt-4", "llm", True),
    ]
    assert first["mapping"]["rater"] == "rater"
    again = said(tmp_path, table)
    assert (again["run"], again["existed"]) == (1, True)
    assert "holds these votes already" in run(tmp_path, table).stdout


def test_a_dry_run_keeps_nothing(tmp_path: Path, table: Path) -> None:
    found = said(tmp_path, table, "--dry-run")
    assert (found["dry_run"], found["run"], found["votes"]) == (True, None, 3)
    assert Store(tmp_path / "x.db").counts().runs == 0
    assert "Would import 3 votes" in run(tmp_path, table, "--dry-run").stdout


def test_what_was_guessed_can_be_changed(tmp_path: Path, table: Path) -> None:
    found = said(tmp_path, table, "--map", "kind:kim=llm", "--map", "only=cites")
    assert [r["kind"] for r in found["raters"]] == ["llm", "llm"]
    assert found["mapping"]["only"] == "cites"


@pytest.mark.parametrize(
    ("change", "says"),
    [("itm=item", "Did you mean 'item'"), ("item", "FIELD=COLUMN"), ("others=robot", "others")],
)
def test_a_change_that_is_not_understood_ends_with_status_2(
    tmp_path: Path, table: Path, change: str, says: str
) -> None:
    done = run(tmp_path, table, "--map", change)
    assert done.exit_code == 2
    assert says in done.stderr


def test_a_bad_line_ends_with_status_2_and_its_number(tmp_path: Path, table: Path) -> None:
    table.write_text(LONG + "c,kim\n")
    done = run(tmp_path, table, "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["problems"][0]["line"] == 6
    assert Store(tmp_path / "x.db").counts().runs == 0


def test_a_rubric_and_a_dataset_are_taken_alone(tmp_path: Path) -> None:
    rubric, items = tmp_path / "r.yaml", tmp_path / "items.jsonl"
    rubric.write_text("name: R\ncriteria:\n- {name: cites, requirement: Cites a source.}\n")
    items.write_text('{"id": "a", "submission": "x"}\n')
    found = said(tmp_path, rubric)
    assert (found["kind"], found["name"], found["criteria"]) == ("rubric", "R", 1)
    found = said(tmp_path, items, "--rubric", rubric)
    assert (found["kind"], found["items"]) == ("dataset", 1)
    store = Store(tmp_path / "x.db")
    assert [len(store.rubrics.list()), len(store.datasets.list())] == [1, 1]
    assert "is kept" in run(tmp_path, rubric).stdout


def test_what_a_dataset_holds_is_said_with_its_labels(tmp_path: Path) -> None:
    file = tmp_path / "essays.csv"
    file.write_text("id,submission,label:tone\n1,A lamp in the hall.,good\n2,No lamp.,\n")
    for options in (["--dry-run"], []):
        told = run(tmp_path, file, *options).stdout
        assert "It has 2 items, with labels: 'tone' 1." in told


def test_a_rubric_and_a_dataset_may_come_beside_the_votes(tmp_path: Path, table: Path) -> None:
    rubric, items = tmp_path / "r.yaml", tmp_path / "items.jsonl"
    rubric.write_text("name: R\ncriteria:\n- {name: cites, requirement: Cites a source.}\n")
    items.write_text('{"id": "a", "submission": "x"}\n{"id": "b", "submission": "y"}\n')
    found = said(tmp_path, table, "--rubric", rubric, "--dataset", items)
    # The rubric has one criterion, so the table need not name it.
    read, empty = found["notices"]
    assert empty["message"] == "1 answer is empty (blank 1)."
    assert found["votes"] == 3
    assert read["message"].endswith("item 'item', rater 'rater', label 'label'.")
    store = Store(tmp_path / "x.db")
    assert store.runs.row(1).rubric_name == "R"
    assert store.datasets.item(store.runs.row(1).dataset_version_id, "b").submission == "y"


def test_a_file_that_is_not_there_ends_with_status_2(tmp_path: Path) -> None:
    done = run(tmp_path, tmp_path / "nowhere.csv")
    assert (done.exit_code, "no such file" in done.stderr) == (2, True)


def test_the_mapping_of_a_folder_is_not_to_be_changed(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "votes.csv").write_text("x")
    done = run(tmp_path, tmp_path / "f", "--map", "item=x")
    assert (done.exit_code, "--map is for tables" in done.stderr) == (2, True)


def test_a_change_to_nothing_takes_a_column_away() -> None:
    seen = import_files.look_at_bytes(b"item,rater,label,reason\na,k,yes,r\n", "x.csv")
    assert seen.mapping is not None
    assert seen.mapping.reason == "reason"
    changed = import_files.change_mapping(seen, ["reason="])
    assert changed is not None
    assert changed.reason is None


def test_a_sheet_of_a_workbook_is_named_and_its_votes_agree_as_worked_out_by_hand(
    tmp_path: Path,
) -> None:
    book = tmp_path / "class.xlsx"
    book.write_bytes(xlsx({"Marks": VOTES, "Old": VOTES}))
    refused = run(tmp_path, book)
    assert refused.exit_code == 2
    assert "'Marks', 'Old'" in refused.stderr
    assert "--sheet" in refused.stderr
    found = said(tmp_path, book, "--sheet", "Marks")
    assert (found["kind"], found["votes"], found["items"]) == ("wide", 16, 8)
    done = CliRunner().invoke(main, ["metrics", "1", "--json", "--db", str(tmp_path / "x.db")])
    group = json.loads(done.stdout)["criteria"]["rating"]["groups"]["human"]
    # Six of eight agree, each rater says yes four times: (.75 - .5) / (1 - .5).
    assert group["percent_agreement"] == 0.75
    assert group["mean_pairwise_cohen"]["none"] == pytest.approx(0.5)


def test_a_workbook_that_cannot_be_read_ends_with_one_sentence_and_nothing_kept(
    tmp_path: Path,
) -> None:
    book = tmp_path / "class.xlsx"
    book.write_bytes(xlsx({"Marks": VOTES})[:700])
    done = run(tmp_path, book)
    assert done.exit_code == 2
    assert "cannot be opened" in done.stderr
    assert not (tmp_path / "x.db").exists() or not Store(tmp_path / "x.db").runs.list()


def test_submissions_are_imported_from_an_archive_and_estimated_from_a_folder(
    tmp_path: Path,
) -> None:
    packed = tmp_path / "essays.zip"
    packed.write_bytes(zipped(MOODLE))
    found = said(tmp_path, packed)
    # Four files of three participants.
    assert (found["kind"], found["items"]) == ("dataset", 3)
    folder, rubric = tmp_path / "essays", tmp_path / "rubric.yaml"
    rubric.write_text("criteria:\n- {name: clear, requirement: Is it clear?}\n")
    folder.mkdir()
    for name in ("a.txt", "b.md"):
        (folder / name).write_text(f"Text {name}")
    assert said(tmp_path, folder, "--dry-run")["items"] == 2
    words = ["grade", rubric, folder, "--judge", "some-model", "--estimate", "--json"]
    done = CliRunner().invoke(main, [*map(str, words), "--db", str(tmp_path / "x.db")])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["items"] == 2


GERMAN = "item,rater,label\na,kim,höflich\na,lee,höflich\nb,kim,grob\n"
GERMAN += "b,lee,weiß nicht\nc,kim,höflich\nc,lee,grob\n"


def test_their_words_become_our_options_and_all_unknown_ones_are_named_at_once(
    tmp_path: Path,
) -> None:
    votes, rubric = tmp_path / "votes.csv", tmp_path / "rubric.yaml"
    votes.write_text(GERMAN)
    rubric.write_text("criteria:\n- {name: polite, requirement: Is it polite?}\n")
    refused = run(tmp_path, votes, "--rubric", rubric)
    assert refused.exit_code == 2
    (line,) = [one for one in refused.stderr.splitlines() if "not options" in one]
    assert "'höflich' (3), 'grob' (2), 'weiß nicht' are not options of 'polite'" in line
    assert "--map-label 'polite:höflich=OPTION'" in line
    words = ["--map-label", "polite:höflich=MET", "--map-label", "grob=UNMET"]
    away = ["--map-label", "weiß nicht=Cannot assess"]
    found = said(tmp_path, votes, "--rubric", rubric, *words, *away)
    # Six answers, of which one says that nobody knows.
    assert (found["votes"], found["abstentions"]) == (6, 1)
    assert found["mapping"]["words"]["polite"] == {"höflich": "MET"}
    done = CliRunner().invoke(main, ["metrics", "1", "--json", "--db", str(tmp_path / "x.db")])
    group = json.loads(done.stdout)["criteria"]["polite"]["groups"]["human"]
    # Of the two items that both answered, they agree on one.
    assert group["percent_agreement"] == 0.5
    assert run(tmp_path, votes, "--map-label", "höflich").exit_code == 2


def test_words_for_labels_of_a_dataset_are_said_on_the_command_line(tmp_path: Path) -> None:
    rubric = "criteria:\n- {name: tone, requirement: Friendly?, weight: 1}\n"
    (tmp_path / "r.yaml").write_text(rubric)
    table = tmp_path / "t.csv"
    table.write_text("id,submission,label:tone\na,Hello,höflich\nb,Go away,grob\n")
    place = ("--db", str(tmp_path / "d.db"))
    given = ("import", str(table), "--rubric", str(tmp_path / "r.yaml"), *place)
    refused = CliRunner().invoke(main, given)
    assert refused.exit_code == 2
    assert "--map-label 'tone:höflich=OPTION'" in refused.output
    said = ("--map-label", "tone:höflich=MET", "--map-label", "grob=UNMET")
    assert CliRunner().invoke(main, (*given, *said)).exit_code == 0
    store = Store(tmp_path / "d.db")
    (row,) = store.datasets.list()
    items = store.datasets.load(store.datasets.latest(row.id).id).items
    assert [item.labels["tone"].label for item in items] == ["MET", "UNMET"]
