"""Which items teach judges and which measure them: parts, and near copies kept on one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Literal, get_args

from core import clock
from core.domain.dataset import Item, Split
from core.domain.library import DatasetVersion, ItemFilter
from core.errors import InputError, NotFound, Problem
from core.identity import seeded
from core.judging.near_duplicates import group_numbers, print_of
from core.services.access.allowing import allowed
from core.store.store import Store
from core.text.names import fold
from core.text.numbers import plural

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


@dataclass(frozen=True)
class Twins:
    """How many items of a dataset repeat another's text, and what that cost in learning.

    ``items`` have a twin, ``near`` of them none that is the same but for its signs and spaces;
    ``held_back`` are labelled items that nobody learns from, because a twin of theirs is graded.
    """

    items: int = 0
    near: int = 0
    held_back: int = 0

    def __bool__(self) -> bool:
        return bool(self.items)

    def to_dict(self) -> dict[str, int]:
        """As plain data."""
        return asdict(self)

    def in_words(self) -> str:
        """What a person is told; the empty string where there are none.

        >>> Twins(4, 2, 1).in_words()[:59]
        '4 items repeat the text of another (2 of them nearly): none'
        """
        if not self.items:
            return ""
        one = self.items == 1
        nearly = f" ({self.near} of them nearly)" if self.near else ""
        held = (
            f" {plural(self.held_back, 'labelled item')} with a graded twin "
            f"{'teaches' if self.held_back == 1 else 'teach'} nothing for that."
            if self.held_back
            else ""
        )
        return (
            f"{plural(self.items, 'item')} {'repeats' if one else 'repeat'} the text of another"
            f"{nearly}: none is learned from while its twin is graded.{held}"
        )


def twins_of(calibration: Mapping[str, Any]) -> Twins:
    """What a plan remembers of them; none where it was made before they were looked for."""
    return Twins(**calibration.get("twins", {}))


def grouped(items: Sequence[Item]) -> list[list[Item]]:
    """Items in groups of twins, in the order of each group's first; most groups are one item."""
    found: dict[int, list[Item]] = {}
    for item, number in zip(items, group_numbers(items), strict=True):
        found.setdefault(number, []).append(item)
    return list(found.values())


def whole_groups(groups: Sequence[list[Item]], count: int, rng: Random) -> list[Item]:
    """About ``count`` items of groups drawn at random, each whole; at least one group.

    A group too large for what is wanted is passed over; where all are, the smallest is taken.
    """
    drawn = rng.sample(list(groups), min(count, len(groups)))
    taken = list[Item]()
    for group in drawn:
        if len(taken) + len(group) <= count:
            taken += group
    return taken or min(groups, key=len)


def apart(
    teachers: Sequence[Item], graded: Iterable[Item], *, same: bool, strict: bool = True
) -> tuple[list[list[Item]], Twins]:
    """The groups of those who may teach, and what twins there are.

    With ``strict`` none who teaches has a twin that is surely graded. Examples in a prompt do not
    need it: ``ExampleBank`` shows none of them with its twin.

    Args:
        teachers: items that may be learned from, and are not graded where they are.
        graded: items that are wanted graded; ``teachers`` among them count as above.
        same: whether both are of one dataset, so that an id means one item.
        strict: whether who has such a twin is left out.
    """
    ids = {item.id for item in teachers} if same else set[str]()
    others = [item for item in graded if item.id not in ids]
    numbers = group_numbers([*teachers, *others])
    mine, theirs = numbers[: len(teachers)], numbers[len(teachers) :]
    blocked, found = set(theirs if strict else ()), dict[int, list[Item]]()
    for item, number in zip(teachers, mine, strict=True):
        if number not in blocked:
            found.setdefault(number, []).append(item)
    return list(found.values()), _counted([*teachers, *others], numbers, len(teachers), blocked)


def _counted(
    items: Sequence[Item], numbers: Sequence[int], taught: int, blocked: set[int]
) -> Twins:
    sizes = Counter(numbers)
    if len(sizes) == len(items):
        return Twins()
    several = [item for item, n in zip(items, numbers, strict=True) if sizes[n] > 1]
    keys = Counter(print_of(item).key for item in several)
    near = sum(keys[print_of(item).key] == 1 for item in several)
    return Twins(len(several), near, sum(n in blocked for n in numbers[:taught]))


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
        raise InputError("The shares of train, calibration and test must add up to 100%.")
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
