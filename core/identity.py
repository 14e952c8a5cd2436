"""Content hashes, and seeds that depend only on hashed content.

``canonical_json`` is the contract: same content, same bytes, on every machine. Hashes carry their
algorithm (``sha256:...``) so that it can change without ambiguity.
"""

from __future__ import annotations

import hashlib
import json
import random
from json import encoder
from typing import Any

# Shared, because json.dumps would create an encoder for every text.
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
# ``JSONEncoder.encode`` would create its inner encoder each time, which costs more than a short
# text. Only CPython has this one.
_MAKE: Any = getattr(encoder, "c_make_encoder", None)
_INNER: Any = _MAKE and _MAKE(
    *(None, _CANONICAL.default, encoder.encode_basestring, None, ":", ",", True, False, False)
)


class Same:
    """Compares an object by identity, so that comparing two large objects reads no text."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def canonical_json(value: Any) -> str:
    """Return the one JSON text of ``value``: sorted keys, no spaces, UTF-8 kept, NaN refused.

    >>> canonical_json({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return "".join(_INNER(value, 0)) if _INNER else _CANONICAL.encode(value)


def content_hash(value: Any) -> str:
    """Return ``sha256:`` and 64 hex digits of the canonical JSON of ``value``.

    >>> content_hash({"a": 1}) == content_hash({"a": 1})
    True
    """
    return "sha256:" + hashlib.sha256(_utf8_bytes(canonical_json(value))).hexdigest()


def text_hash(text: str) -> str:
    """Return the content hash of a plain text (not of its JSON)."""
    return "sha256:" + hashlib.sha256(_utf8_bytes(text)).hexdigest()


def seeded_random(*parts: object) -> random.Random:
    """Return a generator that depends only on ``parts`` (order and kind matter).

    >>> seeded_random(7, "item", 0).random() == seeded_random(7, "item", 0).random()
    True
    """
    digest = hashlib.sha256(_utf8_bytes("\x1f".join(map(str, parts)))).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def _utf8_bytes(text: str) -> bytes:
    # Lone surrogates can arrive through JSON escapes; they must hash, not crash.
    return text.encode("utf-8", "surrogatepass")
