"""Answers kept from earlier calls: the same request of the same cell is paid for once.

A cache is looked into before the provider's gate, so that a kept answer waits for nobody. It holds
what the model said, not what was made of it: a kept answer is read like a new one, and so gives an
equal vote. Only a judge knows which answers could be read; its outcome brings those and no others,
and who records the outcome keeps them with its votes.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol

from core.domain.votes import Cell, KeptAnswer
from core.identity import Same, canonical_json, text_hash
from core.judging.providers.base import Completion, Request
from core.records import record

#: What a provider would still take at that time is no part of its answer.
_DEFAULTS = {field.name: field.default for field in fields(Completion) if field.name != "told"}
_SAID = attrgetter(*_DEFAULTS)


@record(frozen=True, slots=True)
class CachedCompletion:
    """An answer, and what it cost when it was given: US dollars, ``None`` where unknown."""

    completion: Completion
    cost: float | None = None


def as_answer(key: str, model: str, answer: CachedCompletion) -> KeptAnswer:
    """An answer of ``model`` as plain data; what it does not say is left out."""
    values = zip(_DEFAULTS.items(), _SAID(answer.completion), strict=True)
    fields = {name: value for (name, default), value in values if value != default}
    return KeptAnswer(key, model, fields, answer.cost)


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
    messages = [
        [
            role := message["role"],
            (_kept_hash if role == "system" else text_hash)(message["content"]),
        ]
        for message in request.messages
    ]
    # One list in canonical JSON, most of which is the same for all of a judge's requests.
    first = _plainly(request.model.removeprefix("openai/"), request.api_base.rstrip("/"))
    settings = (request.temperature, request.max_tokens, request.thinking)
    middle = canonical_json(settings)[1:-1]
    schema, params = _written(Same(request.schema)), _written(Same(request.params))
    # Not said where not asked for, so that answers kept before this are found.
    last = canonical_json(cell) + ',"logprobs"' * request.logprobs
    return text_hash(f"[{first},{canonical_json(messages)},{schema},{middle},{params},{last}]")


@lru_cache(maxsize=256)
def _written(same: Same) -> str:
    return canonical_json(same.thing)


@lru_cache(maxsize=256)
def _plainly(*texts: str) -> str:
    return canonical_json(texts)[1:-1]


# The system text is most of a request and the same in all: it is hashed once, not per call.
_kept_hash = lru_cache(maxsize=16)(text_hash)
