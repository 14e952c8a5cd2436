"""The changelog keeps its form: versions in order, few headings, one short line per change."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from tests.places import ROOT

SECTIONS = {"### Added", "### Changed", "### Fixed", "### Removed"}
MOST_WORDS = 20

LINES = (ROOT / "CHANGELOG.md").read_text().splitlines()
BODY = LINES[LINES.index("## Unreleased") :]
ENTRIES = [line.removeprefix("- ") for line in BODY if line.startswith("- ")]


def test_every_heading_is_a_version_or_a_known_section() -> None:
    headings = [line for line in LINES[1:] if line.startswith("#")]
    version = re.compile(r"## (Unreleased|\d+\.\d+\.\d+)")
    assert LINES[0] == "# Changelog"
    assert [line for line in headings if line not in SECTIONS and not version.fullmatch(line)] == []


def test_a_version_has_each_section_once() -> None:
    sections: Counter[tuple[str, str]] = Counter()
    version = ""
    for line in BODY:
        version = line if line.startswith("## ") else version
        if line in SECTIONS:
            sections[version, line] += 1
    assert [section for section, count in sections.items() if count > 1] == []


def test_every_entry_is_one_line_of_at_most_twenty_words() -> None:
    other = [line for line in BODY if line and not line.startswith(("#", "- "))]
    long = [entry for entry in ENTRIES if len(entry.split()) > MOST_WORDS]
    assert len(ENTRIES) > 100
    assert other == []
    assert long == []


def test_no_entry_occurs_twice() -> None:
    assert [entry for entry, count in Counter(ENTRIES).items() if count > 1] == []


def test_versions_are_in_order_newest_first() -> None:
    versions = [line.removeprefix("## ") for line in BODY if line.startswith("## ")]
    numbers = [tuple(map(int, version.split("."))) for version in versions[1:]]
    assert versions[0] == "Unreleased"
    assert all(newer > older for newer, older in pairwise(numbers))
