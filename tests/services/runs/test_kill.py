"""Killed in the middle and resumed, a run ends with the votes of one that nobody disturbed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.provider import Provider, stall
from tests.services.runs.test_out_of_reach import steady
from tests.services.runs.world import ROOT, by_request, slowly, until, votes_of, write_files

JUDGES = ("--judge", "openai/ada", "--judge", "openai/bea", "--seed", 7, "--concurrency", 4)
PLANNED = 40 * 3 * 2


def arguments(folder: Path, provider: Provider, db: Path) -> list[str]:
    rubric, dataset = write_files(folder, items=40)
    base = ("--api-base", provider.url, "--db", db)
    return [str(part) for part in ("grade", rubric, dataset, *JUDGES, *base, "--json")]


def kill_in_the_middle(command: list[str], db: Path) -> int:
    """Starts the command, kills it with -9 when a third of the votes are in; returns how many."""
    store, deadline = new_store(db), time.monotonic() + 60
    running = subprocess.Popen(
        [sys.executable, "-m", "core.cli", *command],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while time.monotonic() < deadline:
        time.sleep(0.05)
        if store.runs.list() and store.runs.row(1).votes >= PLANNED // 3:
            break
    running.send_signal(signal.SIGKILL)
    running.wait()
    votes = store.runs.row(1).votes
    store.close()
    return votes


def test_after_a_kill_the_calls_counted_and_the_calls_lost_are_all_that_were_made(
    tmp_path: Path, provider: Provider
) -> None:
    # A third is answered; then nothing is, so that the four calls a judge may have out are out.
    provider.rule = lambda body: by_request(body) if provider.count <= PLANNED // 3 else stall(60)
    db = tmp_path / "killed.db"
    store = new_store(db)
    running = subprocess.Popen(
        [sys.executable, "-m", "core.cli", *arguments(tmp_path, provider, db)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: provider.count == PLANNED // 3 + 8, 60)
    until(lambda: (store.runs.row(1).votes, store.runs.row(1).out) == (PLANNED // 3, 8))
    running.kill()
    running.wait()
    provider.rule = by_request
    resumed = json.loads(cli("resume", 1, "--db", db, "--json").stdout)
    assert (resumed["calls"], resumed["lost_calls"]) == (PLANNED, 8)
    assert provider.count == PLANNED + 8


def test_what_show_says_a_kill_cost_is_what_it_cost(tmp_path: Path, provider: Provider) -> None:
    # Answers come at once, so that calls go out between one look at the disk and the next; and the
    # file is locked by somebody else when the kill comes.
    rubric, dataset = write_files(tmp_path, items=400)
    db = tmp_path / "killed.db"
    store = new_store(db)
    how = ("--judge", "openai/ada", "--concurrency", 16, "--api-base", provider.url, "--db", db)
    running = subprocess.Popen(
        [sys.executable, "-m", "core.cli", *map(str, ("grade", rubric, dataset, *how))],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: bool(store.runs.list()) and store.runs.row(1).votes >= 200, 60)
    with store.write():
        until(lambda: steady(lambda: provider.count) > store.runs.row(1).votes)
        running.kill()
        running.wait()
    recorded, asked = store.runs.row(1).calls, steady(lambda: provider.count)
    assert asked > recorded + 16  # more than were in flight
    said = json.loads(cli("show", 1, "--db", db, "--json").stdout)
    assert (said["calls"], said["lost_calls"]) == (recorded, asked - recorded)
    resumed = json.loads(cli("resume", 1, "--db", db, "--json").stdout)
    assert (resumed["calls"], resumed["lost_calls"]) == (1200, asked - recorded)
    assert provider.count == 1200 + asked - recorded
    assert not list(tmp_path.glob("killed.db-work-*"))


def test_a_killed_and_resumed_run_equals_an_undisturbed_one(
    tmp_path: Path, provider: Provider
) -> None:
    provider.rule = slowly
    calm = tmp_path / "calm.db"
    assert cli(*arguments(tmp_path, provider, calm)).returncode == 0
    assert provider.count == PLANNED
    provider.requests.clear()

    killed = tmp_path / "killed.db"
    kept = kill_in_the_middle(arguments(tmp_path, provider, killed), killed)
    assert PLANNED // 3 <= kept < PLANNED  # it really was killed in the middle
    in_flight = provider.count - kept  # calls that were out, or answered and not yet recorded
    resumed = cli("resume", 1, "--db", killed, "--json")

    figures = json.loads(resumed.stdout)
    assert resumed.returncode == 0
    assert (figures["status"], figures["votes"], figures["failures"]) == ("done", PLANNED, {})
    with_kill, without = votes_of(Store(killed)), votes_of(Store(calm))
    assert len(without) == PLANNED
    assert with_kill == without  # none lost, none twice (cells are keys), none different

    # Only calls whose vote was not recorded when the kill came were made again.
    asked = Counter(json.dumps(r.body, sort_keys=True) for r in provider.requests)
    assert len(asked) == PLANNED
    assert sum(times - 1 for times in asked.values()) == in_flight
    assert provider.count == PLANNED + in_flight
