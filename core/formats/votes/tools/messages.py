"""The text of messages, and objects and lists in tools' files."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any


def text_in(value: Any) -> str:
    r"""Return the text of a message's content, plain or in parts.

    >>> text_in([{"type": "text", "text": "Hi"}, {"type": "image", "image": "..."}])
    'Hi\n[image]'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_part_text(part) for part in value if part)
    if isinstance(value, dict) and "content" in value:
        return text_in(value["content"])
    return json.dumps(value, ensure_ascii=False)


def _part_text(part: Any) -> str:
    if not isinstance(part, dict):
        return text_in(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if "content" in part:
        text = text_in(part["content"])
        return f"{part['role']}: {text}" if part.get("role") else text
    return f"[{part.get('type', 'part')}]"


def conversation_text(messages: Any) -> str:
    r"""Return a list of messages as one text, without a role if it is a single question.

    >>> conversation_text([{"author": "Kim", "text": "Where?"}, {"author": "Lee", "text": "Here."}])
    'Kim: Where?\n\nLee: Here.'
    """
    if not isinstance(messages, list):
        return text_in(messages)
    turns = [
        (str(_first_of(message, _SPEAKERS) or ""), text_in(_first_of(message, _SAID)))
        for message in messages
        if isinstance(message, dict)
    ]
    turns = [(role, text) for role, text in turns if text.strip()]
    if len(turns) == 1:
        return turns[0][1]
    return "\n\n".join(f"{role}: {text}" if role else text for role, text in turns)


def shared_turns(first: list[Any], second: list[Any]) -> int:
    """Return how many turns two conversations begin with in common, before the last of each.

    >>> shared_turns(["Hi", "Hello", "Why?", "So."], ["Hi", "Hello", "Why?", "No."])
    3
    >>> shared_turns(["Hi"], ["Hi"])
    0
    """
    pairs = zip(first[:-1], second[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


#: The keys of who says what in a message, as tools write them.
_SPEAKERS = ("role", "author", "speaker", "from")
_SAID = ("content", "text", "value", "message", "utterance", "parts")


def _first_of(message: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((message[key] for key in keys if key in message), None)


def object_or_empty(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, otherwise {}."""
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, otherwise []."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
