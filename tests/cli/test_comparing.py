"""The commands `compare`, `cascade` and `probe`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.domain.panel import Panel
from core.services.diagnostics.probe_edits import EDITS
from core.store.store import Store
from tests.command_line import cli
from tests.services.comparison.test_cascade_sweep import voted
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import ONE, TWO, dataset, run_with
from tests.services.diagnostics.test_probes import LONGISH, made


@pytest.fixture
def db(tmp_path: Path, store: Store) -> str:
    data = dataset(LABELS)
    run_with(store, data, WEAK)
    run_with(store, data, STRONG)
    run_with(store, dataset({"clear": ["MET"]}, ["another text"]), {"one": {"clear": [0]}})
    return str(tmp_path / "studio.db")


def test_json_goes_to_stdout_and_the_seed_decides_it(db: str) -> None:
    words = ["compare", "1", "2", "--db", db, "--json", "--bootstrap", "200"]
    one, again = (CliRunner().invoke(main, words) for _ in range(2))

    assert one.exit_code == 0
    assert one.stdout == again.stdout
    report = json.loads(one.stdout)
    assert report["overall"]["accuracy"]["difference"] == pytest.approx(5 / 16)
    assert report["bootstrap"]["resamples"] == 200
    low, high = report["overall"]["accuracy"]["ci"]
    assert low < 5 / 16 < high


def test_the_level_widens_intervals_and_changes_no_p(db: str, tmp_path: Path) -> None:
    def told(*words: str) -> dict[str, Any]:
        found = CliRunner().invoke(main, [*words, "--db", db, "--json"])
        assert found.exit_code == 0
        return dict(json.loads(found.stdout))

    compared = [told("compare", "1", "2", "--level", level) for level in ("0.8", "0.99")]
    one, other = (report["overall"]["accuracy"] for report in compared)
    assert other["ci"][0] < one["ci"][0] < one["ci"][1] < other["ci"][1]
    assert (one["p"], compared[0]["bootstrap"]["level"]) == (other["p"], 0.8)
    target = tmp_path / "report.md"
    words = ["export", "2", "--format", "markdown", "--level", "0.9", "--out", str(target)]
    assert CliRunner().invoke(main, [*words, "--db", db]).exit_code == 0
    assert "Every interval is a 90% interval" in target.read_text(encoding="utf-8")
    # A gate's promise has no level to turn.
    refused = CliRunner().invoke(main, ["check", "2", "--min", "accuracy=.1", "--level", "0.8"])
    assert (refused.exit_code, "No such option" in refused.output) == (2, True)


def test_the_text_is_fit_to_read(db: str) -> None:
    found = CliRunner().invoke(main, ["compare", "1", "2", "--db", db])

    assert found.exit_code == 0
    assert "Verdicts that flipped" in found.stdout
    assert "Nothing: same rubric, dataset, panel and seed." in found.stdout


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (("1", "3"), "every one of them changed"),
        (("1", "1"), "Name two different runs"),
        (("1", "99"), "There is no run 99"),
        (("1", "folder"), "not the number of a run"),
    ],
)
def test_what_cannot_be_compared_ends_with_status_2(
    db: str, runs: tuple[str, str], said: str
) -> None:
    found = CliRunner().invoke(main, ["compare", *runs, "--db", db])

    assert found.exit_code == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr


def test_cascade_replays_every_threshold(store: Store) -> None:
    run, db = voted(store, Panel(judges=(ONE, TWO))), ("--db", store.path)
    found = json.loads(cli("cascade", run, "--first", "one", "--json", *db).stdout)
    assert (found["chosen"]["threshold"], found["chosen"]["accuracy"]) == (0.6, 1.0)
    assert "decides alone from a confidence of 0.60 on" in cli("cascade", run, *db).stdout
    assert cli("cascade", run, "--first", "ghost", *db).returncode == 2


def test_probe_names_all_its_edits_and_wants_a_writer_with_those_that_a_model_writes(
    store: Store,
) -> None:
    run, db = made(store, LONGISH), ("--db", store.path, "--estimate")
    (option,) = (one for one in main.commands["probe"].params if one.name == "edits")
    assert isinstance(option, click.Option)
    assert set(re.findall(r"[a-z-]+", option.help or "")) >= set(EDITS)
    for words, said in (
        (("--edit", "longer-written"), "A model writes longer-written. Name its judge with --wri"),
        (("--edit", "longer-written", "--writer", "ghost"), "ghost"),
        (("--writer", "ghost"), "ghost"),
    ):
        found = cli("probe", run, *words, *db)
        assert (found.returncode, found.stdout, said in found.stderr) == (2, "", True), found.stderr


def test_probe_says_its_cost_asks_and_tells_what_it_found(store: Store) -> None:
    run, db = made(store, LONGISH), ("--db", store.path)
    few = ("probe", run, "--edit", "longer", "--edit", "typo", "--answers", 24, *db)
    estimate = json.loads(cli(*few, "--estimate", "--json").stdout)
    # Two originals, a neutral line, three doses, and typos: seven texts of 24 answers, for rules.
    assert estimate == {"texts": 168, "calls": 0, "cost_usd": 0.0}
    nothing = cli("probe", run, "--last", *db)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "has no probes yet" in nothing.stderr

    done = cli(*few)
    assert done.returncode == 0
    assert done.stdout.startswith("longish rewards length")
    found = json.loads(cli("probe", run, "--last", "--json", *db).stdout)
    assert (found["run"], found["answers"], found["status"]) == (run, 24, "done")
    assert [(one["edit"], one["accused"]) for one in found["edits"]] == [
        ("longer", True),
        ("typo", False),
    ]
    assert [dose["longer"] for dose in found["edits"][0]["doses"]] == [0.25, 0.5, 1.0]
    assert found["edits"][0]["criteria"]["right"]["estimate"] == 0


def test_probe_accuses_nobody_of_what_a_criterion_earns(store: Store) -> None:
    run, db = made(store, LONGISH), ("--db", store.path)
    few = ("probe", run, "--edit", "longer", "--answers", 24, *db)
    earned = cli(*few, "--earns", "thorough=longer")
    assert earned.returncode == 0
    assert "No edit significantly affects any of these judges." in earned.stdout
    wrong = cli(*few, "--earns", "thorough")
    assert wrong.returncode == 2
    assert "say CRITERION=EDIT" in wrong.stderr
