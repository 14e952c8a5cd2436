"""The items of a dataset version from which a plan chooses, without their texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.dataset import Item, Split
from core.domain.rubric import Rubric
from core.judging.near_duplicates import TwinNumbers
from core.services.datasets.twins import twin_numbers
from core.services.results.scored_items import labels_of, resolved_items, rubric_in_force
from core.store.store import Store

if TYPE_CHECKING:
    import numpy.typing as npt

    Flags = npt.NDArray[Any]


class Candidate(NamedTuple):
    """An item that a plan may choose.

    ``place`` is its position in the dataset. ``teaches``: it has a label that fits its rubric.
    ``text``: it has a text to judge.
    """

    id: str
    place: int
    split: Split | None
    teaches: bool
    text: bool


class Candidates:
    """All items of a dataset version, with labels, and with verdicts settled up to an event."""

    def __init__(self, store: Store, version: int, rubric: Rubric, upto: int | None = None) -> None:
        # Columns need numpy, which planning from the command line should not load.
        from core.services.datasets import item_columns

        self._store, self.version, self._rubric, self._upto = store, version, rubric, upto
        self._columns = item_columns.columns_of_version(store, version)

    @property
    def everyone(self) -> list[Candidate]:
        """Return the items in the order of the dataset."""
        columns = self._columns
        splits = [split or None for *_, split in columns.kinds]
        parts = (columns.kind.tolist(), self._may_teach.tolist(), columns.texts.tolist())
        return [
            Candidate(item_id, place, splits[kind], teaches, text)
            for place, (item_id, kind, teaches, text) in enumerate(
                zip(columns.ids, *parts, strict=True)
            )
        ]

    @property
    def teachers(self) -> int:
        """Return how many items offline judges may learn from."""
        marked = [split == "evaluation" for *_, split in self._columns.kinds]
        return sum(
            teaches and not marked[kind]
            for teaches, kind in zip(
                self._may_teach.tolist(), self._columns.kind.tolist(), strict=True
            )
        )

    @cached_property
    def twins(self) -> TwinNumbers:
        """Return which items have the same text."""
        return twin_numbers(self._store, self.version)

    @cached_property
    def _may_teach(self) -> Flags:
        columns = self._columns
        teaches: Flags = columns.own & False
        criteria = {criterion.name: criterion for criterion in self._rubric.criteria}
        for name, label, rows in columns.labels:
            if name in criteria and criteria[name].index_of(label) is not None:
                teaches[rows] = True
        # The item may have its own rubric or a settled verdict, which change the answer.
        settled = self._store.settled.truth(self.version, upto=self._upto)
        with_own_rubric = [columns.ids[index] for index in columns.own.nonzero()[0].tolist()]
        for item in self.read(list({*with_own_rubric, *settled})):
            fits_rubric = bool(labels_of(item, rubric_in_force(item, self._rubric)))
            teaches[columns.place[item.id]] = fits_rubric
        return teaches

    def read(self, ids: Sequence[str]) -> tuple[Item, ...]:
        """Return these items with their texts, in the order of the dataset."""
        if not ids:
            return ()
        return resolved_items(self._store, self.version, ids, upto=self._upto)

    def asked(self, chosen: Sequence[Candidate]) -> int:
        """Return the total number of criteria of these items."""
        own_rubric = [item.id for item in chosen if self._columns.own[item.place]]
        asked_again = sum(
            len(rubric_in_force(item, self._rubric).criteria) for item in self.read(own_rubric)
        )
        return asked_again + (len(chosen) - len(own_rubric)) * len(self._rubric.criteria)
