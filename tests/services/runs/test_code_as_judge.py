"""Checks and programs as judges of a run: ordinary votes; a program only at the terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.domain.panel import Panel
from core.errors import InputError
from core.services.judges import registry
from core.services.runs import lifecycle
from tests.command_line import cli
from tests.new_store import new_store

RUBRIC = """
name: Replies
criteria:
- {name: thanks, requirement: It says thanks.}
- name: length
  requirement: How long is it?
  scale: ordinal
  options: [{label: short, value: 0}, {label: long, value: 1}]
"""
ITEMS = "id,submission\na,Thank you\nb,No\nc,Many thanks for all of it\n"
#: thanks holds for a and c; a and b have at most two words.
CHECKS = {
    "name": "rules",
    "kind": "check",
    "checks": {
        "thanks": {"contains": "thank", "ignore_case": True},
        "length": {
            "rules": [{"when": {"words": {"max": 2}}, "then": "short"}],
            "otherwise": "long",
        },
    },
}
#: Prints what it is asked for; fails on item b.
PROGRAM = """
import json, sys
asked = json.load(sys.stdin)
text, label = asked["item"]["submission"], asked["options"][0]
if asked["item"]["id"] == "b":
    sys.exit("no opinion")
if asked["criterion"]["name"] == "thanks":
    print(json.dumps({"option": "MET" if "hank" in text else "UNMET", "reason": "by program"}))
else:
    print("null" if len(text) > 12 else label)
"""


def folder(tmp_path: Path, *judges: dict[str, Any]) -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "panel.json").write_text(json.dumps({"name": "p", "judges": judges}))
    (tmp_path / "judge.py").write_text(PROGRAM)
    return tmp_path


def grade(at: Path, *more: str) -> Any:
    words = (str(at / "rubric.yaml"), str(at / "items.csv"), "--panel", str(at / "panel.json"))
    return cli("grade", *words, "--db", str(at / "x.db"), "--json", *more)


def test_checks_vote_like_any_judge(tmp_path: Path) -> None:
    at = folder(tmp_path, CHECKS)

    done = json.loads(grade(at).stdout)

    assert (done["status"], done["votes"], done["calls"], done["cost_usd"]) == ("done", 6, 0, 0)
    scored = json.loads(cli("score", "1", "--db", str(at / "x.db"), "--json").stdout)
    labels = {i["id"]: [v["label"] for v in i["verdicts"].values()] for i in scored["items"]}
    assert labels == {"a": ["MET", "short"], "b": ["UNMET", "short"], "c": ["MET", "long"]}


def test_a_program_votes_abstains_and_fails_and_goes_on_by_resume(tmp_path: Path) -> None:
    program = {"name": "mine", "kind": "command", "command": [sys.executable, "judge.py"]}
    at = folder(tmp_path, program | {"command": [sys.executable, str(tmp_path / "judge.py")]})

    done = json.loads(grade(at, "--trust").stdout)

    # a: MET, short; b: it ends with a status of its own, twice; c: MET, and an abstention.
    assert (done["votes"], done["abstentions"], done["failures"]) == (4, 1, {"code": 2})
    again = json.loads(cli("retry", "1", "--db", str(at / "x.db"), "--json").stdout)
    assert again["failures"] == {"code": 2}


def test_a_program_is_run_for_no_page(tmp_path: Path) -> None:
    program = {"name": "mine", "kind": "command", "command": ["true"]}
    with pytest.raises(InputError) as refused:
        registry.save_judge(new_store(tmp_path / "own" / "studio.db"), program)
    assert "which no page runs" in str(refused.value.problems[0])

    at = folder(tmp_path, program)
    grade(at, "--trust")
    from core.store.store import Store

    with pytest.raises(InputError, match="cannot be asked here"):
        lifecycle.resume(Store(at / "x.db"), 1)


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ({"nothing": {"contains": "a"}}, "has no check for this rubric"),
        ({"length": {"contains": "a"}}, "answers 'MET'"),
    ],
)
def test_checks_that_do_not_fit_the_rubric_are_refused_before_there_is_a_run(
    tmp_path: Path, checks: dict[str, Any], says: str
) -> None:
    at = folder(tmp_path, {"name": "rules", "kind": "check", "checks": checks})

    done = grade(at)

    assert done.returncode == 2
    assert says in done.stderr
    assert json.loads(cli("runs", "--db", str(at / "x.db"), "--json").stdout)["runs"] == []


def test_the_panel_that_the_document_shows_is_one() -> None:
    text = (Path(__file__).parents[3] / "docs" / "checks.md").read_text()
    panel = Panel.model_validate(yaml.safe_load(text.split("```yaml")[1].split("```")[0]))

    rules, model = panel.judges
    assert list(rules.checks) == ["cites", "polite", "right", "depth"]
    assert model.stage == 1
    assert panel.cascade is not None


@pytest.mark.parametrize("piped", ["rubric.yaml", "items.csv"])
def test_one_of_the_two_files_can_come_from_standard_input(tmp_path: Path, piped: str) -> None:
    at = folder(tmp_path, CHECKS)
    words = ["-" if name == piped else str(at / name) for name in ("rubric.yaml", "items.csv")]
    rest = ("--panel", str(at / "panel.json"), "--db", str(at / "x.db"), "--json")

    done = cli("grade", *words, *rest, stdin=(at / piped).read_text())

    assert json.loads(done.stdout)["votes"] == 6


def test_standard_input_is_not_read_twice(tmp_path: Path) -> None:
    done = cli("grade", "-", "-", "--judge", "offline", "--db", str(tmp_path / "x.db"))

    assert done.returncode == 2
    assert "can be read once" in done.stderr
