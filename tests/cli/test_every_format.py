"""Every format that people bring, by the command line: what is counted in it, nothing guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import cli
from tests.formats.brought import BROUGHT, Brought, formats_table
from tests.places import ROOT

KINDS = {"items": "dataset", "rubric": "rubric"}


@pytest.mark.parametrize("brought", BROUGHT, ids=lambda one: one.format)
def test_a_file_is_what_it_is_and_holds_what_a_person_counts(
    brought: Brought, tmp_path: Path
) -> None:
    file = tmp_path / brought.file
    file.write_bytes(brought.data)
    done = cli("import", file, "--dry-run", "--json", "--db", tmp_path / "x.db")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if brought.door in KINDS:
        assert found["kind"] == KINDS[brought.door]
    said = {what: found[what] for what in brought.counts}
    assert {k: len(v) if isinstance(v, list) else v for k, v in said.items()} == brought.counts


def test_the_document_of_formats_has_them_all() -> None:
    assert len(BROUGHT) >= 30
    assert formats_table() in (ROOT / "docs" / "formats.md").read_text()


#: One agreement figure of each format whose sample has two raters on a cell: between people (the
#: share of pairs of a rater's answers that are alike), or of a rater against the people.
AGREE = {
    # a: yes against no; b: the model's answer is empty.
    "CSV, an answer a row": ("rating", "gpt-4", 0.0),
    "TSV, an answer a row": ("rating", "gpt-4", 0.0),
    # a: 1 and 2; b: 3 and 3.
    "CSV, a rater a column": ("rating", "human", 0.5),
    # Eight essays; on the fourth and fifth Ann and Bob differ.
    ".xlsx, a rater a column": ("rating", "human", 0.75),
    ".ods, a rater a column": ("rating", "human", 0.75),
    # a: yes and no; b has one answer.
    "JSON lines, an answer a row": ("rating", "human", 0.0),
    # The person says of one test what promptfoo does not ("I would not").
    "promptfoo, JSON": ("passed", "promptfoo", 0.0),
    "promptfoo, JSON lines": ("passed", "promptfoo", 0.0),
    "promptfoo, its rows": ("passed", "promptfoo", 0.0),
    # One span: the model says yes, Kim says no.
    "Phoenix": ("relevant", "evaluator", 0.0),
    # Three records, warm and warm each.
    "Argilla": ("tone", "some-model", 1.0),
}


@pytest.mark.parametrize("format", AGREE)
def test_its_raters_agree_as_a_person_counts(format: str, tmp_path: Path) -> None:
    (brought,) = [one for one in BROUGHT if one.format == format]
    criterion, who, share = AGREE[format]
    file = tmp_path / brought.file
    file.write_bytes(brought.data)
    run = json.loads(cli("import", file, "--json", "--db", tmp_path / "x.db").stdout)["run"]
    said = json.loads(cli("metrics", run, "--json", "--db", tmp_path / "x.db").stdout)
    found = said["criteria"][criterion]
    if who == "human":
        assert found["groups"]["human"]["percent_agreement"] == pytest.approx(share)
    else:
        assert found["raters"][who]["vs_human_majority"]["accuracy"] == pytest.approx(share)
