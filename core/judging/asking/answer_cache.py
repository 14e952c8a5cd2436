"""Answers kept from earlier calls: the same request of the same cell is paid for once.

A cache is looked into before the provider's gate, so that a kept answer waits for nobody. It holds
what the model said, not what was made of it: a kept answer is read like a new one, and so gives an
equal vote. Only a judge knows which answers could be read; its outcome brings those and no others,
and who records the outcome keeps them with its votes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol

from core.domain.votes import Cell, KeptAnswer
from core.identity import Same, canonical_json, text_hash
from core.judging.providers.base import Completion, Request

#: What a provider would still take at that time is no part of its answer.
_DEFAULTS = {field.name: field.default for field in fields(Completion) if field.name != "told"}
_SAID = attrgetter(*_DEFAULTS)


@dataclass(frozen=True, slots=True)
class CachedCompletion:
    """An answer, and what it cost when it was given: US dollars, ``None`` where unknown."""

    completion: Completion
    cost: float | None = None


def as_answer(key: str, model: str, kept: CachedCompletion) -> KeptAnswer:
    """An answer of ``model`` as plain data; what it does not say is left out."""
    said = dict[str, object]()
    for name, value in zip(_DEFAULTS, _SAID(kept.completion), strict=True):
        if value != _DEFAULTS[name]:
            said[name] = value
    return KeptAnswer(key, model, said, kept.cost)


def as_kept(answer: KeptAnswer) -> CachedCompletion:
    """The answer that this data says."""
    given: dict[str, Any] = {"text": None, **answer.completion}
    return CachedCompletion(Completion(**given), answer.cost)


class ResponseCache(Protocol):
    """Where answers are kept. It is asked on the event loop and must not hold that up."""

    async def get(self, key: str) -> CachedCompletion | None:
        """The answer kept under ``key``, or ``None``."""
        ...


def request_key(request: Request, cell: Cell) -> str:
    """The hash of all that decides an answer, whichever provider it comes through.

    That is the model and its address, the messages, the schema of the reply, every setting, and
    whose answer it is: another replicate, another judge or a twin of the item is really asked, or
    else their agreement would mean nothing. Keys, timeouts and the format that an endpoint had to
    fall back to are no part of it: they do not change what is asked.
    """
    said = [[message["role"], _digest(message["content"])] for message in request.messages]
    front = [request.model.removeprefix("openai/"), request.api_base.rstrip("/"), said]
    settings = [request.temperature, request.max_tokens, request.thinking]
    # Not said where not asked for, so that answers kept before this are found.
    back = [cell, "logprobs"] if request.logprobs else [cell]
    # One list in canonical JSON, of which two parts are the same for all of a judge's requests.
    parts = (canonical_json(part)[1:-1] for part in (front, settings, back))
    first, middle, last = parts
    schema, params = _written(Same(request.schema)), _written(Same(request.params))
    return text_hash(f"[{first},{schema},{middle},{params},{last}]")


@lru_cache(maxsize=256)
def _written(same: Same) -> str:
    return canonical_json(same.thing)


@lru_cache(maxsize=16)
def _digest(text: str) -> str:
    # The system text is most of a request and the same in all: it is hashed once, not per call.
    return text_hash(text)
