"""Works on tasks of a model's help: on a loop in a thread of this process, or in the caller's."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from core.domain.runs import HelpStatus, HelpTask
from core.errors import NotNow, RubricStudioError
from core.services import clock
from core.services.helping_desk import BudgetSpent, Desk
from core.services.helping_tasks import look
from core.services.ready_run import Doors
from core.store.store import Store

log = logging.getLogger(__name__)
HOLD_SECONDS, BEAT_EVERY = 15.0, 0.5


def work_here(store: Store, task_id: int) -> HelpStatus:
    """Work on a task in this thread until it ends; returns how it ended."""
    return asyncio.run(_alone(store, task_id))


async def _alone(store: Store, task_id: int) -> HelpStatus:
    doors = Doors()
    try:
        return await _work(store, task_id, doors)
    finally:
        await doors.close()


#: The tasks that this process works on, by data file and task.
_running: dict[tuple[str, int], Future[HelpStatus]] = {}


def wait(store: Store, task_id: int, timeout: float = 60.0) -> HelpTask:
    """The task when this process has ended its work on it, or after ``timeout`` seconds."""
    future = _running.get((str(store.path), task_id))
    if future is not None:
        with contextlib.suppress(TimeoutError):
            future.result(timeout)
    return look(store, task_id)


def start(store: Store, task_id: int) -> None:
    """Work on a task in the background, on the loop that all tasks of this process share."""
    future = asyncio.run_coroutine_threadsafe(_shared(store, task_id), _loop())
    _running[str(store.path), task_id] = future


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    # litellm keeps clients bound to the loop they were made on, so there is one for all tasks.
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="help", daemon=True).start()
    return loop


@lru_cache(maxsize=1)
def _doors() -> Doors:
    return Doors()


#: The tasks under way on the shared loop; used on that loop only.
_at_work: set[tuple[str, int]] = set()


async def _shared(store: Store, task_id: int) -> HelpStatus:
    mine = (str(store.path), task_id)
    _at_work.add(mine)
    try:
        return await _work(store, task_id, _doors())
    except Exception:
        # The task is already marked failed with the reason; others must go on.
        log.exception("task %s ended with a defect", task_id)
        return "failed"
    finally:
        _at_work.discard(mine)
        if not _at_work:
            # A closed door opens again when it is used.
            await _doors().close()


async def _work(store: Store, task_id: int, doors: Doors) -> HelpStatus:
    io = ThreadPoolExecutor(1, thread_name_prefix="help-store")
    loop = asyncio.get_running_loop()
    owner = clock.owner_name()
    try:
        held = await loop.run_in_executor(io, _claim, store, task_id, owner)
        if not held:
            return store.helps.get(task_id).status
        task = await loop.run_in_executor(io, store.helps.get, task_id)
        desk = Desk(store, task, owner, doors, io)
        return await _ended(desk, owner)
    finally:
        await loop.run_in_executor(io, store.close)
        io.shutdown()


def _claim(store: Store, task_id: int, owner: str) -> bool:
    look(store, task_id)
    return store.helps.claim(task_id, owner, at=clock.at(), seconds=HOLD_SECONDS, now=clock.now())


async def _ended(desk: Desk, owner: str) -> HelpStatus:
    """Works on the task and writes down how it ended."""
    from core.services.helping_work import work_of

    work = asyncio.create_task(_opened(desk, work_of(desk.task.kind)))
    beat = asyncio.create_task(_beat(desk, owner, work))
    status: HelpStatus = "failed"
    message, result = "", None
    try:
        result = await work
        status, message = _verdict(desk)
    except asyncio.CancelledError:
        status = "cancelled"
    except BudgetSpent:
        status, message = "budget", "The budget is spent. What is finished stays."
    except RubricStudioError as error:
        message = str(error)
    except Exception as error:
        message = f"A defect in the program stopped this: {error!r}"
        raise
    finally:
        beat.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beat
        desk.close()
        await desk.io_in_time(_end, desk.store, desk.task.id, owner, status, message, result)
    return status


def _end(
    store: Store, task_id: int, owner: str, status: HelpStatus, message: str, result: Any
) -> None:
    store.helps.end(task_id, owner, status, now=clock.now(), message=message, result=result)


async def _opened(desk: Desk, work: Any) -> Any:
    await desk.open()
    return await work(desk)


def _verdict(desk: Desk) -> tuple[HelpStatus, str]:
    if not desk.failed:
        return "done", ""
    first = next(iter(desk.failed.values()))
    count = len(desk.failed)
    many = f"{count} requests failed. The first: " if count > 1 else ""
    return "failed", f"{many}{first.message}"


async def _beat(desk: Desk, owner: str, work: asyncio.Task[Any]) -> None:
    """Renews the hold; ends the work when somebody wants that, or when the hold is lost."""
    while True:
        await asyncio.sleep(BEAT_EVERY)
        try:
            stop = await desk.io(_renewed, desk.store, desk.task.id, owner)
        except NotNow:
            # The next beat may get through; what was answered waits for that as well.
            continue
        if stop is not False:
            work.cancel()


def _renewed(store: Store, task_id: int, owner: str) -> bool | None:
    return store.helps.beat(task_id, owner, at=clock.at(), seconds=HOLD_SECONDS)
