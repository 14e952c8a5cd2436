"""A circuit breaker: during an outage, one call at a time tries the provider.

Without it every queued call would use up its tries against a server that is down. The calls that
try the provider follow each other after pauses, and their failures do not count as tries.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from core.domain.votes import FailureKind
from core.judging.providers.base import CallError

logger = logging.getLogger(__name__)
#: The breaker opens after this many failures in a row, over all calls to a provider.
FAILURES = 20
#: Pauses between trials in seconds: the first and the longest; each doubles.
FIRST_OUTAGE, LONGEST_OUTAGE = 1.0, 60.0


class Breaker:
    """Counts a provider's failures in a row. ``max_wait`` limits a caller's wait in seconds."""

    def __init__(
        self,
        sleep: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
        max_wait: float,
    ) -> None:
        self._sleep, self._clock, self._max_wait = sleep, clock, max_wait
        self.broken = False
        #: The number of failures in a row that opens the breaker.
        self.most = FAILURES
        self._failures = self._pauses = 0
        self._since = self._closed_at = self._opens_at = float("-inf")
        self._trying = False
        self._changed = asyncio.Event()
        self._last: tuple[FailureKind, str] = ("server", "")

    @property
    def opens_at(self) -> float:
        """Return when the next call may try the provider; a past time if it is up."""
        return self._opens_at if self.broken else float("-inf")

    @property
    def ready(self) -> bool:
        """Return whether a call may go out now, possibly as a trial."""
        return not self.broken or (not self._trying and self._clock() >= self._opens_at)

    @property
    def given_up(self) -> bool:
        """Return whether the outage has lasted longer than callers wait."""
        return self.broken and self._clock() - self._since > self._max_wait

    async def turn(self) -> bool:
        """Wait until the provider may be called; return whether this call is the trial.

        Raises ``CallError`` if the outage is longer than ``max_wait``.
        """
        while self.broken:
            now = self._clock()
            if self._trying:
                await self._changed.wait()
            elif now >= self._opens_at:
                self._trying = True
                return True
            elif self.given_up:
                kind, message = self._last
                raise CallError(kind, f"{message}{self.note()}")
            else:
                await self._sleep(self._opens_at - now)
        return False

    def failed(self, started: float, kind: FailureKind, message: str) -> bool:
        """Record a failed call that began at ``started``; return whether it was the trial."""
        self._failures += 1
        self._last = (kind, message)
        tried = self._was_trial(started)
        if tried or (not self.broken and self._failures >= self.most):
            now = self._clock()
            if not self.broken:
                self._since = now
                # Logged now, because the store records it only after the wait.
                logger.warning(
                    "A provider failed %d requests in a row (%s). It is tried now and then for up "
                    "to %.0f minutes; what was answered is kept.",
                    *(self._failures, message.strip(), self._max_wait / 60),
                    # A provider's message may repeat the request.
                    extra={"plain": f"A provider failed {self._failures} requests in a row."},
                )
            self.broken, self._closed_at = True, now
            self._opens_at = now + min(LONGEST_OUTAGE, FIRST_OUTAGE * 2.0**self._pauses)
            self._pauses += 1
            self._wake_waiting()
        return tried

    def answered(self) -> None:
        """Record that the provider answered, so it is up."""
        self._failures = self._pauses = 0
        if self.broken:
            self.broken = False
            self._wake_waiting()

    def release_trial(self, started: float) -> None:
        """Record that a call begun at ``started`` was aborted; another may try instead."""
        if self._was_trial(started):
            self._wake_waiting()

    def note(self) -> str:
        """Return what to add to a failure's message, or "" if the provider is up."""
        if not self.broken:
            return ""
        silence = self._clock() - self._since
        return (
            f" The provider failed {self._failures} requests in a row, so it is left alone and "
            f"tried only now and then, for {silence:.0f} seconds so far. Retry the failures later."
        )

    def _was_trial(self, started: float) -> bool:
        return self.broken and self._trying and started >= self._closed_at

    def _wake_waiting(self) -> None:
        self._trying = False
        self._changed.set()
        self._changed = asyncio.Event()
