"""Which of two runs is right more often on all cells, from labels drawn at random.

Eighty items, one question, all MET in truth. The first run says MET of the first 40, the second of
the first 60: they differ on 20, on which the second is right.
"""

from __future__ import annotations

import pytest

from core.services.comparison.paired_runs import pair_runs
from core.services.comparison.rightness import accuracy_words, compare_accuracy
from core.services.comparison.run_comparison import compare_runs, comparison_data
from core.store.store import Store
from tests.services import reviewed
from tests.services.comparison.world import dataset, run_with
from tests.services.pairwise.test_corrected_systems import DRAW, RUBRIC
from tests.services.reviewed import MET, UNMET, sit

ITEMS = 80


def two_runs(store: Store) -> tuple[int, int]:
    data = dataset({"clear": [""] * ITEMS})
    first, second = (
        run_with(
            store,
            data,
            {"one": {"clear": [MET if at < right else UNMET for at in range(ITEMS)]}},
            rubric=RUBRIC,
        )
        for right in (40, 60)
    )
    return first, second


def test_runs_are_told_apart_by_the_cells_on_which_they_differ(store: Store) -> None:
    first, second = two_runs(store)
    queue = reviewed.make_queue(
        store, store.runs.get(first), DRAW.model_copy(update={"audit_share": 0.6})
    )
    for cell in store.queues.cells(queue):
        reviewed.settle(store, sit(store, "Ada"), queue, cell.item_id, MET, note="So.")

    found = compare_accuracy(store, pair_runs(store, first, second)).whole

    assert found is not None
    assert (found.cells, found.apart) == (80, 20)
    assert 10 <= found.labelled < 20
    # Right on 60 and on 40 of 80; every labelled cell on which they differ is the second's.
    assert found.gap.value == pytest.approx(0.25)
    assert found.better_run == 2
    told = comparison_data(compare_runs(store, first, second, bootstrap=10))["corrected"]
    assert (told["run"], told["queue"]) == (first, "Q")
    assert told["accuracy"]["better"] == "b"
    assert told["in_words"].startswith("Of the 80 cells that both decide")
    assert "B is right more often: B minus A +25.0 points" in told["in_words"]


def test_without_labels_drawn_at_random_nothing_is_said_of_all_cells(store: Store) -> None:
    first, second = two_runs(store)
    found = compare_accuracy(store, pair_runs(store, first, second))
    assert found.whole is None
    assert found.reason.startswith("No randomly drawn cells of this run have labels.")
    assert accuracy_words(found) == ""
    assert comparison_data(compare_runs(store, first, second, bootstrap=0))["corrected"] == {
        "undefined": {"accuracy": found.reason}
    }
