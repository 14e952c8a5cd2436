"""The Runs page: the list, and the form that plans a run."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.runs import RunPlan
from core.store.store import Store
from pages.ui import routes, state
from pages.ui.run_form import PLAN_FIELD, RUNS_ACT
from tests.pages.conftest import open_page, shown
from tests.pages.graded import ANN, DATASET, NOW, RUBRIC, all_failed, graded, planned

PAGE = routes.RUNS


def field(*ids: object) -> str:
    return state.key(PLAN_FIELD, *ids)


def form() -> AppTest:
    return open_page(PAGE, plan="new")


def start_button(app: AppTest) -> object:
    return app.button(key=state.key(RUNS_ACT, "start"))


def figures(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


@pytest.fixture
def ready(store: Store) -> Store:
    """A rubric, a dataset and a panel of one judge at an address of its own, without a price."""
    store.rubrics.create(RUBRIC, now=NOW)
    store.datasets.create(DATASET, now=NOW)
    judge = Judge(name="bob", model="m", api_base="http://localhost:1/v1")
    store.judges.save(judge, now=NOW)
    store.panels.save(Panel(name="A panel", judges=(judge,)), now=NOW)
    return store


def test_an_empty_list_says_what_a_run_needs() -> None:
    assert "Plan a run: choose a rubric, a dataset and judges" in shown(open_page(PAGE))


def test_without_a_rubric_the_form_says_where_to_write_one() -> None:
    assert "There is no rubric yet" in shown(form())


def test_runs_are_listed_newest_first_with_versions_and_figures(store: Store) -> None:
    graded(store)
    planned(store, "Second run")

    text = shown(open_page(PAGE))

    assert text.index("run 2 ·") < text.index("run 1 ·")
    assert "Essays *starred*, version 1, on Essays, version 1 · ann, bob" in text
    # (0.5 + 1 + 0.25) / 3 = 0.583; 10 votes and 2 failures of 12.
    assert "10 of 12 votes · mean score 0.58" in text
    assert "◼ Incomplete, 2 failures" in text
    assert "Waiting to start" in text


def test_a_run_whose_every_question_failed_is_green_nowhere(store: Store) -> None:
    run_id = all_failed(store)
    for page, query in (
        (PAGE, {}),
        (routes.RUN, {"run": str(run_id)}),
        (routes.START, {}),
    ):
        text = shown(open_page(page, **query))
        assert "✕ Failed, 12 failures" in text, page  # 3 items x 2 criteria x 2 judges
        assert "✓ Done" not in text


def test_runs_are_searched_by_name(store: Store) -> None:
    graded(store)
    planned(store, "Second run")

    text = shown(open_page(PAGE, find="second"))

    assert "run 2 ·" in text
    assert "run 1 ·" not in text
    assert "Nothing found" in shown(open_page(PAGE, find="100%"))


def test_the_estimate_follows_the_choices(ready: Store) -> None:
    app = form()
    # 3 items x 2 criteria x 1 judge.
    assert figures(app)["Votes"] == "6"
    assert figures(app)["Cost"] == "unknown"
    assert "The price of bob is not known" in "".join(
        w.value.replace("&#46;", ".") for w in app.warning
    )

    app.number_input(key=field("replicates")).set_value(3).run()
    app.segmented_control(key=field("which")).set_value("The first").run()
    app.number_input(key=field("limit")).set_value(2).run()

    # 2 items x 2 criteria x 1 judge x 3 times.
    assert figures(app)["Votes"] == "12"
    assert figures(app)["Calls to models"] == "12"


def test_batches_are_offered_where_every_model_can_be_asked_so(ready: Store) -> None:
    app = form()
    app.toggle(key=field("batch")).set_value(True).run()
    assert "The answers come within a day" in shown(app)
    start_button(app).click().run()  # type: ignore[attr-defined]
    assert ready.runs.get(1).plan.details == {"batch": True}

    gemini = Judge(name="gem", model="gemini/x")
    other = ready.panels.save(Panel(name="Another", judges=(gemini,)), now=NOW)
    app = form()
    app.selectbox(key=field("panel")).set_value(other.id).run()
    assert app.toggle(key=field("batch")).disabled
    assert "gem has no batch interface that is spoken here" in shown(app)


def test_start_makes_the_run_as_chosen_and_opens_it(ready: Store) -> None:
    app = form()
    app.number_input(key=field("seed")).set_value(11)
    app.number_input(key=field("budget")).set_value(2.5)
    app.text_input(key=field("name")).set_value("  My   run ").run()
    app.selectbox(key=field("rule", "binary", "A panel")).set_value("any").run()

    start_button(app).click().run()  # type: ignore[attr-defined]

    assert not app.exception
    run = ready.runs.get(1)
    assert (run.name, run.status, run.planned) == ("My run", "queued", 6)
    assert (run.plan.seed, run.plan.budget, run.panel.rules.binary) == (11, 2.5, "any")
    assert app.title[0].value == "My run"


def test_offline_judges_without_labels_are_refused_before_the_start(store: Store) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    store.datasets.create(Dataset(items=(Item(id="1", submission="x"),)), now=NOW)

    app = form()
    # Nobody proposes judges that could not learn here.
    assert "Choose at least one judge." in app.info[0].value
    app.segmented_control(key=field("how")).set_value("A saved panel").run()

    assert "there are none whose labels fit this rubric" in app.error[0].value
    assert start_button(app).disabled  # type: ignore[attr-defined]


def test_offline_judges_say_from_how_many_labels_they_learn(store: Store) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    store.datasets.create(DATASET, now=NOW)

    app = form()
    app.slider(key=field("share")).set_value(70).run()

    # 70% of 3 labelled items are 2.1, so 2 are learned from and 1 is graded.
    assert figures(app)["Items"] == "1"
    assert "learn from 2 labelled items" in shown(app)


def test_a_judge_without_its_key_is_named_before_the_start(store: Store) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    store.datasets.create(DATASET, now=NOW)
    store.panels.save(Panel(name="A panel", judges=(ANN,)), now=NOW)

    warning = form().warning[0].value

    assert "ann has no key" in warning
    assert "NO&#95;SUCH&#95;KEY is not set" in warning


def test_nobody_chosen_is_said_and_cannot_start(ready: Store) -> None:
    app = form()
    app.segmented_control(key=field("how")).set_value("Choose judges").run()
    app.multiselect(key=field("judges")).set_value([]).run()

    assert "Choose at least one judge." in app.info[0].value
    assert start_button(app).disabled  # type: ignore[attr-defined]


def test_who_judged_last_is_proposed_and_a_choice_of_ones_own_stays(store: Store) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    store.datasets.create(DATASET, now=NOW)
    judges = [Judge(name=name, model="m", api_base="http://localhost:1/v1") for name in "ab"]
    for judge in judges:
        store.judges.save(judge, now=NOW)
    version = store.rubrics.latest(1).id
    plan = RunPlan("Before", version, store.datasets.latest(1).id, Panel(judges=tuple(judges)))
    store.runs.create(plan, [(DATASET.items[0].id, 2)], now=NOW)

    app = form()
    assert app.multiselect(key=field("judges")).value == ["a", "b"]
    assert not start_button(app).disabled  # type: ignore[attr-defined]

    app.multiselect(key=field("judges")).set_value(["b"]).run()
    app.number_input(key=field("replicates")).set_value(2).run()
    assert app.multiselect(key=field("judges")).value == ["b"]
