"""Checks on the Judges page: rules a person fills in, kept, changed and tried out."""

from __future__ import annotations

import html
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item
from core.domain.rubric import Criterion, Option, Rubric
from core.services.datasets import catalog
from core.services.judges import registry
from core.store.store import Store
from pages.judges.checks import ORDER
from pages.judges.fields import JUDGE_ACT, JUDGE_FIELD, JUDGES_ARCHIVED, JUDGES_VIEW
from pages.ui import routes, state
from pages.ui.run_form import PLAN_FIELD
from pages.ui.text import label
from tests.pages.conftest import open_page, shown

PAGE = routes.JUDGES
HOSTILE = "**b** ![x](http://127.0.0.1:9/x) <script>alert(1)</script> \u202eevil"
TONE = Rubric(
    name="Essays",
    criteria=(
        Criterion(name="cites", requirement="Cites a source."),
        Criterion(
            name="depth",
            requirement="How deep?",
            scale="ordinal",
            options=(Option(label="shallow", value=0), Option(label="deep", value=1)),
        ),
    ),
)


def key(name: str, *, ref: str = state.NEW) -> str:
    return state.key(JUDGE_FIELD, ref, *name.split("/"))


def rule(app: AppTest, number: int, name: str, ref: str = state.NEW) -> str:
    return key(f"{app.session_state[key(ORDER, ref=ref)][number - 1]}/{name}", ref=ref)


def new_checks() -> AppTest:
    app = open_page(PAGE, judge=state.NEW)
    app.segmented_control(key=key("kind")).set_value("check").run()
    assert not app.exception
    return app


def press(app: AppTest, act: str, ref: str = state.NEW) -> AppTest:
    app.button(key=state.key(JUDGE_ACT, ref, act)).click().run()
    assert not app.exception
    return app


def fill(app: AppTest, number: int, ref: str = state.NEW, **values: Any) -> AppTest:
    for name, value in values.items():
        kinds = {"text": app.text_input, "low": app.number_input, "ignore_case": app.checkbox}
        kind = kinds.get(name, app.selectbox)
        widget: Any = kind(key=rule(app, number, name, ref))
        if name in ("criterion", "then", "otherwise"):
            # `AppTest` cannot type what is not among the options.
            widget.options.append(value)
        widget.set_value(value)
        app.run()
    assert not app.exception
    return app


def kept(store: Store, **checks: Any) -> str:
    row = registry.save_judge(store, {"name": "rules", "kind": "check", "checks": checks})
    return str(row.id)


def test_a_judge_of_checks_is_made_without_yaml(store: Store) -> None:
    app = new_checks()
    app.text_input(key=key("name")).set_value("Rules")
    fill(app, 1, criterion="cites", text="http", ignore_case=True)
    press(app, "add")
    fill(app, 2, criterion="depth", test="words", low=200.0, then="deep", otherwise="shallow")

    press(app, "save")

    checks = registry.get_judge(store, "Rules").judge.checks
    (cites,), (depth,) = checks["cites"].rules, checks["depth"].rules
    assert (cites.when.contains, cites.when.ignore_case, cites.then) == ("http", True, "MET")
    assert (checks["cites"].otherwise, checks["depth"].otherwise) == ("UNMET", "shallow")
    assert (depth.when.words is not None, depth.then) == (True, "deep")
    assert "checks on 2 criteria" in shown(app)
    assert "rules, no connection" in shown(app)


def test_the_criteria_and_options_of_kept_rubrics_are_offered(store: Store) -> None:
    catalog.keep_rubric(store, TONE)
    app = new_checks()

    assert app.selectbox(key=rule(app, 1, "criterion")).options == ["cites", "depth"]
    fill(app, 1, criterion="depth")
    assert app.selectbox(key=rule(app, 1, "then")).options[:2] == ["shallow", "deep"]
    assert label("depth has no option MET; it has shallow, deep, Cannot assess.") in shown(app)


def test_rules_that_are_kept_stand_in_the_form_and_are_changed_there(store: Store) -> None:
    ref = kept(store, a={"contains": "x"}, b={"not": {"contains": "y", "of": "thinking"}})
    app = open_page(PAGE, judge=ref)
    assert app.selectbox(key=rule(app, 2, "test", ref)).value == "lacks"
    assert app.selectbox(key=rule(app, 2, "of", ref)).value == "thinking"

    fill(app, 2, ref, text="z")
    first = app.session_state[key(ORDER, ref=ref)][0]
    press(app, f"remove/{first}", ref)
    press(app, "save", ref)

    checks = registry.get_judge(store, "rules").judge.checks
    assert list(checks) == ["b"]
    inner = checks["b"].rules[0].when.not_
    assert inner is not None
    assert (inner.contains, inner.of) == ("z", "thinking")


def test_only_the_last_rule_of_a_criterion_says_what_the_answer_is_otherwise() -> None:
    app = new_checks()
    fill(app, 1, criterion="depth")
    press(app, "add")

    asked = {box.key for box in app.selectbox}
    assert rule(app, 1, "otherwise") not in asked
    assert rule(app, 2, "otherwise") in asked


def test_what_no_rule_can_say_is_shown_and_changed_as_yaml(store: Store) -> None:
    ref = kept(store, a={"any": [{"contains": "x"}, {"contains": "y"}]}, b={"contains": "z"})
    app = open_page(PAGE, judge=ref)
    area = app.text_area(key=key("yaml", ref=ref))
    assert "any:" in str(area.value)
    assert "b:" not in str(area.value)

    area.set_value("a: {any: [{contains: p}, {contians: q}]}").run()
    press(app, "save", ref)
    assert "<b>Further checks</b>" in shown(app)
    assert "contians" in shown(app)

    app.text_area(key=key("yaml", ref=ref)).set_value("a: {all: [{contains: p}]}").run()
    press(app, "save", ref)
    checks = registry.get_judge(store, "rules").judge.checks
    assert checks["a"].rules[0].when.test == "all"
    assert "b" in checks


def test_rules_that_are_not_complete_are_said_where_they_stand_and_not_saved(store: Store) -> None:
    app = new_checks()
    app.text_input(key=key("name")).set_value("Rules")
    press(app, "save")

    assert "<b>Rule 1</b> names no criterion." in shown(app)
    assert store.judges.list() == []


def test_a_pasted_text_is_tried_before_anything_is_saved(store: Store) -> None:
    app = new_checks()
    fill(app, 1, criterion="cites", text="HTTP")
    app.text_area(key=key("try/text")).set_value("see http://x").run()
    assert "UNMET" in shown(app)

    fill(app, 1, ignore_case=True)
    words = shown(app)
    assert "UNMET" not in words
    assert "Holds: contains" in words
    assert store.judges.list() == []


def test_a_kept_item_is_tried(store: Store) -> None:
    item = Item(id="one", submission="Paris", reference="Paris")
    catalog.import_dataset(store, Dataset(name="Capitals", items=(item,)), name="Capitals")
    app = new_checks()
    fill(app, 1, criterion="right", test="equals", text="{reference}")
    app.segmented_control(key=key("try/way")).set_value("item").run()

    assert not app.exception
    assert "Holds: equals" in shown(app)


def test_a_rule_that_cannot_be_worked_out_is_a_failure_with_its_reason() -> None:
    app = new_checks()
    fill(app, 1, criterion="c", text="{meta.city}")
    app.text_area(key=key("try/text")).set_value("x").run()

    assert "✕ failure" in shown(app)
    assert "meta has no" in shown(app)


def test_hostile_words_in_rules_are_shown_as_they_are(store: Store) -> None:
    ref = kept(store, **{HOSTILE: {"contains": HOSTILE}, "s": {"json_schema": {"title": HOSTILE}}})
    app = open_page(PAGE, judge=ref)
    app.text_area(key=key("try/text", ref=ref)).set_value(HOSTILE).run()

    assert not app.exception
    assert "<script>" not in shown(app)
    assert "Holds: contains" in shown(app)


def test_a_judge_whose_checks_are_all_yaml_has_no_empty_rule_in_its_way(store: Store) -> None:
    ref = kept(store, a={"any": [{"contains": "x"}, {"contains": "y"}]})
    app = press(open_page(PAGE, judge=ref), "save", ref)

    assert state.JUDGE not in app.query_params


@pytest.mark.parametrize("view", ["judges", "panels", "archived"])
def test_every_list_of_judges_shows_one_of_checks(store: Store, view: str) -> None:
    kept(store, a={"contains": "x"})
    registry.save_panel(store, "Mine", ["rules"], {})
    app = open_page(PAGE)
    if view == "archived":
        registry.archive_judge(store, "rules")
        app.session_state[JUDGES_ARCHIVED] = True
    app.session_state[JUDGES_VIEW] = view if view != "archived" else "judges"
    app.run()

    assert not app.exception
    assert "rules" in shown(app)


def test_the_form_of_a_run_of_rules_asks_for_no_labelled_items(store: Store) -> None:
    kept(store, a={"contains": "x"})
    registry.save_panel(store, "Mine", ["rules"], {})
    catalog.keep_rubric(store, TONE)
    label_of = {"cites": {"label": "MET"}}
    items = tuple(Item.model_validate({"id": i, "submission": i, "labels": label_of}) for i in "ab")
    catalog.import_dataset(store, Dataset(name="d", items=items), name="d")

    ids = {row.name: row.id for row in registry.list_panels(store)}
    app = open_page(routes.RUNS, **{state.PLAN: state.NEW})

    app.selectbox(key=state.key(PLAN_FIELD, "panel")).set_value(ids["Mine"]).run()

    assert not app.exception
    assert not [one for one in app.slider if "share" in str(one.key)]
    assert "rules (rules)" in html.unescape(shown(app))
    assert not any("Offline judges learn" in caption.value for caption in app.caption)


def test_a_judge_of_rules_is_called_that_where_it_is_chosen(store: Store) -> None:
    kept(store, a={"contains": "x"})
    catalog.keep_rubric(store, TONE)
    box = next(one for one in open_page(routes.SPOT_CHECK).multiselect if one.label == "Judges")
    assert "rules · rules" in [label.replace("\u200b", "") for label in box.options]
    assert not any("offline" in one for one in box.options)
