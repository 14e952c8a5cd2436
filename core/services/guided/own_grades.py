"""Ten texts graded by a person, then ten more: labels that offline judges learn from.

The texts are drawn at random, so the labels are a fair sample of all texts. Answers are saved as a
draft until the ten are done; then they become labels of the dataset's next version. The draft stays
until the next sitting, so that an answer can still be changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from core import clock
from core.domain.dataset import Dataset, Item, Label
from core.domain.library import DatasetVersion, RubricVersion
from core.domain.rubric import Criterion
from core.errors import InputError
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.datasets import catalog, label_draws
from core.services.runs.candidates import Candidates
from core.store.store import Store

#: The reviewer name of someone who grades here alone and was never asked for one.
GRADER = "Grader"
#: The number of texts to grade before judges learn again.
TEN = 10
#: The same, of texts that judges left without a grade.
FIVE = 5
_KEPT = "own grades/"
Given = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Sitting:
    """The texts of a sitting in order, and the answers by text and criterion.

    ``saved`` has the texts whose answers are already labels; these answers can still be changed.
    ``picked`` texts were not drawn at random.
    """

    items: tuple[Item, ...]
    criteria: tuple[Criterion, ...]
    given: Given
    saved: frozenset[str] = frozenset()
    picked: bool = False

    @property
    def open(self) -> tuple[Item, Criterion] | None:
        """Return the first text and criterion without an answer, or ``None``."""
        pairs = ((item, criterion) for item in self.items for criterion in self.criteria)
        return next((p for p in pairs if p[1].name not in self.given.get(p[0].id, {})), None)

    @property
    def done(self) -> int:
        """Return how many texts have all answers."""
        return sum(len(self.given.get(item.id, {})) == len(self.criteria) for item in self.items)

    @property
    def answers(self) -> int:
        """Return how many answers were given."""
        return sum(map(len, self.given.values()))


def unlabelled_ids(store: Store, version: DatasetVersion, rubric: RubricVersion) -> list[str]:
    """Return the ids of texts without a grade by this rubric, in the order of the draw."""
    everyone = Candidates(store, version.id, rubric.rubric).everyone
    order = in_draw_order([item.id for item in everyone], version)
    unlabelled = {item.id for item in everyone if item.text and not item.teaches}
    return [item_id for item_id in order if item_id in unlabelled]


def next_open_texts(
    store: Store, version: DatasetVersion, rubric: RubricVersion, ungraded: Collection[str]
) -> tuple[str, ...]:
    """Return the next texts to teach judges with, of more than five that they left without a
    grade; else none.
    """
    if len(ungraded) <= FIVE:
        return ()
    ids = [item_id for item_id in unlabelled_ids(store, version, rubric) if item_id in ungraded]
    return tuple(ids[:FIVE])


def in_draw_order(ids: list[str], version: DatasetVersion) -> list[str]:
    """Return all ids in the dataset's random order; the first ones are the sample."""
    return seeded_random("own grades", version.dataset_id).sample(sorted(ids), len(ids))


def unfinished_sitting(
    store: Store, version: DatasetVersion, rubric: RubricVersion
) -> Sitting | None:
    """Return the unfinished sitting, without texts that were graded since; or ``None``."""
    return _stored_sitting(store, version, rubric, is_over=False)


def finished_sitting(
    store: Store, version: DatasetVersion, rubric: RubricVersion
) -> Sitting | None:
    """Return the last sitting if it is finished; ``take_back`` opens it again."""
    return _stored_sitting(store, version, rubric, is_over=True)


def _stored_sitting(
    store: Store, version: DatasetVersion, rubric: RubricVersion, *, is_over: bool
) -> Sitting | None:
    draft = store.drafts.get(_key(version, rubric))
    if draft is None or draft.content.get("over", False) is not is_over:
        return None
    saved = frozenset(draft.content.get("saved", ()))
    available = saved.union(unlabelled_ids(store, version, rubric))
    ids = [item_id for item_id in draft.content["items"] if item_id in available]
    by_id = {item.id: item for item in store.datasets.items(version.id, ids)} if ids else {}
    criteria = rubric.rubric.criteria
    given = {
        item_id: {
            c.name: answers[c.name]
            for c in criteria
            if c.index_of(answers.get(c.name, "")) is not None
        }
        for item_id, answers in draft.content["given"].items()
        if item_id in by_id
    }
    items = tuple(by_id[item_id] for item_id in ids if item_id in by_id)
    picked = draft.content.get("picked", False)
    return Sitting(items, criteria, given, saved, picked) if items else None


def _key(version: DatasetVersion, rubric: RubricVersion) -> str:
    return f"{_KEPT}{version.dataset_id}/{rubric.rubric_id}"


def _store_sitting(store: Store, key: str, sitting: Sitting, *, is_over: bool = False) -> None:
    content = {
        "items": [item.id for item in sitting.items],
        "given": sitting.given,
        "saved": sorted(sitting.saved),
        "over": is_over,
        "picked": sitting.picked,
    }
    store.drafts.save(key, content, now=clock.now())


@allowed("write")
def begin(
    store: Store, version: DatasetVersion, rubric: RubricVersion, chosen_ids: Collection[str] = ()
) -> None:
    """Start a sitting with the next ten texts of the draw, or with the ``chosen_ids`` texts.

    Picked texts are sorted by similarity to their reference, if all have one, so that similar texts
    come together. This grades nothing.

    Raises:
        InputError: all texts have grades.
    """
    ids = unlabelled_ids(store, version, rubric)
    ids = _sorted_texts(store, version, ids, chosen_ids) if chosen_ids else ids[:TEN]
    if not ids:
        raise InputError("Every text has a grade by this rubric.")
    sitting = {"items": ids, "given": {}, "picked": bool(chosen_ids)}
    store.drafts.save(_key(version, rubric), sitting, now=clock.now())


def _sorted_texts(
    store: Store, version: DatasetVersion, free: list[str], chosen_ids: Collection[str]
) -> list[str]:
    from core.judging.offline.features import closeness_to_reference

    chosen = set(chosen_ids)
    ids = [item_id for item_id in free if item_id in chosen]
    closeness = closeness_to_reference(list(store.datasets.items(version.id, ids))) if ids else None
    return ids if closeness is None else sorted(ids, key=lambda item_id: -closeness[item_id])


@allowed("write")
def answer(
    store: Store,
    version: DatasetVersion,
    rubric: RubricVersion,
    item_id: str,
    criterion: str,
    label: str,
) -> None:
    """Save an answer of the sitting. Raises ``InputError`` if it is over."""
    current = _require_sitting(store, version, rubric)
    answers = {
        **current.given,
        item_id: {**current.given.get(item_id, {}), criterion: label},
    }
    _store_sitting(store, _key(version, rubric), replace(current, given=answers))


@allowed("write")
def take_back(store: Store, version: DatasetVersion, rubric: RubricVersion) -> None:
    """Remove the last answer of the sitting, and open the sitting again if it was finished.

    The labels of a finished sitting hold until it is finished again. Raises ``InputError`` if there
    is no sitting.
    """
    current = finished_sitting(store, version, rubric) or _require_sitting(store, version, rubric)
    remaining_answers = {
        item_id: dict(answers) for item_id, answers in current.given.items() if answers
    }
    for item in reversed(current.items):
        if item.id in remaining_answers:
            last = [c.name for c in current.criteria if c.name in remaining_answers[item.id]][-1]
            del remaining_answers[item.id][last]
            break
    _store_sitting(store, _key(version, rubric), replace(current, given=remaining_answers))


def _require_sitting(store: Store, version: DatasetVersion, rubric: RubricVersion) -> Sitting:
    current = unfinished_sitting(store, version, rubric)
    if current is None:
        raise InputError("These texts were graded in another window. Reload the page.")
    return current


@allowed("write")
def finish(store: Store, version: DatasetVersion, rubric: RubricVersion) -> DatasetVersion:
    """Save the answers as labels of the next version, and end the sitting.

    Texts with missing answers wait for the next sitting. If all labels come from this draw, that is
    declared, so that corrected results may use them.
    """
    current = _require_sitting(store, version, rubric)
    complete = {
        item.id: current.given[item.id]
        for item in current.items
        if len(current.given.get(item.id, {})) == len(current.criteria)
    }
    if complete:
        version = _save_labels(store, version, complete)
        if not current.picked:
            _declare_sample(store, version)
    saved = current.saved.union(complete)
    if saved:
        _store_sitting(store, _key(version, rubric), replace(current, saved=saved), is_over=True)
    else:
        store.drafts.delete(_key(version, rubric))
    return version


def _save_labels(store: Store, version: DatasetVersion, answers: Given) -> DatasetVersion:
    dataset: Dataset = store.datasets.load(version.id)
    items = tuple(
        item.model_copy(
            update={
                "labels": item.labels
                | {name: Label(label=label) for name, label in answers.get(item.id, {}).items()}
            }
        )
        for item in dataset.items
    )
    changed = dataset.model_copy(update={"items": items})
    source = version.source or version.name
    kept, _ = catalog.import_dataset(store, changed, dataset_id=version.dataset_id, source=source)
    return kept


def _declare_sample(store: Store, version: DatasetVersion) -> None:
    """Declare the labels a random sample if they are exactly the first texts of the draw."""
    items = list(store.datasets.items(version.id))
    labelled = {item.id for item in items if item.labels}
    order = in_draw_order([item.id for item in items], version)
    drawn = set(order[: len(labelled)]) == labelled and len(labelled) < len(items)
    if drawn and label_draws.declared_draw(store, version.id) is None:
        label_draws.declare(store, version.id)
