"""A criterion is written where it is tested: real answers under its card, and what comes next."""

from __future__ import annotations

import html

import pytest

from core.domain.dataset import Dataset, Item
from core.domain.rubric import Criterion, Rubric
from core.services.judges.registry import ensure_defaults
from core.services.rubrics import library
from core.services.workbench import bench_rows
from core.store.store import Store
from pages.rubric.form import keyboard
from pages.rubric.workbench.subject import WORKBENCH_ACT
from pages.ui import drafts, routes, state
from pages.ui.drafts import RUBRIC_ACT, RUBRICS_ACT
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import PAGE, done, draft_of, field, name_of, press, saved
from tests.pages.rubric.test_workbench import provider, with_rows, work_off
from tests.provider import Provider
from tests.services.versions.edited_run import NOW
from tests.services.workbench.made import model

#: Used as a fixture.
__all__ = ["provider"]

DENSE = Rubric(
    name="Dense",
    criteria=(
        Criterion(name="Dense", requirement="Names density as the reason."),
        Criterion(name="Unit", requirement="Gives a number with its unit."),
    ),
)
#: By turns met and unmet, so that three answers taken show both options; the last has no label.
LABELS = ("MET", "MET", "MET", "UNMET", None)


def kept(store: Store) -> int:
    """A dataset of five answers, four of them labelled for Dense."""
    items = tuple(
        Item.model_validate(
            {
                "id": f"a{n}",
                "submission": f"Answer {n}.",
                "labels": {"Dense": {"label": of}} if of else {},
            }
        )
        for n, of in enumerate(LABELS)
    )
    return store.datasets.create(Dataset(name="Answers", items=items), now=NOW).id


def opened(store: Store):  # type: ignore[no-untyped-def]
    name = saved(store, DENSE)
    app = open_page(PAGE, rubric=name)
    press(app, name, "toggle", draft_of(app)["criteria"][0]["uid"])
    return app, name


def test_a_new_rubric_opens_where_its_first_requirement_is_written(store: Store) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name = name_of(app)
    (first,) = draft_of(app)["criteria"]
    assert app.session_state[state.key(drafts.RUBRIC_OPEN, name)] == first["uid"]
    assert app.session_state[state.key(keyboard.FRESH, name)] == first["uid"]
    assert app.text_area(key=field(name, first["uid"], "requirement")).value == ""
    assert not app.radio  # the strategies of abstention stay folded
    press(app, "list")
    assert library.all_kept_drafts(store) == []


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("The answer names density as the reason.", "Names density as the reason"),
        ("Does the reply cite a source?", "Cite a source"),
        ("Die Antwort nennt die Dichte.", "Die Antwort nennt die Dichte"),
        ("Text", "Text"),
    ],
)
def test_a_name_is_suggested_from_the_requirement(
    store: Store, requirement: str, name: str
) -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    (first,) = draft_of(app)["criteria"]
    key = field(name_of(app), first["uid"], "requirement")
    # As it is typed, with a pause.
    done(app.text_area(key=key).set_value(requirement[:4]))
    done(app.text_area(key=key).set_value(requirement))
    assert draft_of(app)["criteria"][0]["name"] == name
    assert app.text_input(key=field(name_of(app), first["uid"], "name")).value == name


def test_a_name_that_somebody_typed_stays(store: Store) -> None:
    app, name = opened(store)
    uid = draft_of(app)["criteria"][0]["uid"]
    done(app.text_area(key=field(name, uid, "requirement")).set_value("Names the mass."))
    assert draft_of(app)["criteria"][0]["name"] == "Dense"


def test_answers_are_taken_with_what_people_said_of_this_criterion(store: Store) -> None:
    version = kept(store)
    ensure_defaults(store)
    app, name = opened(store)
    press(app, name, "take", family=WORKBENCH_ACT)
    rows = bench_rows.saved_workbench(store, name)["rows"]
    # One of each option first, then the next of the commoner one.
    assert [(row["submission"], row["expected"]) for row in rows] == [
        ("Answer 0.", {"Dense": "MET"}),
        ("Answer 3.", {"Dense": "UNMET"}),
        ("Answer 1.", {"Dense": "MET"}),
    ]
    # There is no model, so those are asked that can learn from this dataset's labels.
    bench = bench_rows.saved_workbench(store, name)
    assert (len(bench["judges"]), bench["learn_from"]) == (2, version)
    text = shown(app)
    assert "Answer 3." in text
    assert "not asked" in text
    press(app, name, "take", family=WORKBENCH_ACT)
    assert len(bench_rows.saved_workbench(store, name)["rows"]) == 5


def test_try_asks_the_chosen_judges_of_this_criterion_alone(store: Store) -> None:
    kept(store)
    model(store, "http://127.0.0.1:9/v1")
    app, name = opened(store)
    key = state.key(WORKBENCH_ACT, name, "ask", "open")
    assert app.button(key=key).disabled  # always there; there is nothing to ask yet
    press(app, name, "take", family=WORKBENCH_ACT)
    assert app.button(key=key).label == "Try (3)"
    press(app, name, "ask", "open", family=WORKBENCH_ACT)
    (run,) = (store.runs.row(one) for one in bench_rows.saved_workbench(store, name)["runs"])
    assert (run.planned, run.status) == (3, "queued")


def test_green_never_stands_beside_something_serious(store: Store) -> None:
    vague = Rubric(
        name="V", criteria=(Criterion(name="S", requirement="Is it clear and concise?"),)
    )
    app = open_page(PAGE, rubric=saved(store, vague))
    assert not app.success
    assert "serious finding" in app.warning[0].value
    app = open_page(PAGE, rubric=saved(store, DENSE))
    assert "Nothing to fix before saving: the rubric can be used." in app.success[0].value


def test_saving_leads_to_five_items_or_to_a_run(store: Store) -> None:
    kept(store)
    other = saved(store, Rubric(name="Other", criteria=DENSE.criteria))
    app, name = opened(store)
    uid = draft_of(app)["criteria"][0]["uid"]
    assert f"{RUBRIC_ACT}/{name}/five" not in {button.key for button in app.button}
    done(app.text_area(key=field(name, uid, "requirement")).set_value("Names density."))
    press(app, name, "save")
    assert "Version 2 is saved. Next:" in html.unescape(shown(app))
    (plan,) = [one.proto for one in app.get("page_link") if one.proto.label == "Plan a run"]
    assert f"rubric={name}" in plan.query_string
    press(app, name, "five")
    assert len(bench_rows.saved_workbench(store, name)["rows"]) == 5
    assert app.query_params[state.SIDE] == "workbench"
    # What was planned before does not stand in the way of what the link names.
    form = open_page(routes.RUNS, **{state.PLAN: state.NEW, state.RUBRIC: other})
    form.query_params[state.RUBRIC] = name
    form.run()
    box = next(one for one in form.selectbox if one.label == "Rubric")
    assert str(box.value) == name


def test_what_was_given_stands_beside_what_was_expected_until_the_words_change(
    store: Store, provider: Provider
) -> None:
    name, _ = with_rows(store, provider)
    app = open_page(PAGE, rubric=name)
    uid = draft_of(app)["criteria"][0]["uid"]
    press(app, name, "toggle", uid)
    press(app, name, "ask", "open", family=WORKBENCH_ACT)
    work_off(store, name)
    app.run()
    text = shown(app)
    # The model says MET where the Moon is named: of the first and the third of the three, as
    # expected, and UNMET of the second.
    assert "3 of 3 as expected" in text
    assert "stale" not in text
    done(app.text_area(key=field(name, uid, "requirement")).set_value("Names the Sun."))
    assert "3 stale" in shown(app)
    assert app.button(key=state.key(WORKBENCH_ACT, name, "ask", "open")).label == "Try (3)"
