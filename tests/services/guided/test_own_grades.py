"""Ten texts graded by hand: drawn, kept, made labels, declared; and what they teach."""

from __future__ import annotations

import random

import pytest

from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetVersion, RubricVersion
from core.errors import InputError
from core.services.datasets import label_draws
from core.services.guided import learning, own_grades
from core.services.guided.learning import LearntCriterion
from core.store.store import Store
from tests.judging.offline.answers import REFERENCE
from tests.services.guided.test_marks import NOW, RUBRIC

WORDS = sorted({word for word in REFERENCE.lower().replace(",", "").split() if len(word) > 3})


def a_class(store: Store, n: int = 24) -> tuple[DatasetVersion, RubricVersion]:
    """Texts that use one, three or five of the reference's words; the id says which."""
    generator = random.Random(4)
    items = list[Item]()
    for i in range(n):
        used = generator.sample(WORDS, (1, 3, 5)[i % 3])
        text = [*used, *(f"word{generator.randrange(9_999)}" for _ in range(12 - len(used)))]
        generator.shuffle(text)
        items.append(
            Item(id=f"{i}-{i % 3}", submission=" ".join(text), prompt="Why?", reference=REFERENCE)
        )
    dataset = store.datasets.create(Dataset(name="Class", items=tuple(items)), now=NOW)
    return dataset, store.rubrics.create(RUBRIC, now=NOW)


def grade(store: Store, version: DatasetVersion, rubric: RubricVersion, most: int = 99) -> None:
    """Answer what is open, as the ids say."""
    for _ in range(most):
        now = own_grades.unfinished_sitting(store, version, rubric)
        assert now is not None
        if now.open is None:
            return
        item, criterion = now.open
        level = int(item.id[-1])
        label = ("Nothing", "Half", "Full")[level] if criterion.name == "Cause" else "MET"
        own_grades.answer(store, version, rubric, item.id, criterion.name, label)


def ten(store: Store, version: DatasetVersion, rubric: RubricVersion) -> DatasetVersion:
    own_grades.begin(store, version, rubric)
    grade(store, version, rubric)
    return own_grades.finish(store, version, rubric)


def labelled(store: Store, version: DatasetVersion) -> set[str]:
    return {item.id for item in store.datasets.items(version.id) if item.labels}


def test_ten_graded_texts_are_labels_of_the_next_version_and_a_declared_draw(store: Store) -> None:
    version, rubric = a_class(store)
    own_grades.begin(store, version, rubric)
    drawn = own_grades.unfinished_sitting(store, version, rubric)
    assert drawn is not None
    assert (len(drawn.items), drawn.done, drawn.answers) == (10, 0, 0)
    grade(store, version, rubric)
    after = own_grades.finish(store, version, rubric)
    assert after.number == 2
    assert labelled(store, after) == {item.id for item in drawn.items}
    for item in store.datasets.items(after.id, [drawn.items[0].id]):
        assert {name: label.label for name, label in item.labels.items()}["Short"] == "MET"
    assert own_grades.unfinished_sitting(store, after, rubric) is None
    # Its chance is 10 of 24 for every text, so that corrected results may rest on it.
    assert label_draws.declared_draw(store, after.id) is not None
    assert set(label_draws.item_chances(store, after.id, "").values()) == {10 / 24}


def test_the_next_ten_are_others_and_the_draw_goes_on(store: Store) -> None:
    version, rubric = a_class(store)
    first = ten(store, version, rubric)
    second = ten(store, first, rubric)
    assert len(labelled(store, second)) == 20
    assert labelled(store, first) < labelled(store, second)
    assert label_draws.declared_draw(store, second.id) is not None
    last = ten(store, second, rubric)  # the four that are left: nothing was drawn any more
    assert len(labelled(store, last)) == 24
    assert label_draws.declared_draw(store, last.id) is None
    with pytest.raises(InputError, match="Every text has a grade"):
        own_grades.begin(store, last, rubric)


def test_labels_that_came_with_the_texts_are_no_draw_of_ours(store: Store) -> None:
    version, rubric = a_class(store)
    ten(store, version, rubric)
    whole = store.datasets.load(version.id)
    order = own_grades.in_draw_order([item.id for item in whole.items], version)
    marked = own_grades._save_labels(store, version, {order[-1]: {"Cause": "Half"}})
    after = ten(store, marked, rubric)
    assert len(labelled(store, after)) == 11
    assert label_draws.declared_draw(store, after.id) is None


def test_picked_texts_come_in_order_of_their_reference_and_are_no_draw(store: Store) -> None:
    version, rubric = a_class(store)
    picked = [f"{at}-{at % 3}" for at in range(9)]
    own_grades.begin(store, version, rubric, picked)
    now = own_grades.unfinished_sitting(store, version, rubric)
    assert now is not None
    # Most of the reference's words first: five, then three, then one.
    assert [item.id[-1] for item in now.items] == list("222111000")
    grade(store, version, rubric)
    after = own_grades.finish(store, version, rubric)
    assert labelled(store, after) == set(picked)
    assert label_draws.declared_draw(store, after.id) is None


def test_answers_survive_and_the_last_is_taken_back(store: Store) -> None:
    version, rubric = a_class(store)
    own_grades.begin(store, version, rubric)
    grade(store, version, rubric, most=3)
    now = own_grades.unfinished_sitting(store, version, rubric)
    assert now is not None
    assert (now.answers, now.done) == (3, 1)
    assert now.open == (now.items[1], RUBRIC.criteria[1])
    own_grades.take_back(store, version, rubric)
    own_grades.take_back(store, version, rubric)
    back = own_grades.unfinished_sitting(store, version, rubric)
    assert back is not None
    assert back.open == (now.items[0], RUBRIC.criteria[1])
    # Ended here, only what is whole becomes a label: nothing.
    assert own_grades.finish(store, version, rubric).id == version.id
    with pytest.raises(InputError, match="another window"):
        own_grades.take_back(store, version, rubric)


def test_a_finished_sitting_is_opened_again_and_its_labels_hold_meanwhile(store: Store) -> None:
    version, rubric = a_class(store)
    after = ten(store, version, rubric)
    over = own_grades.finished_sitting(store, after, rubric)
    assert over is not None
    assert over.saved == labelled(store, after)
    own_grades.take_back(store, after, rubric)
    own_grades.take_back(store, after, rubric)
    now = own_grades.unfinished_sitting(store, after, rubric)
    assert now is not None
    assert (now.done, now.open) == (9, (over.items[-1], RUBRIC.criteria[0]))
    assert own_grades.finished_sitting(store, after, rubric) is None
    # Stopped here, nothing is lost, and it can be opened once more.
    assert own_grades.finish(store, after, rubric) == after
    own_grades.take_back(store, after, rubric)
    grade(store, after, rubric)
    assert own_grades.finish(store, after, rubric) == after  # the same answers as before
    own_grades.begin(store, after, rubric)
    assert own_grades.finished_sitting(store, after, rubric) is None


def test_what_ten_and_twenty_grades_teach_is_said_with_its_interval(store: Store) -> None:
    version, rubric = a_class(store, 60)
    first = ten(store, version, rubric)
    twenty = ten(store, first, rubric)
    cause, short = learning.learning(store, twenty, rubric).criteria
    assert cause.labels == 20
    assert cause.kappa is not None
    assert cause.low is not None
    assert cause.low < cause.kappa
    assert cause.high is not None
    low, high = cause.interval_if_doubled
    assert low is not None
    assert high is not None
    assert cause.low < low < cause.kappa <= high <= cause.high
    assert "with 20" in cause.words
    assert "With 40" in cause.words
    # Everything is short: there is nothing to learn, and it says so.
    assert short.words.startswith('not yet. 20 of 20 labels are "MET"')
    assert not learning.learning(store, twenty, rubric).enough


@pytest.mark.parametrize(
    ("one", "enough"),
    [
        (LearntCriterion("a", 20, 0.8, 0.7, 0.9), True),  # surely good
        (LearntCriterion("a", 60, 0.6, 0.5, 0.7), False),
        (LearntCriterion("a", 70, 0.5, 0.3, 0.7), True),  # ten more are a seventh
        (LearntCriterion("a", 70, off="Chance could do that."), False),
    ],
)
def test_it_is_enough_where_ten_more_would_hardly_change_a_judge(
    one: LearntCriterion, enough: bool
) -> None:
    assert learning.LearntSoFar((one,)).enough is enough


def test_with_twice_as_many_labels_the_same_kappa_is_known_more_exactly() -> None:
    # .5 - .2 / 1.4142 and .5 + .1 / 1.4142
    found = LearntCriterion("a", 30, 0.5, 0.3, 0.6)
    assert found.interval_if_doubled == pytest.approx((0.3586, 0.5707), abs=1e-4)
    assert found.words == (
        "kappa 0.50 (0.30 to 0.60) with 30 labels. With 60 you would know it more exactly: "
        "0.36 to 0.57 if it stays 0.50."
    )
    assert LearntCriterion("a", 10, 0.9).interval_if_doubled == (None, None)


def test_what_could_be_nearly_anything_is_not_foretold() -> None:
    # -.22 and 1 are more than 1 apart.
    assert (
        LearntCriterion("a", 10, 0.52, -0.22, 1.0).words
        == "kappa 0.52 (\N{MINUS SIGN}0.22 to 1.00) with 10 labels."
    )
