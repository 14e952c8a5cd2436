"""Twins: items with the same text. While a twin is graded, judges do not learn from the others."""

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
class RepeatedTexts:
    """How many items of a dataset repeat another's text, and the effect on learning.

    ``items`` have a twin; ``near`` of them have none that is equal except for punctuation and
    spaces. ``held_back`` are labelled items excluded from learning because their twin is graded.
    """

    items: int = 0
    near: int = 0
    held_back: int = 0

    def __bool__(self) -> bool:
        return bool(self.items)

    def to_dict(self) -> dict[str, int]:
        """Return plain data."""
        return asdict(self)

    def in_words(self) -> str:
        """Return a sentence on the items that repeat a text; empty if there are none.

        >>> RepeatedTexts(4, 2, 1).in_words()[:59]
        '4 items repeat the text of another (2 of them nearly): none'
        """
        if not self.items:
            return ""
        single = self.items == 1
        nearly = f" ({self.near} of them nearly)" if self.near else ""
        excluded = (
            f" {plural(self.held_back, 'labelled item')} with a graded twin "
            f"{'teaches' if self.held_back == 1 else 'teach'} nothing for that."
            if self.held_back
            else ""
        )
        return (
            f"{plural(self.items, 'item')} {'repeats' if single else 'repeat'} the text of another"
            f"{nearly}: none is learned from while its twin is graded.{excluded}"
        )


def twins_of(calibration: Mapping[str, Any]) -> RepeatedTexts:
    """Return the twins stored in a plan; plans of older versions have none."""
    return RepeatedTexts(**calibration.get("twins", {}))


def twin_groups_of(items: Sequence[Item]) -> list[list[Item]]:
    """Return items in groups of twins, ordered by each group's first; most groups are one item."""
    groups: dict[int, list[Item]] = {}
    for item, number in zip(items, group_numbers(items), strict=True):
        groups.setdefault(number, []).append(item)
    return list(groups.values())


def whole_groups(groups: Sequence[list[AnyT]], count: int, rng: Random) -> list[AnyT]:
    """Return about ``count`` items of randomly drawn whole groups, at least one group.

    Groups that are too large are skipped; if all are, the smallest is taken.
    """
    drawn = rng.sample(list(groups), min(count, len(groups)))
    chosen = list[AnyT]()
    for group in drawn:
        if len(chosen) + len(group) <= count:
            chosen += group
    return chosen or min(groups, key=len)


class PlacedItem(Protocol):
    """An item by its id and its position in the dataset."""

    @property
    def id(self) -> str:
        """Return the item's id."""
        ...

    @property
    def place(self) -> int:
        """Return the item's position in the dataset."""
        ...


PlacedT = TypeVar("PlacedT", bound=PlacedItem)


#: The version of twin detection; stored results of other versions are ignored.
FORM = 1


def twin_numbers(store: Store, version_id: int) -> TwinNumbers:
    """Return which items of a dataset version have the same text, computed once per version.

    Twins of twins form one group, even if the item between them is not involved.
    """
    import numpy as np

    version = store.datasets.version(version_id)

    def look() -> Columns:
        texts = (
            _stored_text(content, version.head) for content in store.datasets.contents(version_id)
        )
        groups, same = near_duplicates.twin_numbers(texts)
        return Columns({}, {"group": np.array(groups), "same": np.array(same)})

    subject = f"twins in dataset version {version_id}"
    arrays = store.kept.cached_columns(subject, FORM, look, keep=version.items >= MANY).arrays
    return arrays["group"].tolist(), arrays["same"].tolist()


def _stored_text(content: str, dataset: Dataset) -> tuple[str, str]:
    """Return the text of a stored item, and its prompt."""
    data = json.loads(content)
    submission, prompt = data["submission"], data.get("prompt") or dataset.prompt
    if isinstance(submission, str):
        return submission, prompt
    # A structured submission makes its own text.
    return Item.model_validate_json(content, context=STORED).text, prompt


def twin_groups(
    teachers: Sequence[PlacedT],
    graded: Iterable[PlacedT],
    twins: TwinNumbers,
    *,
    strict: bool = True,
) -> tuple[list[list[PlacedT]], RepeatedTexts]:
    """Return the groups of items that may teach, and the twins.

    With ``strict`` no item teaches if a twin of it is surely graded. Examples in a prompt do not
    need this, since ``ExampleBank`` never shows an item its twin.

    Args:
        teachers: items that may be learned from, and are not graded.
        graded: items that are to be graded; those among ``teachers`` count as teachers.
        twins: the twins of their dataset.
        strict: whether items with such a twin are left out.
    """
    ids = {item.id for item in teachers}
    places = [item.place for item in teachers]
    places += [item.place for item in graded if item.id not in ids]
    groups, same = twins
    numbers = [groups[place] for place in places], [same[place] for place in places]
    return _group_teachers(teachers, numbers, strict=strict)


def group_texts_apart(
    teachers: Sequence[AnyT], texts: Sequence[Item], graded: Sequence[Item], *, strict: bool = True
) -> tuple[list[list[AnyT]], RepeatedTexts]:
    """Return what ``twin_groups`` returns, for graded items of another dataset, or for other items
    of this one.

    ``texts`` are the teachers' items.
    """
    both = ((item.text, item.prompt) for item in (*texts, *graded))
    return _group_teachers(teachers, near_duplicates.twin_numbers(both), strict=strict)


def _group_teachers(
    teachers: Sequence[AnyT], numbers: TwinNumbers, *, strict: bool
) -> tuple[list[list[AnyT]], RepeatedTexts]:
    """Group the teachers; ``numbers`` has the teachers' numbers, then the graded items'."""
    group_of, _ = numbers
    teacher_groups, graded_groups = group_of[: len(teachers)], group_of[len(teachers) :]
    blocked, groups = set(graded_groups if strict else ()), dict[int, list[AnyT]]()
    for item, number in zip(teachers, teacher_groups, strict=True):
        if number not in blocked:
            groups.setdefault(number, []).append(item)
    return list(groups.values()), _count_twins(numbers, teacher_groups, blocked)


def _count_twins(numbers: TwinNumbers, taught: Sequence[int], blocked: set[int]) -> RepeatedTexts:
    groups, same = numbers
    sizes = Counter(groups)
    if len(sizes) == len(groups):
        return RepeatedTexts()
    repeated = [s for n, s in zip(groups, same, strict=True) if sizes[n] > 1]
    keys = Counter(repeated)
    near_texts = sum(times == 1 for times in keys.values())
    return RepeatedTexts(len(repeated), near_texts, sum(n in blocked for n in taught))
