"""Begin, follow, cancel and resume help tasks, which run step by step in a thread.

The thread belongs to this process and has its own loop. Every step is stored in the data file, so
closing the tab loses nothing, and ``resume`` continues what a killed process left.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

from core import clock
from core.domain.access import LOCAL
from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.library import DatasetVersion
from core.domain.panel import Judge, Panel
from core.domain.runs import HelpStep, HelpTask, RunStatus
from core.errors import Conflict, InputError, RubricStudioError
from core.judging.asking.call_costs import price_of
from core.judging.prompts.assembly import Prompt
from core.services.access.allowing import allowed
from core.services.access.spending import within_limits
from core.services.assist.task_context import BudgetSpent, TaskContext
from core.services.judges.connection import loop
from core.services.judges.registry import JudgeEntry, key_status, list_judges
from core.services.runs.held_work import calling_beat, in_thread, store_thread
from core.services.runs.lifecycle import is_stalled
from core.services.runs.ready_run import Providers
from core.store.store import Store

#: Characters per token, the usual rule of thumb for English.
_CHARS_PER_TOKEN = 4
RequestT = TypeVar("RequestT")


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Calls and tokens (4 characters each); ``cost`` in US dollars, ``None`` if unknown.

    An unreadable reply is requested once more, so the cost may double.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def cost_estimate(
    judge: Judge, writings: Sequence[Prompt], tokens_out: int, *, times: int = 1
) -> TaskCost:
    """Return the cost of these requests, each made ``times`` times, with ``tokens_out`` per
    reply.
    """
    characters = sum(len(segment.text) for writing in writings for segment in writing.segments)
    tokens_in = times * characters // _CHARS_PER_TOKEN
    calls = times * len(writings)
    price = price_of(judge)
    total = calls * tokens_out
    cost = None if price is None else (tokens_in * price[0] + total * price[1]) / 1e6
    return TaskCost(calls, tokens_in, total, cost)


@allowed("read")
def look(store: Store, task_id: int) -> HelpTask:
    """Return a task's state; it is ``interrupted`` if its process ended."""
    task = store.helps.get(task_id)
    if not is_stalled(task):
        return task
    store.helps.end(task.lease, "interrupted", now=task.updated)
    return store.helps.get(task_id)


log = logging.getLogger(__name__)
HOLD_SECONDS, BEAT_EVERY = 15.0, 0.5


def _store_of_owner(store: Store, task_id: int) -> Store:
    """Return a store that acts for the task's owner, who then owns, for example, the runs it
    starts.
    """
    return store.acting(replace(LOCAL, name=store.helps.get(task_id).made_by))


#: The tasks that this process runs, by data file and task.
_running: dict[tuple[str, int], Future[RunStatus]] = {}


def wait_for_task(store: Store, task_id: int, timeout: float = 60.0) -> HelpTask:
    """Return the task once this process has ended it, or after ``timeout`` seconds."""
    future = _running.get((str(store.path), task_id))
    if future is not None:
        with contextlib.suppress(TimeoutError):
            future.result(timeout)
    return look(store, task_id)


@allowed("write")
def start(store: Store, task_id: int) -> None:
    """Run a task in the background, on the loop that all tasks of this process share."""
    future = asyncio.run_coroutine_threadsafe(
        _work_exclusively(_store_of_owner(store, task_id), task_id), loop()
    )
    _running[str(store.path), task_id] = future


@lru_cache(maxsize=1)
def _shared_providers() -> Providers:
    return Providers()


#: The active tasks on the shared loop; used only on that loop.
_at_work: set[tuple[str, int]] = set()


async def _work_exclusively(store: Store, task_id: int) -> RunStatus:
    key = (str(store.path), task_id)
    _at_work.add(key)
    try:
        return await _work_on_task(store, task_id)
    except Exception:
        # The task is already marked as failed, with the reason. Other tasks must continue, so the
        # error is only logged.
        log.exception("task %s ended with a defect", task_id)
        return "failed"
    finally:
        _at_work.discard(key)
        if not _at_work:
            # A provider that was closed reopens when it is used again.
            await _shared_providers().close()


async def _work_on_task(store: Store, task_id: int) -> RunStatus:
    async with store_thread(store) as io:
        if not await in_thread(io, _claim_task, store, task_id):
            return store.helps.get(task_id).status
        task = await in_thread(io, store.helps.get, task_id)
        return await _run_to_end(TaskContext(store, task, _shared_providers(), io))


def _claim_task(store: Store, task_id: int) -> bool:
    look(store, task_id)
    return store.helps.claim(
        *(task_id, clock.owner_name()),
        at=clock.seconds_now(),
        seconds=HOLD_SECONDS,
        now=clock.now(),
    )


async def _run_to_end(context: TaskContext) -> RunStatus:
    """Run the task, and record and return how it ended."""
    store, lease = context.store, context.task.lease
    work = asyncio.create_task(_work_in_context(context, work_of(context.task.kind)))

    async def renew_lease() -> bool:
        """Renew the lease; end the task when a person cancels it, or when the lease is lost."""
        renew = partial(store.leases.heartbeat, at=clock.seconds_now(), seconds=HOLD_SECONDS)
        if await context.io(renew, lease) is not False:
            work.cancel()
        return True

    status: RunStatus = "failed"
    message, result = "", None
    try:
        async with calling_beat(renew_lease, BEAT_EVERY):
            result = await work
        status, message = _final_status(context)
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
        context.close()
        end = partial(store.helps.end, message=message, result=result)
        await context.io_in_time(lambda: end(lease, status, now=clock.now()))
    return status


async def _work_in_context(context: TaskContext, work: Any) -> Any:
    await context.open()
    return await work(context)


def _final_status(context: TaskContext) -> tuple[RunStatus, str]:
    if not context.failed:
        return "done", ""
    first = next(iter(context.failed.values()))
    count = len(context.failed)
    summary = f"{count} requests failed. The first: " if count > 1 else ""
    return "failed", f"{summary}{first.message}"


def writing_models(store: Store) -> list[JudgeEntry]:
    """Return the registry's models that can write, by name."""
    return [entry for entry in list_judges(store) if entry.judge.kind == "llm"]


def why_no_model(store: Store) -> str:
    """Return a sentence on why no model can be called; empty if one can.

    A model whose key is ``unknown`` counts as ready.
    """
    entries = writing_models(store)
    if not entries:
        return (
            "This needs a model, and none is set up. Add one on the Judges page: a provider's "
            "model with the name of the variable that holds its key, or an address of your own."
        )
    if all(entry.key == "not set" for entry in entries):
        names = ", ".join(dict.fromkeys(entry.key_env for entry in entries))
        return f"This needs a model's key. Put it into {names}, and start the program again."
    return ""


def writer_from(request: Mapping[str, Any]) -> Judge:
    """Return the model that a request names, with its settings at that time."""
    return build_model(Judge, request["judge"], "judge")


#: Fields of a request that a task stores in separate columns.
_ASIDE = {"subject", "budget"}


def request_data(request: Any, *without: str) -> dict[str, Any]:
    """Return a request (a dataclass) as plain JSON to store, without these fields."""
    data: dict[str, Any] = TypeAdapter(type(request)).dump_python(
        request, mode="json", by_alias=True, exclude={*_ASIDE, *without}
    )
    return data


def request_from(kind: type[RequestT], task: HelpTask) -> RequestT:
    """Return the request of a task; fields that were not stored have their defaults."""
    fields_of_task = {
        "judge": writer_from(task.request),
        "subject": task.subject,
        "budget": task.budget,
    }
    return TypeAdapter(kind).validate_python({**task.request, **fields_of_task})


@allowed("write")
def begin(
    store: Store,
    kind: str,
    subject: str,
    request: Mapping[str, Any],
    planned: int,
    budget: float | None = None,
) -> int:
    """Store a task and run it in the background; return its id.

    ``subject`` is what it is about, ``request`` plain JSON data, ``planned`` its maximal number of
    steps; ``budget`` is in US dollars, ``None`` for no limit.
    """
    _require_key(request)
    judge = writer_from(request)
    price = price_of(judge)
    step_cost = (
        None if price is None else sum(p * n for p, n in zip(price, _A_CALL, strict=True)) / 1e6
    )
    # The cost of the runs within a loop cannot be estimated from the loop's steps.
    expected = None if step_cost is None or kind == "loop" else planned * step_cost
    with store.write():
        task_id = store.helps.create(
            *(kind, subject, request),
            planned=planned,
            budget=within_limits(store, _models_of_request(request), budget, expected),
            now=clock.now(),
        )
    start(store, task_id)
    return task_id


def _models_of_request(request: Mapping[str, Any]) -> list[Judge]:
    """Return the models that a task may call: its writer, and the judges of its runs."""
    panel = request.get("panel")
    judges = () if panel is None else build_model(Panel, panel, "panel").judges
    return [writer_from(request), *judges]


#: The usual upper limit of a step's tokens: in its prompt, and in its answer.
_A_CALL = (6000, 1500)


@allowed("write")
def resume(store: Store, task_id: int) -> None:
    """Continue a task that stopped; finished steps are not repeated.

    Raises ``Conflict`` if nothing is left to ask.
    """
    task = look(store, task_id)
    if task.status == "done" and not task.failed:
        raise Conflict("This task is finished: there is nothing left to ask.")
    store.helps.requeue(task_id, now=clock.now())
    start(store, task_id)


@allowed("write")
def cancel(store: Store, task_id: int) -> None:
    """Ask a task to stop; its finished steps stay."""
    store.helps.request_cancel(task_id, now=clock.now())


@allowed("read")
def latest(store: Store, kind: str, subject: str) -> HelpTask | None:
    """Return the newest task of that kind about that subject, or ``None``."""
    tasks = store.helps.list(kind=kind, subject=subject, limit=1)
    return look(store, tasks[0].id) if tasks else None


def steps_of_task(store: Store, task_id: int) -> Sequence[HelpStep]:
    """Return every step of a task, including failures, in order."""
    return store.helps.steps(task_id)


def omitted_parts(store: Store, task_id: int) -> list[str]:
    """Return the omitted parts of partly usable replies, one text per reply, in order."""
    return [s.message for s in steps_of_task(store, task_id) if s.failure is None and s.message]


@allowed("write")
def keep_dataset(store: Store, task: HelpTask, dataset: Dataset) -> DatasetVersion:
    """Store a task's texts as a dataset, and note that it belongs to the task."""
    source = f"help task {task.id}"
    version = store.datasets.create(dataset, now=clock.now(), source=source)
    store.settings.put(_dataset_setting(task), version.id)
    return version


def kept_dataset(store: Store, task: HelpTask) -> int | None:
    """Return the dataset version that last stored the task's texts, or ``None``."""
    version_id = store.settings.get(_dataset_setting(task))
    return None if version_id is None else int(version_id)


def _dataset_setting(task: HelpTask) -> str:
    return f"help/{task.id}/dataset"


def _require_key(request: Mapping[str, Any]) -> None:
    judge = writer_from(request)
    name, state = key_status(judge)
    if state == "not set":
        raise InputError(f"{judge.name} needs a key. Put it into {name}, and start again.")


#: The module with the function ``work`` for each kind. It is given by name, because those modules
#: import this one.
MODULES = {
    "draft": "core.services.assist.rubric_draft",
    "improve": "core.services.assist.proposals",
    "loop": "core.services.assist.improvement_loop",
    "data": "core.services.assist.generated_items",
    "edits": "core.services.assist.counterfactuals",
    "twins": "core.services.assist.written_twins",
}


def work_of(kind: str) -> Callable[[TaskContext], Awaitable[Any]]:
    """Return the function that works on tasks of a kind."""
    return cast("Callable[[TaskContext], Awaitable[Any]]", import_module(MODULES[kind]).work)
