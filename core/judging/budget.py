"""A budget that a run overshoots by at most one call, however many are in flight."""

from __future__ import annotations

import asyncio
from collections import Counter

from core.domain.votes import Call


class Budget:
    """US dollars that may be spent. ``spent`` starts at what the run has cost so far.

    A call is admitted only while the money spent plus the calls in flight, each taken to cost as
    much as its judge's dearest so far, stays below the limit. Until an answer has shown what a
    judge's calls cost, they go one by one, and until any has, so do all. Calls of unknown price
    count as free: the run says so beside its cost. Kept answers are free, and show no price.
    """

    def __init__(self, limit: float, spent: float = 0.0) -> None:
        self.limit, self.spent = limit, spent
        self.exhausted = False
        self._in_flight: Counter[str] = Counter()
        self._dearest: dict[str, float] = {}
        self._changed = asyncio.Event()

    async def admit(self, judge: str) -> bool:
        """Waits for room for one more call of a judge; ``False`` when the budget is spent."""
        while not self._has_room(judge):
            if self._in_flight.total() == 0:
                self.exhausted = True
                return False
            self._changed.clear()
            await self._changed.wait()
        self._in_flight[judge] += 1
        return True

    def settle(self, judge: str, call: Call | None) -> None:
        """Books a finished (or abandoned: ``None``) call of a judge that was admitted."""
        self._in_flight[judge] -= 1
        if call is not None:
            cost = call.cost or 0.0
            self.spent += cost
            if cost or _answered(call):
                self._dearest[judge] = max(self._dearest.get(judge, 0.0), cost)
        self._changed.set()

    def _has_room(self, judge: str) -> bool:
        if self.spent >= self.limit:
            return False
        if self._in_flight.total() == 0:
            return True
        if not self._dearest or (judge not in self._dearest and self._in_flight[judge]):
            return False
        unknown = max(self._dearest.values())
        due = sum(n * self._dearest.get(name, unknown) for name, n in self._in_flight.items())
        return self.spent + due < self.limit


def _answered(call: Call) -> bool:
    return not call.cached and bool(call.reply or call.finish or call.model)
