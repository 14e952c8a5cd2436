"""Train, calibration and test parts of a dataset: drawn by a seed, alike in their labels.

Judges may learn from train and calibration (an item's split is then ``calibration``) and are
measured on test (``evaluation``), so that nothing which teaches is in a figure. The tags
``split:train``, ``split:calibration`` and ``split:test`` tell the three apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from core.domain.dataset import Item, Split
from core.domain.library import DatasetVersion
from core.domain.names import fold
from core.errors import InputError
from core.identity import seeded
from core.services import clock
from core.services.twins import grouped
from core.store.store import Store

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


def draw_parts(
    items: Sequence[Item],
    shares: Mapping[PartName, int],
    seed: int,
    *,
    by: Sequence[str] | None = None,
) -> Parts:
    """The labelled items in parts of these shares (whole percents that add up to 100).

    Items with the same labels (on the criteria ``by``; all where ``None``) form a stratum. Sizes of
    parts are those of the largest remainder; a stratum gives each part its share rounded up or
    down. Items of the same text are dealt as one, by the labels of the first, so that no part
    repeats another; sizes are as even as that allows.

    Raises:
        InputError: the shares do not add up, or nothing is labelled.
    """
    if any(shares[part] < 0 for part in PARTS) or sum(shares[part] for part in PARTS) != 100:
        raise InputError("The shares of train, calibration and test must add up to 100 %.")
    labelled = [item for item in items if item.labels]
    if not labelled:
        raise InputError("No item has a label, so there is nothing to split by. Label some first.")
    groups = {group[0].id: group for group in grouped(labelled)}
    strata = _strata([group[0] for group in groups.values()], seed, by)
    dealt = _dealt(strata, [shares[part] for part in PARTS])
    part_of = {item.id: part for first, part in dealt for item in groups[first]}
    twins = sum(len(group) for group in groups.values() if len(group) > 1)
    members = {p: tuple(i.id for i in labelled if part_of[i.id] == p) for p in PARTS}
    unlabelled = tuple(item.id for item in items if not item.labels)
    return Parts(members, unlabelled, _by_label(labelled, part_of), twins)


def _strata(items: Sequence[Item], seed: int, by: Sequence[str] | None) -> list[list[str]]:
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for item in items:
        wanted = item.labels if by is None else [name for name in by if name in item.labels]
        key = tuple(sorted((name, fold(item.labels[name].label)) for name in wanted))
        found.setdefault(key, []).append(item.id)
    strata = [found[key] for key in sorted(found)]
    rng = seeded("parts", seed)
    for stratum in strata:
        rng.shuffle(stratum)
    rng.shuffle(strata)
    return strata


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


def _by_label(
    items: Sequence[Item], part_of: Mapping[str, PartName]
) -> dict[str, dict[str, dict[PartName, int]]]:
    found: dict[str, dict[str, dict[PartName, int]]] = {}
    for item in items:
        for name, label in item.labels.items():
            counts = found.setdefault(name, {}).setdefault(label.label, dict.fromkeys(PARTS, 0))
            counts[part_of[item.id]] += 1
    return found


def split_of_version(
    store: Store, version_id: int, shares: Mapping[PartName, int], seed: int, by: str | None = None
) -> Parts:
    """The parts that a dataset version would have; nothing is saved."""
    items = list(store.datasets.items(version_id))
    return draw_parts(items, shares, seed, by=None if by is None else [by])


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
