"""One completion from a judge's model, with all the patience that takes and no more.

A refusal for now (429) closes the provider's gate and is not counted; a timeout, a lost connection
and an error of the server are tried again after a jittered pause, up to the judge's ``tries``; an
endpoint that does not know a reply format is asked for a simpler one, once, and that is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

from core.domain.panel import Judge
from core.domain.votes import FailureKind, Segment
from core.judging.doors import SIMPLER, CallError, Completion, Door, ReplyFormat, Request
from core.judging.gate import Clock, ProviderGate, Sleep
from core.judging.messages import messages, shared_ends
from core.judging.schemas import Schema
from core.judging.tally import Tally

RETRIED: frozenset[FailureKind] = frozenset({"timeout", "connection", "server"})

#: The n-th pause is drawn from 0 to FIRST * 2^(n-1) seconds ("full jitter"), at most LONGEST.
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 60.0


class Caller:
    """Calls one judge's model through a door, behind a gate."""

    def __init__(
        self,
        spec: Judge,
        door: Door,
        key: str | None,
        gate: ProviderGate,
        sleep: Sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        self._spec, self._door, self._key, self._gate = spec, door, key, gate
        self._sleep, self._clock = sleep, clock
        self._format: ReplyFormat = "schema"

    async def complete(
        self,
        segments: tuple[Segment, ...],
        schema: Schema | None,
        tally: Tally,
        rng: Callable[[], Random],
    ) -> Completion:
        """A completion, however many requests it takes. Raises the last ``CallError`` if none.

        Without a ``schema`` the reply is in plain words. ``rng`` gives the generator that pauses
        are drawn from, always the same one.
        """
        tally.sent = segments
        while True:
            request = self._request(segments, schema)
            started = await self._gate.enter()
            try:
                completion = await self._send(request, tally)
            except CallError as error:
                await self._bear(error, request, started, tally, rng)
            else:
                self._gate.passed()
                tally.spent += 1
                tally.add(completion)
                return completion

    def _request(self, segments: tuple[Segment, ...], schema: Schema | None) -> Request:
        spec = self._spec
        return Request(
            model=spec.model,
            messages=messages(segments),
            shared_ends=shared_ends(segments),
            schema=schema or {},
            format=self._format if schema else "words",
            temperature=spec.temperature,
            max_tokens=spec.max_tokens,
            timeout=spec.timeout,
            thinking=spec.thinking,
            params=spec.params,
            api_base=spec.api_base,
            key=self._key,
        )

    async def _send(self, request: Request, tally: Tally) -> Completion:
        tally.requests += 1
        tally.format = request.format
        began = self._clock()
        try:
            return await self._door.complete(request)
        finally:
            tally.seconds = self._clock() - began

    async def _bear(
        self,
        error: CallError,
        request: Request,
        started: float,
        tally: Tally,
        rng: Callable[[], Random],
    ) -> None:
        """Return when the call is to be tried again; raise when it is given up."""
        if error.about_format and request.format in SIMPLER:
            # Calls in flight find it out together; the format is made simpler once.
            if self._format == request.format:
                self._format = SIMPLER[request.format]
            return
        if error.kind == "rate_limit":
            self._gate.refused(started, error.retry_after)
            tally.refusals += 1
            if self._gate.hopeless(tally.refusals):
                raise CallError(
                    "rate_limit",
                    f"Given up after {tally.refusals} refusals. {error.message}",
                    status=error.status,
                )
            return
        tally.spent += 1
        if error.kind not in RETRIED or tally.spent >= self._spec.tries:
            raise error
        await self._sleep(backoff(tally.spent, error.retry_after, rng()))


def backoff(failures: int, retry_after: float | None, rng: Random) -> float:
    """The seconds to pause after this many failures; not less than the provider asks for.

    >>> 0 <= backoff(3, None, Random(1)) <= 4
    True
    """
    longest = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** (failures - 1))
    return max(rng.uniform(0, longest), min(retry_after or 0.0, LONGEST_BACKOFF))
