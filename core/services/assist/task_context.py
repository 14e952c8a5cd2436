"""The context of a help task: stored steps that are never paid twice, its budget, hidden runs.

A task is a function that requests one step after another from its context. Resuming a task runs the
function again: finished steps come from the data file, and only the others are requested.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict
from typing import Any, TypeVar

from core import clock
from core.domain.panel import Judge
from core.domain.runs import HelpStep, HelpTask, RunRow
from core.domain.votes import AskedOutcome, Call
from core.errors import InputError, WriteBlocked
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.protocol import FATAL
from core.judging.turns import QuestionTurns
from core.judging.writing.writer import PartialReply, Writer, WritingFailure
from core.services.runs import lifecycle
from core.services.runs.held_work import in_thread
from core.services.runs.planning import RunRequest
from core.services.runs.ready_run import Providers
from core.services.runs.runner import work_here
from core.store.store import Store

ValueT = TypeVar("ValueT")
#: Seconds between attempts while the data file cannot be written.
AGAIN = 2.0
log = logging.getLogger(__name__)


class BudgetSpent(Exception):
    """The budget does not allow another call."""


class TaskContext:
    """One task in progress. ``failed`` has its failures, by step."""

    def __init__(self, store: Store, task: HelpTask, providers: Providers, io: Executor) -> None:
        self.store, self.task, self.request = store, task, task.request
        self.failed: dict[str, WritingFailure] = {}
        self._providers, self._io = providers, io
        self._done: dict[str, Any] = {}
        self._turns = QuestionTurns(task.budget, task.cost)
        self._writers: dict[str, tuple[Writer, asyncio.Semaphore]] = {}
        self._fatal: dict[str, WritingFailure] = {}

    async def open(self) -> None:
        """Load the steps that were finished before."""
        steps = await self.io(self.store.helps.steps, self.task.id)
        self._done = {step.name: step.value for step in steps if step.failure is None}

    async def write(
        self,
        name: str,
        judge: Judge,
        writing: Prompt,
        read: Callable[[str | None], ValueT | Unreadable],
    ) -> ValueT | WritingFailure:
        """Return the value of that step, from the data file if finished, else from a call.

        Raises:
            BudgetSpent: the budget is spent.
            Conflict: another process took over the task.
        """
        if name in self._done:
            value = read(self._done[name])
            if not isinstance(value, Unreadable):
                return value
        writer, slots = self._writer(judge)
        async with slots:
            if judge.name in self._fatal:
                return self._lost(name, self._fatal[judge.name])
            return await self._ask_writer(name, writer, writing, read)

    async def all(self, steps: Iterable[Awaitable[ValueT]]) -> list[ValueT]:
        """Run several steps at once; all end before the first error is raised."""
        results = await asyncio.gather(*steps, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return [result for result in results if not isinstance(result, BaseException)]

    async def note(self, name: str, value: Any) -> None:
        """Store a fact that needed no call, such as a run's number, once."""
        if name not in self._done:
            self._done[name] = value
            await self._keep(HelpStep(0, name, value, None, "", None, False, 0.0, ""))

    def noted(self, name: str) -> Any:
        """Return the fact stored under that name, or ``None``."""
        return self._done.get(name)

    async def io(self, call: Callable[..., ValueT], *args: Any) -> ValueT:
        """Call the store in its thread; return the result."""
        return await in_thread(self._io, call, *args)

    async def io_in_time(self, call: Callable[..., ValueT], *args: Any) -> ValueT:
        """Call the store like ``io``, retried while the data file is locked, since a reply was paid
        for.
        """
        while True:
            try:
                return await self.io(call, *args)
            except WriteBlocked as error:
                log.warning("Help task %s waits: %s", self.task.id, error)
                await asyncio.sleep(AGAIN)

    def close(self) -> None:
        """Close the writers."""
        for writer, _ in self._writers.values():
            writer.close()

    async def _ask_writer(
        self,
        name: str,
        writer: Writer,
        writing: Prompt,
        read: Callable[[str | None], ValueT | Unreadable],
    ) -> ValueT | WritingFailure:
        if not await self._turns.acquire(writer.spec):
            raise BudgetSpent
        call: Call | None = None
        try:
            value, call, reply = await writer.write(f"{self.task.id}/{name}", writing, read)
        finally:
            self._turns.report(writer.spec, AskedOutcome((), call))
        if isinstance(value, WritingFailure):
            if value.kind in FATAL:
                self._fatal[writer.spec.name] = value
            await self._keep(_help_step(name, None, value, call))
            return self._lost(name, value)
        self._done[name] = reply
        left_out = value.dropped if isinstance(value, PartialReply) else ()
        await self._keep(_help_step(name, reply, None, call, left_out))
        return value

    def _lost(self, name: str, failure: WritingFailure) -> WritingFailure:
        self.failed[name] = failure
        return failure

    async def _keep(self, step: HelpStep) -> None:
        keep = self.store.helps.keep
        await self.io_in_time(lambda: keep(self.task.lease, step, now=clock.now()))

    def _writer(self, judge: Judge) -> tuple[Writer, asyncio.Semaphore]:
        if judge.name not in self._writers:
            slots = asyncio.Semaphore(judge.concurrency)
            self._writers[judge.name] = (self._providers.writer(judge), slots)
        return self._writers[judge.name]


def _help_step(
    name: str,
    value: str | None,
    failed: WritingFailure | None,
    call: Call | None,
    left_out: Sequence[str] = (),
) -> HelpStep:
    return HelpStep(
        0,
        name,
        value,
        failed.kind if failed else None,
        failed.message if failed else " ".join(left_out),
        None if call is None else asdict(call),
        call is not None,
        0.0 if call is None else call.cost,
        "",
    )


_LOOK_EVERY = 0.2


async def graded_run(context: TaskContext, name: str, make: RunRequest) -> RunRow:
    """Return the finished run of that step, started once, and resumed after an interruption.

    Raises:
        BudgetSpent: the run ended at its budget.
        InputError: the run failed, or some of its cells did.
    """
    store = context.store
    if context.noted(name) is None:
        await context.note(name, await context.io(lifecycle.start, store, make))
    run_id = int(context.noted(name))
    row = await context.io(store.runs.row, run_id)
    if row.status != "done":
        if not row.active:
            await context.io(lifecycle.resume, store, run_id)
        await _work_on_run(context, run_id)
        row = await context.io(store.runs.row, run_id)
    if row.status == "budget":
        raise BudgetSpent
    if row.status != "done" or row.failures_open:
        raise InputError(_failure_words(row))
    return row


async def _work_on_run(context: TaskContext, run_id: int) -> None:
    """Process the run here, or wait for the Runner that does."""
    store = context.store
    try:
        await asyncio.to_thread(work_here, store, run_id)
        while (await context.io(store.runs.row, run_id)).active:
            await asyncio.sleep(_LOOK_EVERY)
    except asyncio.CancelledError:
        await context.io(lifecycle.cancel, store, run_id)
        raise


def _failure_words(row: RunRow) -> str:
    if row.status == "done":
        cells = f"{row.failures_open} of {row.planned} answers failed"
        return f"{cells} in run {row.id}. Open it, ask them again, then go on here."
    return f"Run {row.id} ended as {row.status}. {row.message}".strip()
