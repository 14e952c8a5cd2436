"""What the documents for developers name is there: files, folders, and the version."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from core.cli import main
from tests.places import ROOT

NAMED = re.compile(r"`((?:[a-z_.]+/)*[a-z_]+(?:\.py|\.md|\.json|/))`")


def _there(name: str) -> bool:
    return any((ROOT / folder / name).exists() for folder in ("", "core", "core/formats", "docs"))


@pytest.mark.parametrize("document", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_place_that_a_developer_is_sent_to_is_there(document: str) -> None:
    named = set(NAMED.findall((ROOT / document).read_text()))
    missing = sorted(name for name in named if not _there(name) and not _beside(name))
    assert len(named) > 20
    assert missing == []


def _beside(name: str) -> bool:
    """Whether it is a file's name alone, of a file that some folder has: `page.py`."""
    return "/" not in name and any(
        next((ROOT / part).rglob(name), None) for part in ("core", "pages")
    )


def test_the_version_is_that_of_the_newest_release_in_the_changelog() -> None:
    newest = re.search(r"^## (?!Unreleased)(\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    said = CliRunner().invoke(main, ["--version"])
    assert newest is not None
    assert said.output.split()[-1] == newest[1]
