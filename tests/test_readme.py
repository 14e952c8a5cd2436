"""Whoever types what README and guide show gets what they say: their commands run as they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.formats.rubrics.rubric_file import parse_rubric
from tests.command_line import FENCED, cli, followed
from tests.places import ROOT

README, GUIDE = ((ROOT / name).read_text() for name in ("README.md", "docs/guide.md"))
BLOCKS = [(kind, text) for kind, text in FENCED.findall(README + GUIDE)]
#: Blocks for a shell that no test can run in its own environment, by how they begin; and why.
LEFT_OUT = {
    "make run": "sets up the environment that the test stands in, and serves until it is ended",
    "pip install": "a wheel: tests/rubric_studio/test_package.py builds, installs and starts one",
}
#: What `make run` has set up is there already.
ACTIVATED = ". .venv/bin/activate"


def _for_a_shell() -> list[str]:
    blocks = [text for kind, text in BLOCKS if kind == "sh"]
    return [text for text in blocks if not any(text.startswith(begin) for begin in LEFT_OUT)]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what a checkout has for its reader, and no data file yet."""
    (tmp_path / "sample_rubrics").symlink_to(ROOT / "sample_rubrics")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUBRIC_STUDIO_DB", str(tmp_path / "studio.db"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def test_the_commands_of_the_guide_run_one_after_the_other_as_they_stand(checkout: Path) -> None:
    assert "VENV := .venv\n" in (ROOT / "Makefile").read_text()
    first, *more = _for_a_shell()
    entered, commands = first.split("\n", 1)
    assert entered.startswith(ACTIVATED)
    said = followed(commands)

    # 288 of the example's 432 answers teach; 2 judges answer 6 criteria of the other 144.
    assert "Run 2: done. 1728 of 1728 votes" in said
    assert "Run 3: 1,728 votes" in said
    assert "144 common items" in said
    made = {str(path.relative_to(checkout)) for path in checkout.glob("mine/**/*.*")}
    assert {"mine/report.html", "mine/base.json", "mine/essay.csv", "mine/copy.db"} <= made
    assert [run["status"] for run in json.loads(cli("runs", "--json").stdout)["runs"]] == [
        "done"
    ] * 3
    for block in more:
        estimates = [line for line in followed(block).splitlines() if "calls" in line]
        assert len(estimates) == len(block.splitlines())


def test_every_block_says_what_it_is_and_only_named_ones_are_not_run() -> None:
    assert [text for kind, text in BLOCKS if not kind] == []
    shells = [text for kind, text in BLOCKS if kind == "sh"]
    assert len(shells) == len(_for_a_shell()) + len(LEFT_OUT)


def test_the_rubric_of_the_guide_is_read_without_a_remark() -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "yaml"]
    found = parse_rubric(text, "readme.yaml")
    assert found.notices == ()
    assert [criterion.name for criterion in found.value.criteria] == ["Cites the policy", "Tone"]


def test_the_readme_is_one_screen_to_read() -> None:
    assert len(README.split()) <= 900
