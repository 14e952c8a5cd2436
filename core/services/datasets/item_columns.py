"""Facts about a dataset's items for figures, plans and queues, as columns stored with its version.

A version never changes, so its items are read once. Afterwards no texts are read to find out which
item has a label, which system wrote it, or how long it is.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item, Pair, Sections
from core.domain.library import DatasetVersion
from core.formats.datasets.dataset_file import has_text
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.store.runs.kept import MANY, Columns
from core.store.store import Store
from core.text.names import STORED

#: The version of the stored columns; columns of other versions are ignored.
FORM = 2

Numbers = npt.NDArray[Any]
MadeT = TypeVar("MadeT")


@dataclass(frozen=True)
class ItemColumns:
    """The items of a dataset version, in its order.

    ``kinds`` are the distinct (system, tags, split), and ``kind`` is each item's index there.
    ``own``: it has its own rubric; ``texts``: it has a text to grade; ``pairs``: it is two answers;
    ``plain``: it is one text, with or without thinking. ``words`` counts the words of its output.
    ``prompt`` is a number shared by items of the same prompt, negative without one. ``labels`` are
    a criterion, a label, and the increasing positions of the items that have it.
    """

    ids: tuple[str, ...]
    kinds: tuple[tuple[str, tuple[str, ...], str], ...]
    kind: Numbers
    own: Numbers
    texts: Numbers
    pairs: Numbers
    plain: Numbers
    words: Numbers
    prompt: Numbers
    labels: tuple[tuple[str, str, Numbers], ...]

    @cached_property
    def place(self) -> dict[str, int]:
        """Return the position of every item."""
        return {item_id: place for place, item_id in enumerate(self.ids)}

    def rows(self, ids: Sequence[str]) -> Numbers:
        """Return the positions of these items."""
        if tuple(ids) == self.ids:
            return np.arange(len(self.ids))
        return np.fromiter(map(self.place.__getitem__, ids), np.int64, len(ids))

    def words_of(self, ids: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the number of words in the output of each of these items."""
        return self.words[self.rows(ids)].astype(np.float64)


class SourceCache(Generic[MadeT]):
    """A cache of recent values; the key is the hash of a value's source."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._latest: OrderedDict[str, MadeT] = OrderedDict()

    def get(self, key: str, make: Callable[[], MadeT]) -> MadeT:
        """Return the value of ``key``, computed by ``make`` if needed."""
        value = self._latest.pop(key, None) or make()
        self._latest[key] = value
        while len(self._latest) > self._most:
            self._latest.popitem(last=False)
        return value


_LATEST: SourceCache[ItemColumns] = SourceCache()


def columns_of_version(store: Store, version_id: int) -> ItemColumns:
    """Return the columns of a dataset version; callers must not change them."""
    version = store.datasets.version(version_id)
    return _LATEST.get(version.hash, lambda: _read_columns(store, version))


def _read_columns(store: Store, version: DatasetVersion) -> ItemColumns:
    version_id = version.id

    def read_contents() -> Columns:
        return _columns_of_contents(store.datasets.contents(version_id), version.head.prompt)

    subject = f"items of dataset version {version_id}"
    stored = store.kept.cached_columns(subject, FORM, read_contents, keep=version.items >= MANY)
    arrays, rows = stored.arrays, stored.arrays["label rows"].astype(np.int64)
    ends = np.cumsum(arrays["label counts"])
    return ItemColumns(
        ids=tuple(stored.head["ids"]),
        kinds=tuple((system, tuple(tags), split) for system, tags, split in stored.head["kinds"]),
        labels=tuple(
            (criterion, label, part)
            for (criterion, label), part in zip(
                stored.head["labels"], np.split(rows, ends[:-1]), strict=False
            )
        ),
        **{name: arrays[name] for name in _FIELDS},
    )


_MARKS = ("own", "texts", "pairs", "plain")
_FIELDS = ("kind", *_MARKS, "words", "prompt")


def _columns_of_contents(contents: Iterable[str], prompt: str) -> Columns:
    """Return the columns of items as stored; ``prompt`` is the dataset's."""
    ids, facts = list[str](), list[tuple[bool, bool, bool, bool, int]]()
    kinds, prompts = dict[tuple[Any, ...], int](), dict[str, int]()
    kind, asked = list[int](), list[int]()
    labels: dict[tuple[str, str], list[int]] = {}
    for row, content in enumerate(contents):
        data = json.loads(content)
        ids.append(data["id"])
        mark = (data.get("system", ""), tuple(data.get("tags", ())), data.get("split") or "")
        kind.append(kinds.setdefault(mark, len(kinds)))
        prompt_of_item = data.get("prompt") or prompt
        asked.append(prompts.setdefault(prompt_of_item, len(prompts)) if prompt_of_item else -1)
        for criterion, label in data.get("labels", {}).items():
            labels.setdefault((criterion, label["label"]), []).append(row)
        facts.append(_facts_of_item(data, content))
    *marks, words = np.array(facts, np.int32).reshape(-1, 5).T
    arrays = {
        "kind": np.array(kind, np.int32),
        "prompt": np.array(asked, np.int32),
        **dict(zip(_MARKS, (column.astype(np.bool_) for column in marks), strict=True)),
        "words": words.copy(),
        "label rows": np.array([row for rows in labels.values() for row in rows], np.int32),
        "label counts": np.array([len(rows) for rows in labels.values()], np.int64),
    }
    return Columns({"ids": ids, "kinds": list(kinds), "labels": list(labels)}, arrays)


def _facts_of_item(data: dict[str, Any], content: str) -> tuple[bool, bool, bool, bool, int]:
    """Return an item's ``_MARKS``, and the number of words of its output."""
    has_own_rubric, submission = data.get("rubric") is not None, data["submission"]
    if isinstance(submission, str):
        length = len(submission.split())
        available = data.get("meta", {}).get(TEXT_AVAILABLE) is not False or bool(
            submission.strip()
        )
        return has_own_rubric, available, False, True, length
    # A structured submission defines its own output.
    item = Item.model_validate_json(content, context=STORED)
    pair, plain = (isinstance(item.submission, kind) for kind in (Pair, Sections))
    return has_own_rubric, has_text(item), pair, plain, len(item.output.split())
