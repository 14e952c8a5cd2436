"""A worker that lives and does not move is replaced; what stopped two of them is put aside."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core import clock
from core.domain.panel import Judge
from core.domain.votes import Cell
from core.services.runs import lifecycle
from core.services.runs.keeping import keeper
from core.services.runs.keeping.keeper import WorkerProcess, free_run
from core.services.runs.runner import work_here
from core.store.runs import logbook
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.provider import Provider
from tests.services.runs.world import asked_of, slowly, until
from tests.store.making import claimed, queued_run

HANGING = Path(__file__).parent / "hanging"
POISON = Cell("i002", "tone", "ada")


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is given up sooner than on a server: it moves five times a second."""
    monkeypatch.setattr(keeper, "HUNG_AFTER", 4.0)
    monkeypatch.setattr(keeper, "LOOK_EVERY", 0.2)
    monkeypatch.setenv("PYTHONPATH", str(HANGING))


@pytest.fixture
def runs(store: Store, tmp_path: Path, provider: Provider) -> tuple[int, int]:
    """A run with a text that hangs, and one of 90 votes beside it."""
    provider.rule = lambda body: slowly(body, 0.1)
    judge = Judge(name="ada", model="ada", api_base=provider.url, concurrency=2)
    poisoned = lifecycle.start(store, asked_of(store, judge, tmp_path, 6))
    other = judge.model_copy(update={"name": "bea", "concurrency": 4})
    return poisoned, lifecycle.start(store, asked_of(store, other, tmp_path, 30))


@contextmanager
def kept(store: Store) -> Iterator[WorkerProcess]:
    keeping = WorkerProcess(store.path)
    try:
        yield keeping
    finally:
        keeping.stop()


@pytest.mark.parametrize("how", ["HANGS_ON", "ENDS_ON"])
def test_a_run_that_stopped_two_workers_is_put_aside_with_the_cell_named_and_others_go_on(
    how: str,
    store: Store,
    runs: tuple[int, int],
    provider: Provider,
    soon: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(how, " ".join(map(str, POISON)))
    poisoned, other = runs
    with kept(store):
        until(lambda: store.runs.row(poisoned).status == "failed", 90)
        until(lambda: store.runs.row(other).status == "done", 90)
    row = store.runs.row(poisoned)
    assert store.runs.row(other).votes == 90
    assert "at ada on 'tone' of item 'i002'. Other runs go on." in row.message
    assert row.message in cli("show", poisoned, "--db", store.path).stdout
    told = (
        row.calls
        + row.lost
        + sum(lifecycle.run_summary(store, other)[name] for name in ("calls", "lost_calls"))
    )
    # None is left unsaid; a call that was about to be sent as a worker was killed is said, too: of
    # two and four at a time, by two workers.
    assert provider.count <= told <= provider.count + 2 * (2 + 4)
    # By hand it goes on, without what is named.
    monkeypatch.delenv(how)
    lifecycle.resume(store, poisoned)
    assert work_here(store, poisoned) == "done"
    row = store.runs.row(poisoned)
    assert (row.votes, row.failures_open) == (17, 1)
    (failed,) = store.votes.open_failures(poisoned)
    assert (failed.cell, failed.kind) == (POISON, "internal")
    assert lifecycle.retry(store, poisoned) == 1
    assert work_here(store, poisoned) == "done"
    assert store.runs.row(poisoned).votes == 18


def test_a_worker_that_does_not_move_is_replaced_and_its_runs_go_on(
    store: Store, runs: tuple[int, int], soon: None
) -> None:
    with kept(store) as keeping:
        until(lambda: store.runs.row(runs[0]).votes > 3, 60)
        stopped = keeping._worker.pid
        os.kill(stopped, signal.SIGSTOP)  # as in the kernel, or on a disk that does not answer
        until(lambda: all(store.runs.row(run).status == "done" for run in runs), 90)
        assert keeping._worker.pid != stopped
    assert [store.runs.row(run).votes for run in runs] == [18, 90]


def test_a_cancelled_run_that_hangs_leaves_the_server_to_the_next(
    store: Store, runs: tuple[int, int], soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANGS_ON", " ".join(map(str, POISON)))
    poisoned, other = runs

    def at() -> list[tuple[int, tuple[Cell, ...]]]:
        found = [logbook.read_logbook(path) for path in logbook.logbooks_of_process(store.path, "")]
        return [noted.cells for noted in found if noted is not None]

    with kept(store):
        until(lambda: at() == [(poisoned, (POISON,))], 60)
        lifecycle.cancel(store, poisoned)
        until(lambda: store.runs.row(other).status == "done", 90)
        until(lambda: store.runs.row(poisoned).status == "cancelled", 30)
    assert store.runs.row(other).votes == 90
    assert not logbook.logbooks_of_process(store.path, "")


@pytest.mark.parametrize(
    ("batch", "stands"), [(False, ("cancelled", None)), (True, ("queued", None))]
)
def test_a_cancelled_run_whose_worker_is_gone_tells_the_provider_of_its_batches(
    tmp_path: Path, batch: bool, stands: tuple[str, None]
) -> None:
    # Somebody must take it up to stop what the provider works off; one without batches just ends.
    store = new_store(tmp_path / "batches.db")
    run_id = queued_run(store)
    lease = claimed(store, run_id, "host:1:ab", at=clock.seconds_now())
    if batch:
        cell = Cell("a", "Clear", "ann")
        planned = store.batches.plan(lease, "ann", "t", [("k", cell)], guess=0.0, now=clock.now())
        store.batches.update(lease, planned, file="f", batch="b1", status="sent")
    store.runs.request_cancel(run_id, now=clock.now())
    (held,) = store.leases.of_process("host:1:")

    free_run(store, held, "hung", (), guilty=True)

    row = store.runs.row(run_id)
    assert (row.status, row.lease_owner, row.cancel) == (*stands, True)
