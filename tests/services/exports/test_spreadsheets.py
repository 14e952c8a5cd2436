"""What leaves as CSV opens in a spreadsheet as it was meant, and comes back as it was."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.domain.rubric import Criterion, Rubric
from core.formats.rubrics.forms import read_rubrics
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.source.csv_writer import csv_text, spreadsheet_safe, unguarded
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.services.exports.judgement_rows import LONG
from core.services.exports.run_export import export
from core.services.imports.vote_import import bring_in
from core.services.rubrics.import_export import export_rubric
from core.store.store import Store
from tests.pages.graded import graded

#: The mark of UTF-8, as Excel looks for it (https://www.unicode.org/faq/utf_bom.html).
MARK = b"\xef\xbb\xbf"
RISKY = ["=1", "+1", "-a", "@x", "\t=1", "\uff1d1", "\uff0b1", "\uff0da", "\uff20x"]


def run_cli(*words: object) -> Any:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.mark.parametrize("form", ["csv", "reviews"])
def test_a_csv_file_begins_with_the_mark_unless_it_is_for_a_program(
    store: Store, tmp_path: Path, form: str
) -> None:
    words = ("export", graded(store), "--format", form, "--db", store.path, "--out")
    assert run_cli(*words, tmp_path / "a.csv").exit_code == 0
    assert run_cli(*words, tmp_path / "b.csv", "--no-bom").exit_code == 0
    printed = run_cli(*words, "-").stdout_bytes
    marked, plain = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv"))
    assert marked == MARK + plain
    assert plain == printed


def test_of_everything_the_tables_are_marked_and_nothing_else(store: Store, tmp_path: Path) -> None:
    words = ("export", graded(store), "--format", "everything", "--db", store.path, "--out")
    for name, more in (("a.zip", ()), ("b.zip", ("--no-bom",))):
        assert run_cli(*words, tmp_path / name, *more).exit_code == 0
        with zipfile.ZipFile(tmp_path / name) as archive:
            marked = {n for n in archive.namelist() if archive.read(n).startswith(MARK)}
            tables = {n for n in archive.namelist() if n.endswith(".csv")}
        assert marked == (set() if more else tables)


@pytest.mark.parametrize("form", ["folder", "canvas"])
def test_what_programs_read_has_no_mark(store: Store, form: Any) -> None:
    found = export(store, graded(store), form).data()
    assert not any(data.startswith(MARK) for data in found.values())


def test_a_rubric_as_csv_is_marked_and_reads_back_and_canvas_has_no_mark(tmp_path: Path) -> None:
    rubric = Rubric(name="Prüfung", criteria=(Criterion(name="＝größer", requirement="-Über?"),))
    made = export_rubric(rubric, "csv").data()
    assert made.startswith(MARK)
    (read,) = read_rubrics(made, "lab.csv")
    assert [(c.name, c.requirement) for c in read.value.criteria] == [("＝größer", "-Über?")]
    assert not export_rubric(rubric, "canvas").data().startswith(MARK)
    file = tmp_path / "lab.yaml"
    file.write_text("name: Prüfung\ncriteria:\n- {name: a, requirement: b}\n")
    words = ("convert", file, "--to", "csv", "--db", tmp_path / "x.db", "--out")
    assert run_cli(*words, tmp_path / "a.csv").exit_code == 0
    assert run_cli(*words, tmp_path / "b.csv", "--no-bom").exit_code == 0
    assert (tmp_path / "a.csv").read_bytes() == MARK + (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("text", RISKY)
def test_what_begins_like_a_formula_gets_an_apostrophe_and_loses_it_again(text: str) -> None:
    assert spreadsheet_safe(text) == f"'{text}"
    assert unguarded(spreadsheet_safe(text)) == text
    (row,) = csv.reader(io.StringIO(csv_text((text,), []), newline=""))
    assert row == [f"'{text}"]


def exported(item: str) -> bytes:
    """A file as our export writes it, with one vote."""
    row = dict.fromkeys(LONG, "")
    row |= {"item_id": item, "criterion_id": "Klar?", "rater_id": "@jörg", "vote": "MET"}
    row |= {"rater_type": "human", "rubric_version": "1", "rationale": "-weil"}
    text = csv_text(LONG, [list(row.values())])
    return MARK + text.encode()


@pytest.mark.parametrize("item", RISKY)
def test_our_own_export_reads_back_with_the_texts_that_went_out(item: str) -> None:
    bundle = read_bundle(open_bytes(exported(item), "judgements.csv"), "long")
    (vote,) = bundle.votes.rows
    assert (vote.cell.item, vote.rater, vote.reason) == (item.strip(), "@jörg", "-weil")


def test_an_exported_run_is_imported_from_its_own_file(store: Store, tmp_path: Path) -> None:
    run = graded(store)
    file = tmp_path / "judgements.csv"
    words = ("export", run, "--format", "csv", "--db", store.path, "--out", file)
    assert run_cli(*words).exit_code == 0
    done = run_cli("import", file, "--dry-run", "--db", store.path)
    assert done.exit_code == 0, done.stderr


def test_the_folder_says_how_many_of_its_cells_begin_like_a_formula(store: Store) -> None:
    rubric = parse_rubric("criteria:\n- {name: a, requirement: b}\n", "r.yaml").value
    table = b"item,rater,label,reason\n=1,kim,MET,fine\nx,kim,UNMET,-no\n"
    bundle = read_bundle(open_bytes(table, "v.csv"), "long", rubric=rubric)
    run = bring_in(store, bundle).run
    assert run is not None
    made = export(store, run, "folder")
    # The id and the reason.
    assert any(loss.startswith("2 cells of votes.csv begin like a formula") for loss in made.losses)
    assert "=1,a,kim" in made.files["votes.csv"]
