"""The Compare runs page: what changed, differences, flips with both runs' votes, cost."""

from __future__ import annotations

from dataclasses import replace

from core.services.comparison import run_comparison
from core.services.runs.sweeps import SweepAxes, plan_sweep, start_sweep
from core.store.store import Store
from pages.compare import selection as keys
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.test_sweeps import request
from tests.services.comparison.world import NOW, dataset, run_with

PAGE = routes.COMPARE
HOSTILE = "<b>run</b> ![x](http://127.0.0.1:9/x)"


def two(store: Store) -> str:
    data = dataset(LABELS)
    first = run_with(store, data, WEAK, name=HOSTILE, cost=0.001)
    return f"{first},{run_with(store, data, STRONG, name='strong', cost=0.01)}"


def field(*names: object) -> str:
    return state.key(keys.COMPARE_FIELD, *names)


def test_with_one_run_the_page_says_what_it_is_for(store: Store) -> None:
    run_with(store, dataset(LABELS), WEAK)

    assert "Two runs are needed" in shown(open_page(PAGE))


def test_the_newest_two_are_compared_until_others_are_chosen(store: Store) -> None:
    two(store)
    third = run_with(store, dataset(LABELS), STRONG, name="third", seed=9)

    app = open_page(PAGE)

    assert app.multiselect(key=field(state.RUNS, 2, third)).value == [2, third]
    text = shown(app)
    assert "B is better than A on none of" in text
    assert "No verdict flipped" in text
    assert "seed" in text


def test_a_try_on_a_few_items_is_not_compared_with_a_run_over_all_where_two_are(
    store: Store,
) -> None:
    data = dataset(LABELS)
    whole = run_with(store, data, WEAK)
    over = store.runs.get(whole).plan
    every = [(one, 1) for one in store.runs.item_ids(whole)]
    # Over the same version of the same dataset: another run over all, then a try on three.
    again, tried = (store.runs.create(over, part, now=NOW).id for part in (every, every[:3]))
    rows = store.runs.list(kind="run", limit=9)
    assert [row.id for row in rows] == [tried, again, whole]
    assert run_comparison.latest_pair(store, rows) == [whole, again]
    # Without a second run over all: the two that share most.
    assert run_comparison.latest_pair(store, [rows[0], rows[2]]) == [whole, tried]
    # Two that share nothing are not put side by side only to be refused.
    elsewhere = replace(rows[1], dataset_id=rows[1].dataset_id + 1)
    assert run_comparison.latest_pair(store, [elsewhere, rows[2]]) == [again]


def test_differences_are_shown_with_interval_and_corrected_p(store: Store) -> None:
    app = open_page(PAGE, runs=two(store))
    text = shown(app)

    # 4 of 8 and 7 of 8; McNemar .375, twice that by Holm, as in
    # tests/comparing/test_comparing.py.
    assert "+37.5 points" in text
    assert "0.375" in text
    assert "0.750" in text
    (line,) = [one.label for one in app.expander if "in both" in one.label]
    assert "8 items in both" in line
    assert line.startswith("Nothing changed")
    # The bar of a difference says whether it is sure; its middle line is no difference.
    clear = text.split('title=\\"clear: ')[1]
    assert "+37.5 points" in clear.split("within chance")[0]
    assert text.count("rs-bar") >= 2
    assert len(app.get("plotly_chart")) == 1
    assert "<b>run</b>" not in text


def test_kappa_and_agreement_have_their_own_view(store: Store) -> None:
    app = open_page(PAGE, runs=two(store), figure="agreement")

    assert "One of the runs has a single judge." in shown(app)
    app.segmented_control(key=field(keys.FIGURE)).set_value("kappa").run()
    assert not app.exception
    assert "quadratic weights on ordinal criteria" in shown(app)


def test_swapping_turns_the_difference_round(store: Store) -> None:
    app = open_page(PAGE, runs=two(store))
    app.button(key=state.key(keys.COMPARE_ACT, "swap")).click().run()

    assert not app.exception
    assert "−37.5 points" in shown(app)


def test_the_efficient_runs_are_marked_and_unknown_cost_is_said(store: Store) -> None:
    runs = two(store)
    dear = run_with(store, dataset(LABELS), WEAK, name="dear", cost=0.02)
    blind = run_with(store, dataset(LABELS), WEAK, name="blind", cost=None)

    text = shown(open_page(PAGE, runs=f"{runs},{dear},{blind}"))

    # The cheap and the good one; `dear` is as right as the cheap one for more.
    assert text.count("◆ efficient") == 2
    assert "The price of 16 calls is not known." in text


def test_runs_without_a_common_item_are_refused_kindly(store: Store) -> None:
    data = dataset({"clear": ["MET", "MET"]})
    one = run_with(store, data, {"one": {"clear": [0, 0]}}, items=["i0"])
    other = run_with(store, data, {"one": {"clear": [0, 0]}}, items=["i1"])

    text = shown(open_page(PAGE, runs=f"{one},{other}"))

    assert "have no item in common" in text


def test_an_address_that_makes_no_sense_is_as_none(store: Store) -> None:
    two(store)
    app = open_page(PAGE, runs="99,x", a="7", b="y", flip="500", figure="z")

    assert app.multiselect(key=field(state.RUNS, 1, 2)).value == [1, 2]


def test_runs_that_wait_say_so(store: Store) -> None:
    made = start_sweep(store, plan_sweep(store, request(store), SweepAxes(replicates=(1, 2, 3))))
    app = open_page(PAGE, runs=f"{made[0]},{made[1]}")

    text = shown(app)
    assert "No votes yet" in text
    assert "Not finished&#58; run 1 and run 2" in text
    app.button(key=state.key(keys.COMPARE_ACT, "sweep")).click().run()
    assert not app.exception
    assert app.query_params[state.RUNS] == "1,2,3"
