"""Items of two runs that belong together, and where their verdicts differ."""

from __future__ import annotations

import pytest

from core.domain.dataset import Dataset
from core.domain.review import ReviewerAnswer
from core.domain.rubric import Criterion
from core.errors import InputError
from core.services.comparison.paired_runs import pair_runs, verdict_flips
from core.services.comparison.side_by_side import differing_pairs, pair_items
from core.services.labelling.settle_at_sight import settle
from core.store.store import Store
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import CLEAR, RUBRIC, dataset, run_with
from tests.services.reviewed import sit


def renamed(data: Dataset, name: str, first: str, items: int) -> Dataset:
    """The first items under ids of another form, as a dataset of its own."""
    kept = [
        one.model_copy(update={"id": f"{first}{at}"}) for at, one in enumerate(data.items[:items])
    ]
    return data.model_copy(update={"name": name, "items": tuple(kept)})


def test_items_are_paired_by_id_and_those_alone_are_counted(store: Store) -> None:
    data = dataset(LABELS)
    some = {"one": {"clear": [0] * 6}}
    first = store.runs.get(run_with(store, data, WEAK))
    # Items 0 to 5, of which the first run has all; the first alone has 6 and 7.
    second = store.runs.get(run_with(store, data, some, items=[f"i{at}" for at in range(6)]))

    pairs, words = pair_items(store, first, second)

    assert pairs == tuple((f"i{at}", f"i{at}") for at in range(6))
    assert words == "6 items in both, paired by id. 2 only in A."


def test_without_a_common_id_two_datasets_of_one_length_are_paired_by_order(store: Store) -> None:
    data = dataset(LABELS)
    first = store.runs.get(run_with(store, data, WEAK))
    second = store.runs.get(run_with(store, renamed(data, "Others", "x", 8), STRONG))

    pairs, words = pair_items(store, first, second)

    assert pairs == tuple((f"i{at}", f"x{at}") for at in range(8))
    assert words == "No id is in both: the 8 items of each are paired by their order."


def test_order_says_nothing_where_lengths_differ_or_the_dataset_is_one(store: Store) -> None:
    data = dataset(LABELS)
    first = store.runs.get(run_with(store, data, WEAK))
    fewer = run_with(store, renamed(data, "Fewer", "x", 3), {"one": {"clear": [0, 0, 0]}})
    with pytest.raises(InputError, match="8 items and run 2 3, and no id is in both"):
        pair_items(store, first, store.runs.get(fewer))

    halves = [
        store.runs.get(run_with(store, data, WEAK, items=[f"i{at}" for at in part]))
        for part in (range(4), range(4, 8))
    ]
    with pytest.raises(InputError, match="have no item in common, though both are over 'Replies'"):
        pair_items(store, halves[0], halves[1])


def test_pairs_differ_by_the_labels_of_verdicts_on_criteria_of_both(store: Store) -> None:
    data = dataset(LABELS)
    runs = [store.runs.get(run_with(store, data, answers)) for answers in (WEAK, STRONG)]
    # WEAK and STRONG: clear differs on 3, 4, 5, 6 and 7; tone on 3 and 4.
    assert differing_pairs(store, (runs[0], runs[1]), pair_items(store, *runs)[0]) == (
        3,
        4,
        5,
        6,
        7,
    )

    # The same options under another name and in another order: words count, numbers do not.
    other = turned_about(CLEAR, "CLEAR ")
    alone = RUBRIC.model_copy(update={"name": "Alone", "criteria": (other,)})
    turned = {"one": {other.name: [1 - option for option in WEAK["one"]["clear"]]}}
    third = store.runs.get(run_with(store, renamed(data, "Others", "x", 8), turned, rubric=alone))
    assert differing_pairs(store, (runs[0], third), pair_items(store, runs[0], third)[0]) == ()


def test_what_people_settle_moves_no_pair_as_it_moves_no_flip(store: Store) -> None:
    data = dataset(LABELS)
    runs = [store.runs.get(run_with(store, data, answers)) for answers in (WEAK, STRONG)]
    seat = sit(store, "Kay")

    # i3 of WEAK now says what STRONG does, and i0, of which both say the same, another thing.
    settle(store, seat, runs[0].id, [("i3", "clear")], ReviewerAnswer(STRONG["one"]["clear"][3]))
    settle(store, seat, runs[0].id, [("i0", "clear")], ReviewerAnswer(1 - WEAK["one"]["clear"][0]))

    flipped = {
        item
        for flip in verdict_flips(pair_runs(store, *(r.id for r in runs)))
        for item in flip.items
    }
    assert flipped == {f"i{at}" for at in (3, 4, 5, 6, 7)}
    places = differing_pairs(store, (runs[0], runs[1]), pair_items(store, *runs)[0])
    assert {f"i{at}" for at in places} == flipped


def turned_about(criterion: Criterion, name: str) -> Criterion:
    """The criterion by another name, with its first two options changed about."""
    first, second, *rest = criterion.options
    return criterion.model_copy(update={"name": name, "options": (second, first, *rest)})
