"""What differences between ratings come from in a run, in words and with what more would cost."""

from __future__ import annotations

import numpy as np
import pytest

from core.metrics.variance_components import CRITERION, ITEM, JUDGE, ORDER
from core.services.agreement import load_ratings, metrics_report
from core.services.agreement.rating_sheet import rater_table
from core.services.rating_models.rater_table import RatedQuestion, RaterTable, ascending_levels
from core.services.rating_models.variance import (
    AGAIN,
    MORE,
    NOW,
    answer_price,
    variance_study,
    variance_summary,
)
from core.store.store import Store
from core.text.numbers import percent
from tests.services.comparison.world import ONE, TWO, dataset, run_with

ITEMS = tuple(f"i{at}" for at in range(30))
LEVEL = np.arange(30) % 3
VALUES = (0.0, 0.5, 1.0)


def table(*columns: np.ndarray, raters: tuple[str, ...] = ()) -> RaterTable:  # type: ignore[type-arg]
    names = raters or tuple("ABCDEF"[: len(columns)])
    return RaterTable(ITEMS, names, (RatedQuestion("tone", VALUES, np.column_stack(columns)),))


def test_all_lies_between_items_where_judges_say_the_same() -> None:
    found = variance_study(table(LEVEL, LEVEL), price=0.01)
    assert found.share(ITEM) == pytest.approx(1.0)
    assert next(iter(found.shares())) == (ITEM,)
    by_name = {one.name: one for one in found.choices}
    assert by_name[NOW].worth.relative == pytest.approx(1.0)
    # Two answers an item at a cent each; a judge more is a third.
    assert (by_name[NOW].cost, by_name[MORE].cost) == pytest.approx((20.0, 30.0))
    assert AGAIN not in by_name
    said = variance_summary(found)
    assert "100% of all variance lies between items, 0% in how strict judges are." in said
    assert "for $10.00 more per 1,000 items" in said
    assert "What asking again would buy shows where judges answer twice." in said


def test_between_items_is_one_number_in_the_sentence_and_in_the_table() -> None:
    # On the first question items differ, on the second by the opposite: nothing across both.
    turned = 2 - LEVEL
    questions = tuple(
        RatedQuestion(name, VALUES, np.column_stack((levels, levels)))
        for name, levels in (("tone", LEVEL), ("facts", turned))
    )
    found = variance_study(RaterTable(ITEMS, ("A", "B"), questions))
    assert found.item_variance_share == pytest.approx(
        found.share(ITEM) + found.share(ITEM, CRITERION)
    )
    assert found.share(ITEM) < 0.1 < found.item_variance_share
    said = variance_summary(found)
    assert f"{percent(found.item_variance_share)} of all variance lies between items (" in said
    assert f"{percent(found.share(ITEM))} across all criteria, " in said


def test_a_strict_judge_is_told_from_items() -> None:
    found = variance_study(table(np.minimum(LEVEL, 1) + 1, np.minimum(LEVEL, 1)))
    # One gives .5 more to everything: the variance of two judges' means is .5^2 / 2.
    assert found.found.raw[JUDGE,] == pytest.approx(0.125)
    assert found.choices[0].worth.relative == pytest.approx(1.0)
    assert found.choices[0].worth.absolute < 0.8


def test_answers_given_twice_show_what_asking_again_buys() -> None:
    generator = np.random.default_rng(1)
    wavers = [np.clip(LEVEL + generator.integers(-1, 2, 30), 0, 2) for _ in range(4)]
    found = variance_study(table(*wavers, raters=("A|0", "A|1", "B|0", "B|1")))
    ways = found.choices[0].ways
    assert (ways.judges, ways.replicates, ways.orders) == (2, 2, 1)
    by_name = {one.name: one for one in found.choices}
    assert by_name[AGAIN].worth.relative > by_name[NOW].worth.relative


def test_answers_to_reversed_options_are_an_order() -> None:
    other = tuple(
        (item, "tone", judge, int(LEVEL[at] < 2)) for at, item in enumerate(ITEMS) for judge in "AB"
    )
    found = variance_study(table(LEVEL, LEVEL), reversed_=other)
    assert found.found.levels[ORDER] == 2
    assert found.choices[0].ways.orders == 2
    named = variance_study(table(LEVEL, LEVEL[::-1], raters=("A|as is", "A|swapped")))
    assert named.found.levels == {ITEM: 30, CRITERION: 1, JUDGE: 1, ORDER: 2}


def test_levels_listed_from_the_best_are_turned_round() -> None:
    falling = RatedQuestion("tone", (1.0, 0.5, 0.0), np.array([[0], [2], [-1]]))
    assert ascending_levels(falling).ravel().tolist() == [2, 0, -1]


def test_metrics_with_intervals_hold_the_components_of_a_run(store: Store) -> None:
    answers = {
        judge: {"clear": (LEVEL > 0).astype(int).tolist(), "tone": LEVEL.tolist()}
        for judge in ("one", "two")
    }
    labels = {"clear": [""] * 30, "tone": [""] * 30}
    run_id = run_with(store, dataset(labels), answers, judges=(ONE, TWO), cost=0.02)
    told = metrics_report.metrics_source(lambda: store, str(run_id), bootstrap=20)["variance"]
    assert list(told["criteria"]) == ["clear", "tone"]
    assert told["overall"]["levels"] == {"item": 30, "criterion": 2, "judge": 2, "order": 1}
    assert "item x criterion" in told["overall"]["components"]
    assert told["criteria"]["tone"]["decisions"][0]["relative"] == pytest.approx(1.0)
    # Every answer was a call of two cents.
    assert answer_price(store, run_id) == pytest.approx(0.02)
    sheet = load_ratings.sheet_of_run(store, run_id)
    assert rater_table(sheet, sheet.judges).of("tone").questions[0].values == (0.0, 0.5, 1.0)
