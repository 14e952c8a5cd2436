"""Marks that came with the texts: the criterion of each column, and the option of each mark.

A column belongs to the criterion with its name, whether it was imported as labels or as a note.
With the rubric, marks are matched with options; people decide about marks that match none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from core.domain.dataset import Dataset, Item, Label
from core.domain.library import DatasetVersion, RubricVersion
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError, Problem
from core.formats.columns.headings import lower_heading
from core.formats.columns.label_words import AWAY, NO_ANSWER, holds_no_answer, option_named
from core.formats.source.csv_writer import number_of
from core.services.access.allowing import allowed
from core.services.datasets import catalog
from core.services.rubrics import library
from core.store.store import Store
from core.text.names import fold

#: A column with more distinct words than this, options not counted, does not contain marks.
MOST_WORDS = 40

#: Headings of marks for the whole text, which belong to a rubric's only criterion.
WHOLE = frozenset({"mark", "marks", "grade", "score", "points"})
WHOSE = ("teacher's ", "teachers ", "teacher ", "my ", "final ", "total ")

#: Whole marks from 0 to at most this make a criterion whose options are the marks.
MOST_MARK = 10

#: The number of recent rubrics that are searched for the criteria that columns name.
MOST_RUBRICS = 50

Words = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Marks:
    """The marks of the texts for the rubric's criteria.

    ``marked`` counts texts by criterion. ``words`` has, by criterion, the marks that are not an
    option, most frequent first, with the probable option (``None``: unknown). ``settled``: all are
    already labels with an option.
    """

    marked: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    settled: bool = True


def likely_rubric(store: Store, columns: Iterable[str]) -> int | None:
    """Return the rubric version with the most criteria among a table's columns. ``None`` if no
    rubric finds more than half of its criteria.
    """
    headings = {lower_heading(column.removeprefix("label:")) for column in columns}
    most, chosen = 0, None
    for row in library.rubric_rows(store)[:MOST_RUBRICS]:
        names = [c.name for c in library.version_by_id(store, row.version_id).rubric.criteria]
        hits = sum(lower_heading(name) in headings for name in names)
        if hits > most and 2 * hits > len(names):
            most, chosen = hits, row.version_id
    return chosen


def find_marks(store: Store, version_id: int, rubric: Rubric) -> Marks:
    """Return the marks in a dataset version for the criteria of this rubric."""
    counts: dict[str, Counter[str]] = {}
    settled = True
    for item in store.datasets.items(version_id):
        for criterion, word, is_label in _item_marks(item, rubric):
            counts.setdefault(criterion.name, Counter())[word] += 1
            settled = settled and is_label and criterion.index_of(word) is not None
    meanings = dict[str, dict[str, str | None]]()
    for name, answers in counts.items():
        criterion = rubric.criterion(name)
        unknown = [
            word for word, _ in answers.most_common() if option_named(criterion, word) is None
        ]
        if len(unknown) > MOST_WORDS:
            continue
        if unknown:
            meanings[name] = {word: probable_option(criterion, word) for word in unknown}
    counted = {
        n: sum(c.values()) for n, c in counts.items() if n in meanings or _marks_fit(rubric, n, c)
    }
    return Marks(counted, meanings, settled or not counted)


def _marks_fit(rubric: Rubric, name: str, word_counts: Counter[str]) -> bool:
    return all(option_named(rubric.criterion(name), word) is not None for word in word_counts)


def _item_marks(item: Item, rubric: Rubric) -> Iterator[tuple[Criterion, str, bool]]:
    """Yield an item's mark by criterion, and whether it is already a label."""
    notes = {lower_heading(key): value for key, value in item.meta.items()}
    spelt = {lower_heading(name): label for name, label in item.labels.items()}
    for criterion in rubric.criteria:
        label = item.labels.get(criterion.name) or spelt.get(lower_heading(criterion.name))
        if label is not None:
            yield criterion, label.label, criterion.name in item.labels
            continue
        value = notes.get(lower_heading(criterion.name))
        if value is None and len(rubric.criteria) == 1:
            item_marks = {**{head: label.label for head, label in spelt.items()}, **notes}
            value = next((item_marks[head] for head in item_marks if _means_whole_text(head)), None)
        word = str(value).strip() if isinstance(value, str | int | float) else ""
        if not holds_no_answer(criterion, word) and fold(word) not in AWAY:
            yield criterion, word, False


def _means_whole_text(heading: str) -> bool:
    """Return whether a heading means a mark for the whole text.

    >>> [_means_whole_text(head) for head in ("teacher's mark", "points", "landmark", "rock grade")]
    [True, True, False, False]
    """
    bare = heading.replace("’", "'")
    return next((bare.removeprefix(w) for w in WHOSE if bare.startswith(w)), bare) in WHOLE


def probable_option(criterion: Criterion, word: str) -> str | None:
    """Return the probable option of a mark, by its points.

    >>> from core.domain.rubric import Option
    >>> levels = (Option(label="Weak", value=0.5), Option(label="Strong", value=1))
    >>> one = Criterion(name="x", requirement="y", scale="ordinal", weight=4, options=levels)
    >>> probable_option(one, "4"), probable_option(one, "2,0"), probable_option(one, "3")
    ('Strong', 'Weak', None)
    """
    points = number_of(word)
    if points is None:
        return None
    same = [
        option.label
        for option in criterion.choices
        if option.value is not None and abs(option.value * criterion.weight - points) < 1e-9
    ]
    return same[0] if len(same) == 1 else None


def as_rubric(store: Store, version_id: int) -> Rubric | None:
    """Return a rubric whose only criterion is the mark that came with each text; ``None`` without
    such marks.

    Marks are whole numbers from 0 up to at most `MOST_MARK`.
    """
    marks_by_criterion: dict[str, set[str]] = {}
    for item in store.datasets.items(version_id):
        labels = {name: label.label for name, label in item.labels.items()}
        for head, value in {**item.meta, **labels}.items():
            word = str(value).strip() if isinstance(value, str | int | float) else ""
            if _means_whole_text(lower_heading(head)) and fold(word) not in NO_ANSWER | AWAY:
                marks_by_criterion.setdefault(head, set()).add(word)
    for head, words in marks_by_criterion.items():
        numbers = [number_of(word) for word in words]
        marks = [int(number) for number in numbers if number is not None and number % 1 == 0]
        if len(marks) == len(words) > 1 and min(marks) >= 0 and max(marks) <= MOST_MARK:
            return _mark_rubric(head, max(marks))
    return None


def _mark_rubric(heading: str, most: int) -> Rubric:
    options = tuple(Option(label=str(mark), value=mark / most) for mark in range(most + 1))
    question = f"Which mark does the answer earn, 0 to {most}?"
    mark = Criterion(
        name=heading, requirement=question, scale="ordinal", weight=most, options=options
    )
    return Rubric(name=heading, criteria=(mark,))


@allowed("write")
def take_as_rubric(store: Store, version: DatasetVersion, rubric: Rubric) -> RubricVersion:
    """Store the rubric of `as_rubric`, and its marks as labels of the texts."""
    words = find_marks(store, version.id, rubric).words
    meant_by = {
        name: {word: option for word, option in of.items() if option} for name, of in words.items()
    }
    take(store, version, rubric, meant_by)
    return catalog.keep_rubric(store, rubric, version.source or version.name)


@allowed("write")
def take(store: Store, version: DatasetVersion, rubric: Rubric, words: Words) -> DatasetVersion:
    """Save the marks as labels in the dataset's next version; ``words`` maps marks to options.

    Raises:
        InputError: a mark has no option yet.
    """
    missing = [
        Problem(f"{name}: {word!r} is not an option.", "Say which it is.")
        for name, word_meanings in find_marks(store, version.id, rubric).words.items()
        for word in word_meanings
        if word not in words.get(name, {})
    ]
    if missing:
        raise InputError("Some of their words have no option yet.", tuple(missing))
    dataset = store.datasets.load(version.id)
    items = tuple(_with_labels(item, rubric, words) for item in dataset.items)
    changed: Dataset = dataset.model_copy(update={"items": items})
    version, _ = catalog.import_dataset(
        store, changed, dataset_id=version.dataset_id, source=version.source or version.name
    )
    return version


def _with_labels(item: Item, rubric: Rubric, words: Words) -> Item:
    exact = {criterion.name for criterion in rubric.criteria}
    spelt = {lower_heading(name): label for name, label in item.labels.items()}
    label_columns = {lower_heading(name) for name in exact}
    labels = {
        n: v for n, v in item.labels.items() if n in exact or lower_heading(n) not in label_columns
    }
    for criterion, word, _ in _item_marks(item, rubric):
        place = option_named(criterion, word)
        option = words.get(criterion.name, {}).get(word)
        if place is None and option is not None:
            place = criterion.index_of(option)
        if place is not None:
            before = labels.get(criterion.name) or spelt.get(lower_heading(criterion.name))
            reason = before.reason if before else ""
            labels[criterion.name] = Label(label=criterion.choices[place].label, reason=reason)
    return item.model_copy(update={"labels": labels})
