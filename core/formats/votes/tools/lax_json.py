"""JSON as other programs write it: NaN and Infinity are values that are missing."""

from __future__ import annotations

import json
from typing import Any

from core.errors import Problem
from core.formats.source.json_reader import unfit
from core.formats.source.parsed import refusal


def decoded(text: str, name: str, what: str) -> Any:
    """The value of a JSON text. Raises ``InputError``: no JSON, too deep, half characters.

    >>> decoded('{"score": NaN}', "log.json", "log")
    {'score': None}
    """
    try:
        value = json.loads(text, parse_constant=lambda word: None)
    except json.JSONDecodeError as error:
        message = f"is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}."
        mend = "It may have been cut off: export it again."
        raise refusal(what, [Problem(message, mend, (), error.lineno)], name) from None
    except (RecursionError, ValueError):
        raise refusal(what, [Problem("is nested too deep.", "", ())], name) from None
    if faults := unfit(value, halves="\\u" in text):
        raise refusal(what, faults, name)
    return value


def text_in(value: Any) -> str:
    r"""The text of a message's content: plain, or in parts of which some are text.

    >>> text_in([{"type": "text", "text": "Hi"}, {"type": "image", "image": "..."}])
    'Hi\n[image]'
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_part(part) for part in value if part)
    if isinstance(value, dict) and "content" in value:
        return text_in(value["content"])
    return json.dumps(value, ensure_ascii=False)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return text_in(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if "content" in part:
        said = text_in(part["content"])
        return f"{part['role']}: {said}" if part.get("role") else said
    return f"[{part.get('type', 'part')}]"


def conversation(messages: Any) -> str:
    """A list of messages as one text; a single question of a user is just that."""
    if not isinstance(messages, list):
        return text_in(messages)
    said = [
        (str(one.get("role", "")), text_in(one.get("content")))
        for one in messages
        if isinstance(one, dict)
    ]
    said = [(role, text) for role, text in said if text.strip()]
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" if role else text for role, text in said)


def mapping_in(value: Any) -> dict[str, Any]:
    """The value where it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty where it is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
