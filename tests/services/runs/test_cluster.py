"""Runs on a Dask cluster, over real TCP: the votes of one process, whoever of the cluster dies."""

from __future__ import annotations

import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core import clock
from core.cli import main
from core.domain.dataset import Dataset, Label
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.services.access.permits import allow_sendings
from core.services.runs import lifecycle
from core.services.runs.cluster import joining, remote, training
from core.services.runs.planning import RunRequest
from core.services.runs.runner import Runner, work_here
from core.services.runs.sweeps import SweepAxes, plan_sweep, start_sweep
from core.store.store import Store
from tests.judging.offline.answers import CORRECT, seasons
from tests.places import ROOT
from tests.provider import Answer, Provider, status
from tests.services.runs.world import asked_of, slowly, until, votes_of


@contextmanager
def cluster(*, processes: bool = False) -> Iterator[Any]:
    """A scheduler and two workers behind a port: in this process, or each in its own."""
    from distributed import LocalCluster  # who only collects need not wait for it

    with LocalCluster(
        n_workers=2, threads_per_worker=2, processes=processes, dashboard_address="127.0.0.1:0",
        protocol="tcp://", host="127.0.0.1", silence_logs=50,
    ) as made:  # fmt: skip
        yield made


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster() as made:
        yield str(made.scheduler_address)


@pytest.fixture
def many(store: Store, tmp_path: Path, provider: Provider) -> RunRequest:
    """100 items x 3 criteria, four calls at once: chunks of 16 questions on each of two workers."""
    judge = Judge(
        name="ada", model="ada", api_base=provider.url, concurrency=4, price_in=100, price_out=0
    )
    return asked_of(store, judge, tmp_path, 100)


def started(store: Store, request: RunRequest, **asking: Any) -> int:
    panel = request.panel.model_copy(update={"asking": Asking(**asking)})
    return lifecycle.start(store, replace(request, panel=panel))


def test_a_cluster_gives_the_votes_that_one_process_gives_and_never_sees_a_key(
    store: Store,
    many: RunRequest,
    provider: Provider,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = list[bytes]()
    dumps = remote.pickle.dumps
    monkeypatch.setenv("QZ_KEY", "qz-secret-of-the-owner")
    (judge,) = many.panel.judges
    panel = many.panel.model_copy(
        update={"judges": (judge.model_copy(update={"key_env": "QZ_KEY"}),)}
    )
    allow_sendings(panel.judges)
    many = replace(many, panel=panel)
    monkeypatch.setattr(
        "core.services.runs.cluster.fan_out.pickle.dumps",
        lambda what: sent.append(dumps(what)) or sent[-1],
    )
    there, here = started(store, many, cache=False), started(store, many, cache=False)
    assert work_here(store, there, cluster=address) == "done"
    assert work_here(store, here) == "done"
    assert votes_of(store, there) == votes_of(store, here)
    assert provider.count == 600
    # A worker's own environment has the value; the name alone is sent.
    assert b"QZ_KEY" in b"".join(sent)
    assert b"qz-secret" not in b"".join(sent)
    figures = [lifecycle.run_summary(store, run) for run in (there, here)]
    assert figures[0]["cost_usd"] == pytest.approx(30.0)  # 300 calls of 1,000 tokens
    assert figures[0]["calls"] == figures[1]["calls"] == 300


def test_workers_hold_their_parts_of_the_limit_of_calls_at_once(
    store: Store, many: RunRequest, provider: Provider, address: str
) -> None:
    out, most, lock = 0, 0, threading.Lock()
    provider.rule = lambda body: slowly(body, 0.01)
    give = Provider._give

    async def counted(self: Provider, answer: Answer, request: Any) -> Any:
        nonlocal out, most
        with lock:
            out += 1
            most = max(most, out)
        try:
            return await give(self, answer, request)
        finally:
            with lock:
                out -= 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Provider, "_give", counted)
        assert work_here(store, started(store, many), cluster=address) == "done"
    assert most <= 4


def test_what_was_answered_before_is_not_asked_again_on_a_cluster(
    store: Store, many: RunRequest, provider: Provider, address: str
) -> None:
    # Answers of the cluster are kept, and are found by the next run, here or there.
    for where in (address, address, ""):
        assert work_here(store, started(store, many), cluster=where) == "done"
        assert provider.count == 300
    assert store.responses.count() == 300


def test_a_budget_and_a_judge_that_cannot_be_asked_hold_on_a_cluster_too(
    store: Store, many: RunRequest, provider: Provider, address: str
) -> None:
    # 1,000 tokens in at $100 a million: a call costs $0.10; at $1.00 there is room for one more.
    short = started(store, replace(many, budget=1.05), cache=False)
    assert work_here(store, short, cluster=address) == "budget"
    assert store.runs.row(short).cost == pytest.approx(1.1)
    provider.rule = lambda body: status(401, "no such key")
    before = provider.count
    dead = started(store, many, cache=False)
    assert work_here(store, dead, cluster=address) == "done"
    row = store.runs.row(dead)
    assert (row.votes, row.failures_open) == (0, 300)
    # Four calls are out when the first comes back, and as many on the chunks already handed out.
    assert provider.count - before <= 16


def test_a_worker_is_killed_and_the_others_answer_what_it_had(
    store: Store, many: RunRequest, provider: Provider
) -> None:
    provider.rule = lambda body: slowly(body, 0.02)
    run = started(store, many, cache=False)
    with cluster(processes=True) as made:

        def kill() -> None:
            until(lambda: provider.count >= 60, 60)
            os.kill(made.workers[0].pid, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        assert work_here(store, run, cluster=str(made.scheduler_address)) == "done"
        thread.join()
    assert store.runs.row(run).votes == 300
    assert len(votes_of(store, run)) == 300
    # Asked again: two calls in flight on that worker, and what it had not sent for 20 ms.
    assert 300 <= provider.count <= 300 + 2 + 2 + 4


@pytest.mark.parametrize("stopped", [1, 2])
def test_a_worker_that_hangs_is_given_up_in_words_and_others_answer_what_it_had(
    stopped: int,
    store: Store,
    many: RunRequest,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(joining, "SILENT", 3.0)
    provider.rule = lambda body: slowly(body, 0.02)
    run = started(store, many, cache=False)
    with cluster(processes=True) as made:
        hanging = [made.workers[n].pid for n in range(stopped)]

        def hang() -> None:
            until(lambda: provider.count >= 60, 60)
            for pid in hanging:
                os.kill(pid, signal.SIGSTOP)

        thread = threading.Thread(target=hang)
        thread.start()
        try:
            status = work_here(store, run, cluster=str(made.scheduler_address))
            thread.join()
        finally:
            for pid in hanging:
                os.kill(pid, signal.SIGCONT)
    row = store.runs.row(run)
    assert caplog.text.count("has not been heard of for 3 s") == stopped
    if stopped == 2:
        assert (status, row.message) == ("interrupted", joining.ALL_SILENT)
        lifecycle.resume(store, run)
        assert work_here(store, run) == "done"
        row = store.runs.row(run)
    assert (status, row.votes) == ("done" if stopped == 1 else "interrupted", 300)
    # Asked again: what was in flight on those that hang, and what was not recorded of theirs.
    assert provider.count <= 300 + stopped * (2 + 8)


def test_when_the_scheduler_goes_the_run_says_so_and_goes_on_elsewhere(
    store: Store,
    many: RunRequest,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider.rule = lambda body: slowly(body, 0.02)
    monkeypatch.setattr(joining, "PATIENCE", 0.5)
    # Dask's loggers hand nothing upwards.
    monkeypatch.setattr(logging.getLogger("distributed"), "propagate", True)
    run = started(store, many, cache=False)
    with cluster() as made:

        def close() -> None:
            until(lambda: provider.count >= 60, 60)
            made.close()

        thread = threading.Thread(target=close)
        thread.start()
        assert work_here(store, run, cluster=str(made.scheduler_address)) == "interrupted"
        thread.join()
    row = store.runs.row(run)
    assert "scheduler of the cluster is gone" in row.message
    said = [one for one in caplog.records if one.name == "distributed.client" and one.exc_info]
    assert not said, "a traceback beside the sentence"
    # It tells of a connection that ended on the way by chance only.
    assert not logging.getLogger("distributed.batched").isEnabledFor(logging.INFO)
    assert row.votes >= 40
    lifecycle.resume(store, run)
    assert work_here(store, run) == "done"
    assert store.runs.row(run).votes == 300
    assert provider.count <= 300 + 8


def test_workers_of_another_version_are_not_asked(
    store: Store, many: RunRequest, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = remote.own_versions()
    monkeypatch.setattr(joining, "_own_versions", lambda: ours._replace(program="9.9"))
    run = started(store, many)
    assert work_here(store, run, cluster=address) == "interrupted"
    assert re.search(r"No worker of the cluster fits.*9\.9", store.runs.row(run).message)


def test_code_of_another_day_is_another_version_though_it_is_called_the_same(
    tmp_path: Path,
) -> None:
    shutil.copytree(ROOT / "core", tmp_path / "core")
    told = "from core.services.runs.cluster.remote import own_versions; print(own_versions().words)"

    def there() -> str:
        done = subprocess.run(
            [sys.executable, "-c", told], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert there() == remote.own_versions().words
    with (tmp_path / "core" / "judging" / "pace.py").open("a") as other:
        other.write("# As it was changed since.\n")
    assert there() != remote.own_versions().words


@pytest.mark.parametrize(
    ("where", "words"),
    [("local:0", "1 to 256 workers"), ("10.0.0.5", "tcp://HOST:PORT"), ("local:x", "local:N")],
)
def test_what_is_no_cluster_is_refused_before_a_run_is_made(
    tmp_path: Path, where: str, words: str
) -> None:
    db = str(tmp_path / "none.db")
    refused = CliRunner().invoke(main, ["grade", "r", "d", "--cluster", where, "--db", db])
    assert refused.exit_code == 2
    assert words in refused.output


def test_where_nobody_answers_the_run_waits_to_be_resumed(
    store: Store, request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "CONNECT", 0.3)
    run = lifecycle.start(store, request_)
    assert work_here(store, run, cluster="tcp://127.0.0.1:9") == "interrupted"
    assert "No scheduler answers at tcp://127.0.0.1:9" in store.runs.row(run).message


def test_offline_judges_learn_and_judge_on_the_cluster_as_they_do_here(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # One criterion follows from the words; of the other nothing can be learnt: it is switched off.
    dice = random.Random(4)
    other = Criterion(name="Neat", requirement="Is it neat?")
    items = tuple(
        item.model_copy(
            update={
                "labels": {
                    "Correct": Label(label=CORRECT.choices[choice].label),
                    "Neat": Label(label=dice.choice(("MET", "UNMET"))),
                }
            }
        )
        for item, choice in seasons(80)
    )
    asked = RunRequest(
        store.rubrics.create(Rubric(name="r", criteria=(CORRECT, other)), now=clock.now()).id,
        store.datasets.create(Dataset(name="d", items=items), now=clock.now()).id,
        Panel(judges=(Judge(name="words", kind="classifier"),)),
        seed=1,
    )
    there, here = (lifecycle.start(store, asked) for _ in range(2))
    monkeypatch.setattr(training, "WORTH", 1)
    assert work_here(store, there, cluster=address) == "done"
    assert work_here(store, here) == "done"
    votes = votes_of(store, here)
    assert votes_of(store, there) == votes
    assert {cell.criterion: vote[1] for cell, vote in votes.items()}["Neat"]
    assert not all(vote[1] for vote in votes.values())
    assert "could not train" not in caplog.text
    notes = [store.runs.get(run).notes for run in (there, here)]
    assert notes[0]["training"] == notes[1]["training"]
    assert notes[0]["cluster"]["workers"] == 2
    # Where the cluster cannot do it after all, it is done here.
    monkeypatch.setattr(training, "learn_criteria", lambda sent, names: 1 / 0)
    again = lifecycle.start(store, asked)
    assert work_here(store, again, cluster=address) == "done"
    assert "could not train words" in caplog.text
    assert votes_of(store, again) == votes


def test_the_runs_of_a_sweep_are_asked_on_the_cluster(
    store: Store, tmp_path: Path, provider: Provider, address: str
) -> None:
    judge = Judge(name="ada", model="ada", api_base=provider.url)
    swept = plan_sweep(store, asked_of(store, judge, tmp_path, 4), SweepAxes(replicates=(1, 2)))
    runs = start_sweep(store, swept)
    runner = Runner(store, address).start()
    try:
        until(lambda: not any(store.runs.row(run).active for run in runs), 60)
    finally:
        runner.stop()
    assert [store.runs.row(run).votes for run in runs] == [12, 24]
    assert all(store.runs.get(run).notes["cluster"]["workers"] == 2 for run in runs)
