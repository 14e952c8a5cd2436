"""What runs and help tasks share: beats while something is held, a thread for the store."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Sequence

import pytest

from core.domain.votes import AskedOutcome, Call
from core.errors import StoreError, WriteBlocked
from core.services.runs.held_work import (
    SELDOM,
    Recorder,
    calling_beat,
    collecting_less_often,
    in_thread,
    store_thread,
)
from core.store.store import Store


def test_beats_go_on_while_the_file_cannot_be_written_and_end_when_one_says_so() -> None:
    answers: list[bool | Exception] = [True, WriteBlocked("locked"), True, False]

    async def beat() -> bool:
        said = answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    async def work() -> None:
        async with calling_beat(beat, 0.0):
            # Two turns of the loop a beat are enough; a fifth beat would find no answer.
            for _ in range(100):
                await asyncio.sleep(0)

    asyncio.run(work())
    assert answers == []


def test_an_error_of_a_beat_comes_out_when_the_work_is_done() -> None:
    async def beat() -> bool:
        raise StoreError("gone")

    done = []

    async def work() -> None:
        async with calling_beat(beat, 0.0):
            await asyncio.sleep(0.01)
            done.append("all of it")

    with pytest.raises(StoreError, match="gone"):
        asyncio.run(work())
    assert done == ["all of it"]


def test_the_stores_thread_ends_with_its_work(store: Store) -> None:
    async def work() -> threading.Thread:
        async with store_thread(store) as io:
            return await in_thread(io, threading.current_thread)

    thread = asyncio.run(work())
    assert thread is not threading.current_thread()
    assert not thread.is_alive()


def test_garbage_is_looked_for_less_often_while_any_work_lasts_and_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with collecting_less_often():
        with collecting_less_often():
            assert gc.get_threshold() == (SELDOM, *before[1:])
        assert gc.get_threshold()[0] == SELDOM
    assert gc.get_threshold() == before


@pytest.mark.parametrize(("flight", "most"), [(4, 64), (100, 200)])
def test_while_nothing_can_be_written_at_most_twice_the_calls_in_flight_are_paid_for(
    flight: int, most: int
) -> None:
    """A kill loses what is unwritten; offline votes, which cost nothing, do not count."""

    async def work() -> tuple[int, bool]:
        stuck = asyncio.Event()

        async def write(outcomes: Sequence[AskedOutcome]) -> None:
            await stuck.wait()

        recorder = Recorder(write, lambda: None, flight)
        for _ in range(1_000):
            recorder.add(AskedOutcome(()))
        free = recorder.ready.is_set()
        added = 0
        while recorder.ready.is_set():
            recorder.add(AskedOutcome((), Call((), {})))
            added += 1
        await recorder.close()
        return added, free

    assert asyncio.run(work()) == (most, True)
