"""Splits: the items that teach judges and the items that measure them; near copies stay
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from core import clock
from core.domain.dataset import Item, Split
from core.domain.library import DatasetVersion, ItemFilter
from core.errors import InputError, NotFound, Problem
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.datasets.twins import twin_numbers
from core.store.store import Store
from core.text.names import fold

if TYPE_CHECKING:
    from core.services.datasets.item_columns import SourceCache

# An item either is an example for judges, or measures them.
#
# Items in a dataset's calibration split teach: offline judges learn from them, and few-shot
# examples are drawn from them. They are not graded, so they are in no evaluation figure.


def part_of(store: Store, version_id: int, item_id: str) -> tuple[Split | None, int] | None:
    """Return an item's split in the newest version of its dataset, and the number of labelled items
    in that version's calibration part; ``None`` if the item is missing.
    """
    latest = store.datasets.latest(store.datasets.version(version_id).dataset_id)
    marked = store.datasets.count(latest.id, ItemFilter(labelled=True, split="calibration"))
    try:
        return store.datasets.item(latest.id, item_id).split, marked
    except NotFound:
        return None


@allowed("write")
def set_split(store: Store, version_id: int, item_id: str, split: Split) -> DatasetVersion:
    """Put an item into a split of its dataset, in a new version for the next runs.

    The new version follows the newest one, even if ``version_id`` is an older one. Runs keep the
    version they were planned with. If nothing changes, the newest version is returned.

    Raises:
        InputError: the newest version lacks the item, or the item has no labels to learn from.
        Conflict: another person added a version meanwhile.
    """
    latest = store.datasets.latest(store.datasets.version(version_id).dataset_id)
    dataset = store.datasets.load(latest.id)
    current = next((item for item in dataset.items if item.id == item_id), None)
    if current is None:
        problem = Problem(
            f"Version {latest.number} of {dataset.name!r} has no item {item_id!r}.",
            "It was in an older version only.",
        )
        raise InputError("This item cannot be moved.", (problem,))
    if split == "calibration" and not current.labels:
        problem = Problem(f"Item {item_id!r} has no labels.", "Label it first.")
        raise InputError("Judges cannot learn from this item.", (problem,))
    if current.split == split:
        return latest
    items = tuple(
        item.model_copy(update={"split": split}) if item.id == item_id else item
        for item in dataset.items
    )
    return store.datasets.add_version(
        latest.dataset_id,
        dataset.model_copy(update={"items": items}),
        parent=latest.number,
        now=clock.now(),
        source=f"{item_id} put into the {split} part"[:200],
    )


# Train, calibration and test parts of a dataset, drawn by a seed with similar labels.
#
# Judges may learn from train and calibration (the item's split is then ``calibration``) and are
# measured on test (``evaluation``), so no figure includes items that teach. The tags
# ``split:train``, ``split:calibration`` and ``split:test`` distinguish the three.

PartName = Literal["train", "calibration", "test"]
PARTS: tuple[PartName, ...] = get_args(PartName)
SPLIT_OF: dict[PartName, Split] = {
    "train": "calibration",
    "calibration": "calibration",
    "test": "evaluation",
}
TAG = "split:"


@dataclass(frozen=True)
class SplitItems:
    """The items of each part, in the dataset's order.

    ``unlabelled`` items are in no part: they are graded, and neither teach nor measure.
    ``by_label`` counts the items of each part, per criterion and label. ``twins`` are labelled
    items that share their text with another; these stay in one part.
    """

    members: Mapping[PartName, tuple[str, ...]]
    unlabelled: tuple[str, ...]
    by_label: Mapping[str, Mapping[str, Mapping[PartName, int]]]
    twins: int = 0


class Labelled(NamedTuple):
    """An item with its labels, by criterion."""

    id: str
    labels: Mapping[str, str]


class _Deck:
    """The items to deal into parts, with everything that does not depend on the seed."""

    def __init__(self, items: Sequence[tuple[Labelled, int]], unlabelled: tuple[str, ...]) -> None:
        """Store labelled items, each with a number that items of the same text share."""
        self._unlabelled = unlabelled
        of_number: dict[int, list[Labelled]] = {}
        for item, number in items:
            of_number.setdefault(number, []).append(item)
        self._groups = {
            group[0].id: tuple(item.id for item in group) for group in of_number.values()
        }
        self._firsts = [group[0] for group in of_number.values()]
        self._repeated = sum(len(group) for group in self._groups.values() if len(group) > 1)
        # Items with equal labels are counted as one kind.
        kinds: dict[tuple[tuple[str, str], ...], int] = {}
        self._kind_of = {
            item.id: kinds.setdefault(tuple(item.labels.items()), len(kinds)) for item, _ in items
        }
        self._kinds = list(kinds)
        self._strata: dict[tuple[str, ...] | None, list[list[str]]] = {}

    def parts(
        self, shares: Mapping[PartName, int], seed: int, note_keys: Sequence[str] | None
    ) -> SplitItems:
        """Return the parts of a seed."""
        if not self._firsts:
            raise InputError(
                "No item has a label, so there is nothing to split by. Label some first."
            )
        key = None if note_keys is None else tuple(note_keys)
        if key not in self._strata:
            self._strata[key] = _items_by_stratum(self._firsts, note_keys)
        strata, rng = (
            [list(ids) for ids in self._strata[key]],
            seeded_random("parts", seed),
        )
        for stratum in strata:
            rng.shuffle(stratum)
        rng.shuffle(strata)
        parts = _dealt_items(strata, [shares[part] for part in PARTS])
        part_of = {item: part for first, part in parts for item in self._groups[first]}
        members: dict[PartName, list[str]] = {part: [] for part in PARTS}
        for item in self._kind_of:
            members[part_of[item]].append(item)
        return SplitItems(
            {part: tuple(item_ids) for part, item_ids in members.items()},
            self._unlabelled,
            self._parts_by_label(part_of),
            self._repeated,
        )

    def _parts_by_label(
        self, part_of: Mapping[str, PartName]
    ) -> dict[str, dict[str, dict[PartName, int]]]:
        counts = Counter((kind, part_of[item]) for item, kind in self._kind_of.items())
        by_criterion: dict[str, dict[str, dict[PartName, int]]] = {}
        for (kind, part), number in counts.items():
            for name, label in self._kinds[kind]:
                of = by_criterion.setdefault(name, {}).setdefault(label, dict.fromkeys(PARTS, 0))
                of[part] += number
        return by_criterion


def _items_by_stratum(items: Sequence[Labelled], by: Sequence[str] | None) -> list[list[str]]:
    by_spelling: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for item in items:
        criteria = item.labels if by is None else [name for name in by if name in item.labels]
        by_spelling.setdefault(tuple((name, item.labels[name]) for name in criteria), []).append(
            item.id
        )
    # Spellings of one label are merged; items keep their order.
    strata: dict[tuple[tuple[str, str], ...], list[str]] = {}
    order = {item.id: index for index, item in enumerate(items)}
    for spelt, ids in by_spelling.items():
        key = tuple(sorted((name, fold(label)) for name, label in spelt))
        strata[key] = sorted(strata.get(key, []) + ids, key=order.__getitem__)
    return [strata[key] for key in sorted(strata)]


def _dealt_items(
    strata: Sequence[Sequence[str]], percents: Sequence[int]
) -> list[tuple[str, PartName]]:
    """Return every item with its part.

    Each stratum first gives whole shares. Its remainder (fewer items than parts) goes to the parts
    that lack most, one item each. This choice always meets the parts' sizes (Gale 1957, Ryser
    1957).
    """
    sizes = largest_remainder(sum(map(len, strata)), percents)
    shares = [[len(ids) * percent // 100 for percent in percents] for ids in strata]
    lack = [
        size - sum(sizes_so_far)
        for size, sizes_so_far in zip(sizes, zip(*shares, strict=True), strict=True)
    ]
    order = sorted(range(len(strata)), key=lambda at: sum(shares[at]) - len(strata[at]))
    for at in order:
        remaining = len(strata[at]) - sum(shares[at])
        remainders = [len(strata[at]) * percent % 100 for percent in percents]
        for part in sorted(range(len(percents)), key=lambda p: (-lack[p], -remainders[p], p))[
            :remaining
        ]:
            shares[at][part] += 1
            lack[part] -= 1
    parts = []
    for stratum, counts in zip(strata, shares, strict=True):
        names = [name for name, n in zip(PARTS, counts, strict=True) for _ in range(n)]
        parts += list(zip(stratum, names, strict=True))
    return parts


def largest_remainder(total: int, percents: Sequence[int]) -> list[int]:
    """Return whole numbers that add up to ``total``, by rounding shares (Hamilton's method).

    >>> largest_remainder(10, [33, 33, 34])
    [3, 3, 4]
    """
    sizes = [total * percent // 100 for percent in percents]
    order = sorted(range(len(percents)), key=lambda p: (-(total * percents[p] % 100), p))
    for part in order[: total - sum(sizes)]:
        sizes[part] += 1
    return sizes


def split_of_version(
    store: Store,
    version_id: int,
    shares: Mapping[PartName, int],
    seed: int,
    note_keys: str | None = None,
) -> SplitItems:
    """Return the labelled items of a dataset version in parts of these shares; nothing is saved.

    ``shares`` are whole percents that add up to 100. Items with the same labels (on the criterion
    ``note_keys``, or on all) form a stratum. The largest remainder method sets the sizes of parts;
    a stratum gives each part its share rounded up or down. Items of the same text are dealt as one,
    by the labels of the first, so that no part repeats another; sizes are as even as that allows.

    Raises:
        InputError: the shares do not add up, or nothing is labelled.
    """
    if any(shares[part] < 0 for part in PARTS) or sum(shares[part] for part in PARTS) != 100:
        raise InputError("The shares of train, calibration and test must add up to 100%.")
    deck = _decks().get(
        store.datasets.version(version_id).hash, lambda: _deck_of_version(store, version_id)
    )
    return deck.parts(shares, seed, None if note_keys is None else [note_keys])


@cache
def _decks() -> SourceCache[_Deck]:
    # Columns need numpy, which should not load only to show a split.
    from core.services.datasets.item_columns import SourceCache

    return SourceCache(2)


def _deck_of_version(store: Store, version_id: int) -> _Deck:
    from core.services.datasets import item_columns

    columns = item_columns.columns_of_version(store, version_id)
    labels: dict[int, dict[str, str]] = {}
    for name, label, rows in columns.labels:
        for row in rows.tolist():
            labels.setdefault(row, {})[name] = label
    twins, _ = twin_numbers(store, version_id)
    items = [(Labelled(columns.ids[row], labels[row]), twins[row]) for row in sorted(labels)]
    return _Deck(
        items, tuple(item_id for row, item_id in enumerate(columns.ids) if row not in labels)
    )


@allowed("write")
def save_parts(store: Store, version_id: int, parts: SplitItems, seed: int) -> DatasetVersion:
    """Save a new version with these parts. Runs keep the version they were planned with.

    Raises:
        Conflict: another person added a version meanwhile.
    """
    version = store.datasets.version(version_id)
    dataset = store.datasets.load(version_id)
    part_of: dict[str, PartName] = {i: part for part in PARTS for i in parts.members[part]}
    return store.datasets.add_version(
        version.dataset_id,
        dataset.model_copy(
            update={"items": tuple(_item_in_part(i, part_of.get(i.id)) for i in dataset.items)}
        ),
        parent=version.number,
        now=clock.now(),
        source=f"split of version {version.number}, seed {seed}",
    )


def _item_in_part(item: Item, part: PartName | None) -> Item:
    tags = tuple(tag for tag in item.tags if not tag.startswith(TAG))
    if part is not None:
        tags = (*tags, TAG + part)
    split = None if part is None else SPLIT_OF[part]
    return item.model_copy(update={"split": split, "tags": tags})
