"""Twins between what is learned and what is graded: kept on one side, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from core.domain.dataset import Item
from core.judging.twins import group_numbers, print_of
from core.services.numbers import plural


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
