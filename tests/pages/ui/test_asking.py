"""How judges are asked: chosen in a panel, for a run and for a spot check; shown with the run."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Asking, Cascade
from core.services.judges import registry
from core.services.judges.panel_setup import PanelSetup
from core.services.results.item_view import item_view
from core.store.store import Store
from pages.judges.fields import JUDGE_ACT, JUDGE_FIELD
from pages.judges.panel import PANEL_ACT, PANEL_FIELD
from pages.run.filters import ITEM_ACT
from pages.spot.form_data import SPOT_ACT
from pages.ui import routes, state
from pages.ui.run_form import PLAN_FIELD, RUNS_ACT
from pages.ui.run_status import RUN_ACT
from tests.pages.conftest import open_page, shown
from tests.pages.flipped import flipped
from tests.pages.grids import grids
from tests.pages.spot_checks import RUBRIC, saved_rubric

NOW = "2026-03-01T10:00:00.000Z"
RUN = routes.RUN


@pytest.fixture
def judges(store: Store) -> Store:
    """Two models, the sample rubric, and ten labelled items."""
    for name in ("ann", "bob"):
        settings = {"name": name, "model": "m", "api_base": "http://localhost:1/v1"}
        registry.save_judge(store, settings)
    saved_rubric(store, RUBRIC)
    met = {"Cause": Label(label="MET")}
    items = tuple(Item(id=str(n), submission=f"Text {n}.", labels=met) for n in range(10))
    store.datasets.create(Dataset(name="Tides", items=items), now=NOW)
    return store


def chosen(app: AppTest, of: Callable[[str], str]) -> None:
    """Choose something else than the default everywhere."""
    app.radio(key=of("mode")).set_value("two_step")
    app.radio(key=of("flip")).set_value("require")
    app.toggle(key=of("balanced")).set_value(True)
    app.toggle(key=of("cache")).set_value(False)
    app.selectbox(key=of("layout")).set_value("item_first")
    app.number_input(key=of("few_shot")).set_value(3).run()
    app.toggle(key=of("few_shot_reasons")).set_value(False).run()
    assert not app.exception


CHOSEN = Asking(
    mode="two_step",
    flip="require",
    balanced=True,
    cache=False,
    layout="item_first",
    few_shot=3,
    few_shot_reasons=False,
)


def test_a_panel_keeps_what_its_editor_says(judges: Store) -> None:
    def of(*ids: object) -> str:
        return state.key(PANEL_FIELD, state.NEW, *ids)

    app = open_page(routes.JUDGES, panel=state.NEW)
    app.text_input(key=of("name")).set_value("P")
    app.multiselect(key=of("judges")).set_value(["ann", "bob"]).run()
    chosen(app, of)
    app.toggle(key=of("staged")).set_value(True)
    app.toggle(key=of("early_stop")).set_value(True).run()
    app.checkbox(key=of("on_split")).set_value(False).run()
    app.toggle(key=of("shadow/bob")).set_value(True).run()
    assert "has only shadows" in app.warning[0].value
    app.toggle(key=of("shadow/bob")).set_value(False)
    assert "Stage 2: bob" in shown(app)

    app.button(key=state.key(PANEL_ACT, state.NEW, "save")).click().run()

    assert not app.exception
    (panel,) = [row.panel for row in registry.list_panels(judges) if row.name == "P"]
    assert panel.asking == CHOSEN
    assert panel.cascade == Cascade(on_split=False)
    # Where stages are first asked for, the judges stand one after the other.
    assert (panel.early_stop, [j.stage for j in panel.judges]) == (True, [0, 1])


def test_a_run_is_asked_as_chosen_for_it(judges: Store) -> None:
    def of(name: str) -> str:
        return state.key(PLAN_FIELD, "seating", "Chosen judges", name)

    app = open_page(routes.RUNS, plan="new")
    app.segmented_control(key=state.key(PLAN_FIELD, "how")).set_value("Choose judges").run()
    app.multiselect(key=state.key(PLAN_FIELD, "judges")).set_value(["ann"]).run()
    chosen(app, of)
    figures = {metric.label: metric.value for metric in app.metric}
    # 8 items (2 of 10 are examples) x 2 criteria x 2 orders; two calls for each.
    assert (figures["Votes"], figures["Calls to models"]) == ("32", "64")
    assert "Examples are drawn from 2 labelled items" in shown(app)

    app.button(key=state.key(RUNS_ACT, "start")).click().run()

    assert not app.exception
    run = judges.runs.get(1)
    assert run.panel.asking == CHOSEN
    assert len(run.plan.calibration["items"]) == 2


def test_a_run_begins_with_what_its_panel_says(judges: Store) -> None:
    registry.archive_panel(judges, _offline_panel(judges))
    registry.save_panel(judges, "P", ["ann"], {}, setup=PanelSetup(asking=CHOSEN))
    app = open_page(routes.RUNS, plan="new")

    app.button(key=state.key(RUNS_ACT, "start")).click().run()

    assert judges.runs.get(1).panel.asking == CHOSEN


def test_a_panel_changed_meanwhile_is_asked_as_it_is_now(judges: Store) -> None:
    registry.archive_panel(judges, _offline_panel(judges))
    row = registry.save_panel(judges, "P", ["ann"], {})
    app = open_page(routes.RUNS, plan="new")
    registry.save_panel(judges, "P", ["ann"], {}, panel_id=row.id, setup=PanelSetup(asking=CHOSEN))

    app.run()
    app.button(key=state.key(RUNS_ACT, "start")).click().run()

    assert judges.runs.get(1).panel.asking == CHOSEN


def _offline_panel(store: Store) -> int:
    registry.ensure_defaults(store)
    return registry.list_panels(store)[0].id


def test_a_spot_check_is_asked_as_chosen_and_says_from_whose_labels(judges: Store) -> None:
    def of(name: str) -> str:
        return state.key(state.SPOT_FIELD, "asking", name)

    app = open_page(routes.SPOT_CHECK)
    app.text_area(key=state.key(state.SPOT_FIELD, "text")).set_value("The Moon.").run()
    chosen(app, of)
    # 2 criteria x 2 judges (both models that are set up) x 2 orders; two calls for each.
    assert "8 answers, 16 calls, cost unknown" in unescape(shown(app))

    app.button(key=state.key(SPOT_ACT, "grade")).click().run()

    assert not app.exception
    run = judges.runs.get(1)
    assert run.panel.asking == CHOSEN
    assert len(run.plan.calibration["items"]) == 10


def test_flipped_answers_stand_beside_their_twin_and_shadows_do_not_count(store: Store) -> None:
    run_id = flipped(store)

    (view,) = item_view(store, run_id, "b").criteria

    said = [(v.cell.judge, v.repeats, v.standing, v.apart) for v in view.votes]
    assert said == [
        ("ann", None, "superseded", True),
        ("ann", 0, "superseded", True),
        ("bob", None, "counts", False),
        ("bob", 0, "reversed", False),
        ("eve", None, "shadow", True),
        ("eve", 0, "shadow", True),
    ]
    text = shown(open_page(RUN, run=str(run_id), item="b"))
    assert "shadow: does not count" in text
    assert "superseded by a later stage" in text
    assert "answers depend on the order" in text
    assert "order reversed" in text
    assert "try 2" not in text


def test_votes_that_were_spared_are_no_failures(store: Store) -> None:
    run_id = flipped(store)

    app = open_page(RUN, run=str(run_id))

    assert "2 of 12 votes were not needed" in shown(app)
    assert state.key(RUN_ACT, "resume", run_id) not in {b.key for b in app.button}
    assert "Not needed: bob" in shown(open_page(RUN, run=str(run_id), item="a"))


def test_the_run_says_how_it_was_asked(store: Store) -> None:
    text = shown(open_page(RUN, run=str(flipped(store)), view="plan"))

    assert "2 for every criterion, with reasons" in text
    assert "Stage 1: ann, eve (shadow); goes on when it abstains" in text
    assert "shadow: does not count" in text


def test_flip_rates_lead_to_the_items_where_answers_differ(store: Store) -> None:
    run_id = flipped(store)
    app = open_page(RUN, run=str(run_id), view="orders")
    # ann: 1 pair of 2 differs; bob: 0 of 1.
    assert "1 of 2" in shown(app)
    assert "0 of 1" in shown(app)

    app.button(key=state.key(RUN_ACT, "apart")).click().run()

    assert [cell.words for cell in grids(app)[0].column("Item")] == ["b"]


def test_a_labelled_item_becomes_an_example_and_goes_back(store: Store) -> None:
    run_id = flipped(store)
    dataset = store.runs.get(run_id).dataset_id
    app = open_page(RUN, run=str(run_id), item="a")
    button = state.key(ITEM_ACT, "split")

    app.button(key=button).click().run()

    assert store.datasets.item(store.datasets.latest(dataset).id, "a").split == "calibration"
    assert "example for later runs" in shown(app)
    app.button(key=button).click().run()
    assert store.datasets.item(store.datasets.latest(dataset).id, "a").split == "evaluation"
    assert store.runs.get(run_id).dataset_number == 1


def test_an_item_without_labels_is_not_offered_as_an_example(store: Store) -> None:
    app = open_page(RUN, run=str(flipped(store)), item="b")

    assert state.key(ITEM_ACT, "split") not in {b.key for b in app.button}


def test_limits_per_minute_are_kept_with_a_judge(store: Store) -> None:
    app = open_page(routes.JUDGES, judge=state.NEW)
    for name, text in (("name", "a"), ("model", "m")):
        app.text_input(key=state.key(JUDGE_FIELD, state.NEW, name)).set_value(text)
    for name, value in (("requests_per_minute", 500), ("tokens_per_minute", 30_000)):
        app.number_input(key=state.key(JUDGE_FIELD, state.NEW, name)).set_value(value)

    app.button(key=state.key(JUDGE_ACT, state.NEW, "save")).click().run()

    judge = registry.get_judge(store, "a").judge
    assert (judge.requests_per_minute, judge.tokens_per_minute) == (500, 30_000)
