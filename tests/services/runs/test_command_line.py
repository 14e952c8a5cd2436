"""The commands of the contract, as a script would use them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli.requests_from_files import panel_from
from core.store.store import Store
from tests.command_line import cli, cli_process
from tests.new_store import new_store
from tests.provider import Provider, malformed, status
from tests.services.runs.world import ROOT, by_request, slowly, until, votes_of, write_files


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "studio.db"


def graded(folder: Path, provider: Provider, db: Path, *more: object, items: int = 4) -> dict:  # type: ignore[type-arg]
    rubric, dataset = write_files(folder, items)
    done = cli(
        "grade",
        rubric,
        dataset,
        "--judge",
        "openai/ada",
        "--api-base",
        provider.url,
        "--db",
        db,
        "--seed",
        3,
        "--json",
        *more,
    )
    assert done.stdout, done.stderr
    return {**json.loads(done.stdout), "exit": done.returncode}


def test_grade_says_what_the_contract_says(tmp_path: Path, provider: Provider, db: Path) -> None:
    figures = graded(tmp_path, provider, db)
    assert figures["exit"] == 0
    assert figures["planned"] == figures["votes"] == figures["calls"] == 12  # 4 items x 3 criteria
    assert figures["status"] == "done"
    assert (figures["run"], figures["failures"], figures["cached"]) == (1, {}, 0)
    assert figures["cost_usd"] is None  # nobody knows the price of a model called ada
    assert figures["db"] == str(db)


def test_failures_are_counted_by_kind_and_retry_completes_them(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    # A reply that cannot be read is asked for once more; then it is a failure.
    provider.say(malformed(), malformed(), status(400, "no such parameter"))
    figures = graded(tmp_path, provider, db, "--concurrency", 1)
    assert figures["exit"] == 1
    assert figures["failures"] == {"bad_request": 1, "malformed": 1}
    assert figures["votes"] == 10
    again = cli("retry", 1, "--db", db, "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout)["votes"] == 12
    # 2 malformed + 1 refused + 10 answered, then 2 more answers
    assert provider.count == 15


def test_a_wrong_key_stops_the_judge_after_two_calls_and_says_so(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    provider.rule = lambda body: status(401, "Incorrect API key provided")
    figures = graded(tmp_path, provider, db, "--concurrency", 1)
    assert figures["failures"] == {"auth": 12}
    assert provider.count == 2  # one refusal alone may be a gateway's slip


def test_a_key_that_is_not_set_is_named_and_no_call_is_made(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    refused = graded(tmp_path, provider, db, "--key-env", "NO_SUCH_KEY_FOR_RUBRIC_STUDIO")
    assert refused["exit"] == 2
    assert "NO_SUCH_KEY_FOR_RUBRIC_STUDIO" in json.dumps(refused["problems"])
    assert provider.count == 0
    assert json.loads(cli("runs", "--db", db, "--json").stdout) == {"runs": []}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"thinking": 4000}, "no field"),
        ({"door": "litellm", "thinking": 4000, "max_tokens": 4000}, "leaves none for the answer"),
    ],
)
def test_thinking_that_cannot_be_sent_is_refused_before_a_run_is_made(
    settings: dict[str, object], says: str, tmp_path: Path, provider: Provider, db: Path
) -> None:
    rubric, dataset = write_files(tmp_path, 2)
    judge = {"name": "ada", "model": "m", "api_base": provider.url, **settings}
    panel = tmp_path / "panel.json"
    panel.write_text(json.dumps({"judges": [judge]}))
    done = cli("grade", rubric, dataset, "--panel", panel, "--db", db)
    assert done.returncode == 2
    assert says in done.stderr
    assert provider.count == 0


def test_a_run_without_any_vote_has_failed_and_says_why(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    provider.rule = lambda body: status(400, "no such model here")
    figures = graded(tmp_path, provider, db, items=2)
    assert (figures["status"], figures["complete"], figures["exit"]) == ("failed", False, 1)
    ((kind, count),) = figures["failures"].items()
    assert count == figures["planned"]
    assert "no such model here" in figures["reasons"][kind]
    shown = cli("show", 1, "--db", db).stdout
    assert "(failed)" in shown
    assert shown.count("no such model here") == 1
    (listed,) = json.loads(cli("runs", "--db", db, "--json").stdout)["runs"]
    assert listed["status"] == "failed"
    assert " failed " in cli("runs", "--db", db).stdout.splitlines()[-1]


def test_a_run_with_some_failures_is_incomplete_in_words(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    provider.say(status(400, "no such parameter"))
    figures = graded(tmp_path, provider, db, "--concurrency", 1)
    # The contract's word is done, with status 1; what is missing is said beside it.
    assert (figures["status"], figures["complete"], figures["exit"]) == ("done", False, 1)
    assert "(incomplete)" in cli("show", 1, "--db", db).stdout
    assert " incomplete " in cli("runs", "--db", db).stdout.splitlines()[-1]


def test_replicates_are_each_really_asked_with_an_order_of_their_own(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    figures = graded(tmp_path, provider, db, "--replicates", 3)
    assert figures["planned"] == provider.count == 36
    orders = {
        cell.replicate: vote[3]
        for cell, vote in votes_of(Store(db)).items()  # type: ignore[attr-defined]
        if (cell.item, cell.criterion) == ("i000", "topic")
    }  # type: ignore[attr-defined]
    assert sorted(orders) == [0, 1, 2]
    assert all(order[-1] == 3 for order in orders.values())  # the abstention stays last


def test_the_same_files_and_seed_give_the_same_votes(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    graded(tmp_path, provider, db)
    graded(tmp_path, provider, db)
    store = Store(db)
    assert votes_of(store, 1) == votes_of(store, 2)
    assert [r.rubric_number for r in store.runs.list()] == [1, 1]  # no needless version


def test_an_estimate_asks_nobody(tmp_path: Path, db: Path) -> None:
    rubric, dataset = write_files(tmp_path, 4)
    done = cli(
        "grade",
        rubric,
        dataset,
        "--judge",
        "openai/gpt-4o-mini",
        "--db",
        db,
        "--estimate",
        "--json",
    )
    figures = json.loads(done.stdout)
    assert figures["calls"] == 12
    assert figures["tokens_in"] > 12 * 300  # the fixed part of the prompt alone is longer
    assert figures["cost_usd"] > 0  # this model's price is listed
    assert json.loads(cli("runs", "--db", db, "--json").stdout) == {"runs": []}


@pytest.mark.parametrize(
    ("verb", "status"),
    [
        (("runs", "--json"), 0),
        (("show", "1"), 2),
        (("metrics", "1"), 2),
        (("score", "1"), 2),
        (("compare", "1", "2"), 2),
        (("rank", "1"), 2),
        (("export", "1", "--format", "csv"), 2),
        (("resume", "1"), 2),
        (("retry", "1"), 2),
        (("where",), 0),
        (("import", "votes.csv", "--dry-run"), 0),
        (("grade", "rubric.yaml", "items.jsonl", "--judge", "openai/gpt-4o-mini", "--estimate"), 0),
    ],
    ids=lambda v: v[0] if isinstance(v, tuple) else "",
)
def test_a_verb_that_keeps_nothing_makes_no_file_and_no_folder(
    verb: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    rubric, dataset = write_files(tmp_path, 2)
    votes = tmp_path / "votes.csv"
    votes.write_text("item,rater,criterion,label\na,ann,c,yes\na,bob,c,no\nb,ann,c,no\n")
    files = {"rubric.yaml": rubric, "items.jsonl": dataset, "votes.csv": votes}
    db = tmp_path / "new" / "studio.db"
    done = cli(*(files.get(word, word) for word in verb), "--db", db)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert not db.parent.exists()


def test_an_estimate_leaves_the_library_as_it_was(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    graded(tmp_path, provider, db)
    other, dataset = write_files(tmp_path, 5)
    other.write_text(other.read_text() + "guidelines: Of another version.\n")
    before = [(r.id, r.name) for r in Store(db).rubrics.list()], Store(db).counts()
    done = cli("grade", other, dataset, "--judge", "openai/gpt-4o-mini", "--estimate", "--db", db)
    assert done.returncode == 0, done.stderr
    assert ([(r.id, r.name) for r in Store(db).rubrics.list()], Store(db).counts()) == before


@pytest.mark.parametrize("port", ["0", "99999", "-1"])
def test_a_port_that_cannot_be_is_one_message(port: str) -> None:
    done = cli("app", "--port", port)
    assert done.returncode == 2
    assert "65535" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_with_130_and_what_was_finished_is_kept(
    tmp_path: Path, provider: Provider, db: Path
) -> None:
    provider.rule = lambda body: slowly(body, 0.2)
    rubric, dataset = write_files(tmp_path, 20)
    store = new_store(db)
    where = ("--api-base", provider.url, "--db", str(db), "--seed", "3", "--json")
    words = ("grade", str(rubric), str(dataset), "--judge", "openai/ada", "--concurrency", "1")
    command = [sys.executable, "-m", "core.cli", *words, *where]
    # A shell's background jobs ignore Ctrl-C, and what they start inherits that.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, handler)
    until(lambda: any(run.votes > 1 for run in store.runs.list()), 60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.endswith("Interrupted. What was finished is kept.\n")
    kept = votes_of(store)
    assert 1 < len(kept) < 60
    provider.rule = by_request
    done = cli("resume", 1, "--db", db, "--json")
    assert (done.returncode, json.loads(done.stdout)["votes"]) == (0, 60)
    assert kept.items() <= votes_of(store).items()


def test_a_budget_that_cannot_count_says_so(tmp_path: Path, provider: Provider, db: Path) -> None:
    rubric, dataset = write_files(tmp_path, 1)
    words = ("--judge", "openai/ada", "--judge", "offline", "--db", db, "--estimate", "--json")
    done = cli("grade", rubric, dataset, *words, "--budget", 1)
    assert (
        "note: No price is known for openai/ada: --budget does not stop its calls." in done.stderr
    )
    assert "note" not in cli("grade", rubric, dataset, *words).stderr


def test_runs_and_show_find_what_was_graded(tmp_path: Path, provider: Provider, db: Path) -> None:
    graded(tmp_path, provider, db, "--name", "Monday")
    listed = json.loads(cli("runs", "--db", db, "--json").stdout)["runs"]
    assert [(r["run"], r["name"], r["status"], r["votes"]) for r in listed] == [
        (1, "Monday", "done", 12)
    ]
    item = json.loads(cli("show", 1, "i002", "--db", db, "--json").stdout)
    votes = item["criteria"]["tone"]["votes"]
    assert [v["judge"] for v in votes] == ["openai/ada"]
    assert sorted(votes[0]["order"]) == [0, 1, 2, 3]


def test_score_reads_a_run_under_other_rules(tmp_path: Path, provider: Provider, db: Path) -> None:
    graded(tmp_path, provider, db)
    plain = json.loads(cli("score", 1, "--db", db, "--json").stdout)
    other = json.loads(
        cli("score", 1, "--rule", "ordinal=max", "--abstain", "zero", "--db", db, "--json").stdout
    )
    assert provider.count == 12  # nobody was asked for either
    assert plain["rules"]["ordinal"] == "mean"
    assert other["rules"]["ordinal"] == "max"
    assert [i["id"] for i in plain["items"]] == ["i000", "i001", "i002", "i003"]
    stored = {row.item_id: row.score for row in Store(db).results.items(1)}
    assert {i["id"]: i["score"] for i in plain["items"]} == stored


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("resume", 99), "99"),
        (("grade", "nowhere.yaml", "nowhere.jsonl", "--judge", "offline"), "nowhere.yaml"),
        (("score", "1", "--rule", "ordinal=best"), "best"),
        (("lint", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_wrong_input_is_one_message_and_status_2(
    arguments: tuple[object, ...], says: str, db: Path, tmp_path: Path, provider: Provider
) -> None:
    graded(tmp_path, provider, db)
    more = () if arguments[0] == "lint" else ("--db", db)
    done = cli(*arguments, *more)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_lint_names_the_line_and_the_mend(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("criteria:\n- name: a\n  requirement: Is it so?\n  weigth: 3\n")
    done = cli_process("lint", file, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 2
    assert report["valid"] is False
    assert report["problems"][0]["line"] == 4
    assert "weight" in report["problems"][0]["mend"]


def test_the_command_line_starts_without_heavy_libraries() -> None:
    heavy = ["streamlit", "litellm", "sklearn", "pandas", "numpy", "scipy", "plotly", "aiohttp"]
    heavy += ["pydantic"]  # the nouns of the domain load with the first command that needs them
    script = f"import sys, core.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_panel_file_names_both_offline_judges_by_one_kind(tmp_path: Path) -> None:
    file = tmp_path / "panel.yaml"
    file.write_text(
        "judges:\n- {kind: offline, stage: 0}\n- {name: m, model: m, stage: 1}\ncascade: {}\n"
    )
    found = panel_from(file, [], "", "", None)
    assert [(j.name, j.kind, j.stage) for j in found.judges] == [
        ("Text classifier", "classifier", 0),
        ("Nearest neighbours", "neighbours", 0),
        ("m", "llm", 1),
    ]
    file.write_text("judges:\n- {kind: offline, name: First}\n- {kind: offline, name: Second}\n")
    names = [j.name for j in panel_from(file, [], "", "", None).judges]
    assert names[0] == "First: Text classifier"
    assert len(set(names)) == 4
