"""A judge with several addresses: the calls are shared, and one of them may die.

60 cells: 20 items x 3 criteria of `world`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.domain.panel import Judge
from core.errors import InputError
from core.services.judges import connection, registry
from core.services.runs import lifecycle
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.command_line import cli
from tests.provider import Answer, Provider, reset
from tests.services.runs.world import asked_of, by_request, slowly, write_files

PLANNED = 60


def judge_at(*providers: Provider, **changes: object) -> Judge:
    first, *more = (one.url for one in providers)
    given = {"name": "ada", "model": "ada", "api_base": first, "replicas": more, "concurrency": 12}
    return Judge.model_validate({**given, **changes})


def test_calls_are_shared_and_votes_are_those_of_one_address(store: Store, tmp_path: Path) -> None:
    with Provider() as one, Provider() as two, Provider() as three:
        for provider in (one, two, three):
            provider.rule = slowly
        run = lifecycle.start(store, asked_of(store, judge_at(one, two, three), tmp_path, 20))
        work_here(store, run)
        counts = [provider.count for provider in (one, two, three)]
        assert sum(counts) == PLANNED
        # 12 at a time and equally quick: 20 each, give or take who answers first.
        assert min(counts) >= 10
        notes = store.runs.get(run).notes["addresses"]["ada"]
        assert [notes[p.url]["answered"] for p in (one, two, three)] == counts
        used = {
            store.votes.call(vote.call_id).params["api_base"]
            for vote in store.votes.for_item(run, "i000")
            if vote.call_id is not None
        }
        assert used <= {one.url, two.url, three.url}
        # An answer is known again wherever it came from.
        again = lifecycle.start(store, asked_of(store, judge_at(one, two), tmp_path, 20))
        work_here(store, again)
        assert store.runs.row(again).cached == PLANNED


@pytest.mark.parametrize("way", ["refuses connections", "cuts them", "errs"])
def test_one_of_three_dies_under_load_and_no_cell_fails(
    store: Store, tmp_path: Path, way: str
) -> None:
    with Provider() as one, Provider() as two, Provider() as three:
        one.rule = three.rule = slowly

        def dying(body: dict[str, object]) -> Answer:
            if two.count <= 6:
                return slowly(body)
            if way == "refuses connections":
                two.hang_up()
            return Answer(500, b"{}") if way == "errs" else reset()

        two.rule = dying
        run = lifecycle.start(
            store, asked_of(store, judge_at(one, two, three, tries=1), tmp_path, 20)
        )
        work_here(store, run)
        row = store.runs.row(run)
        assert (row.status, row.votes, row.failures_open) == ("done", PLANNED, 0)
        notes = store.runs.get(run).notes["addresses"]["ada"]
        assert notes[two.url]["down"]
        # Those that were on their way when it died (12 at a time), and trials one by one.
        assert 1 <= notes[two.url]["lost"] <= 12
        assert sum(told["answered"] for told in notes.values()) == PLANNED


def test_where_all_are_dead_the_cells_fail_as_at_one_address(store: Store, tmp_path: Path) -> None:
    with Provider() as one, Provider() as two:
        for provider in (one, two):
            provider.rule = lambda body: Answer(400, b'{"error": {"message": "No."}}')
        run = lifecycle.start(store, asked_of(store, judge_at(one, two), tmp_path, 1))
        work_here(store, run)
        (kind,) = store.votes.failure_kinds(run)
        # What is wrong with the request is wrong at every address: it is asked once.
        assert (kind.kind, kind.times, one.count + two.count) == ("bad_request", 3, 3)


def test_the_connection_test_asks_every_address(tmp_path: Path) -> None:
    with Provider() as one, Provider() as two:
        assert connection.check_connection(judge_at(one, two)).ok
        assert (one.count, two.count) == (1, 1)
        two.rule = lambda body: Answer(500, b"{}")
        found = connection.check_connection(judge_at(one, two, tries=1))
        assert not found.ok
        assert found.message.startswith(f"1 of 2 addresses failed. {two.url}: ")


def test_addresses_come_from_a_form_a_file_and_the_command_line(
    store: Store, tmp_path: Path
) -> None:
    typed = "http://b:1/v1, http://c:1/v1"
    row = registry.save_judge(
        store, {"name": "j", "model": "m", "api_base": "http://a:1/v1", "replicas": typed}
    )
    assert row.judge.replicas == ("http://b:1/v1", "http://c:1/v1")
    with Provider() as one, Provider() as two:
        one.rule = two.rule = by_request
        rubric, dataset = write_files(tmp_path, items=4)
        base = ("--api-base", one.url, "--api-base", two.url, "--judge", "openai/ada")
        told = cli("grade", rubric, dataset, *base, "--json", "--db", tmp_path / "cli.db")
        assert json.loads(told.stdout)["votes"] == one.count + two.count == 12
        assert min(one.count, two.count) > 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"replicas": ["ftp://x"]}, "is not a web address"),
        ({"replicas": ["http://a:1/v1/"]}, "names an address twice"),
        ({"api_base": "", "replicas": ["http://b:1/v1"]}, "no first one"),
        ({"replicas": ["http://me:secret@b:1/v1"]}, "holds a password"),
    ],
)
def test_what_is_no_further_address_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        Judge.model_validate({"name": "j", "model": "m", "api_base": "http://a:1/v1", **given})


def test_a_run_keeps_to_its_limit_together_with_other_processes_of_the_machine(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with Provider() as one:
        one.rule = by_request
        judge = Judge(name="ada", model="ada", api_base=one.url, requests_per_minute=60_000)
        work_here(store, lifecycle.start(store, asked_of(store, judge, tmp_path, 1)))
    assert len(list((tmp_path / "rubric-studio" / "pace").iterdir())) == 1
