"""Marks for providers that keep a shared prompt only where they are told to: Claude, wherever it
is served. Other providers find shared beginnings by themselves and are sent plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.judging.providers import provider_of

#: How many marks Anthropic takes in a request.
MOST_MARKS = 4

_SERVES_CLAUDE = frozenset({"", "anthropic", "bedrock", "openrouter", "vertex_ai"})


def wants_marks(model: str, supported: Callable[[str], bool]) -> bool:
    """Whether requests to ``model`` (as litellm knows it) are to be marked.

    ``supported`` is asked for models on Bedrock only: older ones there refuse a marked request,
    while the other providers ignore marks that they have no use for.

    >>> wants_marks("anthropic/claude-x", lambda model: False)
    True
    >>> wants_marks("openai/claude-like", lambda model: True)
    False
    """
    provider = provider_of(model)
    if "claude" not in model.lower() or model.startswith("openai/"):
        return False
    if provider == "bedrock":
        return supported(model)
    return provider in _SERVES_CLAUDE


def marked(
    messages: Sequence[dict[str, str]], shared_ends: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    """The messages with their texts in parts, a mark at the end of each shared one.

    The parts of a message, put together, are its text. ``shared_ends`` are (index of the message,
    characters into it); of more than providers take, the last ones count.

    >>> marked([{"role": "user", "content": "abc"}], [(0, 2)])[0]["content"][1]
    {'type': 'text', 'text': 'c'}
    """
    kept = list(shared_ends)[-MOST_MARKS:]
    sent = list[dict[str, Any]]()
    for index, message in enumerate(messages):
        ends = [end for place, end in kept if place == index]
        content = _parts(message["content"], ends) if ends else message["content"]
        sent.append({**message, "content": content})
    return sent


def _parts(text: str, ends: Sequence[int]) -> list[dict[str, Any]]:
    parts, start = list[dict[str, Any]](), 0
    for end in ends:
        piece = text[start:end]
        parts.append({"type": "text", "text": piece, "cache_control": {"type": "ephemeral"}})
        start = end
    return parts + ([{"type": "text", "text": text[start:]}] if start < len(text) else [])
