"""Marks that came with the texts count once the rubric is known; their words are asked for."""

from __future__ import annotations

import pytest

from core.domain.dataset import Dataset, Item, Label
from core.domain.library import DatasetVersion
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.services.datasets import catalog
from core.services.guided import judging, marks
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(
    name="Essay",
    criteria=(
        Criterion(
            name="Cause",
            requirement="Is the cause named?",
            weight=4,
            scale="ordinal",
            options=(
                Option(label="Nothing", value=0),
                Option(label="Half", value=0.5),
                Option(label="Full", value=1),
            ),
        ),
        Criterion(name="Short", requirement="Is it short?"),
    ),
)


def class_with(store: Store, *notes: dict[str, object]) -> DatasetVersion:
    """A dataset whose texts bring these notes."""
    items = tuple(
        Item(id=f"s{n}", submission=f"Text {n}", meta=each) for n, each in enumerate(notes, start=1)
    )
    return store.datasets.create(Dataset(name="Class", items=items), now=NOW, source="class.xlsx")


def test_the_rubric_is_guessed_that_most_of_the_columns_are_named_after(store: Store) -> None:
    other = RUBRIC.model_copy(update={"name": "Other", "criteria": RUBRIC.criteria[1:]})
    store.rubrics.create(other, now=NOW)
    essay = store.rubrics.create(RUBRIC, now=NOW)
    assert marks.likely_rubric(store, ("id", "Answer", "cause", "SHORT")) == essay.id
    # One of two criteria is a word that happens to be there.
    assert marks.likely_rubric(store, ("id", "Answer", "Cause")) is None


def test_columns_of_the_criteria_s_names_are_marks_and_points_tell_the_level(store: Store) -> None:
    version = class_with(
        store,
        {"cause": "4", "Short": "yes", "Name": "Ann"},
        {"cause": "2.0", "Short": "no", "Name": "Bob"},
        {"cause": "so so", "Short": "", "Name": "Cem"},
    )
    found = marks.find_marks(store, version.id, RUBRIC)
    assert found.marked == {"Cause": 3, "Short": 2}
    # 4 points are all of weight 4, 2 are half; yes and no are known; "so so" is for a person.
    assert found.words == {"Cause": {"4": "Full", "2.0": "Half", "so so": None}}
    assert not found.settled


def test_a_column_of_marks_alone_is_a_rubric_of_one_criterion(store: Store) -> None:
    version = class_with(
        store,
        {"Name": "Ann", "Mark": "5"},
        {"Name": "Bob", "Mark": "0.0"},
        {"Name": "Cem", "Mark": 3},
        {"Name": "Dan", "Mark": ""},
    )
    rubric = marks.as_rubric(store, version.id)
    assert rubric is not None
    (mark,) = rubric.criteria
    assert (mark.name, mark.weight) == ("Mark", 5)
    assert [option.label for option in mark.options] == ["0", "1", "2", "3", "4", "5"]

    kept = marks.take_as_rubric(store, version, rubric)

    newest = catalog.latest(store, version.dataset_id)
    items = [catalog.item_of_version(store, newest, f"s{n}") for n in (1, 2, 3, 4)]
    assert [[label.label for label in one.labels.values()] for one in items] == [
        ["5"],
        ["0"],
        ["3"],
        [],
    ]
    assert kept.rubric == rubric
    assert marks.find_marks(store, newest.id, rubric).settled


@pytest.mark.parametrize(
    "given",
    [["1", "2.5"], ["40", "87"], ["good", "3"], ["3", "3"], ["-1", "2"]],
    ids=["halves", "hundreds", "words", "one mark", "below zero"],
)
def test_other_marks_make_no_rubric(store: Store, given: list[str]) -> None:
    version = class_with(store, *({"Mark": mark} for mark in given))
    assert marks.as_rubric(store, version.id) is None


def test_taken_as_labels_they_are_options_and_what_was_there_stays(store: Store) -> None:
    version = class_with(
        store, {"Cause": "great", "Short": "yes"}, {"Cause": "Half"}, {"Name": "Cem"}
    )
    with pytest.raises(InputError, match="no option yet"):
        marks.take(store, version, RUBRIC, {})
    taken = marks.take(store, version, RUBRIC, {"Cause": {"great": "Full"}})
    assert (taken.dataset_id, taken.number) == (version.dataset_id, 2)
    items = [catalog.item_of_version(store, taken, f"s{n}") for n in (1, 2, 3)]
    labels = [{name: label.label for name, label in item.labels.items()} for item in items]
    assert labels == [{"Cause": "Full", "Short": "MET"}, {"Cause": "Half"}, {}]
    assert items[2].meta == {"Name": "Cem"}
    assert marks.find_marks(store, taken.id, RUBRIC).settled
    assert judging.count_labelled(store, taken.id, RUBRIC) == 2


def test_texts_without_marks_ask_nothing(store: Store) -> None:
    assert marks.find_marks(store, class_with(store, {"Name": "Ann"}).id, RUBRIC).settled


def test_a_column_of_remarks_is_no_column_of_marks(store: Store) -> None:
    notes = [{"Cause": f"remark number {n}"} for n in range(marks.MOST_WORDS + 1)]
    found = marks.find_marks(store, class_with(store, *notes).id, RUBRIC)
    assert (found.marked, found.words, found.settled) == ({}, {}, True)


def test_labels_that_came_along_under_another_spelling_are_those_of_the_criterion(
    store: Store,
) -> None:
    labels = {"cause": Label(label="Full", reason="names it"), "Other": Label(label="3")}
    item = Item(id="a", submission="Text", labels=labels)
    version = store.datasets.create(Dataset(name="Class", items=(item,)), now=NOW, source="c.csv")
    found = marks.find_marks(store, version.id, RUBRIC)
    assert (found.marked, found.settled) == ({"Cause": 1}, False)
    taken = marks.take(store, version, RUBRIC, {})
    kept = store.datasets.load(taken.id).items[0].labels
    assert {name: (label.label, label.reason) for name, label in kept.items()} == {
        "Cause": ("Full", "names it"),
        "Other": ("3", ""),
    }


def test_a_mark_for_the_whole_text_is_that_of_the_only_criterion(store: Store) -> None:
    version = class_with(store, {"Teacher’s mark": "4", "Room": "2"}, {"Teacher’s mark": "2"})
    alone = RUBRIC.model_copy(update={"criteria": RUBRIC.criteria[:1]})
    found = marks.find_marks(store, version.id, alone)
    assert found.words == {"Cause": {"4": "Full", "2": "Half"}}
    # Of two criteria it could be either's.
    assert not marks.find_marks(store, version.id, RUBRIC).marked


def test_a_label_of_the_whole_text_is_a_mark_of_the_only_criterion(store: Store) -> None:
    items = tuple(
        Item(id=f"s{at}", submission=f"Text {at}", labels={"mark": Label(label=str(at))})
        for at in (2, 4)
    )
    version = store.datasets.create(Dataset(name="Class", items=items), now=NOW, source="c.csv")
    alone = RUBRIC.model_copy(update={"criteria": RUBRIC.criteria[:1]})
    found = marks.find_marks(store, version.id, alone)
    assert found.words == {"Cause": {"2": "Half", "4": "Full"}}
    assert not found.settled
    taken = marks.take(store, version, alone, {"Cause": {"2": "Half", "4": "Full"}})
    kept = [item.labels["Cause"].label for item in store.datasets.load(taken.id).items]
    assert kept == ["Half", "Full"]
