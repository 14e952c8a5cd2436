"""Items of a dataset that say the same: how many, and kept on one side of what teaches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Protocol, TypeVar

from core.domain.dataset import Dataset, Item
from core.judging import near_duplicates
from core.judging.near_duplicates import TwinNumbers, group_numbers
from core.store.runs.kept import MANY, Columns
from core.store.store import Store
from core.text.names import STORED
from core.text.numbers import plural

AnyT = TypeVar("AnyT")


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


def whole_groups(groups: Sequence[list[AnyT]], count: int, rng: Random) -> list[AnyT]:
    """About ``count`` items of groups drawn at random, each whole; at least one group.

    A group too large for what is wanted is passed over; where all are, the smallest is taken.
    """
    drawn = rng.sample(list(groups), min(count, len(groups)))
    taken = list[AnyT]()
    for group in drawn:
        if len(taken) + len(group) <= count:
            taken += group
    return taken or min(groups, key=len)


class PlacedItem(Protocol):
    """An item by its id and its place in the dataset."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def place(self) -> int:
        """Its place."""
        ...


PlacedT = TypeVar("PlacedT", bound=PlacedItem)


#: Says how twins are found; another number, and none that was kept before is read.
FORM = 1


def twin_numbers(store: Store, version_id: int) -> TwinNumbers:
    """Which items of a dataset version say the same; looked for once, as a version never changes.

    Twins of twins are one group, also where the item between them is not asked about.
    """
    import numpy as np

    version = store.datasets.version(version_id)

    def look() -> Columns:
        texts = (_text(told, version.head) for told in store.datasets.contents(version_id))
        found = near_duplicates.twin_numbers(texts)
        return Columns({}, {"group": np.array(found.group), "same": np.array(found.same)})

    about = f"twins in dataset version {version_id}"
    kept = store.kept.made(about, FORM, look, keep=version.items >= MANY).arrays
    return TwinNumbers(kept["group"].tolist(), kept["same"].tolist())


def _text(content: str, head: Dataset) -> tuple[str, str]:
    """The text of an item as the store keeps it, and its prompt."""
    told = json.loads(content)
    submission, prompt = told["submission"], told.get("prompt") or head.prompt
    if isinstance(submission, str):
        return submission, prompt
    # What is no plain text says itself what of it is text.
    return Item.model_validate_json(content, context=STORED).text, prompt


def _numbers(items: Iterable[Item]) -> TwinNumbers:
    return near_duplicates.twin_numbers((item.text, item.prompt) for item in items)


def apart(
    teachers: Sequence[PlacedT],
    graded: Iterable[PlacedT],
    twins: TwinNumbers,
    *,
    strict: bool = True,
) -> tuple[list[list[PlacedT]], Twins]:
    """The groups of those who may teach, and what twins there are.

    With ``strict`` none who teaches has a twin that is surely graded. Examples in a prompt do not
    need it: ``ExampleBank`` shows none of them with its twin.

    Args:
        teachers: items that may be learned from, and are not graded.
        graded: items that are wanted graded; ``teachers`` among them count as above.
        twins: those of the dataset that all of them are of.
        strict: whether who has such a twin is left out.
    """
    ids = {item.id for item in teachers}
    places = [item.place for item in teachers]
    places += [item.place for item in graded if item.id not in ids]
    numbers = TwinNumbers(
        [twins.group[place] for place in places], [twins.same[place] for place in places]
    )
    return _apart(teachers, numbers, strict=strict)


def apart_texts(
    teachers: Sequence[AnyT], texts: Sequence[Item], graded: Sequence[Item], *, strict: bool = True
) -> tuple[list[list[AnyT]], Twins]:
    """As ``apart``, for graded items that are not of the teachers' dataset, or are other ones of
    it; ``texts`` are the teachers' items.
    """
    return _apart(teachers, _numbers([*texts, *graded]), strict=strict)


def _apart(
    teachers: Sequence[AnyT], numbers: TwinNumbers, *, strict: bool
) -> tuple[list[list[AnyT]], Twins]:
    """``numbers`` are those of the teachers, and then of all who are graded."""
    mine, theirs = numbers.group[: len(teachers)], numbers.group[len(teachers) :]
    blocked, found = set(theirs if strict else ()), dict[int, list[AnyT]]()
    for item, number in zip(teachers, mine, strict=True):
        if number not in blocked:
            found.setdefault(number, []).append(item)
    return list(found.values()), _counted(numbers, mine, blocked)


def _counted(numbers: TwinNumbers, taught: Sequence[int], blocked: set[int]) -> Twins:
    sizes = Counter(numbers.group)
    if len(sizes) == len(numbers.group):
        return Twins()
    several = [s for n, s in zip(numbers.group, numbers.same, strict=True) if sizes[n] > 1]
    keys = Counter(several)
    near = sum(times == 1 for times in keys.values())
    return Twins(len(several), near, sum(n in blocked for n in taught))
