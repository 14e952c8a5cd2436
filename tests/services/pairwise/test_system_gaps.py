"""Two systems of a run are compared on the tasks that both answered."""

from __future__ import annotations

import pytest

from core.services.pairwise import system_gaps
from core.services.pairwise.system_answers import shared_tasks
from core.services.pairwise.system_gaps import NO_TASK
from core.store.store import Store
from tests.services.two_systems import made


def test_items_with_the_same_prompt_are_one_task_of_several_systems(store: Store) -> None:
    shared = shared_tasks(store, store.runs.get(made(store)))

    assert shared.systems == ("old", "new")
    # Task 4 was answered by new alone.
    assert [dict(items) for items in shared.tasks.values()] == [
        {"old": f"o{n}", "new": f"n{n}"} for n in (1, 2, 3)
    ]


def test_the_gap_of_a_criterion_is_the_mean_difference_over_shared_tasks(store: Store) -> None:
    run = store.runs.get(made(store))
    shared = shared_tasks(store, run)

    gaps = system_gaps.gaps_between(store, run, shared, "old", "new", resamples=200)
    score, depth, rude = gaps.values()

    # Depth, new minus old: 1 - 0, .5 - .5, 1 - 0 -> 2/3. n4 has no twin and is not in it.
    assert (list(gaps), depth.value.n) == (["", "Depth", "Rude"], 3)
    assert depth.value.value == pytest.approx(2 / 3)
    # Rude is a penalty: what is left of it is 1 - 1 and 1 - 0; n2's abstention has no value.
    assert rude.value.n == 2
    assert rude.value.value == pytest.approx(0.5)
    # Scores are (10 Depth - 5 Rude) / 10, and at least 0; an abstention is left out:
    # new 1, .5, 1; old 0, .5, 0.
    assert score.value.value == pytest.approx(2 / 3)
    # Three tasks decide nothing.
    assert not any(gap.significant for gap in (score, depth, rude))


def test_the_gap_changes_its_sign_with_the_order_of_the_two(store: Store) -> None:
    run = store.runs.get(made(store))
    shared = shared_tasks(store, run)

    there = system_gaps.gaps_between(store, run, shared, "old", "new", resamples=200)
    back = system_gaps.gaps_between(store, run, shared, "new", "old", resamples=200)

    for one, other in zip(there.values(), back.values(), strict=True):
        assert one.value.value == pytest.approx(-(other.value.value or 0.0))


def test_systems_without_a_shared_task_have_no_gap(store: Store) -> None:
    run = store.runs.get(made(store))
    shared = shared_tasks(store, run)._replace(tasks={})

    score = system_gaps.gaps_between(store, run, shared, "old", "new")[""]

    assert (score.value.value, score.value.reason) == (None, NO_TASK)
