"""A gate for each provider: paced if its limits are known, closed while it fails."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random

from core.identity import seeded_random
from core.judging.allowance import Allowance
from core.judging.outages import Breaker
from core.judging.pace import PaceTimes
from core.judging.providers.base import CallError

# Pacing: if a provider's limit is known, no call exceeds it.
#
# Calls follow each other evenly at 97% of the limit, without an initial burst, because the
# provider's counting period is unknown. Limits in a provider's answers are obeyed as well. Tokens
# are estimated before a call and corrected after it.

#: Use only this share of a limit, so that no 60 s have more calls than the limit.
SHARE = 0.97
#: How late, in seconds, a caller may wake up without delaying the next caller.
SLACK = 0.02
#: The first estimate: characters per token, and tokens of a reply.
CHARACTERS, REPLY = 4.0, 150.0
#: Shorter waits count as no wait, because clocks cannot resolve them.
_AT_ONCE = 1e-6
#: The least weight of a new answer in an estimate.
LEARNING = 0.1


class Pacer:
    """Schedules the next call. Of several judges' limits the smallest applies.

    ``times`` may be shared by all processes of a machine.
    """

    def __init__(self, times: PaceTimes | None = None) -> None:
        self.times = times or PaceTimes()
        self._allowed: dict[str, Allowance] = {}
        self._named: dict[object, tuple[int | None, int | None]] = {}
        self._per_request = self._per_token = 0.0
        self._ratio, self._seen = 1.0, 0

    @property
    def on(self) -> bool:
        """Return whether any limit is set."""
        return self._per_request > 0 or self._per_token > 0

    def limit(self, owner: object, requests: int | None, tokens: int | None) -> None:
        """Set ``owner``'s limits per minute, until ``drop``."""
        if requests is not None or tokens is not None:
            self._named[owner] = (requests, tokens)
            self._settle_estimates()

    def drop(self, owner: object) -> None:
        """Remove the limits of ``owner``."""
        if self._named.pop(owner, None) is not None:
            self._settle_estimates()

    def allowed(self, model: str) -> Allowance:
        """Return the provider's reported limits for a model, shared by its callers."""
        return self._allowed.setdefault(model, Allowance())

    def claim(self, now: float, tokens: float) -> float:
        """Take the next call with a token estimate, or return the seconds to wait."""
        if not self.on:
            return 0.0
        with self.times.held(now):
            wait = max(self.times.request, self.times.token) - now
            if wait > _AT_ONCE:
                return wait
            times, earliest = self.times, now - SLACK
            times.request = max(times.request, earliest) + self._per_request
            times.token = max(times.token, earliest) + tokens * self._per_token
            return 0.0

    def record_delay(self, claimed: float, started: float) -> None:
        """Record that a claimed call started late, so that the next one follows it."""
        if self.on and started > claimed:
            with self.times.held(started):
                self.times.request = max(self.times.request, started + self._per_request - SLACK)

    def guess(self, characters: int) -> float:
        """Return a call's estimated tokens, from the characters of its prompt."""
        return _default_estimate(characters) * self._ratio

    def correct(self, characters: int, guessed: float, tokens: int) -> None:
        """Record that a call took ``tokens`` instead of the estimated ``guessed``."""
        if self._per_token:
            with self.times.held(math.inf):
                self.times.token += (tokens - guessed) * self._per_token
        self._seen += 1
        weight = max(LEARNING, 1 / self._seen)
        self._ratio += weight * (tokens / _default_estimate(characters) - self._ratio)

    def _settle_estimates(self) -> None:
        requests = [r for r, _ in self._named.values() if r is not None]
        tokens = [t for _, t in self._named.values() if t is not None]
        self._per_request = 60 / (SHARE * min(requests)) if requests else 0.0
        self._per_token = 60 / (SHARE * min(tokens)) if tokens else 0.0


def _default_estimate(characters: int) -> float:
    return characters / CHARACTERS + REPLY


# A gate per provider: after "too many requests" all callers wait, and no call fails.
#
# All judges of a provider share its gate. A refusal (429) closes it until the time the provider
# asks for. After many refusals, callers pass one by one, at the previous pace of answers and
# gradually faster. So no call is lost, and few requests are refused. After rare refusals the pause
# is enough.
#
# Its pacer obeys known limits, and its breaker handles a provider that is down.

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]

#: How long the gate stays closed if the provider names no time, in seconds: the first and the
#: longest pause; each doubles.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: The spacing of callers in seconds: its limit after the first refusal (doubled by each further
#: one), its upper bound, and the smallest that counts as spacing.
FIRST_SPACING, LONGEST_SPACING, NO_SPACING = 0.1, 30.0, 0.0002
#: The pace is measured over at most this many answers.
ANSWERS = 256
#: A storm: this many refusals since the gate closed, and this share of all answers since, or this
#: many since the last success. After fewer refusals, pausing is enough.
STORM_REFUSALS, STORM_SHARE = 8, 0.25
#: How fast the spacing shrinks: the share per second, and the smallest factor for a single answer.
NARROWER_PER_SECOND, NARROWEST_PER_ANSWER = 0.1, 0.95


class ProviderGate:
    """The gate of a provider, open until the provider refuses. Use it on one event loop.

    ``max_refusals`` is the most refusals that a call survives, ``max_wait`` the seconds that the
    provider may go without any answer.
    """

    def __init__(
        self,
        *,
        max_refusals: int = 60,
        max_wait: float = 900.0,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        rng: Random | None = None,
        times: PaceTimes | None = None,
    ) -> None:
        self._max_refusals, self._max_wait = max_refusals, max_wait
        self._sleep, self._clock = sleep, clock
        self._rng = rng or seeded_random("gate")
        self._closed_at = float("-inf")
        self._opens_at = float("-inf")
        self._next_slot = float("-inf")
        self._spacing = 0.0
        self._refusals_in_a_row = 0
        self._refusing_since = 0.0
        self._refused_here = self._answered_here = self._refused_since = 0
        self._spaced_here = False
        self._answers: deque[float] = deque(maxlen=ANSWERS)
        self._answered_at = self._clock()
        self.pacer = Pacer(times)
        #: The number of calls that wait at the gate or are in flight.
        self.load = 0
        self.breaker = Breaker(sleep, clock, max_wait)
        self._turn = asyncio.Lock()

    @property
    def open(self) -> bool:
        """Return whether a call could pass now, ignoring known limits."""
        return self._opens_at <= self._clock() and self.breaker.ready

    @property
    def opens_at(self) -> float:
        """Return when a call may pass, on the gate's clock."""
        return max(self._opens_at, self.breaker.opens_at)

    async def enter(self, tokens: float = 0.0, allowed: Allowance | None = None) -> float:
        """Wait until a call may be made; return its start time on the gate's clock.

        ``tokens`` is the estimated size of the call, for a token limit. ``allowed`` is what the
        provider reported as remaining; it is not reduced here. Raises ``CallError`` if the provider
        asks for more than ``max_wait`` seconds or was out for longer. The caller then reports the
        call to ``passed``, ``refused`` or the ``breaker``.
        """
        if not self.pacer.on and (allowed is None or self._free(allowed, tokens)):
            now = self._clock()
            if not self.breaker.broken and max(self._opens_at, self._next_slot) <= now:
                self._next_slot = now + self._spacing
                return now
            return await self._enter_gate()
        # Only the first caller waits for its time; the others queue behind it. A caller that gives
        # up therefore leaves no gap.
        async with self._turn:
            while (wait := self._seconds_until_room(allowed, tokens)) > 0:
                await self._sleep(wait)
            claimed = self._clock()
            started = await self._enter_gate()
            self.pacer.record_delay(claimed, started)
            return started

    def _seconds_until_room(self, allowed: Allowance | None, tokens: float) -> float:
        """Return the seconds until there is room for a call; 0 claims the room."""
        now = self._clock()
        wait = 0.0 if allowed is None else allowed.wait(now, tokens)
        return wait if wait > _AT_ONCE else self.pacer.claim(now, tokens)

    def _free(self, allowed: Allowance, tokens: float) -> bool:
        # A new caller queues behind those that wait.
        return not self._turn.locked() and allowed.wait(self._clock(), tokens) <= 0

    async def _enter_gate(self) -> float:
        if not self.breaker.broken:
            return await self._wait_to_pass()
        trying = await self.breaker.turn()
        try:
            return await self._wait_to_pass()
        except BaseException:
            if trying:
                self.breaker.release_trial(math.inf)
            raise

    async def _wait_to_pass(self) -> float:
        while True:
            now = self._clock()
            if (wait := self._opens_at - now) > self._max_wait:
                raise CallError(
                    "rate_limit", f"The provider asks to wait {wait:.0f} seconds. Try again then."
                )
            slot = max(now, self._opens_at, self._next_slot)
            self._next_slot = slot + self._spacing
            if slot <= now:
                return now
            await self._sleep(slot - now)
            if self._closed_at <= now and self._opens_at <= slot:
                # The gate did not close again meanwhile, so the slot is valid.
                return self._clock()

    def refused(self, started: float, retry_after: float | None) -> None:
        """Close the gate, or keep it closed, after a 429 for a call from ``started``.

        ``retry_after`` is in seconds, ``None`` if the provider named no time. A single answer
        delays callers by ``LONGEST_PAUSE`` at most, after which the provider must repeat it.
        """
        self.breaker.answered()
        now = self._clock()
        news = started >= self._closed_at
        if news:
            self._refusing_since = self._refusing_since if self._refusals_in_a_row else now
            self._refusals_in_a_row += 1
            self._closed_at = now
            self._refused_here = self._answered_here = 0
            self._spaced_here = False
        self._refused_here += 1
        self._refused_since += 1
        pause = retry_after
        if pause is None or (pause > LONGEST_PAUSE and self._refusals_in_a_row == 1):
            # A refusal of a call that was already in flight when the gate closed is no news.
            pause = self._pause_seconds() if news else 0.0
        self._opens_at = max(self._opens_at, now + pause)
        if self._has_many_refusals() and not self._spaced_here:
            self._spaced_here = True
            self._widen_spacing()
        if news:
            # A caller that is already waiting for a slot takes a new slot when its time comes.
            self._next_slot = self._opens_at

    def passed(self) -> None:
        """Record an answered call, so that the next calls may follow more closely."""
        self.breaker.answered()
        now = self._clock()
        if self._spacing:
            by_time = math.exp(-NARROWER_PER_SECOND * (now - self._answered_at))
            self._spacing *= max(by_time, NARROWEST_PER_ANSWER)
            if self._spacing < NO_SPACING:
                self._spacing = 0.0
        self._answered_at = now
        self._answers.append(now)
        self._answered_here += 1
        self._refusals_in_a_row = self._refused_since = 0

    def should_give_up(self, refusals: int) -> bool:
        """Return whether a call with this many refusals should fail."""
        silence = self._clock() - self._refusing_since if self._refusals_in_a_row else 0.0
        return refusals > self._max_refusals or silence > self._max_wait

    def _has_many_refusals(self) -> bool:
        if self._refused_since == STORM_REFUSALS:
            return True
        replies_since = self._refused_here + self._answered_here
        return (
            self._refused_here >= STORM_REFUSALS
            and self._refused_here > STORM_SHARE * replies_since
        )

    def _widen_spacing(self) -> None:
        """Space callers at the rate of the last answers, the pause before opening included."""
        answers = len(self._answers)
        spacing = (self._opens_at - self._answers[0]) / answers if answers else math.inf
        widest = min(LONGEST_SPACING, 2 * self._spacing) if self._spacing else FIRST_SPACING
        self._spacing = min(widest, max(spacing, self._spacing))
        self._answers.clear()

    def _pause_seconds(self) -> float:
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._refusals_in_a_row - 1))
        return longest * self._rng.uniform(0.5, 1.0)
