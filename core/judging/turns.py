"""Whether a judge may be asked, or its model called, now: ``acquire`` a turn, then ``report``.

``QuestionTurns`` admits the questions of a run: is there money left, is the judge worth asking?
``CallTurns`` admits each request that a question takes: at which address, and when? They are two,
since all runs of a process share a provider's limits, and a cluster admits questions on one machine
and sends requests from others.
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
#: After this many failures in a row an address is avoided while there are others.
FEW_FAILURES = 3
#: How often to check whether an address is available again, in seconds.
_LOOK_EVERY = 1.0
#: After an answer within this many seconds a local server gets one more question at once.
QUICK = 5.0
#: A slow one gets twice as many if the last doubling gave this many times the answers a second.
BETTER = 1.25


class Room:
    """How many questions a local server gets at once, which may have one slot or hundreds.

    It gets more while it answers quickly, or answers more a second than with half as many. Else
    they only wait for each other there, so it gets fewer, and more again if that helps.

    >>> room = Room()
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
        #: Answers still due to questions from before; the first waits for a server to start.
        self._due = 1
        self._times: list[float] = []

    def answered(self, seconds: float, most: int) -> None:
        """Record the time of an answer. At ``most`` questions there is no more to learn."""
        if self.size >= most:
            return
        if seconds < QUICK:
            self.size += 1
        elif self._due:
            self._due -= 1
        else:
            self._times.append(seconds)
            if len(self._times) >= max(2, self.size):
                self._resize(len(self._times) * self.size / sum(self._times), most)

    def _resize(self, rate: float, most: int) -> None:
        self._due = self.size
        self._times.clear()
        if rate > BETTER * self._rate:
            self._rate, self.size = rate, min(most, 2 * self.size)
        else:
            # Below the last size that was enough, as that one was measured by chance, too.
            self._rate, self.size = 0.0, max(1, self.size // 4)


class _Worth:
    """Whether a judge is still worth asking. ``dead`` says why not.

    ``out`` questions are in flight: a judge that never answered may still do so.
    """

    def __init__(self) -> None:
        self.dead: tuple[FailureKind, str] | None = None
        self.out, self.room = 0, Room()
        self._answered, self._in_a_row = False, 0
        self._last: tuple[FailureKind, str] = ("not_found", "")

    @property
    def doubted(self) -> bool:
        """Return whether a judge that never answered has failed often enough."""
        return not self._answered and self._in_a_row >= FATAL_AT_FIRST

    def saw(self, outcome: AskedOutcome) -> None:
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
    """Admits a run's questions. ``limit`` and what is ``spent`` so far are in US dollars.

    A question is admitted only while the money spent plus the questions in flight, each at its
    judge's dearest so far, stays below the limit. A judge's questions go one by one until an answer
    has shown their cost, and so do all until the first answer. Calls of unknown price count as
    free, which the run reports next to its cost. Cached answers are free and show no price.

    A local judge, which may be slow, has as many questions out as there is ``Room``.
    """

    def __init__(self, limit: float | None = None, spent: float = 0.0) -> None:
        self.limit, self.spent = math.inf if limit is None else limit, spent
        self.exhausted = False
        self._worth: defaultdict[str, _Worth] = defaultdict(_Worth)
        self._in_flight: Counter[str] = Counter()
        self._dearest: dict[str, float] = {}
        self._changed = asyncio.Event()

    def dead(self, judge: Judge) -> tuple[FailureKind, str] | None:
        """Return why a judge is not to be asked any more, or ``None``."""
        return self._worth[judge.name].dead

    async def acquire(self, judge: Judge) -> bool:
        """Wait for the turn of a judge's question; ``False`` if the budget is spent."""
        while not self.acquire_now(judge):
            if self.exhausted and not judge.offline:
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    def acquire_now(self, judge: Judge) -> bool:
        """Take a turn if there is one now. A dead judge always has one, which is not reported."""
        worth = self._worth[judge.name]
        if worth.dead is not None:
            return True
        if worth.out and (worth.doubted or self._is_full(worth, judge)):
            return False  # those in flight may be answered
        if not judge.offline:
            if not self._has_room(judge.name):
                self.exhausted = self.exhausted or self._in_flight.total() == 0
                return False
            self._in_flight[judge.name] += 1
        worth.out += 1
        return True

    def report(self, judge: Judge, outcome: AskedOutcome | None) -> None:
        """Record what came of an acquired turn; ``None``: nothing."""
        self._worth[judge.name].out -= 1
        self._in_flight[judge.name] -= not judge.offline
        if outcome is not None:
            self.count(judge, outcome)
            if outcome.call is not None and _answered(outcome.call):
                self._worth[judge.name].room.answered(outcome.call.seconds, judge.concurrency)
        self._changed.set()

    def count(self, judge: Judge, outcome: AskedOutcome) -> None:
        """Record what came of a question without a turn, such as one in a batch."""
        if outcome.call is not None and not judge.offline:
            cost = outcome.call.cost or 0.0
            self.spent += cost
            if cost or _answered(outcome.call):
                self._dearest[judge.name] = max(self._dearest.get(judge.name, 0.0), cost)
        self._worth[judge.name].saw(outcome)

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
        due = sum(n * self._dearest.get(name, unknown) for name, n in self._in_flight.items())
        return self.spent + due < self.limit


def _answered(call: Call) -> bool:
    return not call.cached and bool(call.reply or call.finish or call.model)


class Address:
    """An address of a judge's model with its gate; counts the requests to it."""

    def __init__(self, url: str, gate: ProviderGate, model: str) -> None:
        self.url, self.gate = url, gate
        self.allowed = gate.pacer.allowed(model)
        self.answered = self.lost = 0


class Turn(NamedTuple):
    """A request that may go out to ``at``. ``guess`` estimates its tokens from its ``length``.

    Its call ``failed`` at these addresses.
    """

    at: Address
    started: float
    length: int
    guess: float
    failed: set[Address]


class CallTurns:
    """Admits a judge's requests at the addresses that serve its model, each with its own gate.

    A request goes to the address with the fewest in flight. A failing address is avoided for longer
    and longer, and only trials go to it. A call that fails at an address goes to the next, and
    counts as tried only after all have failed. ``gates`` are those of the first addresses.
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
        """Wait until a request of ``length`` characters may go out; its call ``failed`` at these.

        Raises ``CallError`` if that takes too long.
        """
        at = await self._choose(failed)
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
        """Record what came of a request; ``None``: it was aborted.

        Returns the failure if it counts as a try, and ``None`` if the call may just go on. Its
        ``refusals`` do not count until there are too many.
        """
        at, gate = turn.at, turn.at.gate
        gate.load -= 1
        at.allowed.out -= 1
        if isinstance(outcome, Completion):
            gate.passed()
            at.answered += 1
            if outcome.told is not None:
                at.allowed.told(self._clock(), outcome.told)
            if outcome.tokens_in is not None:
                spent = outcome.tokens_in + (outcome.tokens_out or 0)
                gate.pacer.correct(turn.length, turn.guess, spent)
        elif outcome is None:
            gate.breaker.left(turn.started)
        elif outcome.kind != "rate_limit":
            return self._lost(turn, outcome)
        else:
            gate.refused(turn.started, outcome.retry_after)
            if gate.hopeless(refusals):
                return outcome.saying(f"Given up after {refusals} refusals. {outcome.message}")
        return None

    def _lost(self, turn: Turn, error: CallError) -> CallError | None:
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
                return None  # there is another address
            failed.clear()
        # A trial for all calls does not count as a try.
        return None if trial else error.saying(f"{error.message}{breaker.note()}")

    def told(self) -> dict[str, dict[str, Any]]:
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

    async def _choose(self, failed: set[Address]) -> Address:
        while self.several:
            for some in ([at for at in self._all if at not in failed], self._all):
                ready = [at for at in some if at.gate.open]
                if ready:
                    return min(ready, key=lambda at: at.gate.load)
            soonest = min(self._all, key=lambda at: at.gate.opens_at)
            if soonest.gate.breaker.given_up:
                return soonest  # which says so
            wait = soonest.gate.opens_at - self._clock()
            await self._sleep(max(0.01, min(_LOOK_EVERY, wait)))
        return self._all[0]
