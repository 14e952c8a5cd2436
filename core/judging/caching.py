"""Answers kept from earlier calls: the same request of the same cell is paid for once.

A cache is looked into before the provider's gate, so that a kept answer waits for nobody. It holds
what the model said, not what was made of it: a kept answer is read like a new one, and so gives an
equal vote. Only a judge knows which answers could be read; it keeps those and no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from core.domain.votes import Cell
from core.identity import content_hash, text_hash
from core.judging.doors import Completion, Request


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and what it cost when it was given: US dollars, ``None`` where unknown."""

    completion: Completion
    cost: float | None = None


class ResponseCache(Protocol):
    """Where answers are kept. It is asked on the event loop and must not hold that up."""

    async def get(self, key: str) -> Kept | None:
        """The answer kept under ``key``, or ``None``."""
        ...

    def put(self, key: str, model: str, kept: Kept) -> None:
        """Keep an answer of ``model``; the first one kept under a key stays."""
        ...


def request_key(request: Request, cell: Cell) -> str:
    """The hash of all that decides an answer, whichever door it comes through.

    That is the model and its address, the messages, the schema of the reply, every setting, and
    whose answer it is: another replicate, another judge or a twin of the item is really asked, or
    else their agreement would mean nothing. Keys, timeouts and the format that an endpoint had to
    fall back to are no part of it: they do not change what is asked.
    """
    return content_hash(
        [
            request.model.removeprefix("openai/"),
            request.api_base.rstrip("/"),
            [[message["role"], _digest(message["content"])] for message in request.messages],
            request.schema,
            request.temperature,
            request.max_tokens,
            request.thinking,
            request.params,
            cell,
        ]
    )


@lru_cache(maxsize=16)
def _digest(text: str) -> str:
    # The system text is most of a request and the same in all: it is hashed once, not per call.
    return text_hash(text)
