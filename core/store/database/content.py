"""Nouns to text and back, and the hash a noun is kept under."""

from __future__ import annotations

import json
from typing import Any

from core.domain.base import Noun
from core.identity import canonical_json, content_hash


def dump(noun: Noun) -> dict[str, Any]:
    """``noun`` as plain JSON data without what equals its defaults."""
    return noun.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def noun_hash(noun: Noun) -> str:
    """The content hash under which a rubric, dataset, judge or panel is kept.

    >>> from core.domain.panel import Judge
    >>> noun_hash(Judge(name="a", model="m")) == noun_hash(Judge(name="a", model="m", weight=1))
    True
    """
    return content_hash(dump(noun))


def to_json(value: Any) -> str:
    """Canonical JSON that SQLite takes: lone surrogates are written as escapes."""
    text = canonical_json(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text


def clean(text: str) -> str:
    """``text`` with every lone surrogate, which no UTF-8 text can hold, replaced by ``?``.

    >>> clean("a" + chr(0xD800))
    'a?'
    """
    return text.encode(errors="replace").decode()


def like(search: str) -> str:
    r"""The LIKE pattern (with ``ESCAPE '\'``) that finds ``search`` anywhere.

    >>> like("100%")
    '%100\\%%'
    """
    # SQLite refuses patterns of 50,000 bytes; nobody types 500 characters.
    for special in ("\\", "%", "_"):
        search = search.replace(special, "\\" + special)
    return f"%{search[:500]}%"


def like_json(search: str) -> str:
    """The LIKE pattern that finds ``search`` inside JSON text, where it stands escaped."""
    return like(json.dumps(search, ensure_ascii=False)[1:-1])
