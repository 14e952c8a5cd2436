"""What `rubric-studio` alone and `--help` show, and completion in a shell."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from core.cli import main
from core.cli.main import GROUPS
from tests.command_line import cli
from tests.provider import Provider


def every(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from every(command, f"{name} ")


def helped(*words: str) -> str:
    return CliRunner().invoke(main, [*words, "--help"], terminal_width=80).stdout


@pytest.mark.parametrize("path", [path for path, _ in every(main)])
def test_the_help_of_a_verb_is_whole_in_one_line_and_says_what_to_do(path: str) -> None:
    *above, name = path.split()
    (line,) = re.findall(rf"^  {name} +(.+)$", helped(*above), re.MULTILINE)
    assert len(line) <= 60
    assert line.endswith(".")
    assert "..." not in line
    # An imperative: a plain verb, no question, no noun of the field, no third person.
    assert not re.match(r"(?:\w+[^s]s|A|An|The|What|Whether|Who|From|Is|Does|Have)\b", line)


def test_every_verb_stands_in_one_group() -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(main.commands)
    shown = helped()
    titles = re.findall(r"^(\w+):$", shown, re.MULTILINE)
    assert titles == ["Options", "Author", "Grade", "Measure", "Review", "Operate"]


def test_the_bare_call_shows_help_and_is_done() -> None:
    done = cli()
    assert done.returncode == 0
    assert "Grade DATASET with RUBRIC" in done.stdout
    assert CliRunner().invoke(main, ["nothing-such"]).exit_code == 2


def test_where_says_the_data_file_as_json(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["where", "--json", "--db", str(tmp_path / "x.db")])
    assert json.loads(done.stdout) == {"db": str(tmp_path / "x.db"), "exists": False}


def test_a_shell_completes_verbs() -> None:
    asked = {"_RUBRIC_STUDIO_COMPLETE": "bash_complete", "COMP_WORDS": "rubric-studio me",
             "COMP_CWORD": "1"}  # fmt: skip
    done = CliRunner().invoke(main, [], prog_name="rubric-studio", env={**os.environ, **asked})
    assert done.stdout == "plain,metrics\n"


def _files(folder: Path) -> tuple[str, str]:
    rubric, items = folder / "r.yaml", folder / "items.csv"
    rubric.write_text("criteria: [{name: kind, requirement: The reply is kind.}]\n")
    items.write_text("id,submission\na,Thanks and good luck.\n")
    return str(rubric), str(items)


def test_what_a_model_may_take_is_said_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-x")
    with Provider() as provider:
        done = CliRunner().invoke(main, [
            "grade", *_files(tmp_path), "--db", str(tmp_path / "x.db"), "--json", "--trust",
            "--judge", "openai/some-model", "--api-base", provider.url, "--key-env", "SOME_KEY",
            "--timeout", "7", "--max-tokens", "333", "--temperature", "0.25", "--logprobs",
        ])  # fmt: skip
        assert done.exit_code == 0, done.stderr
        (body,) = [request.body for request in provider.requests]
    assert (body["max_tokens"], body["temperature"], body["logprobs"]) == (333, 0.25, True)


def test_chances_are_asked_of_models_alone(tmp_path: Path) -> None:
    files = _files(tmp_path)
    done = CliRunner().invoke(
        main, ["grade", *files, "--judge", "offline", "--logprobs", "--db", str(tmp_path / "x.db")]
    )
    assert done.exit_code == 2
    assert "--logprobs is for models, and none of the judges is one." in done.stderr
