"""import with several files, with standard input, and with rubrics in foreign forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from core.cli import import_export, main
from core.formats.known import FORMATS
from core.formats.rubrics.tables.canvas import canvas_rubric
from core.formats.votes.reading import TABLES
from core.store.store import Store
from tests.services.exports.class_of_four import RUBRIC, class_of_four

VOTES = "item,criterion,rater,label\nq1,polite,ann,yes\nq1,polite,gpt-4,no\n"


def run_cli(store: Store, *arguments: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(main, [*arguments, "--db", str(store.path)], input=stdin)


def test_the_shapes_of_help_are_those_there_are() -> None:
    named = {known.name for known in FORMATS if "votes" in known.holds}
    others = {"auto", "folder", "autorubric", "rubric", "dataset"}
    assert set(import_export.IMPORT_SHAPES) == {*named, *TABLES, *others}


def test_standard_input_is_told_by_its_content(store: Store) -> None:
    done = run_cli(store, "import", "-", "--json", stdin=VOTES)

    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["votes"] == 2
    rubric = run_cli(store, "import", "-", "--json", stdin=canvas_rubric(RUBRIC).text)
    assert json.loads(rubric.stdout)["kind"] == "rubric"


def test_several_files_are_told_of_one_by_one(store: Store, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "lab.csv").write_text(canvas_rubric(RUBRIC).text)
    files = [str(tmp_path / name) for name in ("votes.csv", "lab.csv")]
    done = run_cli(store, "import", *files, "--json")

    assert [one["kind"] for one in json.loads(done.stdout)] == ["long", "rubric"]
    said = run_cli(store, "import", *files).stdout
    assert "holds these votes already" in said
    assert "The rubric 'Lab report' is kept" in said


def test_every_rubric_of_a_file_is_kept(store: Store, tmp_path: Path) -> None:
    twice = canvas_rubric(RUBRIC).text
    twice += "".join(twice.splitlines(keepends=True)[1:]).replace("Lab report", "Second")
    (tmp_path / "two.csv").write_text(twice)
    done = run_cli(store, "import", str(tmp_path / "two.csv"), "--json")

    kept = json.loads(done.stdout)["rubric_versions"]
    assert [store.rubrics.version(one).rubric.name for one in kept] == ["Lab report", "Second"]


def test_of_an_imported_run_no_cost_is_shown(store: Store) -> None:
    run_cli(store, "import", "-", stdin=VOTES)
    shown = run_cli(store, "show", "1").stdout

    assert "nobody was asked here" in shown
    assert "$" not in shown
    made_here = run_cli(store, "show", str(class_of_four(store))).stdout
    assert "0 calls" in made_here
