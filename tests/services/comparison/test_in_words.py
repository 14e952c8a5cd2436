"""Better, worse or undecided per criterion, in words; figures worked out by hand."""

from __future__ import annotations

from core.metrics.estimate import Estimate
from core.services.comparison.differences import CriterionDelta, DecidedCells, FigureDelta
from core.services.comparison.in_words import comparison_words, outcome_of
from core.services.comparison.run_comparison import compare_runs
from core.store.store import Store
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with

NONE = FigureDelta(*(Estimate.undefined("No label."),) * 4)


def moved(name: str, by: float, p_holm: float) -> CriterionDelta:
    gap = Estimate(by, by - 0.05, by + 0.05, n=100)
    one = FigureDelta(Estimate(0.5), Estimate(0.5 + by), gap, Estimate(0.001), "mcnemar", p_holm)
    return CriterionDelta(name, 100, 80, 5, 15, one, NONE, NONE)


def test_a_criterion_is_better_or_worse_by_its_corrected_p_only() -> None:
    ones = [moved("up", 0.2, 0.04), moved("down", -0.1, 0.01), moved("same", 0.2, 0.05)]

    assert [outcome_of(one) for one in ones] == ["better", "worse", "undecided"]
    said = comparison_words(ones)
    assert said.startswith(
        "B is better than A on 1 of 3 criteria: up (+20.0 points, +15.0 points to +25.0 points; "
        "100 items). Worse on 1: down (−10.0 points, −15.0 points to −5.0 points; 100 items). "
        "Undecided on 1: same (+20.0 points"
    )


def test_without_labels_it_says_that_nothing_tells_which_is_better() -> None:
    ones = [CriterionDelta("c", 9, 9, 0, 0, NONE, NONE, NONE)]

    assert comparison_words(ones).startswith(
        "No label says which run is better: no item has a label"
    )
    assert comparison_words([]) == ""


def test_undecided_cells_are_said_where_both_runs_leave_as_many() -> None:
    # Each leaves 50 of 100, maybe others: "right" is of all, or of those that both decide.
    said = comparison_words([moved("up", 0.2, 0.04)], DecidedCells(100, (50, 50), (40, 45)))
    assert said.startswith(
        "A decides 50% of 100 labelled cells and is right on 40% of all; B decides 50% of 100 "
        "labelled cells and is right on 45% of all. What follows is of the cells that both decide."
    )
    whole = comparison_words([moved("up", 0.2, 0.04)], DecidedCells(100, (100, 100), (40, 45)))
    assert whole.startswith("B is better")


def test_four_of_eight_against_seven_of_eight_stays_undecided(store: Store) -> None:
    data = dataset(LABELS)
    first, second = run_with(store, data, WEAK), run_with(store, data, STRONG)

    said = comparison_words(compare_runs(store, first, second).deltas.criteria)

    # Right in one run only: 4 items in the second, 1 in the first. McNemar: p = 2 (1 + 5) / 32.
    assert "clear (+37.5 points" in said
    assert said.startswith("B is better than A on none of")
