"""Figures about the panel are about the verdicts in force: what the rules settle, ties included.

Two judges answer 200 labelled yes/no items. Both are right on 103 items, only the first on 45, only
the second on 42, neither on 10: the first is right on 148 (74%), the second on 145 (72.5%). They
agree on 113 items, 103 of them right (91.2%). A tie takes UNMET, the worst for a positive weight;
the label is UNMET on 43 of the 87 ties, so 103 + 43 = 146 of 200 verdicts are right (73%).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sklearn.metrics import accuracy_score, cohen_kappa_score

from core.cli import main

MET, UNMET = "MET", "UNMET"
OTHER = {MET: UNMET, UNMET: MET}
#: How many items, whether the first and the second judge are right, and the label.
KINDS = (
    (60, True, True, MET),
    (43, True, True, UNMET),
    (22, True, False, MET),
    (23, True, False, UNMET),
    (22, False, True, MET),
    (20, False, True, UNMET),
    (5, False, False, MET),
    (5, False, False, UNMET),
)


def answers() -> list[tuple[str, str, str]]:
    """By item the label and what both judges say."""
    rows = []
    for times, first, second, label in KINDS:
        said = [label if right else OTHER[label] for right in (first, second)]
        rows += [(label, *said)] * times
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "votes"
    made.mkdir()
    made.joinpath("rubric.yaml").write_text(
        "criteria:\n- {name: Right, requirement: Is it right?}\n", encoding="utf-8"
    )
    items, votes = [], ["item_id,criterion,rater_id,rater_kind,label"]
    for at, (label, *said) in enumerate(answers()):
        items.append(json.dumps({"id": f"i{at}", "submission": "x", "labels": {"Right": label}}))
        votes += [f"i{at},Right,{j},llm,{s}" for j, s in zip(("one", "two"), said, strict=True)]
    made.joinpath("items.jsonl").write_text("\n".join(items), encoding="utf-8")
    made.joinpath("votes.csv").write_text("\n".join(votes), encoding="utf-8")
    return made


def asked(*command: str, exit_code: int = 0) -> Any:
    done = CliRunner().invoke(main, [*command, "--json"])
    assert done.exit_code == exit_code, done.output
    assert done.stdout, done.exception
    return json.loads(done.stdout)


@pytest.fixture
def source(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    """The votes as a folder, and as a run that was imported."""
    if request.param == "folder":
        return [str(folder)]
    db = str(tmp_path / "studio.db")
    run = asked("import", str(folder), "--db", db)["run"]
    return [str(run), "--db", db]


both_ways = pytest.mark.parametrize("source", ["folder", "import"], indirect=True)


@both_ways
def test_the_panel_is_as_right_as_the_verdicts_that_score_shows(source: list[str]) -> None:
    shown = {
        item["id"]: item["verdicts"]["Right"]["label"] for item in asked("score", *source)["items"]
    }
    truth = {f"i{at}": label for at, (label, *_) in enumerate(answers())}
    pairs = [(truth[item], shown[item]) for item in truth]
    found = asked("metrics", *source)

    panel = found["criteria"]["Right"]["panel"]["vs_gold"]
    assert panel["n"] == 200
    assert panel["accuracy"] == accuracy_score(*zip(*pairs, strict=True)) == 146 / 200
    assert panel["cohen_kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    overall = found["overall"]["panel"]["vs_gold"]
    assert (overall["accuracy"], overall["cells"], overall["decided"]) == (146 / 200, 200, 200)


@both_ways
def test_the_gate_tests_the_verdicts_that_score_shows(source: list[str]) -> None:
    gate = asked("check", *source, "--min", "accuracy=0.8", exit_code=1)
    assert gate["checks"][0]["value"] == 146 / 200


@both_ways
def test_the_majority_where_there_is_one_is_a_rater_beside_the_panel(source: list[str]) -> None:
    found = asked("metrics", *source)
    pair = found["criteria"]["Right"]["raters"]["majority where there is one"]["vs_gold"]
    assert (pair["n"], pair["accuracy"]) == (113, 103 / 113)
