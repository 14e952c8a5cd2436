"""Kills and lost words while a batch is bought, at each provider: nothing is lost or bought twice.

The run is that of the fixture: 4 items x 3 criteria, so 12 questions.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from core import clock
from core.domain.panel import Panel
from core.judging.providers.anthropic_batches import MessageBatches
from core.services.runs import lifecycle, runner
from core.services.runs.batches import context, sending
from core.store.store import Store
from tests.provider_batches import STEPS
from tests.services.runs.batch_world import ELSEWHERE, PLANNED, There, killed_at, work, worked_until

pytestmark = pytest.mark.usefixtures("soon")


@pytest.mark.parametrize("there", ELSEWHERE, indirect=True)
@pytest.mark.parametrize("moment", ["planned", "uploading", "uploaded", "bought", "sent", "taking"])
def test_whoever_goes_on_after_a_kill_loses_nothing_and_buys_nothing_twice(
    store: Store, there: There, moment: str
) -> None:
    there.batches.garbage = [b"{}", b'{"custom_id": "another-0123456789abcdef"}']
    run_id = lifecycle.start(store, there.asked())
    worked_until(moment, store, run_id)
    assert lifecycle.resume(store, run_id) == "queued"
    runner.work_here(store, run_id)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.failures_open, row.calls) == ("done", PLANNED, 0, PLANNED)
    assert list(there.batches.bought.values()) == [1] * PLANNED
    assert len(there.batches.made) == 1
    assert not there.batches.left


@pytest.mark.parametrize("there", ["openai", *ELSEWHERE], indirect=True)
@pytest.mark.parametrize("moment", ["uploading", "unbought", "uploaded"])
def test_a_run_cancelled_after_a_kill_in_an_upload_leaves_no_text_at_the_provider(
    store: Store, there: There, moment: str
) -> None:
    run_id = lifecycle.start(store, there.asked())
    worked_until(moment, store, run_id)
    lifecycle.resume(store, run_id)
    lifecycle.cancel(store, run_id)
    runner.work_here(store, run_id)
    assert (store.runs.row(run_id).status, there.batches.left) == ("cancelled", False)
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    assert (store.runs.row(run_id).votes, there.batches.left) == (PLANNED, False)
    assert list(there.batches.bought.values()) == [1] * PLANNED


@pytest.mark.parametrize("there", ["openai", "azure", "mistral"], indirect=True)
def test_a_file_of_which_nobody_heard_that_it_arrived_goes_with_the_other(
    store: Store, there: There
) -> None:
    there.batches.lose_upload = True
    run = work(store, there.asked())
    assert (store.runs.row(run).votes, len(there.batches.names)) == (PLANNED, 2)
    assert not there.batches.left


@pytest.mark.parametrize("there", ["openai", "azure", "mistral"], indirect=True)
def test_where_files_cannot_be_looked_for_the_run_says_so_and_forgets_nothing(
    store: Store, there: There
) -> None:
    run_id = lifecycle.start(store, there.asked())
    worked_until("uploading", store, run_id)
    lifecycle.resume(store, run_id)
    there.batches.refuse = 401
    runner.work_here(store, run_id)
    assert store.runs.row(run_id).status == "failed"
    assert "a file of ada's requests" in store.runs.row(run_id).message
    there.batches.refuse = 0
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    assert (store.runs.row(run_id).votes, there.batches.left) == (PLANNED, False)


def test_the_minute_in_which_a_batch_may_turn_up_begins_with_the_last_attempt(
    store: Store, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "SETTLED", 60.0)
    later = 0.0

    async def pass_time(*_: object) -> None:
        nonlocal later
        later += 100

    there.batches.busy = 2
    run_id = lifecycle.start(store, there.asked())
    with monkeypatch.context() as patch:
        patch.setattr(clock, "seconds_now", lambda: time.time() + later)
        patch.setattr(context.BatchContext, "note_delay", pass_time)
        killed_at("bought", patch)
        with pytest.raises(SystemError):
            runner.work_here(store, run_id)
    assert len(there.batches.made) == 1
    # The provider lists it late.
    there.batches.hidden = 1
    monkeypatch.setattr(clock, "seconds_now", lambda: time.time() + later)
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    assert (store.runs.row(run_id).votes, len(there.batches.made)) == (PLANNED, 1)


def test_without_its_key_a_run_buys_nothing_and_forgets_nothing_that_may_be_bought(
    store: Store, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = lifecycle.start(store, there.asked())
    worked_until("bought", store, run_id)
    lifecycle.resume(store, run_id)
    with monkeypatch.context() as patch:
        patch.delenv("OWN_KEY")
        there.batches.refuse = 401
        runner.work_here(store, run_id)
    assert store.runs.row(run_id).status == "failed"
    assert "may have been bought when this run was stopped" in store.runs.row(run_id).message
    there.batches.refuse = 0
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    assert (store.runs.row(run_id).votes, len(there.batches.made)) == (PLANNED, 1)


@pytest.mark.parametrize("there", ELSEWHERE, indirect=True)
def test_a_batch_whose_purchase_was_not_heard_of_is_found_and_not_bought_again(
    store: Store, there: There
) -> None:
    there.batches.lose = True
    run = work(store, there.asked())
    assert (store.runs.row(run).votes, len(there.batches.made)) == (PLANNED, 1)


@pytest.mark.parametrize("there", ["anthropic"], indirect=True)
def test_a_batch_of_another_that_may_be_ours_is_waited_for_and_not_taken(
    store: Store, there: There
) -> None:
    claude = there.provider.message_batches
    run_id = lifecycle.start(store, there.asked())
    worked_until("uploaded", store, run_id)
    claude.foreign(PLANNED - 1)
    claude.foreign(PLANNED)
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.calls) == ("done", PLANNED, PLANNED)
    assert list(claude.bought.values()) == [1] * PLANNED
    # Ours was made when the other one of its size had ended.
    asked = [line.partition("?")[0] for line in claude.asked]
    made = asked.index("POST /v1/messages/batches")
    assert "GET /v1/messages/batches/msgbatch_2/results" in asked[:made]
    assert "GET /v1/messages/batches/msgbatch_1/results" not in asked
    assert not any(line.startswith("DELETE") for line in asked[:made])


@pytest.mark.parametrize("there", ["anthropic"], indirect=True)
def test_batches_that_this_run_knows_keep_no_other_of_it_waiting(
    store: Store, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ada,) = there.request.panel.judges
    panel = Panel(judges=(ada, ada.model_copy(update={"name": "bea"})))
    run_id = lifecycle.start(store, there.asked(panel=panel))
    made, times = MessageBatches.make, iter(range(9))

    async def make_once(*arguments: Any) -> Any:
        if next(times):
            raise SystemError("killed")
        return await made(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(MessageBatches, "make", make_once)
        with pytest.raises(SystemError):
            runner.work_here(store, run_id)
    # Ada's batch takes its time; it is of as many requests as Bea's is to be.
    there.batches.steps, looks = ("in_progress",) * 10_000, iter(range(200))

    def look() -> None:
        if len(there.batches.made) == 2 or next(looks, None) is None:
            there.batches.steps = STEPS

    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id, on_tick=look, tick=0.02)
    assert next(looks, None) is not None
    assert store.runs.row(run_id).votes == 2 * PLANNED
    assert len(there.batches.made) == 2
