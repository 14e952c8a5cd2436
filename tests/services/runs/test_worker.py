"""Working off runs: cancel, budget, hand-over, and a lease that was lost."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core import clock
from core.domain.panel import Judge, Panel
from core.domain.votes import Cell
from core.errors import Conflict, InputError
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.services.runs import lifecycle
from core.services.runs.held_work import WaitingQuestions
from core.services.runs.planning import RunRequest
from core.services.runs.ready_run import load_job
from core.services.runs.runner import Runner, work_here
from core.services.spot.request import SpotRequest
from core.services.spot.spot_check import check
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Answer, Provider, ok, status
from tests.services.runs.world import slowly, until, votes_of, write_files


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


def request(store: Store, folder: Path, provider: Provider, **options: object) -> RunRequest:
    rubric, dataset = write_files(folder, items=20)
    judge = Judge(
        name="ada", model="ada", api_base=provider.url, concurrency=4, price_in=100, price_out=0
    )
    return RunRequest(
        rubric_version=store.rubrics.create(read_rubric_file(rubric).value, now=clock.now()).id,
        dataset_version=store.datasets.create(read_dataset_file(dataset).value, now=clock.now()).id,
        panel=Panel(judges=(judge,)),
        seed=1,
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture
def runner(store: Store) -> object:
    started = Runner(store).start()
    yield started
    started.stop()


def test_what_has_been_out_for_long_is_noted_while_it_is(
    store: Store, tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WaitingQuestions, "LONG", 0.0)
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    provider.say(Answer(body=ok().body, stall=2.5))
    seen = list[str]()
    work_here(
        store,
        run_id,
        on_tick=lambda: seen.append(lifecycle.waiting_words(lifecycle.run_progress(store, run_id))),
    )

    assert any("1 call has been out" in words and "(ada)" in words for words in seen)
    assert lifecycle.waiting_words(lifecycle.run_progress(store, run_id)) == ""


def test_a_runner_takes_up_queued_runs_by_itself(
    store: Store, tmp_path: Path, provider: Provider, runner: Runner
) -> None:
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    until(lambda: store.runs.row(run_id).status == "done")
    assert store.runs.row(run_id).votes == 60


def test_cancel_stops_the_calls_and_resume_asks_only_the_rest(
    store: Store, tmp_path: Path, provider: Provider, runner: Runner
) -> None:
    provider.rule = lambda body: slowly(body, 0.1)
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    until(lambda: store.runs.row(run_id).votes > 0)
    lifecycle.cancel(store, run_id)
    until(lambda: store.runs.row(run_id).status == "cancelled")
    asked, kept = provider.count, votes_of(store, run_id)
    time.sleep(0.3)
    assert provider.count == asked  # nothing runs after a cancel
    assert 0 < len(kept) < 60

    provider.requests.clear()
    lifecycle.resume(store, run_id)
    until(lambda: store.runs.row(run_id).status == "done")
    assert provider.count == 60 - len(kept)
    assert kept.items() <= votes_of(store, run_id).items()


def test_a_budget_ends_the_run_at_most_one_call_over_it(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    # 1,000 tokens in at $100 per million are $0.10 a call. $0.55 admits the sixth call at $0.50.
    run_id = lifecycle.start(store, request(store, tmp_path, provider, budget=0.55))
    assert work_here(store, run_id) == "budget"
    row = store.runs.row(run_id)
    assert (row.calls, row.votes) == (6, 6)
    assert row.cost == pytest.approx(0.6)
    assert "$0.55" in row.message


def test_stopping_a_runner_gives_its_run_back_and_another_finishes_it(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    provider.rule = lambda body: slowly(body, 0.1)
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    first = Runner(store).start()
    until(lambda: store.runs.row(run_id).votes > 0)
    first.stop()
    assert store.runs.row(run_id).status == "queued"
    assert work_here(store, run_id) == "done"
    assert store.runs.row(run_id).votes == 60


def test_a_runner_that_starts_takes_over_at_once_from_a_process_that_was_killed(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    owner = f"{socket.gethostname()}:{dead.pid}:abcd"
    # An hour's lease: waiting for its end would never finish within this test.
    assert store.leases.claim(owner, at=clock.seconds_now(), seconds=3600) is not None
    runner = Runner(store).start()
    until(lambda: store.runs.row(run_id).status == "done")
    runner.stop()
    assert store.runs.row(run_id).votes == 60


def test_a_runner_that_starts_leaves_the_runs_of_the_living_alone(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    lease = store.leases.claim(clock.owner_name(), at=clock.seconds_now(), seconds=3600)
    assert lease is not None
    runner = Runner(store).start()
    time.sleep(0.5)
    runner.stop()
    assert store.runs.row(run_id).lease_owner == lease.owner
    assert provider.count == 0


def test_who_lost_the_lease_can_write_nothing(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    provider.rule = lambda body: slowly(body, 0.2)
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    result: list[object] = []
    slow = threading.Thread(target=lambda: result.append(work_here(store, run_id)))
    slow.start()
    until(lambda: store.runs.row(run_id).votes > 0)
    row = store.runs.row(run_id)
    store.leases.expire(row.lease)
    taken = store.leases.claim("somebody else", at=clock.seconds_now(), seconds=60, run_id=run_id)
    assert taken is not None
    kept = store.runs.row(run_id).votes
    slow.join(20)
    assert result == [None]  # it noticed, and says that the run is not its own any more
    assert store.runs.row(run_id).votes == kept
    assert store.runs.row(run_id).lease_owner == "somebody else"


def test_failures_are_retried_only_on_request(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    provider.say(*[status(400, "no")] * 3)
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    assert work_here(store, run_id) == "done"
    assert store.runs.row(run_id).failures_open == 3
    lifecycle.resume(store, run_id)
    work_here(store, run_id)
    assert store.runs.row(run_id).failures_open == 3  # resuming does not retry
    assert lifecycle.retry(store, run_id) == 3
    work_here(store, run_id)
    assert (store.runs.row(run_id).votes, store.runs.row(run_id).failures_open) == (60, 0)


def test_a_running_run_cannot_be_retried(store: Store, tmp_path: Path, provider: Provider) -> None:
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    store.leases.claim("somebody else:1", at=clock.seconds_now(), seconds=60)
    with pytest.raises(Conflict, match="is in progress"):
        lifecycle.retry(store, run_id)


def test_a_run_whose_worker_is_gone_is_called_interrupted_and_is_resumed_before_it_is_retried(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    store.leases.claim("somebody else:1", at=clock.seconds_now() - 100, seconds=60)
    assert store.runs.row(run_id).status == "running"
    assert lifecycle.run_summary(store, run_id)["status"] == "interrupted"
    with pytest.raises(Conflict, match=r"was interrupted.*Resume it"):
        lifecycle.retry(store, run_id)
    lifecycle.resume(store, run_id)
    assert work_here(store, run_id) == "done"


def test_of_a_finished_run_nothing_is_resumed(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    run_id = lifecycle.start(store, request(store, tmp_path, provider))
    work_here(store, run_id)
    before = store.runs.row(run_id)
    assert lifecycle.resume(store, run_id) == "done"
    assert work_here(store, run_id) is None
    assert store.runs.row(run_id) == before


def test_a_spot_check_is_a_small_run_of_its_own_kind(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    rubric = read_rubric_file(write_files(tmp_path)[0]).value
    library.keep(store, "new-d", draft_from(rubric))
    store.judges.save(Judge(name="ada", model="ada", api_base=provider.url), now=clock.now())
    text = "Thirty days, dear customer."
    run_id = check(store, SpotRequest(rubric="draft:new-d", judges=("ada",), text=text))
    assert work_here(store, run_id) == "done"
    assert store.runs.row(run_id).votes == 3
    assert lifecycle.newest_runs(store) == []  # runs and spot checks are listed apart
    assert store.rubrics.list() == []
    assert store.datasets.list() == []


def test_offline_judges_without_labels_say_what_they_need(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    asked = request(store, tmp_path, provider)
    offline = Panel(judges=(Judge(name="Text classifier", kind="classifier"),))
    with pytest.raises(InputError, match="learn from labelled items"):
        lifecycle.start(store, RunRequest(asked.rubric_version, asked.dataset_version, offline))


def test_what_is_left_of_a_run_is_known_without_the_votes_of_finished_items(
    store: Store, tmp_path: Path, provider: Provider
) -> None:
    # The first three calls fail; $2.05 ends the run after 21 answers, somewhere within an item.
    provider.say(*[status(400, "no")] * 3)
    run_id = lifecycle.start(store, request(store, tmp_path, provider, budget=2.05))
    assert work_here(store, run_id) == "budget"
    job = load_job(store, run_id)
    known = store.votes.present(run_id) | store.votes.failed(run_id)
    cells = [Cell(i.id, c.name, "ada", 0) for i in job.items for c in job.rubric.criteria]
    assert {cell for cell in cells if cell in job.done} == known
    # 24 of 60 cells are done with: at least six whole items, whose cells are not read.
    assert len(known) == 24
    assert len(job.done.whole) >= 6
    assert len(job.done) == len(known) - 3 * len(job.done.whole)
