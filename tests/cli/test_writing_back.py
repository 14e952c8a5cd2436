"""export --into and import --back, as they are typed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.command_line import cli
from tests.formats.votes.tools import test_promptfoo

VOTES = "item,rater,label,text\na,kim,yes,Thanks.\na,lee,yes,Thanks.\nb,kim,no,No.\nb,lee,no,No.\n"


def test_results_go_into_a_copy_of_the_file_that_was_imported(tmp_path: Path) -> None:
    db, file, copy = tmp_path / "x.db", tmp_path / "votes.csv", tmp_path / "back.csv"
    file.write_text(VOTES)
    done = cli("import", file, "--back", copy, "--db", db)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 records got their results" in done.stderr
    rows = list(csv.DictReader(copy.read_text().splitlines()))
    # Both said yes of a, and no of b.
    assert [row["rubric_studio: score"] for row in rows] == ["1", "1", "0", "0"]
    assert file.read_text() == VOTES
    again = cli("import", file, "--back", copy, "--db", db)
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_a_run_is_exported_into_a_tools_own_file(tmp_path: Path) -> None:
    db, file = tmp_path / "x.db", tmp_path / "out.json"
    file.write_bytes(test_promptfoo.FORMS["out.json"])
    run = json.loads(cli("import", file, "--json", "--db", db).stdout)["run"]
    done = cli("export", run, "--into", file, "--out", "-", "--db", db)
    assert done.returncode == 0, done.stderr
    parts = json.loads(done.stdout)["results"]["results"][0]["gradingResult"]["componentResults"]
    assert {p["assertion"]["metric"] for p in parts if "metadata" in p} == {
        "rubric_studio: passed", "rubric_studio: contains", "rubric_studio: llm-rubric: is polite",
    }  # fmt: skip


def test_a_format_or_a_file_is_asked_for(tmp_path: Path) -> None:
    done = cli("export", 1, "--db", tmp_path / "x.db")
    assert done.returncode == 2
    assert "--format FORMAT, or --into FILE" in done.stderr
