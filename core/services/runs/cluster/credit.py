"""How much workers may have asked that the owner has not recorded: a bound on what a loss costs.

Whoever dies, what was asked and is not on the owner's disk is asked again. So a worker may have,
beside the calls that it makes at once, as many that are answered and not recorded yet, and starts
none beyond that. The owner says how many it has recorded, all in all and of each worker, in a
variable of the scheduler's; a worker looks there when it comes near its bound. Where nobody
records any more (the owner was killed, its disk is full), the workers stop by themselves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from core.domain.votes import AskedOutcome, Cell

log = logging.getLogger(__name__)
#: Who makes few calls at once may have so many answered and not recorded: it takes some 60 ms from
#: an answer until the worker knows that it is on the disk.
LEAST = 8
#: Seconds between a worker's looks at what was recorded, and until the owner tells again where the
#: scheduler could not be reached.
LOOK_EVERY, TELL_AGAIN = 0.01, 0.2
#: For so many seconds a call that was stopped counts as one that is out.
CUT_OFF = 1.0

#: How many outcomes of a worker were recorded so far: by worker, by judge.
Counts = dict[str, dict[str, int]]


class Receipts:
    """Says of outcomes that they are on the disk, to whoever ``listener`` is."""

    def __init__(self) -> None:
        self.listener: Callable[[Sequence[AskedOutcome]], None] | None = None

    def recorded(self, outcomes: Sequence[AskedOutcome]) -> None:
        """These outcomes are on the disk."""
        if self.listener is not None:
            self.listener(outcomes)


class Acknowledging:
    """The owner's side: counts what was recorded of whom, and has it told by ``tell``."""

    def __init__(self, tell: Callable[[Counts], Awaitable[object]]) -> None:
        self._tell, self._counts = tell, Counts()
        self._of: dict[Cell, str] = {}
        self._telling: asyncio.Task[None] | None = None
        self._news = False

    def came(self, worker: str, outcome: AskedOutcome) -> None:
        """An outcome came from a worker, and is to be recorded."""
        self._of[outcome.results[0].cell] = worker

    def recorded(self, outcomes: Sequence[AskedOutcome]) -> None:
        """These are on the disk, some of them perhaps from no worker."""
        for outcome in outcomes:
            cell = outcome.results[0].cell
            if (worker := self._of.pop(cell, None)) is not None:
                self.done(worker, cell.judge)

    def done(self, worker: str, judge: str) -> None:
        """An outcome of a worker needs nothing more: it is recorded, or came twice."""
        counts = self._counts.setdefault(worker, {})
        counts[judge] = counts.get(judge, 0) + 1
        self.begin()

    def begin(self) -> None:
        """Tells what there is to tell, if only that it is nothing yet."""
        self._news = True
        if self._telling is None:
            self._telling = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Nobody is told any more."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _work(self) -> None:
        """Tells as long as there is news: what comes meanwhile goes along with the next time."""
        while self._news:
            self._news = False
            try:
                await self._tell(self._counts)
            except (OSError, ValueError) as error:
                log.info("Workers could not be told what was recorded: %s", error)
                self._news = True
                await asyncio.sleep(TELL_AGAIN)
        self._telling = None


class Credit:
    """A worker's side, for one judge: what it may ask before more of it is recorded.

    ``look`` fetches what the owner has recorded of it so far.
    """

    def __init__(self, at_once: int, look: Callable[[], Awaitable[int]]) -> None:
        self.at_once = at_once
        self._look, self._asked, self._recorded = look, 0, 0
        self._looking: asyncio.Task[None] | None = None

    @property
    def left(self) -> int:
        """How many calls may start now."""
        most = self.at_once + max(self.at_once, LEAST)
        return most - (self._asked - self._recorded)

    async def take(self) -> None:
        """Returns when a call may start, and counts it."""
        while self.left <= 0:
            await asyncio.shield(self._looked())
        self._asked += 1
        if self.left <= self.at_once:
            self._looked()  # so that hardly anybody has to wait

    def cut_off(self) -> None:
        """A call that was counted was stopped, and will not be recorded.

        It may have to be paid for all the same. Chunks are stopped one after the other, so what it
        makes room for waits until that is over.
        """
        asyncio.get_running_loop().call_later(CUT_OFF, self._forget)

    def _forget(self) -> None:
        self._asked -= 1

    def _looked(self) -> asyncio.Task[None]:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_soon())
        return self._looking

    async def _look_soon(self) -> None:
        await asyncio.sleep(LOOK_EVERY)
        try:
            self._recorded = max(self._recorded, await self._look())
        except (OSError, ValueError) as error:
            log.info("What was recorded could not be looked up: %s", error)
