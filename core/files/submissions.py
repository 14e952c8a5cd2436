"""What was handed in: a text, a conversation, or thinking and output, each checked by hand.

(Pydantic's words for a union of these would help nobody.)
"""

from __future__ import annotations

import json
from typing import Any

from core.domain.base import Path
from core.domain.dataset import MAX_TEXT
from core.errors import Problem
from core.files.document import kind_of

_FORMS = "Use text, a list of {role, content}, or {thinking, output}."
_CONTEXTS = "Use text, a list of texts, or a mapping from name to text."
#: Two answers to be compared, as an exported contest holds them.
_PAIR = {"first", "second"}

#: The key in an item's meta that says, with ``False``, that the text exists but is not at hand.
TEXT_AVAILABLE = "text_available"


class UnfitValue(ValueError):
    """A cell that cannot be used; carries the problem, its path below the cell."""

    def __init__(self, message: str, mend: str, *path: str | int) -> None:
        super().__init__(message)
        self.message, self.mend, self.path = message, mend, path

    def problem(self, path: Path, line: int | None) -> Problem:
        """The same as a problem of the cell at ``path``."""
        return Problem(self.message, self.mend, (*path, *self.path), line)


def submission_of(value: Any, structured: bool) -> Any:
    """The submission in a cell: text, a list of messages, or a mapping of thinking and output
    (or of first and second, two such answers).

    ``structured`` text is read as JSON first; other text stays text, whatever it looks like.
    Nothing (null) is an empty text.

    Raises:
        Unfit: none of these forms.

    >>> submission_of([{"role": "user", "content": "Hi"}], False)
    [{'role': 'user', 'content': 'Hi'}]
    """
    if structured and isinstance(value, str) and value.strip():
        value = _from_json(value)
    if value is None:
        return ""
    if isinstance(value, dict) and value.keys() == _PAIR:
        return {place: _answer(part) for place, part in value.items()}
    return _answer(value)


def _answer(value: Any) -> Any:
    if isinstance(value, list):
        if not value:
            raise UnfitValue("is an empty list of messages.", _FORMS)
        return [_message(part, index) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return _sections(value)
    return text_of(value, _FORMS)


def context_of(value: Any, name: str) -> dict[str, str]:
    r"""The named texts in a cell of context: a text, a list of passages, or a mapping of either.

    Passages become one text in which they are numbered, so that a submission can cite them.

    Raises:
        Unfit: anything else, or a name that is blank.

    >>> context_of(["Canberra.", "Since 1927."], "passages")
    {'passages': '[1] Canberra.\n\n[2] Since 1927.'}
    >>> context_of({"policy": "30 days."}, "context")
    {'policy': '30 days.'}
    """
    if not isinstance(value, dict):
        text = _passages(value)
        return {name: text} if text.strip() else {}
    found = dict[str, str]()
    for key, part in value.items():
        plain = " ".join(str(key).split())
        if not plain or plain in found:
            raise UnfitValue(
                f"has the name {str(key)!r} for a text.", "Give each text its own name."
            )
        try:
            found[plain] = _passages(part)
        except UnfitValue as error:
            raise UnfitValue(error.message, error.mend, key, *error.path) from None
    return found


def _passages(value: Any) -> str:
    if not isinstance(value, list):
        return text_of(value, _CONTEXTS)
    texts = [text_of(part, _CONTEXTS) for part in value]
    return _bounded("\n\n".join(f"[{n}] {text}" for n, text in enumerate(texts, start=1)))


def text_of(value: Any, mend: str = "Use text.") -> str:
    """The text in a cell; a number is the text it is written as, nothing is empty.

    Raises:
        Unfit: anything else.
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnfitValue(f"is {kind_of(value)}.", mend)
    return _bounded(str(value))


def _bounded(text: str, *path: str | int) -> str:
    if len(text) > MAX_TEXT:
        message = f"has {len(text):,} characters; {MAX_TEXT:,} is the limit."
        raise UnfitValue(message, "Shorten it.", *path)
    return text


def prompt_of(value: Any) -> str:
    """The text of a prompt; a conversation becomes its turns, one after the other."""
    if isinstance(value, list) and value:
        turns = [_message(part, index) for index, part in enumerate(value)]
        return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
    return text_of(value)


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnfitValue(
            "is not JSON, as the mapping says it is.", "Map it as plain text."
        ) from None


def _sections(value: dict[str, Any]) -> dict[str, str]:
    if "output" not in value or not value.keys() <= {"thinking", "output"}:
        raise UnfitValue(f"has the keys {', '.join(map(repr, value))}.", _FORMS)
    return {key: text_of(part) for key, part in value.items()}


def _message(part: Any, index: int) -> dict[str, str]:
    if not isinstance(part, dict):
        raise UnfitValue(f"is {kind_of(part)}, not a message.", _FORMS, index)
    extra = sorted(part.keys() - {"role", "content"})
    if extra:
        mend = "Keep role and content; write tool calls and the like into the content."
        raise UnfitValue(
            "is not a key of a message that can be shown to a judge.", mend, index, extra[0]
        )
    role = part.get("role")
    if not isinstance(role, str) or not 1 <= len(role) <= 50:
        raise UnfitValue("is not a role.", "Use a name such as user or assistant.", index, "role")
    return {"role": role, "content": _content(part.get("content"), index)}


def _content(content: Any, index: int) -> str:
    """The text of a message; a list of text parts, as chat services write it, is joined."""
    if isinstance(content, str):
        return _bounded(content, index, "content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise UnfitValue("is not text.", "Only text can be judged.", index, "content")
    return _bounded("\n".join(map(str, texts)), index, "content")
