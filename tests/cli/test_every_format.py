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
