"""Limit the calls that workers make before the owner records them, to bound a crash's cost.

After a crash, calls whose outcome is not on the owner's disk are made, and paid for, again. So a
worker that may make n calls at a time stops at 2 n unrecorded calls: n in flight and n already
answered. The owner publishes how many outcomes it recorded, in total and per worker, in a variable
of the scheduler. A worker reads the variable when it comes near its bound. If the owner stops
recording (it was killed, or its disk is full), the workers stop too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from core.domain.votes import AskedOutcome, Cell

log = logging.getLogger(__name__)
#: At least this many answered but unrecorded calls are allowed, since a worker learns about 60 ms
#: after an answer that it is on disk.
LEAST = 8
#: Seconds between a worker's reads of the recorded counts; seconds until the owner publishes again
#: after the scheduler was unreachable.
LOOK_EVERY, TELL_AGAIN = 0.01, 0.2
#: Seconds for which a cancelled call still counts as in flight.
CUT_OFF = 1.0

#: How many outcomes were recorded so far: by worker, by judge.
Counts = dict[str, dict[str, int]]


class Receipts:
    """Tells ``listener`` which outcomes are on disk, if it is set."""

    def __init__(self) -> None:
        self.listener: Callable[[Sequence[AskedOutcome]], None] | None = None

    def recorded(self, outcomes: Sequence[AskedOutcome]) -> None:
        """Report that these outcomes are on disk."""
        if self.listener is not None:
            self.listener(outcomes)


class Acknowledging:
    """The owner's side: counts recorded outcomes by worker, and publishes them with ``tell``."""

    def __init__(self, publish: Callable[[Counts], Awaitable[object]]) -> None:
        self._tell, self._counts = publish, Counts()
        self._of: dict[Cell, str] = {}
        self._telling: asyncio.Task[None] | None = None
        self._news = False

    def note_sender(self, worker: str, outcome: AskedOutcome) -> None:
        """Note which worker sent an outcome that will be recorded."""
        self._of[outcome.results[0].cell] = worker

    def recorded(self, outcomes: Sequence[AskedOutcome]) -> None:
        """Count outcomes that are on disk. Some may come from this process."""
        for outcome in outcomes:
            cell = outcome.results[0].cell
            if (worker := self._of.pop(cell, None)) is not None:
                self.done(worker, cell.judge)

    def done(self, worker: str, judge: str) -> None:
        """Count a worker's outcome as handled: it was recorded, or is a duplicate."""
        counts = self._counts.setdefault(worker, {})
        counts[judge] = counts.get(judge, 0) + 1
        self.begin()

    def begin(self) -> None:
        """Start publishing the counts, even if they are still zero."""
        self._news = True
        if self._telling is None:
            self._telling = asyncio.create_task(self._publish_counts())

    async def close(self) -> None:
        """Stop publishing."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _publish_counts(self) -> None:
        """Publish until there are no new counts. Counts that change during a send go with the
        next.
        """
        while self._news:
            self._news = False
            try:
                await self._tell(self._counts)
            except (OSError, ValueError) as error:
                log.info("Could not tell workers what was recorded: %s", error)
                self._news = True
                await asyncio.sleep(TELL_AGAIN)
        self._telling = None


class Credit:
    """On a worker: how many calls of one judge may start before the owner records more.

    ``look`` fetches how many outcomes the owner has recorded.
    """

    def __init__(self, at_once: int, look: Callable[[], Awaitable[int]]) -> None:
        self.at_once = at_once
        self._look, self._asked, self._recorded = look, 0, 0
        self._looking: asyncio.Task[None] | None = None

    @property
    def available(self) -> int:
        """Return how many calls may start now."""
        most = self.at_once + max(self.at_once, LEAST)
        return most - (self._asked - self._recorded)

    async def take(self) -> None:
        """Wait until a call may start, and count it."""
        while self.available <= 0:
            await asyncio.shield(self._look_task())
        self._asked += 1
        if self.available <= self.at_once:
            self._look_task()  # read early, so that calls rarely have to wait

    def cut_off(self) -> None:
        """Uncount a cancelled call, which will not be recorded.

        The provider may bill it all the same. Chunks are cancelled one by one, so its place becomes
        free only ``CUT_OFF`` seconds later, when the other chunks are cancelled, too.
        """
        asyncio.get_running_loop().call_later(CUT_OFF, self._forget_counts)

    def _forget_counts(self) -> None:
        self._asked -= 1

    def _look_task(self) -> asyncio.Task[None]:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_after_pause())
        return self._looking

    async def _look_after_pause(self) -> None:
        await asyncio.sleep(LOOK_EVERY)
        try:
            self._recorded = max(self._recorded, await self._look())
        except (OSError, ValueError) as error:
            log.info("Could not look up what was recorded: %s", error)
