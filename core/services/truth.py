"""The rubric in force for an item, and the truth its labels give."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.dataset import Item, Label
from core.domain.rubric import Rubric


def effective(item: Item, rubric: Rubric) -> Rubric:
    """The rubric in force for an item: its own where it has one."""
    return item.rubric or rubric


def labels_of(item: Item, rubric: Rubric) -> dict[str, int]:
    """The true choice per criterion of the rubric, where the item's label is one of its options."""
    found = {c.name: item.truth(c) for c in rubric.criteria}
    return {name: index for name, index in found.items() if index is not None}


def with_truth(item: Item, settled: Mapping[str, Label | None]) -> Item:
    """The item with the labels that people settled, by criterion, in place of its own.

    ``None`` takes a label away: people settled that nobody can say.
    """
    if not settled:
        return item
    labels = {**item.labels, **settled}
    kept = {name: label for name, label in labels.items() if label is not None}
    return item.model_copy(update={"labels": kept})
