"""A run in every form that leaves the app, and back where a form can come back."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.cli import import_export, main
from core.errors import NotFound
from core.formats.folder import read_folder
from core.formats.source.csv_writer import csv_text
from core.formats.votes.experiments import read_experiment
from core.formats.votes.vote_tables import read_votes
from core.services.agreement.metrics_report import metrics_source
from core.services.exports.run_export import FORMATS, as_csv, export, zip_archive
from core.store.store import Store
from tests.pages.graded import CALL, FIRST, graded
from tests.services.reports.made import decided


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def run_cli(store: Store, *arguments: str) -> Any:
    return CliRunner().invoke(main, ["export", *arguments, "--db", str(store.path)])


def test_long_csv_has_one_row_per_judgement(store: Store) -> None:
    found = rows(export(store, graded(store), "csv").text)

    # 10 votes and 2 failures (tests.pages.graded).
    assert len(found) == 12
    first = found[0]
    assert (first["item_id"], first["criterion_id"], first["rater_id"]) == (FIRST, "Clear", "ann")
    assert (first["vote"], first["vote_value"], first["status"]) == ("MET", "1.0", "answered")
    # "Rain falls." opens the submission.
    assert (first["evidence_start"], first["evidence_end"]) == ("0", "11")
    lost = [one for one in found if one["status"].startswith("failed")]
    assert [(one["vote"], one["status"]) for one in lost] == [("", "failed: missing_key")] * 2


def test_jsonl_says_the_same(store: Store) -> None:
    run = graded(store)
    lines = [json.loads(line) for line in export(store, run, "jsonl").text.splitlines()]

    assert len(lines) == 12
    assert [one["vote"] or "" for one in lines] == [
        one["vote"] for one in rows(export(store, run, "csv").text)
    ]


def test_text_that_a_spreadsheet_would_work_out_is_made_safe(store: Store) -> None:
    assert rows(export(store, decided(store), "csv").text)[0]["rationale"] == "'=why"
    risky = [("=1",), ("+1",), ("-1",), ("@x",), ("\tx",), (-1.5,), ("a=1",)]
    assert csv_text(("h",), risky).splitlines() == [
        *("h", "'=1", "'+1", "'-1", "'@x", "'\tx", "-1.5", "a=1")
    ]
    # Heads hold the names of criteria, which are text of others, too.
    assert csv_text(("=1 verdict",), []) == "'=1 verdict\n"
    assert as_csv([{"@x verdict": "MET"}]) == "'@x verdict\nMET\n"


def test_everything_is_six_files_without_prompts(store: Store) -> None:
    made = export(store, graded(store), "everything")

    with zipfile.ZipFile(io.BytesIO(zip_archive(made))) as archive:
        assert set(archive.namelist()) == {
            *("items.csv", "verdicts.csv", "votes.csv", "failures.csv", "calls.csv"),
            "report.json",
        }
    assert len(rows(made.files["items.csv"])) == 3
    assert len(rows(made.files["verdicts.csv"])) == 6
    assert len(rows(made.files["failures.csv"])) == 2
    calls = rows(made.files["calls.csv"])
    # Ann's four votes came from a call each.
    assert [one["cost_usd"] for one in calls] == ["0.5"] * 4
    sent = (*(segment.text for segment in CALL.prompt), CALL.reply)
    assert not [text for text in sent if text in "".join(made.files.values())]


def test_a_table_without_rows_still_has_its_heads(store: Store) -> None:
    made = export(store, decided(store), "everything")

    assert made.files["calls.csv"].startswith("call,item_id,judge")
    assert made.files["failures.csv"].startswith("item_id,criterion,judge")


@pytest.mark.parametrize("which", ["decided", "graded"])
def test_figures_of_the_folder_are_those_of_the_run(
    which: str, store: Store, tmp_path: Path
) -> None:
    run = decided(store) if which == "decided" else graded(store)
    result = run_cli(store, str(run), "--format", "folder", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0

    folder = metrics_source(lambda: store, str(tmp_path / "out"))
    own = metrics_source(lambda: store, str(run))
    for name, criterion in own["criteria"].items():
        assert folder["criteria"][name]["groups"] == criterion["groups"]
        assert folder["criteria"][name]["raters"] == criterion["raters"]
    assert folder["score"]["raters"] == own["score"]["raters"]
    if which == "decided":
        # One judge never ties, so even the panel is the same.
        assert folder == own


def test_an_experiment_folder_comes_back_with_the_same_votes(store: Store) -> None:
    made = export(store, graded(store), "autorubric")
    found = read_experiment(
        made.files["manifest.json"].encode(), made.files["items.jsonl"].encode(), "x"
    )

    assert [c.name for c in found.rubric.criteria] == ["Clear", "Depth"]
    votes = {
        (line["item_id"], line["criterion"], line["rater_id"]): line["label"]
        for _, line in found.lines
    }
    # The table of tests.pages.graded; items are numbered, failures have no label.
    assert votes == {
        ("item-0001", "Clear", "ann"): "MET",
        ("item-0001", "Clear", "bob"): "UNMET",
        ("item-0001", "Depth", "ann"): "Deep",
        ("item-0001", "Depth", "bob"): "Deep",
        ("item-0002", "Clear", "ann"): "MET",
        ("item-0002", "Clear", "bob"): "MET",
        ("item-0002", "Depth", "ann"): "Cannot assess",
        ("item-0002", "Depth", "bob"): "Cannot assess",
        ("item-0003", "Clear", "ann"): "",
        ("item-0003", "Clear", "bob"): "UNMET",
        ("item-0003", "Depth", "ann"): "",
        ("item-0003", "Depth", "bob"): "Some",
    }


def test_canvas_gets_ratings_and_points_and_is_told_nothing_it_cannot_hold(store: Store) -> None:
    made = export(store, graded(store), "canvas")

    found = rows(made.text)
    assert list(found[0])[:4] == [
        *("Student Id", "Clear - Rating", "Clear - Points", "Clear - Comments")
    ]
    # Verdicts: a UNMET, Deep (1.0 * 10); b MET, abstained; c UNMET, Some (.5 * 10).
    assert [list(one.values()) for one in found] == [
        [FIRST, "Not met", "0.0", "", "Deep", "10.0", ""],
        ["b", "Met", "10.0", "", "", "", ""],
        ["c", "Not met", "0.0", "", "Some", "5.0", ""],
    ]
    assert any("without a verdict" in loss and "1 cells" in loss for loss in made.losses)


@pytest.mark.parametrize("form", [one for one in FORMATS if one != "contest"])
def test_every_format_is_written_and_nothing_is_overwritten(
    form: str, store: Store, tmp_path: Path
) -> None:
    run, out = str(graded(store)), str(tmp_path / "out")

    assert run_cli(store, run, "--format", form, "--out", out).exit_code == 0
    again = run_cli(store, run, "--format", form, "--out", out)
    assert again.exit_code == 2
    assert "is there already. Name another, or use --force." in again.stderr
    assert run_cli(store, run, "--format", form, "--out", out, "--force").exit_code == 0


def test_one_file_goes_to_stdout_and_losses_to_stderr(store: Store) -> None:
    result = run_cli(store, str(graded(store)), "--format", "canvas", "--out", "-")

    assert result.stdout.startswith("Student Id,")
    assert "Note: Judges' reasons are not written as comments" in result.stderr


def test_several_files_cannot_go_to_stdout(store: Store) -> None:
    result = run_cli(store, str(graded(store)), "--format", "folder", "--out", "-")

    assert result.exit_code == 2
    assert "Name a file or folder with --out." in result.stderr


def test_a_run_that_does_not_exist_is_refused(store: Store) -> None:
    assert run_cli(store, "99", "--format", "csv", "--out", "-").exit_code == 2
    with pytest.raises(NotFound):
        export(store, 99, "html")


def test_the_command_knows_every_format() -> None:
    assert import_export.FORMATS == FORMATS


def test_help_says_what_each_format_is_on_a_line_of_its_own() -> None:
    lines = CliRunner().invoke(main, ["export", "--help"]).output.splitlines()

    starts = {
        line.split()[0].rstrip(",") for line in lines if line.startswith("  ") and line.split()
    }
    assert {"csv", "report", "markdown", "everything", "folder", "autorubric", "canvas"} <= starts


def test_the_chances_of_options_leave_as_columns_and_come_back(
    store: Store, tmp_path: Path
) -> None:
    run = graded(store)
    # bob gives MET .25 and UNMET .75 of Clear; ann and the criterion Depth have none.
    for form in ("csv", "reviews"):
        found = rows(export(store, run, form).text)
        said = {(one["rater_id"], one["criterion_id"]): one for one in found if one["vote"]}
        bob, ann = said["bob", "Clear"], said["ann", "Clear"]
        assert (bob["p_MET"], bob["p_UNMET"], bob["p_Cannot assess"]) == ("0.25", "0.75", "0.0")
        assert (ann["p_MET"], ann["p_UNMET"]) == ("", "")

    for name, text in export(store, run, "folder").files.items():
        (tmp_path / name).write_text(text)
    rubric, dataset = read_folder(tmp_path)
    votes = read_votes(tmp_path, rubric.value, dataset.value.items).value.rows
    bobs = {v.probabilities for v in votes if (v.rater, v.criterion) == ("bob", "Clear")}
    # Each but the one whose call failed.
    assert bobs - {None} == {(0.25, 0.75, 0.0)}
