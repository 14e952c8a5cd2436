"""The addresses that serve one judge's model, each behind a gate of its own; mostly there is one.

A call goes where the fewest are under way. An address that fails call after call is left alone for
longer and longer, tried by one call at a time, and the others do its work: a call that fails at
one address goes to the next, and is only counted as tried when none of them answered it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from core.domain.panel import Judge
from core.judging.rate_limits import Clock, ProviderGate, Sleep

#: So many failures in a row, and an address is left alone while there are others.
FEW_FAILURES = 3
#: How often it is looked again whether one of them may be asked, in seconds.
_LOOK_EVERY = 1.0


class Replica:
    """One address. ``answered`` and ``lost`` count its calls; ``last`` is when it answered last."""

    def __init__(self, address: str, gate: ProviderGate, model: str) -> None:
        self.address, self.gate = address, gate
        self.allowed = gate.pacer.allowed(model)
        self.answered = self.lost = 0

    def told(self) -> dict[str, Any]:
        """How it goes, as plain data."""
        return {"answered": self.answered, "lost": self.lost, "down": self.gate.down}


class Replicas:
    """All addresses of a judge; ``gates`` are those of some of them, the first ones first."""

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
        """Whether there is more than one address."""
        return len(self.all) > 1

    async def choose(self, failed: Collection[Replica] = ()) -> Replica:
        """Where the next attempt of a call goes, which ``failed`` at these addresses before."""
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
        """The judge's limits bind nobody any more."""
        for replica in self.all:
            replica.gate.pacer.drop(self)
