"""Anthropic's messages protocol: convert requests and answers.

This module sends nothing; ``plain`` sends through the direct client. The ends of shared prompt
pieces are marked, so that the provider caches them. Requests equal those of litellm for the same
judge; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.judging.allowance import Told
from core.judging.answer_bounds import valid_count
from core.judging.providers.base import WITH_SCHEMA, Completion, Request, json_of
from core.judging.providers.failures import error_from_status, unexpected_answer_error

VERSION = "2023-06-01"
#: The beta feature for replies with a JSON schema.
BETA = "structured-outputs-2025-11-13"
#: The most cache marks that Anthropic accepts in a request.
MOST_MARKS = 4
#: Stop reasons, mapped to the stop reasons of the OpenAI protocol.
_ENDS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
#: Schema bounds that Anthropic refuses; descriptions state them instead, in this order.
_BOUNDS = {
    "minItems": "minimum number of items: {}",
    "maxItems": "maximum number of items: {}",
    "minimum": "minimum value: {}",
    "maximum": "maximum value: {}",
    "minLength": "minimum length: {}",
    "maxLength": "maximum length: {}",
}


def with_cache_marks(
    messages: Sequence[dict[str, str]], shared_ends: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Return messages with their texts split into parts, and a mark after each shared part.

    The parts of a message add up to its text. ``shared_ends`` are (index of the message, characters
    into it). If there are more than providers accept, the last ones are marked.

    >>> with_cache_marks([{"role": "user", "content": "abc"}], [(0, 2)])[0]["content"][1]
    {'type': 'text', 'text': 'c'}
    """
    last_ends = list(shared_ends)[-MOST_MARKS:]
    sent: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        ends = [end for place, end in last_ends if place == index]
        content = _text_parts(message["content"], ends) if ends else message["content"]
        sent.append({**message, "content": content})
    return sent


def _text_parts(text: str, ends: Sequence[int]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    start = 0
    for end in ends:
        piece = text[start:end]
        parts.append({"type": "text", "text": piece, "cache_control": {"type": "ephemeral"}})
        start = end
    return parts + ([{"type": "text", "text": text[start:]}] if start < len(text) else [])


def messages_headers(request: Request) -> dict[str, str]:
    """Return all headers except the key."""
    with_schema = request.format in WITH_SCHEMA
    return {"anthropic-version": VERSION, **({"anthropic-beta": BETA} if with_schema else {})}


def messages_body(
    request: Request, params: Mapping[str, Any], *, model: str, most: int
) -> dict[str, object]:
    """Return the body of the POST; ``most`` is the default token limit of the reply."""
    system, sent = _split_system(request)
    body: dict[str, object] = {
        "model": model,
        "system": system or None,
        "messages": [{"role": role, "content": parts} for role, parts in sent],
        "max_tokens": request.max_tokens or most,
        "temperature": request.temperature,
        **params,
    }
    if request.format in WITH_SCHEMA:
        body["output_format"] = {
            "type": "json_schema",
            "schema": with_bounds_described(request.schema),
        }
    return {name: value for name, value in body.items() if value is not None}


def _split_system(
    request: Request,
) -> tuple[list[dict[str, Any]], list[tuple[str, list[dict[str, Any]]]]]:
    """Return the parts of the system text, and the roles and parts of the other messages."""
    system: list[dict[str, Any]] = []
    sent: list[tuple[str, list[dict[str, Any]]]] = []
    for message in with_cache_marks(request.messages, request.shared_ends):
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if message["role"] == "system":
            system += parts
        else:
            sent.append((message["role"], parts))
    return system, sent


def with_bounds_described(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the bounds that Anthropic refuses moved into descriptions.

    >>> with_bounds_described({"type": "integer", "minimum": 1})
    {'type': 'integer', 'description': 'Note: minimum value: 1.'}
    """
    described = {
        name: _describe_inner(name, value) for name, value in schema.items() if name not in _BOUNDS
    }
    bounds = [bound.format(schema[name]) for name, bound in _BOUNDS.items() if name in schema]
    if bounds:
        description = schema.get("description", "")
        described["description"] = f"{description}{description and ' '}Note: {', '.join(bounds)}."
    return described


def _describe_inner(name: str, value: Any) -> Any:
    if name == "properties":
        return {key: with_bounds_described(inner) for key, inner in value.items()}
    if name == "items" and isinstance(value, dict):
        return with_bounds_described(value)
    if name in ("anyOf", "allOf"):
        return [with_bounds_described(inner) for inner in value]
    return value


def openai_usage(usage: object) -> dict[str, Any]:
    """Return usage counts as in the OpenAI protocol, cached tokens included.

    >>> openai_usage({"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3})[
    ...     "prompt_tokens"
    ... ]
    3
    """
    uncached = valid_count(usage.get("input_tokens")) if isinstance(usage, dict) else None
    if not isinstance(usage, dict) or uncached is None:
        return {}
    cached, new = (
        valid_count(usage.get(name)) or 0
        for name in ("cache_read_input_tokens", "cache_creation_input_tokens")
    )
    return {
        "prompt_tokens": uncached + cached + new,
        "completion_tokens": valid_count(usage.get("output_tokens")),
        "prompt_tokens_details": {"cached_tokens": cached, "cache_creation_tokens": new},
    }


def read_message(
    status: int, headers: Mapping[str, str], body: str, request: Request
) -> dict[str, Any]:
    """Return the message in an answer with this status. Raises ``CallError``."""
    if status != 200:
        raise error_from_status(status, body, headers=headers, hidden=request.hidden)
    try:
        data = json_of(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not isinstance(data.get("content"), list):
        raise unexpected_answer_error("a message", body, request.hidden)
    return data


def completion_of(
    data: Mapping[str, Any], usage: Mapping[str, Any], cost: float | None, limits: Told | None
) -> Completion:
    """Return the completion in a message with this ``usage`` (``openai_usage``)."""
    parts = [part for part in data["content"] if isinstance(part, dict)]
    ended = str(data.get("stop_reason") or "")
    texts = _texts_of_kind(parts, "text")
    return Completion(
        text="".join(texts) if texts else None,
        thinking="\n\n".join(_texts_of_kind(parts, "thinking")),
        model=str(data.get("model") or ""),
        finish=_ENDS.get(ended, ended),
        tokens_in=usage.get("prompt_tokens"),
        tokens_cached=usage.get("prompt_tokens_details", {}).get("cached_tokens"),
        tokens_out=usage.get("completion_tokens"),
        cost=cost,
        told=limits,
    )


def _texts_of_kind(parts: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    texts = (part.get(kind) for part in parts if part.get("type") == kind)
    return [text for text in texts if isinstance(text, str)]
