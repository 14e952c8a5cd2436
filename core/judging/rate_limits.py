"""A gate before each provider: paced where limits are known, closed while it fails."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random

from core.domain.votes import FailureKind
from core.identity import seeded
from core.judging.allowance import Allowance, Told
from core.judging.outages import Breaker
from core.judging.pace import PaceTimes
from core.judging.providers.base import CallError

# Pacing: where a provider's limit is known, no call goes out that it would refuse.
#
# Calls follow each other evenly at 97% of the limit, with no burst to begin with, because nobody
# knows over which span a provider counts. What a provider tells of its limits is kept to as well.
# Tokens are guessed before a call and put right after it.

#: The share of a limit that is used. 60 s at this pace hold at most the limit, for any limit.
SHARE = 0.97
#: How late, in seconds, a caller may be woken without the next one having to wait for it.
SLACK = 0.02
#: The first guess: characters per token, and tokens of a reply.
CHARACTERS, REPLY = 4.0, 150.0
#: So few seconds are no wait: clocks do not tell them apart.
_AT_ONCE = 1e-6
#: The least weight of a new answer in what is taken for the truth.
LEARNING = 0.1


class Pacer:
    """When the next call may start. Several judges may name limits: the smallest counts.

    ``times`` may be those of all processes of a machine.
    """

    def __init__(self, times: PaceTimes | None = None) -> None:
        self._times = times or PaceTimes()
        self._allowed: dict[str, Allowance] = {}
        self._named: dict[object, tuple[int | None, int | None]] = {}
        self._per_request = self._per_token = 0.0
        self._ratio, self._seen = 1.0, 0

    @property
    def on(self) -> bool:
        """Whether anybody has named a limit."""
        return self._per_request > 0 or self._per_token > 0

    def limit(self, owner: object, requests: int | None, tokens: int | None) -> None:
        """``owner`` knows these limits per minute; they hold until ``drop``."""
        if requests is not None or tokens is not None:
            self._named[owner] = (requests, tokens)
            self._settle()

    def drop(self, owner: object) -> None:
        """Forget the limits that ``owner`` named."""
        if self._named.pop(owner, None) is not None:
            self._settle()

    def allowed(self, model: str) -> Allowance:
        """What the provider tells of its limits for a model, which all who ask that model share."""
        return self._allowed.setdefault(model, Allowance())

    def claim(self, now: float, tokens: float) -> float:
        """Take the next call, guessed to take so many tokens; or the seconds to wait, untaken."""
        if not self.on:
            return 0.0
        with self._times.held(now):
            wait = max(self._times.request, self._times.token) - now
            if wait > _AT_ONCE:
                return wait
            self._advance(now, tokens)
            return 0.0

    def held_up(self, claimed: float, started: float) -> None:
        """The call that was claimed started only later: the next one follows that."""
        if self.on and started > claimed:
            with self._times.held(started):
                self._times.request = max(self._times.request, started + self._per_request - SLACK)

    def _advance(self, now: float, tokens: float) -> None:
        times, earliest = self._times, now - SLACK
        times.request = max(times.request, earliest) + self._per_request
        times.token = max(times.token, earliest) + tokens * self._per_token

    def guess(self, characters: int) -> float:
        """The tokens that a call with a prompt of so many characters will take."""
        return _plain(characters) * self._ratio

    def correct(self, characters: int, guessed: float, tokens: int) -> None:
        """A call that was guessed to take ``guessed`` tokens took ``tokens``."""
        if self._per_token:
            with self._times.held(math.inf):
                self._times.token += (tokens - guessed) * self._per_token
        self._seen += 1
        weight = max(LEARNING, 1 / self._seen)
        self._ratio += weight * (tokens / _plain(characters) - self._ratio)

    def _settle(self) -> None:
        requests = [r for r, _ in self._named.values() if r is not None]
        tokens = [t for _, t in self._named.values() if t is not None]
        self._per_request = 60 / (SHARE * min(requests)) if requests else 0.0
        self._per_token = 60 / (SHARE * min(tokens)) if tokens else 0.0


def _plain(characters: int) -> float:
    return characters / CHARACTERS + REPLY


# A gate before each provider: when it says "too many requests", everybody waits, and nobody fails.
#
# One gate stands before one provider and is shared by its judges. A refusal (429) closes it until
# the time the provider asks for. Where refusals come in storms, callers then go through one by one,
# spaced as the provider's answers came until then, and little by little closer; so no call is lost
# and few requests are refused. Where one is refused now and then, the pause is answer enough.
#
# Known limits are kept to by its pacer; a provider that is down is left alone by its breaker.

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]

#: How long the gate stays closed where the provider names no time: doubling, in seconds.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: The spacing of callers, in seconds: at most so much after a first refusal, at most double after a
#: further one, at most so much ever, and too little to matter.
FIRST_SPACING, LONGEST_SPACING, NO_SPACING = 0.1, 30.0, 0.0002
#: A pace is read off so many answers at most.
ANSWERS = 256
#: A storm: so many refusals since the gate closed, and such a share of all that came back since, or
#: so many since anybody was answered. Less is a provider that stumbles now and then, at
#: whatever pace it is asked, to which pausing is answer enough.
STORM_REFUSALS, STORM_SHARE = 8, 0.25
#: How much closer the next caller may follow: by time (a share per second), and at most per answer.
NARROWER_PER_SECOND, NARROWEST_PER_ANSWER = 0.1, 0.95


class ProviderGate:
    """Open until a provider refuses. Use one gate on one event loop.

    ``max_refusals`` bounds what one call bears before it is given up, and ``max_wait`` (seconds)
    how long the provider may go without answering anybody.
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
        self._rng = rng or seeded("gate")
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
        #: Calls that wait here or are under way, of whoever counts them.
        self.load = 0
        self._breaker = Breaker(sleep, clock, max_wait)
        self._turn = asyncio.Lock()

    @property
    def open(self) -> bool:
        """Whether a call would be let through at once, were it not for known limits."""
        return self._opens_at <= self._clock() and self._breaker.ready

    @property
    def opens_at(self) -> float:
        """When a call may be let through, on the gate's clock."""
        return max(self._opens_at, self._breaker.opens_at)

    @property
    def down(self) -> bool:
        """Whether the provider is left alone, since it failed call after call."""
        return self._breaker.broken

    @property
    def given_up(self) -> bool:
        """Whether the provider is out for longer than anybody waits."""
        return self._breaker.given_up

    def give_up_after(self, failures: int) -> None:
        """Leave the provider alone after so many failures in a row: there are others."""
        self._breaker.most = failures

    async def enter(self, tokens: float = 0.0, allowed: Allowance | None = None) -> float:
        """Wait until a call may be made. Returns the time it may start, on the gate's clock.

        ``tokens`` is a guess of what the call will take, for a limit of tokens; ``allowed`` is what
        the provider told of its limits, and is not counted down here. Raises
        ``CallError`` where the provider asks for more than ``max_wait`` seconds or was out for
        longer. What became of the call must be told: ``passed``, ``refused``, ``failed``,
        ``answered`` or ``left``.
        """
        if not self.pacer.on and (allowed is None or self._free(allowed, tokens)):
            now = self._clock()
            if not self._breaker.broken and max(self._opens_at, self._next_slot) <= now:
                self._next_slot = now + self._spacing
                return now
            return await self._enter()
        # One waits for its time, the others for their turn: who gives up leaves no gap.
        async with self._turn:
            while (wait := self._due(allowed, tokens)) > 0:
                await self._sleep(wait)
            claimed = self._clock()
            started = await self._enter()
            self.pacer.held_up(claimed, started)
            return started

    def _due(self, allowed: Allowance | None, tokens: float) -> float:
        """The seconds until there is room for a call; 0 when there is, and then it is taken."""
        now = self._clock()
        wait = 0.0 if allowed is None else allowed.wait(now, tokens)
        return wait if wait > _AT_ONCE else self.pacer.claim(now, tokens)

    def _free(self, allowed: Allowance, tokens: float) -> bool:
        # Who comes while others wait for room goes behind them.
        return not self._turn.locked() and allowed.wait(self._clock(), tokens) <= 0

    async def _enter(self) -> float:
        if not self._breaker.broken:
            return await self._pass(trying=False)
        trying = await self._breaker.turn()
        try:
            return await self._pass(trying)
        except BaseException:
            if trying:
                self._breaker.left(math.inf)
            raise

    async def _pass(self, trying: bool) -> float:
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
                # Not closed again meanwhile: the slot stands.
                return self._clock()

    def refused(self, started: float, retry_after: float | None) -> None:
        """A call that started at ``started`` got a 429. Closes the gate, or keeps it closed.

        ``retry_after`` is in seconds; ``None`` where the provider named no time. One answer alone
        holds nobody back for longer than ``LONGEST_PAUSE``: who asks again must be told so again.
        """
        self._breaker.answered()
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
            # Calls that were under way when the gate closed say nothing new.
            pause = self._pause() if news else 0.0
        self._opens_at = max(self._opens_at, now + pause)
        if self._stormy() and not self._spaced_here:
            self._spaced_here = True
            self._widen()
        if news:
            # Everybody who waits for a slot takes a new one when it comes.
            self._next_slot = self._opens_at

    def passed(self) -> None:
        """A call was answered: the next ones may follow a little closer."""
        self._breaker.answered()
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

    def told(self, allowed: Allowance, said: Told) -> None:
        """A provider's answer says, just now, what it still takes."""
        allowed.told(self._clock(), said)

    def failed(self, started: float, kind: FailureKind, message: str) -> bool:
        """A call that started at ``started`` was lost: by time, connection or server.

        Returns whether it was the one that tried a provider which is left alone.
        """
        return self._breaker.failed(started, kind, message)

    def answered(self) -> None:
        """A call was turned down for reasons of its own: the provider is there."""
        self._breaker.answered()

    def left(self, started: float) -> None:
        """A call that started at ``started`` was cut off from here."""
        self._breaker.left(started)

    def note(self) -> str:
        """What to add to a failure's message while the provider is left alone, else nothing."""
        return self._breaker.note()

    def hopeless(self, refusals: int) -> bool:
        """Whether a call that was refused so often should be given up."""
        silent = self._clock() - self._refusing_since if self._refusals_in_a_row else 0.0
        return refusals > self._max_refusals or silent > self._max_wait

    def _stormy(self) -> bool:
        if self._refused_since == STORM_REFUSALS:
            return True
        back = self._refused_here + self._answered_here
        return self._refused_here >= STORM_REFUSALS and self._refused_here > STORM_SHARE * back

    def _widen(self) -> None:
        """Space callers as the last answers came, the pause until the gate opens included."""
        answers = len(self._answers)
        seen = (self._opens_at - self._answers[0]) / answers if answers else math.inf
        widest = min(LONGEST_SPACING, 2 * self._spacing) if self._spacing else FIRST_SPACING
        self._spacing = min(widest, max(seen, self._spacing))
        self._answers.clear()

    def _pause(self) -> float:
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._refusals_in_a_row - 1))
        return longest * self._rng.uniform(0.5, 1.0)
