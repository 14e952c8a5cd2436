"""An item as an example for judges, or as evidence about them: never both.

What is in a dataset's calibration part teaches (offline judges learn from it, few-shot examples are
drawn from it) and is not graded, so it is in no figure of evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.dataset import Split
from core.domain.library import DatasetVersion, ItemFilter
from core.errors import InputError, NotFound, Problem
from core.services import clock
from core.store.store import Store

__all__ = ["Part", "Split", "part_of", "set_split"]


@dataclass(frozen=True)
class Part:
    """Which part of its dataset's newest version an item is in; ``marked`` counts calibration."""

    split: Split | None
    marked: int


def part_of(store: Store, version_id: int, item_id: str) -> Part | None:
    """Where an item stands in the newest version of its dataset; ``None``: it is not there."""
    latest = store.datasets.latest(store.datasets.version(version_id).dataset_id)
    marked = store.datasets.count(latest.id, ItemFilter(labelled=True, split="calibration"))
    try:
        return Part(store.datasets.item(latest.id, item_id).split, marked)
    except NotFound:
        return None


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
