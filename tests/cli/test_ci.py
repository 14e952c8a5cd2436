"""What `docs/ci.md` shows runs: pre-commit itself, the steps of the action, lint of many files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from core.cli import main
from tests.command_line import cli
from tests.places import ROOT

GOOD = "name: Good\ncriteria:\n- {name: Policy, requirement: States the 30-day limit.}\n"
SERIOUS = (
    "name: Serious\ncriteria:\n- {name: Style, requirement: The answer is clear and concise.}\n"
)
WRONG = "name: Wrong\ncriteria: []\n"


@pytest.fixture
def rubrics(tmp_path: Path) -> dict[str, Path]:
    made = {}
    for name, text in (("good", GOOD), ("serious", SERIOUS), ("wrong", WRONG)):
        made[name] = tmp_path / f"rubric-{name}.yaml"
        made[name].write_text(text)
    return made


@pytest.mark.parametrize(
    ("names", "fail_on", "status"),
    [
        (("good", "serious"), None, 0),
        (("good", "serious"), "serious", 1),
        (("good",), "remark", 0),
        (("serious",), "remark", 1),
        (("good", "wrong", "serious"), None, 2),
    ],
)
def test_the_status_of_lint_follows_the_worst_that_counts(
    rubrics: dict[str, Path], names: tuple[str, ...], fail_on: str | None, status: int
) -> None:
    options = () if fail_on is None else ("--fail-on", fail_on)
    done = cli("lint", *(rubrics[name] for name in names), *options, "--json")
    assert done.returncode == status
    found = json.loads(done.stdout)
    files = [found] if len(names) == 1 else found
    assert [one["valid"] for one in files] == [name != "wrong" for name in names]


def test_a_rubric_may_come_by_standard_input() -> None:
    done = CliRunner().invoke(main, ["lint", "-", "--fail-on", "serious"], input=SERIOUS)
    assert done.exit_code == 1
    assert "Style: Asks more than one thing" in done.output


def test_quiet_leaves_errors_only(rubrics: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "rubric.json"
    words = ("convert", rubrics["good"], "--to", "json", "--out", out, "--force")
    assert "Written" in cli(*words).stderr
    assert cli(*words, "--quiet").stderr == ""
    assert "There is no such file" in cli("lint", tmp_path / "none.yaml", "--quiet").stderr


def _environment(folder: Path) -> dict[str, str]:
    """With `rubric-studio` on the path as an installed one is; nothing of the user's git."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    script = tools / "rubric-studio"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m rubric_studio "$@"\n')
    script.chmod(0o755)
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "PRE_COMMIT_HOME": str(folder / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def _run(folder: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=cwd, env=_environment(folder), capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip


def test_pre_commit_runs_the_hooks_and_stops_a_bad_rubric(
    rubrics: dict[str, Path], tmp_path: Path
) -> None:
    manifest = ROOT / ".pre-commit-hooks.yaml"
    pre_commit = (sys.executable, "-m", "pre_commit")
    valid = _run(tmp_path, tmp_path, *pre_commit, "validate-manifest", str(manifest))
    assert valid.returncode == 0, valid.stdout
    # The same hook, but run as it is installed here: an environment of its own needs a network.
    (hook,) = (one for one in yaml.safe_load(manifest.read_text()) if one["id"] == "rubric-lint")
    hook |= {"language": "system", "args": ["--fail-on", "serious"]}
    repository = tmp_path / "repository"
    repository.mkdir()
    config = {"repos": [{"repo": "local", "hooks": [hook]}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (repository / "rubric.yaml").write_text(GOOD)
    (repository / "other.yaml").write_text(WRONG)
    assert _run(tmp_path, repository, "git", "init", "--quiet").returncode == 0
    _run(tmp_path, repository, "git", "add", ".")
    passed = _run(tmp_path, repository, *pre_commit, "run", "--all-files")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    (repository / "rubric.yaml").write_text(SERIOUS)
    stopped = _run(tmp_path, repository, *pre_commit, "run", "--all-files")
    assert stopped.returncode == 1
    assert "rubric.yaml:3: serious: Style" in stopped.stdout


def test_the_steps_of_the_action_run(rubrics: dict[str, Path], tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "docs" / "ci" / "action.yml").read_text())
    given = {name: one["default"] for name, one in action["inputs"].items()}
    given |= {
        "rubrics": str(rubrics["good"]),
        "source": "votes",
        "check": "--min accuracy=0.5 --min-n 1",
    }
    votes = tmp_path / "votes"
    votes.mkdir()
    (votes / "rubric.yaml").write_text(GOOD)
    (votes / "items.jsonl").write_text(
        '{"id": "a", "submission": "x", "labels": {"Policy": "MET"}}\n'
    )
    (votes / "votes.csv").write_text(
        "item_id,criterion,rater_id,rater_kind,label\na,Policy,judge,llm,MET\n"
    )
    steps = {step["name"]: step for step in action["runs"]["steps"]}
    assert list(steps) == ["Install", "Check rubrics", "Check agreement"]
    for name in ("Check rubrics", "Check agreement"):
        values = {
            key: given[text.removeprefix("${{ inputs.").removesuffix(" }}")]
            for key, text in steps[name]["env"].items()
        }
        done = subprocess.run(
            ["bash", "-e", "-c", steps[name]["run"]], cwd=tmp_path, capture_output=True, text=True,
            env={**_environment(tmp_path), **values}, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "rubric-studio.xml").exists()


def test_every_snippet_of_the_document_is_yaml_with_known_commands() -> None:
    text = (ROOT / "docs" / "ci.md").read_text()
    snippets = [yaml.safe_load(part.split("```")[0]) for part in text.split("```yaml\n")[1:]]
    assert len(snippets) == 3
    hooks = {one["id"] for one in snippets[0]["repos"][0]["hooks"]}
    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hooks == {one["id"] for one in manifest}
    action = yaml.safe_load((ROOT / "docs" / "ci" / "action.yml").read_text())
    assert set(snippets[1][1]["with"]) <= set(action["inputs"])
