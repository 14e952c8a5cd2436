"""Whoever follows a tutorial gets what it shows: its blocks run in their order, in an empty folder.

A block of `sh` is lines for the command line, `python` is run as it stands, any other kind but
`text` is written into the file that the sentence before it names. A block of `text` quotes what the
block before it printed: every line of it was there, in this order; `...` stands for others.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import FENCED, followed
from tests.places import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
#: The name at the end of the sentence before a file's block.
NAMED = re.compile(r"`([\w./-]+)`:\s*$")


@pytest.mark.parametrize("document", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_can_be_followed_from_its_first_block_to_its_last(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUBRIC_STUDIO_DB", str(tmp_path / "studio.db"))
    text, names, printed, quoted = document.read_text(), dict[str, Any](), "", 0
    for block in FENCED.finditer(text):
        kind, content = block.groups()
        if kind == "python":
            printed = _python(content, names)
        elif kind == "sh":
            printed = followed(content)
        elif kind == "text":
            _require_quoted(content, printed)
            quoted += 1
        else:
            named = NAMED.search(text[: block.start()])
            assert named is not None, f"which file is this?\n{content}"
            path = tmp_path / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    assert quoted >= 3


def test_there_is_a_tutorial_for_each_of_three_people_and_the_readme_leads_to_it() -> None:
    assert [path.stem for path in TUTORIALS] == ["class", "eval_team", "researcher"]
    readme = (ROOT / "README.md").read_text()
    assert [p.name for p in TUTORIALS if f"docs/tutorials/{p.name}" not in readme] == []


def _python(content: str, names: dict[str, Any]) -> str:
    """What a block prints; what we say of somebody's data (a `UserWarning`) he reads, too."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_more: print(message)
        exec(compile(content, "tutorial", "exec"), names)
    return printed.getvalue()


def _require_quoted(content: str, printed: str) -> None:
    """Every line quoted is one that was printed, after the one before it."""
    left = iter([line.strip() for line in printed.splitlines()])
    for line in content.splitlines():
        wanted = line.strip()
        assert wanted in {"...", ""} or wanted in left, f"{wanted!r} is not in\n{printed}"
