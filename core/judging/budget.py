"""A budget that a run overshoots by at most one call, however many are in flight."""

from __future__ import annotations

import asyncio

from core.domain.votes import Call


class Budget:
    """US dollars that may be spent. ``spent`` starts at what the run has cost so far.

    A call is admitted only while the money spent plus the calls in flight, each taken to cost as
    much as the dearest so far, stays below the limit. Until the first cost is known, calls go one
    by one. Calls of unknown price count as free: the run says so beside its cost.
    """

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        self.limit, self.spent = limit, spent
        self.exhausted = False
        self._in_flight = 0
        self._dearest: float | None = None
        self._changed = asyncio.Event()

    async def admit(self) -> bool:
        """Waits for room for one more call; ``False`` when the budget is spent."""
        while not self._has_room():
            if self._in_flight == 0:
                self.exhausted = True
                return False
            self._changed.clear()
            await self._changed.wait()
        self._in_flight += 1
        return True

    def settle(self, call: Call | None) -> None:
        """Books a finished (or abandoned: ``None``) call that was admitted."""
        self._in_flight -= 1
        if call is not None:
            cost = call.cost or 0.0
            self.spent += cost
            self._dearest = max(self._dearest or 0.0, cost)
        self._changed.set()

    def _has_room(self) -> bool:
        if self.spent >= self.limit:
            return False
        if self._dearest is None:
            return self._in_flight == 0
        return self._in_flight == 0 or self.spent + self._in_flight * self._dearest < self.limit
