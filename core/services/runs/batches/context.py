"""Retries during an outage, and access to the data file, for sending and collecting batches.

All writes happen under the run's lease.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from core import clock
from core.domain.votes import AskedOutcome, BatchRow
from core.judging.providers.base import CallError
from core.judging.turns import RETRIED, QuestionTurns
from core.services.runs.batches.lanes import BatchLane

if TYPE_CHECKING:
    from core.services.runs.held_work import Recorder
    from core.services.runs.ready_run import Job
    from core.services.runs.worker import RunningWork

#: The shortest and longest pause, in seconds, while a provider is unreachable or accepts no more
#: batches. Each pause is twice the last one.
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 600.0

ResultT = TypeVar("ResultT")
log = logging.getLogger(__name__)


class BatchesStopped(Exception):
    """The run was asked to stop."""


class BatchContext:
    """The run that ``work`` processes, with its access to the data file and the providers."""

    def __init__(
        self, work: RunningWork, job: Job, recorder: Recorder, turns: QuestionTurns
    ) -> None:
        self.work, self.job, self.recorder, self.turns = work, job, recorder, turns
        self.store, self.lease, self.asker = work.store.batches, work.lease, job.asker

    def add(self, lane: BatchLane, outcome: AskedOutcome) -> None:
        """Queue an outcome for recording."""
        self.recorder.add(outcome)
        self.job.done.update(result.cell for result in outcome.results)
        self.turns.count(lane.spec, outcome)

    async def with_retries(self, row: BatchRow, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Return the result of ``call``, retried while the provider is unreachable.

        Raises ``CallError`` for errors that retrying cannot fix. ``call`` must be safe to repeat.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                return await call()
            except CallError as error:
                if error.kind != "rate_limit" and error.kind not in RETRIED:
                    raise
                await self.note_delay(row, error, pause)
            pause = min(LONGEST_PAUSE, 2 * pause)

    async def note_delay(self, row: BatchRow, error: CallError, pause: float) -> None:
        """Record why a batch is delayed, and wait before the next attempt."""
        pause = max(pause, min(error.retry_after or 0.0, LONGEST_PAUSE))
        await self.set(row, message=error.message, due=clock.seconds_now() + pause)
        await self.pause(pause)

    async def pause(self, seconds: float) -> None:
        """Wait this many seconds, marked as resting. Raise ``BatchesStopped`` if the run was asked
        to stop.
        """
        self.work.resting = True
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.work.stop.wait(), seconds)
        finally:
            self.work.resting = False
        if self.work.stop.is_set():
            raise BatchesStopped

    async def remove_files(self, lane: BatchLane, files: Iterable[str]) -> None:
        """Remove files from the provider, since they hold people's texts."""
        for name in filter(None, files):
            try:
                await lane.judge.caller.batch_interface.remove(name)
            except CallError as error:
                log.info("The file %s could not be removed: %s", name, error.message)

    async def row(self, batch: int) -> BatchRow:
        """Return a batch from the data file."""
        rows = await self.io(self.store.of_run, self.lease.run_id)
        return next(row for row in rows if row.id == batch)

    async def set(self, row: BatchRow, **facts: str | float | None) -> None:
        """Update fields of a batch in the data file."""
        await self.work.with_retries(partial(self.store.update, self.lease, row.id, **facts))

    async def write(self, call: Callable[..., ResultT], *arguments: object) -> ResultT:
        """Return the result of a writing store call, retried while the file is locked."""
        return await self.work.with_retries(call, self.lease, *arguments)

    def io(self, call: Callable[..., ResultT], *arguments: object) -> Awaitable[ResultT]:
        """Return the result of a reading store call."""
        return self.work.io(call, *arguments)
