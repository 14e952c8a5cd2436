"""A part of a run's items: by tag, system and split, combined."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from core.services.agreeing_sheet import Sheet, Traits, subset


@dataclass(frozen=True)
class Slice:
    """Which items are looked at: with any of these tags, of any of these systems, in this split.

    An empty part lets every item pass.
    """

    tags: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    split: str = ""

    def __bool__(self) -> bool:
        """Whether anything is chosen at all."""
        return bool(self.tags or self.systems or self.split)

    def holds(self, item: Traits) -> bool:
        """Whether an item is in it.

        >>> Slice(tags=("long",)).holds(Traits(tags=("long", "x")))
        True
        """
        return (
            (not self.tags or bool(set(self.tags) & set(item.tags)))
            and (not self.systems or item.system in self.systems)
            and (not self.split or item.split == self.split)
        )


@dataclass(frozen=True)
class Choices:
    """What items can be chosen by, and how many items have it, in the order of names."""

    tags: tuple[tuple[str, int], ...]
    systems: tuple[tuple[str, int], ...]
    splits: tuple[tuple[str, int], ...]

    def known(self, asked: Slice) -> Slice:
        """The slice without what no item has."""
        tags, systems = dict(self.tags), dict(self.systems)
        return Slice(
            tags=tuple(tag for tag in asked.tags if tag in tags),
            systems=tuple(one for one in asked.systems if one in systems),
            split=asked.split if asked.split in dict(self.splits) else "",
        )


def choices(sheet: Sheet) -> Choices:
    """What the items of a sheet can be chosen by; what all of them share is left out."""
    return Choices(
        tags=_counted(sheet, [tag for item in sheet.traits for tag in set(item.tags)]),
        systems=_counted(sheet, [item.system for item in sheet.traits if item.system]),
        splits=_counted(sheet, [item.split for item in sheet.traits if item.split]),
    )


def _counted(sheet: Sheet, names: list[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name, n) for name, n in sorted(Counter(names).items()) if n < len(sheet.items))


def sliced(sheet: Sheet, part: Slice) -> Sheet:
    """The sheet with only the items of that part."""
    if not part:
        return sheet
    return subset(sheet, np.array([part.holds(item) for item in sheet.traits], np.bool_))
