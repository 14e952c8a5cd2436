"""Which items teach judges and which measure them: parts, and near copies kept on one side."""

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
from core.identity import seeded
from core.services.access.allowing import allowed
from core.services.datasets.twins import twin_numbers
from core.store.store import Store
from core.text.names import fold

if TYPE_CHECKING:
    from core.services.datasets.item_columns import AtHand

# An item as an example for judges, or as evidence about them: never both.
#
# What is in a dataset's calibration part teaches (offline judges learn from it, few-shot examples
# are drawn from it) and is not graded, so it is in no figure of evaluation.


@dataclass(frozen=True)
class DatasetPart:
    """Which part of its dataset's newest version an item is in; ``marked`` counts calibration."""

    split: Split | None
    marked: int


def part_of(store: Store, version_id: int, item_id: str) -> DatasetPart | None:
    """Where an item stands in the newest version of its dataset; ``None``: it is not there."""
    latest = store.datasets.latest(store.datasets.version(version_id).dataset_id)
    marked = store.datasets.count(latest.id, ItemFilter(labelled=True, split="calibration"))
    try:
        return DatasetPart(store.datasets.item(latest.id, item_id).split, marked)
    except NotFound:
        return None


@allowed("write")
def set_split(store: Store, version_id: int, item_id: str, split: Split) -> DatasetVersion:
    """Put an item into a part of its dataset: a new version, which the next runs can use.

    The new version follows the newest one, whichever ``version_id`` the item was seen in. Runs keep
    the version they were planned with. Where nothing changes, the newest version is returned.

    Raises:
        InputError: the newest version has no such item, or there is nothing to learn from it.
        Conflict: somebody else added a version meanwhile.
    """
    latest = store.datasets.latest(store.datasets.version(version_id).dataset_id)
    dataset = store.datasets.load(latest.id)
    found = next((item for item in dataset.items if item.id == item_id), None)
    if found is None:
        problem = Problem(
            f"Version {latest.number} of {dataset.name!r} has no item {item_id!r}.",
            "It was in an older version only.",
        )
        raise InputError("This item cannot be moved.", (problem,))
    if split == "calibration" and not found.labels:
        problem = Problem(f"Item {item_id!r} has no labels.", "Label it first.")
        raise InputError("Judges cannot learn from this item.", (problem,))
    if found.split == split:
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


# Train, calibration and test parts of a dataset: drawn by a seed, alike in their labels.
#
# Judges may learn from train and calibration (an item's split is then ``calibration``) and are
# measured on test (``evaluation``), so that nothing which teaches is in a figure. The tags
# ``split:train``, ``split:calibration`` and ``split:test`` tell the three apart.

PartName = Literal["train", "calibration", "test"]
PARTS: tuple[PartName, ...] = get_args(PartName)
SPLIT_OF: dict[PartName, Split] = {
    "train": "calibration",
    "calibration": "calibration",
    "test": "evaluation",
}
TAG = "split:"


@dataclass(frozen=True)
class Parts:
    """Which items are in which part, in the dataset's order.

    ``unlabelled`` items are in none: they are graded, and neither teach nor measure.
    ``by_label`` counts, per criterion and label, the items of each part. ``twins`` are labelled
    items whose text another one repeats: those are in one part.
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
    """What is dealt, and all that no seed changes of it."""

    def __init__(self, items: Sequence[tuple[Labelled, int]], unlabelled: tuple[str, ...]) -> None:
        """Each labelled item comes with a number that its twins share."""
        self._unlabelled = unlabelled
        of_number: dict[int, list[Labelled]] = {}
        for item, number in items:
            of_number.setdefault(number, []).append(item)
        self._groups = {
            group[0].id: tuple(item.id for item in group) for group in of_number.values()
        }
        self._firsts = [group[0] for group in of_number.values()]
        self._repeated = sum(len(group) for group in self._groups.values() if len(group) > 1)
        # Items of the same labels are counted as one.
        kinds: dict[tuple[tuple[str, str], ...], int] = {}
        self._kind_of = {
            item.id: kinds.setdefault(tuple(item.labels.items()), len(kinds)) for item, _ in items
        }
        self._kinds = list(kinds)
        self._strata: dict[tuple[str, ...] | None, list[list[str]]] = {}

    def parts(self, shares: Mapping[PartName, int], seed: int, by: Sequence[str] | None) -> Parts:
        """The parts that a seed gives."""
        if not self._firsts:
            raise InputError(
                "No item has a label, so there is nothing to split by. Label some first."
            )
        key = None if by is None else tuple(by)
        if key not in self._strata:
            self._strata[key] = _strata(self._firsts, by)
        strata, rng = [list(one) for one in self._strata[key]], seeded("parts", seed)
        for stratum in strata:
            rng.shuffle(stratum)
        rng.shuffle(strata)
        dealt = _dealt(strata, [shares[part] for part in PARTS])
        part_of = {item: part for first, part in dealt for item in self._groups[first]}
        members: dict[PartName, list[str]] = {part: [] for part in PARTS}
        for item in self._kind_of:
            members[part_of[item]].append(item)
        return Parts(
            {part: tuple(found) for part, found in members.items()},
            self._unlabelled,
            self._by_label(part_of),
            self._repeated,
        )

    def _by_label(
        self, part_of: Mapping[str, PartName]
    ) -> dict[str, dict[str, dict[PartName, int]]]:
        counts = Counter((kind, part_of[item]) for item, kind in self._kind_of.items())
        found: dict[str, dict[str, dict[PartName, int]]] = {}
        for (kind, part), number in counts.items():
            for name, label in self._kinds[kind]:
                of = found.setdefault(name, {}).setdefault(label, dict.fromkeys(PARTS, 0))
                of[part] += number
        return found


def _strata(items: Sequence[Labelled], by: Sequence[str] | None) -> list[list[str]]:
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for item in items:
        wanted = item.labels if by is None else [name for name in by if name in item.labels]
        alike.setdefault(tuple((name, item.labels[name]) for name in wanted), []).append(item.id)
    # Spellings of one label are one; which items there are stands in their order.
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    order = {item.id: at for at, item in enumerate(items)}
    for spelt, ids in alike.items():
        key = tuple(sorted((name, fold(label)) for name, label in spelt))
        found[key] = sorted(found.get(key, []) + ids, key=order.__getitem__)
    return [found[key] for key in sorted(found)]


def _dealt(strata: Sequence[Sequence[str]], percents: Sequence[int]) -> list[tuple[str, PartName]]:
    """Every item with its part.

    Each stratum gives whole shares first. What is left of it (fewer items than parts) goes to the
    parts that still lack most, one each; such a choice always meets the sizes of the parts (Gale
    1957, Ryser 1957).
    """
    sizes = largest_remainder(sum(map(len, strata)), percents)
    whole = [[len(one) * percent // 100 for percent in percents] for one in strata]
    lack = [size - sum(of) for size, of in zip(sizes, zip(*whole, strict=True), strict=True)]
    order = sorted(range(len(strata)), key=lambda at: sum(whole[at]) - len(strata[at]))
    for at in order:
        left = len(strata[at]) - sum(whole[at])
        rest = [len(strata[at]) * percent % 100 for percent in percents]
        for part in sorted(range(len(percents)), key=lambda p: (-lack[p], -rest[p], p))[:left]:
            whole[at][part] += 1
            lack[part] -= 1
    dealt = []
    for stratum, counts in zip(strata, whole, strict=True):
        names = [name for name, n in zip(PARTS, counts, strict=True) for _ in range(n)]
        dealt += list(zip(stratum, names, strict=True))
    return dealt


def largest_remainder(total: int, percents: Sequence[int]) -> list[int]:
    """Whole numbers that add up to ``total``, each its share rounded (Hamilton's method).

    >>> largest_remainder(10, [33, 33, 34])
    [3, 3, 4]
    """
    sizes = [total * percent // 100 for percent in percents]
    order = sorted(range(len(percents)), key=lambda p: (-(total * percents[p] % 100), p))
    for part in order[: total - sum(sizes)]:
        sizes[part] += 1
    return sizes


def split_of_version(
    store: Store, version_id: int, shares: Mapping[PartName, int], seed: int, by: str | None = None
) -> Parts:
    """The labelled items of a dataset version in parts of these shares; nothing is saved.

    ``shares`` are whole percents that add up to 100. Items with the same labels (on the criterion
    ``by``; on all where ``None``) form a stratum. Sizes of parts are those of the largest
    remainder; a stratum gives each part its share rounded up or down. Items of the same text are
    dealt as one, by the labels of the first, so that no part repeats another; sizes are as even as
    that allows.

    Raises:
        InputError: the shares do not add up, or nothing is labelled.
    """
    if any(shares[part] < 0 for part in PARTS) or sum(shares[part] for part in PARTS) != 100:
        raise InputError("The shares of train, calibration and test must add up to 100%.")
    deck = _decks().get(store.datasets.version(version_id).hash, lambda: _deck(store, version_id))
    return deck.parts(shares, seed, None if by is None else [by])


@cache
def _decks() -> AtHand[_Deck]:
    # Columns need numpy, which whoever only looks at a part shall not wait for.
    from core.services.datasets.item_columns import AtHand

    return AtHand(2)


def _deck(store: Store, version_id: int) -> _Deck:
    from core.services.datasets import item_columns

    columns = item_columns.of_version(store, version_id)
    labels: dict[int, dict[str, str]] = {}
    for name, label, rows in columns.labels:
        for row in rows.tolist():
            labels.setdefault(row, {})[name] = label
    twins = twin_numbers(store, version_id).group
    items = [(Labelled(columns.ids[row], labels[row]), twins[row]) for row in sorted(labels)]
    return _Deck(items, tuple(one for row, one in enumerate(columns.ids) if row not in labels))


@allowed("write")
def save_parts(store: Store, version_id: int, parts: Parts, seed: int) -> DatasetVersion:
    """A new version with these parts. Runs keep the version they were planned with.

    Raises:
        Conflict: somebody else added a version meanwhile.
    """
    version = store.datasets.version(version_id)
    dataset = store.datasets.load(version_id)
    part_of: dict[str, PartName] = {i: part for part in PARTS for i in parts.members[part]}
    return store.datasets.add_version(
        version.dataset_id,
        dataset.model_copy(
            update={"items": tuple(_placed(i, part_of.get(i.id)) for i in dataset.items)}
        ),
        parent=version.number,
        now=clock.now(),
        source=f"split of version {version.number}, seed {seed}",
    )


def _placed(item: Item, part: PartName | None) -> Item:
    tags = tuple(tag for tag in item.tags if not tag.startswith(TAG))
    if part is not None:
        tags = (*tags, TAG + part)
    split = None if part is None else SPLIT_OF[part]
    return item.model_copy(update={"split": split, "tags": tags})
