"""What figures, plans and queues need of a dataset's items, as columns kept with its version.

A version never changes, so its items are looked at once: afterwards nobody reads the texts of all
of them to learn who has a label, which system wrote what, or how long a text is.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item, Pair, Sections
from core.domain.library import DatasetVersion
from core.formats.datasets.dataset_file import has_text
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.store.runs.kept import MANY, Columns
from core.store.store import Store
from core.text.names import STORED

#: Says how columns are written; another number, and none that was kept before is read.
FORM = 2

Numbers = npt.NDArray[Any]
MadeT = TypeVar("MadeT")


class GivenLabels(NamedTuple):
    """Who has a label of a criterion: places of items in the dataset, rising."""

    criterion: str
    label: str
    rows: Numbers


@dataclass(frozen=True)
class ItemColumns:
    """The items of a dataset version, in its order.

    ``kinds`` are the different (system, tags, split) and ``kind`` says which each item is. ``own``:
    it has a rubric of its own; ``texts``: there is something to grade; ``pairs``: it is two
    answers; ``plain``: it is one text, with or without a thought; ``words`` counts the words of its
    output; ``prompt`` is a number that items of the same prompt share, negative without one.
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
    labels: tuple[GivenLabels, ...]

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of every item."""
        return {item_id: place for place, item_id in enumerate(self.ids)}

    def rows(self, ids: Sequence[str]) -> Numbers:
        """The places of these items."""
        if tuple(ids) == self.ids:
            return np.arange(len(self.ids))
        return np.fromiter(map(self.place.__getitem__, ids), np.int64, len(ids))

    def words_of(self, ids: Sequence[str]) -> npt.NDArray[np.float64]:
        """How many words the output of each of these items has."""
        return self.words[self.rows(ids)].astype(np.float64)


class AtHand(Generic[MadeT]):
    """What was asked for last, by the hash of what it is of, which says all of it."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._latest: OrderedDict[str, MadeT] = OrderedDict()

    def get(self, key: str, make: Callable[[], MadeT]) -> MadeT:
        """What is at hand under ``key``, else what ``make`` gives."""
        found = self._latest.pop(key, None) or make()
        self._latest[key] = found
        while len(self._latest) > self._most:
            self._latest.popitem(last=False)
        return found


_LATEST: AtHand[ItemColumns] = AtHand()


def of_version(store: Store, version_id: int) -> ItemColumns:
    """The columns of a dataset version; nobody may change them."""
    version = store.datasets.version(version_id)
    return _LATEST.get(version.hash, lambda: _read(store, version))


def _read(store: Store, version: DatasetVersion) -> ItemColumns:
    version_id = version.id

    def look() -> Columns:
        return _look(store.datasets.contents(version_id), version.head.prompt)

    about = f"items of dataset version {version_id}"
    kept = store.kept.made(about, FORM, look, keep=version.items >= MANY)
    arrays, rows = kept.arrays, kept.arrays["label rows"].astype(np.int64)
    ends = np.cumsum(arrays["label counts"])
    return ItemColumns(
        ids=tuple(kept.head["ids"]),
        kinds=tuple((system, tuple(tags), split) for system, tags, split in kept.head["kinds"]),
        labels=tuple(
            GivenLabels(criterion, label, part)
            for (criterion, label), part in zip(
                kept.head["labels"], np.split(rows, ends[:-1]), strict=False
            )
        ),
        **{name: arrays[name] for name in _FIELDS},
    )


_FIELDS = ("kind", "own", "texts", "pairs", "plain", "words", "prompt")


class _Seen(NamedTuple):
    """What is looked at of one item."""

    own: bool
    text: bool
    pair: bool
    plain: bool
    words: int


def _look(contents: Iterable[str], prompt: str) -> Columns:
    """The columns of items as the store keeps them; ``prompt`` is that of the dataset."""
    ids, seen = list[str](), list[_Seen]()
    kinds, prompts = dict[tuple[Any, ...], int](), dict[str, int]()
    kind, asked = list[int](), list[int]()
    labels: dict[tuple[str, str], list[int]] = {}
    for row, content in enumerate(contents):
        told = json.loads(content)
        ids.append(told["id"])
        mark = (told.get("system", ""), tuple(told.get("tags", ())), told.get("split") or "")
        kind.append(kinds.setdefault(mark, len(kinds)))
        own = told.get("prompt") or prompt
        asked.append(prompts.setdefault(own, len(prompts)) if own else -1)
        for criterion, label in told.get("labels", {}).items():
            labels.setdefault((criterion, label["label"]), []).append(row)
        seen.append(_seen(told, content))
    arrays = {
        "kind": np.array(kind, np.int32),
        "prompt": np.array(asked, np.int32),
        "own": np.array([one.own for one in seen], np.bool_),
        "texts": np.array([one.text for one in seen], np.bool_),
        "pairs": np.array([one.pair for one in seen], np.bool_),
        "plain": np.array([one.plain for one in seen], np.bool_),
        "words": np.array([one.words for one in seen], np.int32),
        "label rows": np.array([row for rows in labels.values() for row in rows], np.int32),
        "label counts": np.array([len(rows) for rows in labels.values()], np.int64),
    }
    return Columns({"ids": ids, "kinds": list(kinds), "labels": list(labels)}, arrays)


def _seen(told: dict[str, Any], content: str) -> _Seen:
    own, submission = told.get("rubric") is not None, told["submission"]
    if isinstance(submission, str):
        words = len(submission.split())
        there = told.get("meta", {}).get(TEXT_AVAILABLE) is not False or bool(submission.strip())
        return _Seen(own, there, False, True, words)
    # What is no plain text says itself what of it is output.
    item = Item.model_validate_json(content, context=STORED)
    pair, plain = (isinstance(item.submission, kind) for kind in (Pair, Sections))
    return _Seen(own, has_text(item), pair, plain, len(item.output.split()))
