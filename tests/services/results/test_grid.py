"""A run as a grid: what cells earned, means by system, and sets of items as words."""

from __future__ import annotations

import pytest

from core.domain.runs import RunItemFilter
from core.metrics.estimate import Estimate
from core.services.results import browsing, grid
from core.services.results.scored_items import scored_rubric
from core.store.store import Store
from tests.services.two_systems import ANSWERS, made


def test_a_penalty_that_is_met_earns_nothing_and_one_that_is_not_earns_all(store: Store) -> None:
    run = store.runs.get(made(store))
    rows, _ = browsing.run_items(store, run.id)

    cells = {one.row.item_id: one.cells["Rude"] for one in grid.grid_items(store, run, rows)}

    # Rude has weight -5: answer 0 is MET, 1 is UNMET.
    worth = {0: 0.0, 1: 1.0, None: None}
    assert {item: cell.earned for item, cell in cells.items()} == {
        item: worth[of["Rude"]] for item, of in ANSWERS.items()
    }


def test_means_are_of_all_items_and_then_of_each_system(store: Store) -> None:
    run = store.runs.get(made(store))

    every, new, old = grid.system_means(store, run, scored_rubric(store, run))

    assert (every.system, new.system, old.system) == ("", "new", "old")
    # Depth of old: 0, .5, 0 of three tasks; of new: 1, .5, 1 (task 4 was never answered by old).
    assert old.criteria["Depth"] == Estimate(pytest.approx(1 / 6), n=3)
    assert new.criteria["Depth"] == Estimate(pytest.approx(3.5 / 4), n=4)
    assert every.criteria["Depth"] == Estimate(pytest.approx(4 / 7), n=7)
    # Rude (a penalty) of new: UNMET, abstained, UNMET, MET: two of three keep it.
    assert new.criteria["Rude"] == Estimate(pytest.approx(2 / 3), n=3)
    assert new.score.n == 4
    # Of tasks 1 and 2 alone.
    first, *_ = grid.system_means(store, run, scored_rubric(store, run), ["n1", "n2"])
    assert first.criteria["Depth"] == Estimate(pytest.approx(1.5 / 2), n=2)


def test_a_set_of_items_is_a_word_that_names_them_in_the_runs_order(store: Store) -> None:
    run_id = made(store)

    word = browsing.packed_set(store, run_id, ["n3", "o1", "nobody"])

    assert browsing.items_of_set(store, run_id, word) == ("o1", "n3")


@pytest.mark.parametrize("word", ["", "!", "AAAA", "eJwDAAAAAAE", "é"])
def test_a_word_that_is_no_set_names_no_items(store: Store, word: str) -> None:
    assert browsing.items_of_set(store, made(store), word) == ()


def test_signs_of_a_cell_are_asked_for_together_with_other_filters(store: Store) -> None:
    run_id = made(store)

    # Nobody abstained but on Rude of n2, and of the old system nobody did.
    where = RunItemFilter(signs=(("abstained", "Rude"),))
    assert browsing.item_ids(store, run_id, where, "position", False) == ["n2"]
    where = RunItemFilter(signs=(("abstained", None),), system="old")
    assert browsing.item_ids(store, run_id, where, "position", False) == []
