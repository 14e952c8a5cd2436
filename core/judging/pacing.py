"""Pacing: where a provider's limit is known, no call goes out that it would refuse.

Calls follow each other evenly at 97 % of the limit, with no burst to begin with, because nobody
knows over which span a provider counts. Tokens are guessed before a call and put right after it.
"""

from __future__ import annotations

#: The share of a limit that is used. 60 s at this pace hold at most the limit, for any limit.
SHARE = 0.97
#: How late, in seconds, a caller may be woken without the next one having to wait for it.
SLACK = 0.02
#: The first guess: characters per token, and tokens of a reply.
CHARACTERS, REPLY = 4.0, 150.0
#: The least weight of a new answer in what is taken for the truth.
LEARNING = 0.1


class Pacer:
    """When the next call may start. Several judges may name limits: the smallest counts."""

    def __init__(self) -> None:
        self._named: dict[object, tuple[int | None, int | None]] = {}
        self._per_request = self._per_token = 0.0
        self._free_at = float("-inf")
        self._tokens_free_at = float("-inf")
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

    def wait(self, now: float) -> float:
        """The seconds until the next call may start; 0 or less for now."""
        return max(self._free_at, self._tokens_free_at) - now

    def begin(self, now: float, tokens: float) -> None:
        """A call starts that is guessed to take so many tokens."""
        earliest = now - SLACK
        self._free_at = max(self._free_at, earliest) + self._per_request
        self._tokens_free_at = max(self._tokens_free_at, earliest) + tokens * self._per_token

    def guess(self, characters: int) -> float:
        """The tokens that a call with a prompt of so many characters will take."""
        return _plain(characters) * self._ratio

    def correct(self, characters: int, guessed: float, tokens: int) -> None:
        """A call that was guessed to take ``guessed`` tokens took ``tokens``."""
        self._tokens_free_at += (tokens - guessed) * self._per_token
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
