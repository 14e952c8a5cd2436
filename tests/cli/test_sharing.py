"""convert, schema, and export with a roster, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from core.cli import import_export, main, rubrics
from core.services.exports.grade_lists import GradeChoices
from core.services.rubrics.import_export import SHARE_FORMS
from core.store.store import Store
from tests.services.exports.class_of_four import NOW, RUBRIC, class_of_four

WORKSHEET = "Identifier,Grade,Maximum Grade\nParticipant 7,,20\nParticipant 8,3,20\n"


def run_cli(*arguments: str) -> Any:
    return CliRunner().invoke(main, list(arguments))


def test_the_forms_and_choices_of_help_are_those_there_are() -> None:
    assert rubrics.FORMS == SHARE_FORMS
    assert set(import_export.CHOICES) == set(GradeChoices.__dataclass_fields__)


def test_a_rubric_goes_from_one_form_to_another_and_back(tmp_path: Path) -> None:
    source = tmp_path / "lab.yaml"
    source.write_text("name: Lab\ncriteria: [{name: a, requirement: b, weight: 3}]\n")
    done = run_cli("convert", str(source), "--to", "canvas", "--out", str(tmp_path))

    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "lab.csv").read_text().startswith("Rubric Name,Criteria Name")
    back = run_cli("convert", str(tmp_path / "lab.csv"), "--to", "json")
    assert json.loads(back.stdout)["criteria"][0] == {
        "name": "a",
        "requirement": "b",
        "weight": 3,
        "scale": "binary",
    }


def test_several_rubrics_of_a_file_go_into_a_folder_that_is_made(tmp_path: Path) -> None:
    triple = "Rating Name,Rating Description,Rating Points"
    rows = [f"Rubric Name,Criteria Name,{triple},{triple}", "One,a,Good,,2,Bad,,0"]
    rows += ["Two,b,Good,,1,Bad,,0"]
    source = tmp_path / "both.csv"
    source.write_text("\n".join(rows))
    refused = run_cli("convert", str(source), "--to", "yaml")
    assert (refused.exit_code, "holds 2 rubrics; name a folder" in refused.stderr) == (2, True)

    done = run_cli("convert", str(source), "--to", "yaml", "--out", str(tmp_path / "new"))
    assert done.exit_code == 0, done.stderr
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["one.yaml", "two.yaml"]


def test_losses_are_said_beside_the_file_and_nothing_is_written_over(tmp_path: Path) -> None:
    source = tmp_path / "lab.yaml"
    source.write_text("guidelines: Be kind.\ncriteria: [{name: a, requirement: b}]\n")
    first = run_cli("convert", str(source), "--to", "csv", "--out", str(tmp_path / "x.csv"))
    again = run_cli("convert", str(source), "--to", "csv", "--out", str(tmp_path / "x.csv"))

    assert "Note: guidelines: The guidelines are left out." in first.stderr
    assert (again.exit_code, "--force" in again.stderr) == (2, True)


def test_a_rubric_of_the_data_file_is_named_by_its_number(store: Store) -> None:
    made = store.rubrics.create(RUBRIC, now=NOW)
    done = run_cli("convert", str(made.rubric_id), "--to", "sheet", "--db", str(store.path))

    assert "<h1>Lab report</h1>" in done.stdout
    missing = run_cli("convert", "77", "--to", "yaml", "--db", str(store.path))
    assert missing.exit_code == 2


def test_grades_are_shown_first_and_written_byte_for_byte(store: Store, tmp_path: Path) -> None:
    run = str(class_of_four(store))
    roster = tmp_path / "class.csv"
    roster.write_bytes(WORKSHEET.encode())
    common = ("export", run, "--format", "moodle", "--roster", str(roster), "--db", str(store.path))
    shown = run_cli(*common, "--dry-run")

    assert shown.exit_code == 0, shown.stderr
    assert "Participant 7  Grade   (empty)  20" in shown.stderr
    assert "Nothing is written" in shown.stderr
    assert list(tmp_path.glob("*graded*")) == []
    done = run_cli(*common, "--out", str(tmp_path / "out.csv"))
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "out.csv").read_text() == WORKSHEET.replace("7,,20", "7,20,20")
    piped = run_cli(*common, "--out", "-", "--overwrite")
    assert (
        piped.stdout == "Identifier,Grade,Maximum Grade\nParticipant 7,20,20\nParticipant 8,12,20\n"
    )


def test_what_does_not_go_together_is_refused(store: Store, tmp_path: Path) -> None:
    run = str(class_of_four(store))
    roster = tmp_path / "class.csv"
    roster.write_text(WORKSHEET)
    db = ("--db", str(store.path))
    for arguments, word in (
        (("--format", "moodle"), "--roster"),
        (("--format", "csv", "--roster", str(roster)), "canvas or moodle"),
        (("--format", "canvas", "--roster", str(roster)), "--format moodle"),
        (("--format", "canvas", "--maximum", "10"), "goes with --roster"),
        (("--format", "canvas", "--dry-run"), "goes with --roster"),
    ):
        done = run_cli("export", run, *arguments, *db)
        assert (done.exit_code, word in done.stderr) == (2, True), done.stderr


def test_the_schema_is_printed() -> None:
    assert json.loads(run_cli("schema").stdout)["title"] == "Rubric Studio rubric"


def test_a_file_that_would_be_empty_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "faults.yaml"
    source.write_text("criteria: [{name: a, requirement: Invents a figure., weight: -3}]\n")
    done = run_cli("convert", str(source), "--to", "canvas", "--out", str(tmp_path / "x.csv"))

    assert done.exit_code == 2
    assert "CSV for Canvas would be empty: no criterion earns points." in done.stderr
    assert not (tmp_path / "x.csv").exists()


def test_a_rubric_is_converted_from_standard_input() -> None:
    text = "criteria: [{name: a, requirement: b, weight: 3}]\n"
    done = CliRunner().invoke(main, ["convert", "-", "--to", "json"], input=text)

    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["criteria"][0]["name"] == "a"
