"""Admit a judge's next question or request: ``acquire`` a turn, then ``report`` its outcome.

``QuestionTurns`` admits the questions of a run while budget is left and the judge still answers.
``CallTurns`` admits each request of a question, and chooses its address and time. They are
separate, because all runs of a process share a provider's limits, and a cluster admits questions on
one machine and sends requests from others.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Call, FailureKind, Vote
from core.judging.local.own_address import is_local
from core.judging.protocol import FATAL
from core.judging.providers.base import CallError, Completion
from core.judging.rate_limits import Clock, ProviderGate, Sleep

#: Fatal failures in a row that stop a judge: the first number if it has never answered, the second
#: if it has. A single failure may be a gateway's glitch.
FATAL_AT_FIRST, FATAL_IN_A_ROW = 2, 10
#: Failures after which the same request may be answered.
RETRIED: frozenset[FailureKind] = frozenset({"timeout", "connection", "server"})
#: After this many failures in a row an address is avoided if there are others.
FEW_FAILURES = 3
#: Seconds between checks whether an address is available again.
_LOOK_EVERY = 1.0
#: An answer within this many seconds allows a local server one more concurrent question.
QUICK = 5.0
#: A slower server gets twice as many concurrent questions if the last doubling multiplied its
#: answers per second by more than this factor.
BETTER = 1.25


class LocalSlots:
    """How many concurrent questions a local server gets; it may have one slot or hundreds.

    The number rises while the server answers quickly, or answers more per second than with half as
    many. Otherwise questions only wait for each other, so the number falls, and rises again if that
    helps.

    >>> room = LocalSlots()
    >>> for seconds in (40, 9, 9): room.answered(seconds, most=16)
    >>> room.size
    2
    >>> for seconds in (18, 18, 18): room.answered(seconds, most=16)
    >>> room.size
    1
    """

    def __init__(self) -> None:
        self.size = 1
        self._rate = 0.0
        #: Answers that are not measured: those to earlier questions, and the first, which includes
        #: the start of the server.
        self._due = 1
        self._times: list[float] = []

    def answered(self, seconds: float, most: int) -> None:
        """Record the seconds of an answer. With ``most`` questions, the maximum is reached."""
        if self.size >= most:
            return
        if seconds < QUICK:
            self.size += 1
        elif self._due:
            self._due -= 1
        else:
            self._times.append(seconds)
            if len(self._times) >= max(2, self.size):
                self._resize_slots(len(self._times) * self.size / sum(self._times), most)

    def _resize_slots(self, rate: float, most: int) -> None:
        self._due = self.size
        self._times.clear()
        if rate > BETTER * self._rate:
            self._rate, self.size = rate, min(most, 2 * self.size)
        else:
            # Restart below the last good size, which chance may have favoured.
            self._rate, self.size = 0.0, max(1, self.size // 4)


class _Worth:
    """Whether a judge is still worth asking. ``dead`` holds the failure if it is not.

    ``out`` counts questions in flight: a judge that never answered may still answer them.
    """

    def __init__(self) -> None:
        self.dead: tuple[FailureKind, str] | None = None
        self.out, self.room = 0, LocalSlots()
        self._answered, self._in_a_row = False, 0
        self._last: tuple[FailureKind, str] = ("not_found", "")

    @property
    def doubted(self) -> bool:
        """Return whether a judge that never answered has failed too often."""
        return not self._answered and self._in_a_row >= FATAL_AT_FIRST

    def count_outcome(self, outcome: AskedOutcome) -> None:
        """Count the outcome of a question."""
        for result in outcome.results:
            if isinstance(result, Vote):
                self._answered, self._in_a_row = True, 0
            elif result.kind in FATAL:
                self._in_a_row, self._last = self._in_a_row + 1, (result.kind, result.message)
                if result.kind == "missing_key" or self._in_a_row >= FATAL_IN_A_ROW:
                    self.dead = self.dead or self._last
        if self.doubted and not self.out:
            self.dead = self.dead or self._last


class QuestionTurns:
    """Admits a run's questions. ``limit`` and ``spent`` are in US dollars.

    A question is admitted only while the money spent plus the questions in flight, each at its
    judge's highest cost so far, stays below the limit. A judge's questions go one by one until an
    answer has shown their cost, and so do all until the first answer. Calls of unknown price count
    as free; the run reports their number next to its cost. Cached answers are free and show no
    price.

    ``LocalSlots`` limits the concurrent questions of a local judge, which may be slow.
    """

    def __init__(self, limit: float | None = None, spent: float = 0.0) -> None:
        self.limit, self.spent = math.inf if limit is None else limit, spent
        self.exhausted = False
        self._worth: defaultdict[str, _Worth] = defaultdict(_Worth)
        self._in_flight: Counter[str] = Counter()
        self._dearest: dict[str, float] = {}
        self._changed = asyncio.Event()

    def stopping_failure(self, judge: Judge) -> tuple[FailureKind, str] | None:
        """Return the failure that stopped a judge, or ``None``."""
        return self._worth[judge.name].dead

    async def acquire(self, judge: Judge) -> bool:
        """Wait until a judge's question may go out; return ``False`` if the budget is spent."""
        while not self.acquire_now(judge):
            if self.exhausted and not judge.offline:
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    def acquire_now(self, judge: Judge) -> bool:
        """Take a turn if one is free. A stopped judge always gets one, which is not reported."""
        worth = self._worth[judge.name]
        if worth.dead is not None:
            return True
        if worth.out and (worth.doubted or self._is_full(worth, judge)):
            return False  # an answer in flight may settle the question or free a slot
        if not judge.offline:
            if not self._has_room(judge.name):
                self.exhausted = self.exhausted or self._in_flight.total() == 0
                return False
            self._in_flight[judge.name] += 1
        worth.out += 1
        return True

    def report(self, judge: Judge, outcome: AskedOutcome | None) -> None:
        """Record the outcome of an acquired turn; ``None`` if there was none."""
        self._worth[judge.name].out -= 1
        self._in_flight[judge.name] -= not judge.offline
        if outcome is not None:
            self.count(judge, outcome)
            if outcome.call is not None and _was_answered(outcome.call):
                self._worth[judge.name].room.answered(outcome.call.seconds, judge.concurrency)
        self._changed.set()

    def count(self, judge: Judge, outcome: AskedOutcome) -> None:
        """Record the outcome of a question without a turn, such as a batched one."""
        if outcome.call is not None and not judge.offline:
            cost = outcome.call.cost or 0.0
            self.spent += cost
            if cost or _was_answered(outcome.call):
                self._dearest[judge.name] = max(self._dearest.get(judge.name, 0.0), cost)
        self._worth[judge.name].count_outcome(outcome)

    def _is_full(self, worth: _Worth, judge: Judge) -> bool:
        return worth.room.size < judge.concurrency and (
            worth.out >= worth.room.size and is_local(judge)
        )

    def _has_room(self, judge: str) -> bool:
        if self.spent >= self.limit:
            return False
        if self._in_flight.total() == 0 or self.limit == math.inf:
            return True
        if not self._dearest or (judge not in self._dearest and self._in_flight[judge]):
            return False
        unknown = max(self._dearest.values())
        expected_cost = sum(
            n * self._dearest.get(name, unknown) for name, n in self._in_flight.items()
        )
        return self.spent + expected_cost < self.limit


def _was_answered(call: Call) -> bool:
    return not call.cached and bool(call.reply or call.finish or call.model)


class Address:
    """An address of a judge's model with its gate; counts the requests to it."""

    def __init__(self, url: str, gate: ProviderGate, model: str) -> None:
        self.url, self.gate = url, gate
        self.allowed = gate.pacer.allowed(model)
        self.answered = self.lost = 0


class Turn(NamedTuple):
    """A request that may go to ``at``; ``guess`` estimates its tokens from its ``length``.

    ``failed`` are the addresses at which its call has failed.
    """

    at: Address
    started: float
    length: int
    guess: float
    failed: set[Address]


class CallTurns:
    """Admits a judge's requests at the addresses that serve its model, each with its own gate.

    A request goes to the address with the fewest in flight. A failing address is avoided for longer
    and longer, and gets only trials. A call that fails at an address goes to the next, and counts
    as tried only after all have failed. ``gates`` belong to the first addresses.
    """

    def __init__(
        self, spec: Judge, gates: Sequence[ProviderGate], sleep: Sleep, clock: Clock
    ) -> None:
        urls = (spec.api_base, *spec.replicas)
        gates = [*gates, *(ProviderGate() for _ in urls[len(gates) :])]
        self._all = [Address(url, gate, spec.model) for url, gate in zip(urls, gates, strict=True)]
        self.several = len(urls) > 1
        self._sleep, self._clock = sleep, clock
        for gate in gates:
            gate.pacer.limit(self, spec.requests_per_minute, spec.tokens_per_minute)
            if self.several:
                gate.breaker.most = FEW_FAILURES

    async def acquire(self, length: int, failed: set[Address]) -> Turn:
        """Wait until a request of ``length`` characters may go out.

        ``failed`` are the addresses at which its call has failed. Raises ``CallError`` if the wait
        is too long.
        """
        at = await self._choose_address(failed)
        at.gate.load += 1
        try:
            guess = at.gate.pacer.guess(length)
            started = await at.gate.enter(guess, at.allowed)
        except BaseException:
            at.gate.load -= 1
            raise
        at.allowed.out += 1
        return Turn(at, started, length, guess, failed)

    def report(
        self, turn: Turn, outcome: Completion | CallError | None, refusals: int = 0
    ) -> CallError | None:
        """Record the outcome of a request; ``None`` if it was aborted.

        Returns the failure if it counts as a try, and ``None`` if the call may continue.
        ``refusals`` do not count until there are too many.
        """
        at, gate = turn.at, turn.at.gate
        gate.load -= 1
        at.allowed.out -= 1
        if isinstance(outcome, Completion):
            gate.passed()
            at.answered += 1
            if outcome.told is not None:
                at.allowed.update(self._clock(), outcome.told)
            if outcome.tokens_in is not None:
                spent = outcome.tokens_in + (outcome.tokens_out or 0)
                gate.pacer.correct(turn.length, turn.guess, spent)
        elif outcome is None:
            gate.breaker.release_trial(turn.started)
        elif outcome.kind != "rate_limit":
            return self._record_failure(turn, outcome)
        else:
            gate.refused(turn.started, outcome.retry_after)
            if gate.should_give_up(refusals):
                return outcome.with_message(
                    f"Given up after {refusals} refusals. {outcome.message}"
                )
        return None

    def _record_failure(self, turn: Turn, error: CallError) -> CallError | None:
        at, breaker, failed = turn.at, turn.at.gate.breaker, turn.failed
        trial = False
        if error.kind in RETRIED and not error.there:
            at.lost += 1
            trial = breaker.failed(turn.started, error.kind, error.message)
        else:
            breaker.answered()
        if error.kind in RETRIED:
            failed.add(at)
            if len(failed) < len(self._all):
                return None  # another address is left
            failed.clear()
        # A call that serves as the trial for all calls does not count as one of the tries.
        return None if trial else error.with_message(f"{error.message}{breaker.note()}")

    def address_states(self) -> dict[str, dict[str, Any]]:
        """Return the state of each address as plain data, if there are several."""
        return {
            at.url: {"answered": at.answered, "lost": at.lost, "down": at.gate.breaker.broken}
            for at in self._all
            if self.several
        }

    def close(self) -> None:
        """Drop the judge's limits from the gates."""
        for at in self._all:
            at.gate.pacer.drop(self)

    async def _choose_address(self, failed: set[Address]) -> Address:
        while self.several:
            for addresses in ([at for at in self._all if at not in failed], self._all):
                ready = [at for at in addresses if at.gate.open]
                if ready:
                    return min(ready, key=lambda at: at.gate.load)
            soonest = min(self._all, key=lambda at: at.gate.opens_at)
            if soonest.gate.breaker.given_up:
                return soonest  # The address chosen here raises the error.
            wait = soonest.gate.opens_at - self._clock()
            await self._sleep(max(0.01, min(_LOOK_EVERY, wait)))
        return self._all[0]
