"""Read a provider's remaining limits from the headers of its answers.

OpenAI and compatible providers send ``x-ratelimit-limit-requests``, ``-remaining-`` and ``-reset-``
(a duration), and the same for tokens. Mistral sends ``x-ratelimit-limit-req-minute`` and
``-remaining-``, without a reset. Anthropic sends ``anthropic-ratelimit-requests-limit``,
``-remaining`` and ``-reset`` (a time).

A limit counts as a bucket that fills evenly, as providers document: with ``left`` of ``limit`` and
a full bucket in ``reset`` seconds, (limit - left) / reset come back per second. If a provider
counts in windows instead, the gate still reacts to refusals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from core.judging.answer_bounds import valid_wait

_KINDS = ("requests", "tokens")
_NUMBER = re.compile(r"\d{1,15}\Z", re.ASCII)
_TIME = re.compile(
    r"(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)(ms|s)?)?\Z", re.ASCII
)


class RemainingLimit(NamedTuple):
    """A limit: ``left`` of ``limit`` remain, and all are available again in ``reset`` seconds."""

    limit: int
    left: int
    reset: float


#: The remaining requests and the remaining tokens; ``None`` if unknown.
Told = tuple[RemainingLimit | None, RemainingLimit | None]


def limits_in(headers: Mapping[str, str]) -> Told | None:
    """Return the limits in an answer's headers (lower-case names), or ``None``.

    >>> names = ("limit", "remaining", "reset")
    >>> said = dict(zip((f"x-ratelimit-{name}-tokens" for name in names), ("90", "80", "1m30s")))
    >>> limits_in(said)
    (None, RemainingLimit(limit=90, left=80, reset=90.0))
    """
    requests, tokens = (_remaining_limit(headers, kind) for kind in _KINDS)
    return None if requests is None and tokens is None else (requests, tokens)


def _remaining_limit(headers: Mapping[str, str], kind: str) -> RemainingLimit | None:
    if (limit := headers.get(f"x-ratelimit-limit-{kind}")) is not None:
        remaining = headers.get(f"x-ratelimit-remaining-{kind}", "")
        reset = seconds_of(headers.get(f"x-ratelimit-reset-{kind}", ""))
    elif (limit := headers.get(f"x-ratelimit-limit-{_MINUTE[kind]}")) is not None:
        # Mistral counts per minute, and does not say when the next minute begins.
        remaining, reset = headers.get(f"x-ratelimit-remaining-{_MINUTE[kind]}", ""), 60.0
    elif (limit := headers.get(f"anthropic-ratelimit-{kind}-limit")) is not None:
        remaining = headers.get(f"anthropic-ratelimit-{kind}-remaining", "")
        reset = _seconds_until(headers.get(f"anthropic-ratelimit-{kind}-reset", ""), headers)
    else:
        return None
    if reset is None or not _NUMBER.match(limit) or not _NUMBER.match(remaining) or int(limit) == 0:
        return None
    return RemainingLimit(int(limit), int(remaining), reset)


_MINUTE = {"requests": "req-minute", "tokens": "tokens-minute"}


def _seconds_until(moment: str, headers: Mapping[str, str]) -> float | None:
    """Return the seconds from the answer's own ``Date`` to ``moment``."""
    try:
        reset_time = datetime.fromisoformat(moment)
        sent = parsedate_to_datetime(headers["date"])
        return valid_wait(max(0.0, (reset_time - sent).total_seconds()))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def seconds_of(text: str) -> float | None:
    """Return the seconds of a duration such as ``6m0s``, ``12ms`` or ``20``.

    >>> seconds_of("6m0s"), seconds_of("12ms"), seconds_of("1h"), seconds_of("soon")
    (360.0, 0.012, 3600.0, None)
    """
    match = _TIME.match(text.strip())
    if not text.strip() or match is None:
        return None
    hours, minutes, number, unit = match.groups()
    seconds = float(number or 0) / (1000 if unit == "ms" else 1)
    return valid_wait(int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds)


#: Seconds for which an exhausted limit is believed. A wrong header must not stop calls for a day; a
#: call that is refused later learns when to retry.
BELIEVED = 60.0


class _Bucket:
    """What remains of one limit, as last reported."""

    def __init__(self) -> None:
        self._remaining = self._per_second = 0.0
        self._at = self._full_at = float("-inf")

    def update(self, now: float, remaining: RemainingLimit) -> None:
        self._remaining, self._at = float(remaining.left), now
        self._full_at = now + min(remaining.reset, BELIEVED)
        self._per_second = (
            (remaining.limit - remaining.left) / remaining.reset if remaining.reset else 0.0
        )

    def wait(self, now: float, need: float) -> float:
        if now >= self._full_at:
            return 0.0
        deficit = need - self._remaining - (now - self._at) * self._per_second
        if deficit <= 0:
            return 0.0
        until_full = self._full_at - now
        return min(until_full, deficit / self._per_second) if self._per_second > 0 else until_full


class Allowance:
    """A provider's remaining limits for a model. ``out`` calls are in flight."""

    def __init__(self) -> None:
        self._requests, self._tokens = _Bucket(), _Bucket()
        self.out = 0

    def update(self, now: float, limits: Told) -> None:
        """Update the limits from an answer that arrived at ``now``."""
        for bucket, remaining_count in zip((self._requests, self._tokens), limits, strict=True):
            if remaining_count is not None:
                bucket.update(now, remaining_count)

    def wait(self, now: float, tokens: float) -> float:
        """Return the seconds until a call of ``tokens`` fits the limits, or 0.

        The last answer may not include calls in flight; each counts as a call of ``tokens``.
        """
        calls = self.out + 1
        return max(self._requests.wait(now, calls), self._tokens.wait(now, calls * tokens))
