"""What a provider says it will still take, in the headers of its answers, and keeping to it.

OpenAI and who follows it say ``x-ratelimit-limit-requests``, ``-remaining-`` and ``-reset-`` (a
span), and the same of tokens; Mistral ``x-ratelimit-limit-req-minute`` and ``-remaining-``, without
a reset; Anthropic ``anthropic-ratelimit-requests-limit``, ``-remaining`` and ``-reset`` (a moment).

A limit is taken for a bucket that fills evenly, which is how providers say they count: with
``left`` of ``limit`` and all of it back in ``reset`` seconds, (limit - left) / reset come back a
second. Where one counts in windows instead, the gate's own answer to refusals is what holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from core.judging.answer_bounds import known_wait

_KINDS = ("requests", "tokens")
_NUMBER = re.compile(r"\d{1,15}\Z", re.ASCII)
_TIME = re.compile(
    r"(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)(ms|s)?)?\Z", re.ASCII
)


class Left(NamedTuple):
    """So many of ``limit`` are ``left``, and all of them are back in ``reset`` seconds."""

    limit: int
    left: int
    reset: float


#: What is left of requests and of tokens; ``None`` where nothing was said of them.
Told = tuple[Left | None, Left | None]


def told_by(headers: Mapping[str, str]) -> Told | None:
    """What the headers of an answer (names in lower case) say; ``None`` where they say nothing.

    >>> names = ("limit", "remaining", "reset")
    >>> said = dict(zip((f"x-ratelimit-{name}-tokens" for name in names), ("90", "80", "1m30s")))
    >>> told_by(said)
    (None, Left(limit=90, left=80, reset=90.0))
    """
    requests, tokens = (_left(headers, kind) for kind in _KINDS)
    return None if requests is None and tokens is None else (requests, tokens)


def _left(headers: Mapping[str, str], kind: str) -> Left | None:
    if (limit := headers.get(f"x-ratelimit-limit-{kind}")) is not None:
        left = headers.get(f"x-ratelimit-remaining-{kind}", "")
        reset = seconds_of(headers.get(f"x-ratelimit-reset-{kind}", ""))
    elif (limit := headers.get(f"x-ratelimit-limit-{_MINUTE[kind]}")) is not None:
        # It counts in minutes, and does not say when the next one begins.
        left, reset = headers.get(f"x-ratelimit-remaining-{_MINUTE[kind]}", ""), 60.0
    elif (limit := headers.get(f"anthropic-ratelimit-{kind}-limit")) is not None:
        left = headers.get(f"anthropic-ratelimit-{kind}-remaining", "")
        reset = _until(headers.get(f"anthropic-ratelimit-{kind}-reset", ""), headers)
    else:
        return None
    if reset is None or not _NUMBER.match(limit) or not _NUMBER.match(left) or int(limit) == 0:
        return None
    return Left(int(limit), int(left), reset)


_MINUTE = {"requests": "req-minute", "tokens": "tokens-minute"}


def _until(moment: str, headers: Mapping[str, str]) -> float | None:
    """The seconds from when an answer was sent, by its own clock, to a moment."""
    try:
        then = datetime.fromisoformat(moment)
        sent = parsedate_to_datetime(headers["date"])
        return known_wait(max(0.0, (then - sent).total_seconds()))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def seconds_of(text: str) -> float | None:
    """The seconds that a span such as ``6m0s``, ``12ms``, ``1.5s`` or ``20`` stands for.

    >>> seconds_of("6m0s"), seconds_of("12ms"), seconds_of("1h"), seconds_of("soon")
    (360.0, 0.012, 3600.0, None)
    """
    match = _TIME.match(text.strip())
    if not text.strip() or match is None:
        return None
    hours, minutes, number, unit = match.groups()
    rest = float(number or 0) / (1000 if unit == "ms" else 1)
    return known_wait(int(hours or 0) * 3600 + int(minutes or 0) * 60 + rest)


#: For so many seconds one answer is believed that there is no room: a stranger's word holds nobody
#: for a day, and whoever is refused then is told when to come.
BELIEVED = 60.0


class _Bucket:
    """What is left of one limit, by what was last said of it."""

    def __init__(self) -> None:
        self._left = self._per_second = 0.0
        self._at = self._full_at = float("-inf")

    def told(self, now: float, left: Left) -> None:
        self._left, self._at = float(left.left), now
        self._full_at = now + min(left.reset, BELIEVED)
        self._per_second = (left.limit - left.left) / left.reset if left.reset else 0.0

    def wait(self, now: float, need: float) -> float:
        if now >= self._full_at:
            return 0.0
        lacking = need - self._left - (now - self._at) * self._per_second
        if lacking <= 0:
            return 0.0
        until_full = self._full_at - now
        return min(until_full, lacking / self._per_second) if self._per_second > 0 else until_full


class Allowance:
    """What a provider says is left for one model. ``out`` calls are on their way to it."""

    def __init__(self) -> None:
        self._requests, self._tokens = _Bucket(), _Bucket()
        self.out = 0

    def told(self, now: float, limits: Told) -> None:
        """An answer that came ``now`` says this."""
        for bucket, left in zip((self._requests, self._tokens), limits, strict=True):
            if left is not None:
                bucket.told(now, left)

    def wait(self, now: float, tokens: float) -> float:
        """The seconds until there is room for a call of so many ``tokens``; 0 for now.

        Calls on their way, of which an answer may not know yet, are taken to be alike.
        """
        calls = self.out + 1
        return max(self._requests.wait(now, calls), self._tokens.wait(now, calls * tokens))
