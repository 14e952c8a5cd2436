"""The answer cache: the same request for the same cell is paid for once.

The cache is read before the provider's gate, so a cached answer never waits. It stores the model's
text, not its interpretation: a cached answer is parsed like a new one, and gives the same vote.
Only a judge knows which answers were readable. Its outcome carries only those, and the code that
records the outcome caches them with its votes.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, Protocol

from core.domain.votes import Cell, KeptAnswer
from core.identity import Same, canonical_json, text_hash
from core.judging.providers.base import Completion, Request

#: The cost has its own field. The limits that remained at the time of the call are not part of an
#: answer.
_DEFAULTS = {f.name: f.default for f in fields(Completion) if f.name not in ("cost", "told")}
_SAID = attrgetter(*_DEFAULTS)


def as_answer(key: str, model: str, completion: Completion) -> KeptAnswer:
    """Return an answer of ``model`` and its cost as plain data without defaults."""
    values = zip(_DEFAULTS.items(), _SAID(completion), strict=True)
    fields = {name: value for (name, default), value in values if value != default}
    return KeptAnswer(key, model, fields, completion.cost)


def as_completion(answer: KeptAnswer) -> Completion:
    """Return the completion and its cost from plain data."""
    # Older versions also stored the provider's own cost.
    values: dict[str, Any] = {"text": None, **answer.completion, "cost": answer.cost}
    return Completion(**values)


class ResponseCache(Protocol):
    """A store of answers. The event loop reads it, so it must not block."""

    async def get(self, key: str) -> Completion | None:
        """Return the answer under ``key``, or ``None``."""
        ...


def request_key(request: Request, cell: Cell) -> str:
    """Return the hash of everything that determines an answer, for any provider.

    That is the model and its address, the messages, the reply's schema, every setting, and the
    cell. Other replicates, judges and duplicates of the item get their own calls, since otherwise
    their agreement would mean nothing. Keys, timeouts and a fallback format are left out: they do
    not change the question.
    """
    messages = [
        [
            role := message["role"],
            (_kept_hash if role == "system" else text_hash)(message["content"]),
        ]
        for message in request.messages
    ]
    # A list in canonical JSON. Its beginning is the same for all requests of a judge.
    first = _joined_json(request.model.removeprefix("openai/"), request.api_base.rstrip("/"))
    settings = (request.temperature, request.max_tokens, request.thinking)
    middle = canonical_json(settings)[1:-1]
    schema, params = _cached_json(Same(request.schema)), _cached_json(Same(request.params))
    # Added only on request, so that older cached answers still match.
    last = canonical_json(cell) + ',"logprobs"' * request.logprobs
    return text_hash(f"[{first},{canonical_json(messages)},{schema},{middle},{params},{last}]")


@lru_cache(maxsize=256)
def _cached_json(same: Same) -> str:
    return canonical_json(same.thing)


@lru_cache(maxsize=256)
def _joined_json(*texts: str) -> str:
    return canonical_json(texts)[1:-1]


# The system text is most of a request and the same in all, so it is hashed once.
_kept_hash = lru_cache(maxsize=16)(text_hash)
