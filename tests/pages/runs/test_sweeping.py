"""The form that plans a sweep."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.panel import Panel
from core.store.store import Store
from pages.ui import routes, state
from pages.ui.run_form import PLAN_FIELD, RUNS_ACT
from tests.pages.conftest import open_page, shown
from tests.services.comparison.world import NOW, ONE, RUBRIC, TWO, dataset

PAGE = routes.RUNS
LABELS = {"clear": ["MET", "UNMET"] * 10}


@pytest.fixture
def ready(store: Store) -> Store:
    store.rubrics.create(RUBRIC, now=NOW)
    store.datasets.create(dataset(LABELS), now=NOW)
    for judge in (ONE, TWO):
        store.judges.save(judge, now=NOW)
    store.panels.save(Panel(name="A panel", judges=(ONE, TWO)), now=NOW)
    return store


def field(name: str) -> str:
    return state.key(PLAN_FIELD, "sweep", name)


def figures(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_the_list_leads_to_the_form(ready: Store) -> None:
    app = open_page(PAGE)
    app.button(key=state.key(RUNS_ACT, "sweep")).click().run()

    assert app.title[0].value == "Plan a sweep"


def test_nothing_to_vary_is_said(ready: Store) -> None:
    app = open_page(PAGE, plan="sweep")

    assert "needs two runs or more" in app.info[0].value
    assert app.button(key=state.key(RUNS_ACT, "start sweep")).disabled


def test_the_whole_is_estimated_and_started_in_one_step(ready: Store) -> None:
    app = open_page(PAGE, plan="sweep")
    app.pills(key=field("few_shot")).set_value([0, 3]).run()
    app.segmented_control(key=field("judging")).set_value("both").run()

    assert not app.exception
    # (both judges, one, two) x (0, 3 examples); 20% of 20 items may teach.
    assert figures(app)["Runs"] == "6"
    assert figures(app)["Items in each"] == "16"
    # 16 items x 2 criteria x (2 + 1 + 1 judges) x 2.
    assert figures(app)["Calls to models"] == "256"
    assert "4 labelled items may train judges" in shown(app)

    app.button(key=state.key(RUNS_ACT, "start sweep")).click().run()

    assert not app.exception
    assert app.title[0].value == "Sweep started"
    queries = [parse_qs(link.proto.query_string) for link in app.get("page_link")]
    assert {"runs": ["1,2,3,4,5,6"]} in queries
    run = ready.runs.get(2)
    assert run.plan.details["sweep"]["values"] == {"judges": "all judges", "examples": "3 examples"}
    assert len(ready.runs.item_ids(1)) == 16

    app.button(key=state.key(RUNS_ACT, "back")).click().run()
    assert app.title[0].value == "Runs"
