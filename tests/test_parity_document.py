"""docs/parity.md: what it names is there, and every row of authoring says where to look."""

from __future__ import annotations

import re

import pytest

from core.services.assist import meta_check
from tests.places import ROOT

TEXT = (ROOT / "docs" / "parity.md").read_text()
#: A file or folder of ours between backquotes; what has no folder before it is another's name.
PATHS = re.compile(r"`((?:core|pages|tests|bench|docs|sample_rubrics)/[\w./-]+)`")
AUTHORING = (
    "### Meta-rubric",
    "### Improvement loop",
    "## EvalAssist, criterion editor and workbench",
    "## EvalAssist, the app around it",
    "## EvalAssist, AI assistance",
)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    below = re.split(r"\n#+ ", TEXT.split(f"{heading}\n", 1)[1], maxsplit=1)[0]
    lines = [line for line in below.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_place_that_is_named_is_there() -> None:
    named = set(PATHS.findall(TEXT))
    assert len(named) > 50
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("heading", AUTHORING)
def test_every_row_of_authoring_says_what_there_is_and_where(heading: str) -> None:
    table = rows(heading)
    assert len(table) >= 7
    assert [row for row in table if len(row) != 3 or not all(row)] == []


def test_every_question_of_the_meta_rubric_stands_in_the_file_that_is_named() -> None:
    for _, question, where in rows("### Meta-rubric"):
        if found := re.search(r"sample_rubrics/meta/([\w-]+)\.yaml", where):
            names = {c.name for c in meta_check.meta_rubric(found[1]).criteria}
            assert question.split(" (and offline")[0] in names
