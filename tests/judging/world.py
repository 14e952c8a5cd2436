"""A world with a clock of its own, for what waits."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from itertools import count

from core.judging.rate_limits import ProviderGate


class World:
    """Time that passes only when everybody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._order = count()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        heapq.heappush(self._sleepers, (self.time + max(0.0, seconds), next(self._order), woken))
        await woken.wait()

    def run(self, *work: Callable[[], Awaitable[None]]) -> None:
        async def go() -> None:
            tasks = [asyncio.ensure_future(one()) for one in work]
            while not all(task.done() for task in tasks):
                for _ in range(20):  # let everybody who can go on do so before time passes
                    await asyncio.sleep(0)
                if self._sleepers:
                    self.time, _, woken = heapq.heappop(self._sleepers)
                    woken.set()
            await asyncio.gather(*tasks)

        asyncio.run(go())


def gate_in(world: World, **limits: float) -> ProviderGate:
    return ProviderGate(sleep=world.sleep, clock=world.now, **limits)  # type: ignore[arg-type]
