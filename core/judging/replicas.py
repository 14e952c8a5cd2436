"""The addresses that serve a judge's model, each with its own gate.

A call goes to the address with the fewest calls in flight. A failing address is avoided for longer
and longer, and only trial calls go to it. A call that fails at an address goes to the next, and
counts as tried only after all have failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from core.domain.panel import Judge
from core.judging.rate_limits import Clock, ProviderGate, Sleep

#: After this many failures in a row an address is avoided while there are others.
FEW_FAILURES = 3
#: How often to check whether an address is available again, in seconds.
_LOOK_EVERY = 1.0


class Replica:
    """An address; ``answered`` and ``lost`` count calls, ``last`` dates an answer."""

    def __init__(self, address: str, gate: ProviderGate, model: str) -> None:
        self.address, self.gate = address, gate
        self.allowed = gate.pacer.allowed(model)
        self.answered = self.lost = 0

    def told(self) -> dict[str, Any]:
        """Return its state as plain data."""
        return {"answered": self.answered, "lost": self.lost, "down": self.gate.down}


class Replicas:
    """All addresses of a judge; ``gates`` are those of the first ones."""

    def __init__(
        self,
        spec: Judge,
        gates: Sequence[ProviderGate],
        sleep: Sleep,
        clock: Clock,
        make: Callable[[], ProviderGate] = ProviderGate,
    ) -> None:
        addresses = (spec.api_base, *spec.replicas)
        every = [*gates, *(make() for _ in addresses[len(gates) :])]
        pairs = zip(addresses, every, strict=True)
        self.all = [Replica(address, gate, spec.model) for address, gate in pairs]
        self._sleep, self._clock, self._spec = sleep, clock, spec
        for replica in self.all:
            replica.gate.pacer.limit(self, spec.requests_per_minute, spec.tokens_per_minute)
            if self.several:
                replica.gate.give_up_after(FEW_FAILURES)

    @property
    def several(self) -> bool:
        """Return whether there is more than one address."""
        return len(self.all) > 1

    async def choose(self, failed: Collection[Replica] = ()) -> Replica:
        """Return the address of the next attempt of a call that ``failed`` at these."""
        while self.several:
            for some in ([replica for replica in self.all if replica not in failed], self.all):
                ready = [replica for replica in some if replica.gate.open]
                if ready:
                    return min(ready, key=lambda replica: replica.gate.load)
            soonest = min(self.all, key=lambda replica: replica.gate.opens_at)
            if soonest.gate.given_up:
                return soonest  # which says so
            wait = soonest.gate.opens_at - self._clock()
            await self._sleep(max(0.01, min(_LOOK_EVERY, wait)))
        return self.all[0]

    def close(self) -> None:
        """Drop the judge's limits from the gates."""
        for replica in self.all:
            replica.gate.pacer.drop(self)
