"""`contest` and `rank` from the outside: files in, JSON out, and the contract's exit statuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.cli.main import main
from core.formats.datasets.dataset_file import dump_dataset
from tests.provider import Provider, malformed
from tests.services.pairwise.world import dataset, words_or

SYSTEMS = ("big model", "mini")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "answers.jsonl").write_text(dump_dataset(dataset(SYSTEMS, 6)))
    (tmp_path / "rubric.yaml").write_text(
        "name: R\ncriteria:\n- {name: true, requirement: Is true.}\n"
        "- {name: rude, requirement: Is rude., weight: -5}\n".replace("name: true", "name: truth")
    )
    return tmp_path


def run(folder: Path, *arguments: object) -> Result:
    words = [*map(str, arguments), "--db", str(folder / "studio.db")]
    return CliRunner().invoke(main, words)


def data(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_an_estimate_makes_no_call_and_the_contest_makes_just_those(
    files: Path, provider: Provider
) -> None:
    words = ["contest", files / "answers.jsonl", "--systems", *SYSTEMS, "--judge", "openai/ada"]
    words += ["--api-base", provider.url, "--seed", 3, "--json"]
    announced = data(run(files, *words, "--estimate"))
    assert provider.count == 0
    assert announced["contests"] == 6
    assert announced["calls"] == 12
    result = run(files, *words)
    assert result.exit_code == 0, result.output
    report = data(result)
    assert provider.count == 12
    assert report["calls"] == 12
    standings = report["ranking"]["overall"]["standings"]
    assert [s["system"] for s in standings] == ["mini", "big model"]
    # Ranking again from the votes calls nobody and says the same.
    again = run(files, "rank", report["run"], "--json")
    assert again.exit_code == 0
    assert data(again) == report["ranking"]
    assert provider.count == 12
    text = run(files, "rank", report["run"])
    assert re.search(r"^  mini +1 ", text.stdout, re.M)


def test_each_criterion_of_a_rubric_is_a_question(files: Path, provider: Provider) -> None:
    words = ["contest", files / "answers.jsonl", "--judge", "openai/ada", "--api-base"]
    words += [provider.url, "--rubric", files / "rubric.yaml", "--json"]
    report = data(run(files, *words, "--each"))
    assert set(report["ranking"]["questions"]) == {"truth", "rude"}
    one = data(run(files, *words, "--criterion", "rude", "--estimate"))
    assert one["calls"] == 12


def test_failed_calls_end_with_status_one(files: Path, provider: Provider) -> None:
    provider.rule = lambda body: malformed()
    words = ["contest", files / "answers.jsonl", "--judge", "openai/ada", "--json"]
    result = run(files, *words, "--api-base", provider.url)
    assert result.exit_code == 1
    report = data(result)
    assert report["failures"] == {"malformed": 12}
    assert report["ranking"]["overall"]["undecided"] == {"missing": 6}


def test_adaptive_rounds_stay_within_what_was_announced(files: Path, provider: Provider) -> None:
    provider.rule = words_or(lambda body: 3)  # always a tie: never told apart
    words = ["contest", files / "answers.jsonl", "--judge", "openai/ada", "--json", "--api-base"]
    words += [provider.url, "--design", "adaptive", "--rounds", 3, "--per-round", 4, "--seed", 1]
    announced = data(run(files, *words, "--estimate"))
    report = data(run(files, *words))
    assert provider.count <= announced["calls_at_most"]
    assert provider.count == sum(r["calls"] for r in report["rounds"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--systems", "big model", "mimi"], "Did you mean 'mini'"),
        (["--design", "baseline"], "--baseline NAME"),
        (["--each"], "--rubric FILE"),
        (["--join", "topic"], "Give it a 'topic' in its meta."),
    ],
)
def test_wrong_input_ends_with_status_two_and_says_how_to_mend_it(
    words: list[str], said: str, files: Path, provider: Provider
) -> None:
    base = ["contest", files / "answers.jsonl", "--judge", "openai/ada", "--api-base", provider.url]
    result = run(files, *base, *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert provider.count == 0


def test_nobody_named_to_judge_is_said(files: Path) -> None:
    result = run(files, "contest", files / "answers.jsonl")
    assert result.exit_code == 2
    assert "Nobody is named to judge" in result.stderr
    assert run(files, "rank", "99").exit_code == 2


def test_a_spent_budget_says_how_to_go_on(files: Path, provider: Provider) -> None:
    # A call of the stand-in is 1,000 tokens in, so $1 here: the budget pays one of twelve.
    (files / "panel.yaml").write_text(
        f"judges:\n- {{name: ada, model: ada, api_base: '{provider.url}', concurrency: 1, "
        "price_in: 1000, price_out: 0}\n"
    )
    words = ["contest", files / "answers.jsonl", "--panel", files / "panel.yaml", "--budget"]
    result = run(files, *words, 0.5, "--seed", 9)
    assert result.exit_code == 1
    assert "Ask the same with a higher --budget" in result.stdout
    assert "a higher budget and the seed 9: answers" in run(files, "show", 1).stdout
    assert provider.count == 1
    assert data(run(files, *words, 50, "--seed", 9, "--json"))["cached"] == 1
    assert provider.count == 12
