"""Convert records to text and back, and compute their content hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from core.domain.base import Noun
from core.domain.dataset import Dataset
from core.identity import canonical_json, content_hash

#: Items hashed per batch.
_AT_ONCE = 1_000


def dump(noun: Noun) -> dict[str, Any]:
    """Return ``noun`` as plain JSON data without default values."""
    return noun.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def noun_hash(noun: Noun) -> str:
    """Return the content hash of a rubric, dataset, judge or panel.

    >>> from core.domain.panel import Judge
    >>> noun_hash(Judge(name="a", model="m")) == noun_hash(Judge(name="a", model="m", weight=1))
    True
    """
    return content_hash(dump(noun))


def dataset_text(dataset: Dataset) -> tuple[str, str]:
    """Return a dataset without items as text, and the hash that ``noun_hash`` gives.

    Items are hashed in batches, since all of them may be as large as the file they came from.

    >>> from core.domain.dataset import Item
    >>> one = Dataset(name="d", items=(Item(id="a", submission="x"),), meta={"items": []})
    >>> dataset_text(one)[1] == noun_hash(one)
    True
    """
    head = dump(dataset.model_copy(update={"items": ()}))
    # No key before "items" holds an object with a list.
    before, mark, after = canonical_json(head).partition('"items":[')
    hashed = hashlib.sha256((before + mark).encode("utf-8", "surrogatepass"))
    for start in range(0, len(dataset.items), _AT_ONCE):
        batch = dataset.items[start : start + _AT_ONCE]
        part = ",".join(canonical_json(dump(item)) for item in batch)
        hashed.update(("," * bool(start) + part).encode("utf-8", "surrogatepass"))
    hashed.update(after.encode("utf-8", "surrogatepass"))
    del head["items"]
    return to_json(head), f"sha256:{hashed.hexdigest()}"


def to_json(value: Any) -> str:
    """Return canonical JSON that SQLite accepts, with lone surrogates escaped."""
    text = canonical_json(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text


def clean(text: str) -> str:
    """Return ``text`` with lone surrogates, which UTF-8 cannot hold, as ``?``.

    >>> clean("a" + chr(0xD800))
    'a?'
    """
    return text if text.isascii() else text.encode(errors="replace").decode()


def like_pattern(search: str) -> str:
    r"""Return the LIKE pattern (``ESCAPE '\'``) that finds ``search`` anywhere.

    >>> like_pattern("100%")
    '%100\\%%'
    """
    # SQLite refuses patterns of 50,000 bytes; a search has at most 500 characters.
    for special in ("\\", "%", "_"):
        search = search.replace(special, "\\" + special)
    return f"%{search[:500]}%"


def like_json(search: str) -> str:
    """Return the LIKE pattern that finds ``search``, escaped, in JSON text."""
    return like_pattern(json.dumps(search, ensure_ascii=False)[1:-1])
