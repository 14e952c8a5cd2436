"""Help from a model, in verbs: begin, look, cancel, go on. The work never holds up a page.

It is done in a thread of this process on a loop of its own, and kept in the data file step by step:
closing the tab loses nothing, and what a killed process left is gone on with by ``resume``.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.domain.base import build
from core.domain.panel import Judge
from core.errors import Conflict, InputError, RubricStudioError
from core.services import clock
from core.services.helping_desk import BudgetSpent, Desk
from core.services.preparing import Doors
from core.services.registry import JudgeEntry, key_status, list_judges
from core.store.helps import HelpStatus, HelpStep, HelpTask
from core.store.store import Store

__all__ = [
    "HelpStep",
    "HelpTask",
    "Wish",
    "begin",
    "cancel",
    "latest",
    "look",
    "missing",
    "resume",
    "steps",
    "wait",
    "work_here",
    "writer_from",
    "writers",
]

log = logging.getLogger(__name__)
HOLD_SECONDS, BEAT_EVERY = 15.0, 0.5


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for. ``subject`` is what it is about, ``planned`` its steps at most.

    ``request`` is plain JSON data; ``budget`` is in US dollars, ``None`` for no limit.
    """

    kind: str
    subject: str
    request: Mapping[str, Any]
    planned: int
    budget: float | None = None


def writers(store: Store) -> list[JudgeEntry]:
    """The models that can be asked to write, by name: those of the registry."""
    return [entry for entry in list_judges(store) if entry.judge.kind == "llm"]


def missing(store: Store) -> str:
    """What keeps every model from being asked, in a sentence; empty where one can be.

    A model whose key cannot be known to be there (``unknown``) is taken to be ready.
    """
    found = writers(store)
    if not found:
        return (
            "This needs a model, and none is set up. Add one on the Judges page: a provider's "
            "model with the name of the variable that holds its key, or an address of your own."
        )
    if all(entry.key == "not set" for entry in found):
        names = ", ".join(dict.fromkeys(entry.key_env for entry in found))
        return f"This needs a model's key. Put it into {names}, and start the program again."
    return ""


def writer_from(request: Mapping[str, Any]) -> Judge:
    """The model that a request names, with the settings it had then."""
    return build(Judge, request["judge"], "judge")


def begin(store: Store, wish: Wish) -> int:
    """Keep a task and start on it in the background; returns its id."""
    _check_key(wish.request)
    task_id = store.helps.create(
        wish.kind,
        wish.subject,
        wish.request,
        planned=wish.planned,
        budget=wish.budget,
        now=clock.now(),
    )
    _start(store, task_id)
    return task_id


def resume(store: Store, task_id: int) -> None:
    """Go on with a task that stopped; finished steps are not asked again."""
    task = look(store, task_id)
    if task.status == "done" and not task.failed:
        raise Conflict("This task is finished: there is nothing left to ask.")
    store.helps.requeue(task_id, now=clock.now())
    _start(store, task_id)


def cancel(store: Store, task_id: int) -> None:
    """Ask for a task to stop; its finished steps stay."""
    store.helps.request_cancel(task_id, now=clock.now())


def look(store: Store, task_id: int) -> HelpTask:
    """A task as it stands; one whose process is gone is found ``interrupted``."""
    task = store.helps.get(task_id)
    if task.status == "running" and task.owner is not None:
        silent = (task.until or 0.0) < clock.at()
        if silent or clock.is_gone(task.owner):
            store.helps.expire(task_id, task.owner)
            return store.helps.get(task_id)
    return task


def latest(store: Store, kind: str, subject: str) -> HelpTask | None:
    """The newest task of that kind about that subject, or ``None``."""
    found = store.helps.list(kind=kind, subject=subject, limit=1)
    return look(store, found[0].id) if found else None


def steps(store: Store, task_id: int) -> Sequence[HelpStep]:
    """Every step of a task, its failures among them, in the order made."""
    return store.helps.steps(task_id)


def _check_key(request: Mapping[str, Any]) -> None:
    judge = writer_from(request)
    name, state = key_status(judge)
    if state == "not set":
        raise InputError(f"{judge.name} needs a key. Put it into {name}, and start again.")


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


def _start(store: Store, task_id: int) -> None:
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
    from core.services.helping_work import WORK

    work = asyncio.create_task(_opened(desk, WORK[desk.task.kind]))
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
        await desk.io(_end, desk.store, desk.task.id, owner, status, message, result)
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
        stop = await desk.io(_renewed, desk.store, desk.task.id, owner)
        if stop is not False:
            work.cancel()


def _renewed(store: Store, task_id: int, owner: str) -> bool | None:
    return store.helps.beat(task_id, owner, at=clock.at(), seconds=HOLD_SECONDS)
