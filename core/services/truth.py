"""The rubric in force for an item, and the truth its labels give."""

from __future__ import annotations

from core.domain.dataset import Item
from core.domain.rubric import Rubric


def effective(item: Item, rubric: Rubric) -> Rubric:
    """The rubric in force for an item: its own where it has one."""
    return item.rubric or rubric


def labels_of(item: Item, rubric: Rubric) -> dict[str, int]:
    """The true choice per criterion of the rubric, where the item's label is one of its options."""
    found = {c.name: item.truth(c) for c in rubric.criteria}
    return {name: index for name, index in found.items() if index is not None}
