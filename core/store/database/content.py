"""Nouns to text and back, and the hash a noun is kept under."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NamedTuple

from core.domain.base import Noun
from core.domain.dataset import Dataset
from core.identity import canonical_json, content_hash

#: So many items are hashed at a time.
_AT_ONCE = 10_000
_HALF = re.compile("[\ud800-\udfff]")


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


class DatasetText(NamedTuple):
    """A dataset as it is kept: all but its items, each item as canonical JSON, and its hash."""

    head: str
    items: list[str]
    hash: str


def dataset_text(dataset: Dataset) -> DatasetText:
    """A dataset as text; its hash is that of ``noun_hash``. One item at a time is plain data.

    >>> from core.domain.dataset import Item
    >>> one = Dataset(name="d", items=(Item(id="a", submission="x"),), meta={"items": []})
    >>> dataset_text(one).hash == noun_hash(one)
    True
    """
    head = dump(dataset.model_copy(update={"items": ()}))
    texts = [canonical_json(dump(item)) for item in dataset.items]
    # Of the keys that stand before it, none holds an object with a list.
    before, mark, after = canonical_json(head).partition('"items":[')
    hashed = hashlib.sha256((before + mark).encode("utf-8", "surrogatepass"))
    for start in range(0, len(texts), _AT_ONCE):
        part = ",".join(texts[start : start + _AT_ONCE])
        hashed.update(("," * bool(start) + part).encode("utf-8", "surrogatepass"))
    hashed.update(after.encode("utf-8", "surrogatepass"))
    del head["items"]
    return DatasetText(to_json(head), texts, f"sha256:{hashed.hexdigest()}")


def fit_for_file(text: str) -> str:
    """Canonical JSON as SQLite takes it (``to_json``)."""
    return text if text.isascii() or not _HALF.search(text) else to_json(json.loads(text))


def to_json(value: Any) -> str:
    """Canonical JSON that SQLite takes: lone surrogates are written as escapes."""
    text = canonical_json(value)
    if text.isascii():
        return text
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
    return text if text.isascii() else text.encode(errors="replace").decode()


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
