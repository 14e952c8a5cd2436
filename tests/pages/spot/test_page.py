"""The Spot check page: from a pasted text to verdicts, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.services.judges import registry
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.services.runs import lifecycle
from core.services.spot import request
from core.store.store import Store
from pages.spot.form_data import SPOT_ACT
from pages.ui import routes, state
from pages.ui.run_status import RUN_ACT
from pages.ui.trial.votes import VOTE_OPEN
from tests.pages.conftest import open_page, shown, visit
from tests.pages.spot_checks import RUBRIC, model, saved_rubric, worked_off
from tests.provider import Provider, ok, status

PAGE = routes.SPOT_CHECK


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def field(*ids: str) -> str:
    return state.key(state.SPOT_FIELD, *ids)


def done(act: Any) -> AppTest:
    app: AppTest = act.run()
    assert not app.exception
    return app


def press(app: AppTest, *ids: object, family: str = SPOT_ACT) -> AppTest:
    return done(app.button(key=state.key(family, *ids)).click())


def run_of(app: AppTest) -> int:
    found = app.query_params[state.RUN]
    return int(found[0] if isinstance(found, list) else found)


def checked(store: Store, text: str = "The Moon pulls.") -> AppTest:
    """A check of ``text``, started on the page and worked off."""
    app = open_page(PAGE)
    done(app.text_area(key=field("text")).set_value(text))
    press(app, "grade")
    worked_off(store, run_of(app))
    return done(app)


def test_without_a_rubric_the_page_says_where_to_write_one() -> None:
    app = open_page(PAGE)
    assert "There is no rubric yet" in shown(app)
    assert "Nothing checked yet" in shown(app)


def test_a_pasted_text_becomes_verdicts_with_a_score_and_every_reason(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)
    # Without shuffling: option 1 of Cause is MET (1), option 2 of Depth is Deep (1).
    provider.rule = lambda body: ok(2 if "How deep" in str(body) else 1, reason="It says so.")
    app = checked(store)
    words = shown(app)
    assert "✓ Done" in words
    assert "2 of 2 votes" in words
    assert "Base score 1.00: 10 of 10 points." in words  # 6*1 + 4*1 of 6 + 4
    assert [m.value for m in app.metric] == ["1&#46;00"]
    app.session_state[state.key(VOTE_OPEN, run_of(app), request.ITEM, "Depth")] = True
    assert "It says so." in shown(done(app))


def test_while_it_runs_every_cell_says_that_it_is_being_asked(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)
    app = open_page(PAGE)
    done(app.text_area(key=field("text")).set_value("The Moon pulls."))
    press(app, "grade")
    words = shown(app)
    assert words.count("Ann: asking") == 2  # one judge, two criteria
    assert "Waiting" in words
    press(app, "cancel", run_of(app), family=RUN_ACT)
    assert "Cancelled" in shown(app)
    assert "Ann: not asked" in shown(app)


def test_an_empty_submission_is_refused_and_the_rest_of_the_form_stays(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)
    app = open_page(PAGE)
    done(app.text_area(key=field("prompt")).set_value("Why are there tides?"))
    press(app, "grade")
    assert "There is nothing to judge" in shown(app)
    assert state.RUN not in app.query_params
    assert app.text_area(key=field("prompt")).value == "Why are there tides?"


def test_typed_text_outlives_another_page_and_another_session(store: Store) -> None:
    saved_rubric(store)
    app = open_page(PAGE)
    done(app.text_area(key=field("text")).set_value("half a thought"))
    visit(app, routes.RUBRICS)
    visit(app, PAGE)
    assert app.text_area(key=field("text")).value == "half a thought"
    assert open_page(PAGE).text_area(key=field("text")).value == "half a thought"


def test_a_cleared_text_can_be_brought_back(store: Store) -> None:
    saved_rubric(store)
    app = open_page(PAGE)
    done(app.text_area(key=field("text")).set_value("a long thought"))
    done(app.text_area(key=field("text")).set_value(""))
    press(app, "former")
    assert app.text_area(key=field("text")).value == "a long thought"


def test_a_chat_keeps_its_messages_while_one_is_added_and_one_removed(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)
    app = open_page(PAGE)
    done(app.segmented_control(key=field("way")).set_value("chat"))
    first, second = (t["uid"] for t in app.session_state[state.SPOT_FORM]["turns"])
    done(app.text_area(key=field("turn", first, "content")).set_value("Why tides?"))
    done(app.text_area(key=field("turn", second, "content")).set_value("The Moon."))
    press(app, "add")
    press(app, "remove", first)
    assert app.text_area(key=field("turn", second, "content")).value == "The Moon."
    press(app, "grade")
    run = store.runs.get(run_of(app))
    item = store.datasets.item(run.dataset_version_id, request.ITEM)
    assert item.output == "assistant: The Moon."


def test_a_failed_call_is_no_vote_and_can_be_asked_again(store: Store, provider: Provider) -> None:
    saved_rubric(store)
    model(store, provider.url)
    provider.say(status(500), status(500))
    app = checked(store)
    assert "2 × provider" in shown(app)
    assert "Retry the failures" in shown(app)
    press(app, "retry", run_of(app), family=RUN_ACT)
    worked_off(store, run_of(app))
    done(app)
    assert "2 × provider" not in shown(app)
    assert "✓ Done" in shown(app)


def test_a_missing_key_is_named_before_and_after_asking(
    store: Store, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    monkeypatch.delenv("TIDES_KEY", raising=False)
    saved_rubric(store)
    name = model(store, provider.url, key_env="TIDES_KEY")
    app = open_page(PAGE)
    done(app.multiselect(key=field("judges")).set_value([name]))
    assert "TIDES&#95;KEY is not set" in shown(app)
    done(app.text_area(key=field("text")).set_value("The Moon pulls."))
    press(app, "grade")
    worked_off(store, run_of(app))
    done(app)
    assert "The environment variable TIDES_KEY is not set" in shown(app)
    # What to do names the variable, as on the page of a run.
    assert "Set TIDES_KEY in the environment of the app" in shown(app)
    assert provider.count == 0


def test_a_quote_that_is_not_in_the_text_is_said_to_be_missing(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)  # its replies quote "a quote"
    app = checked(store)
    app.session_state[state.key(VOTE_OPEN, run_of(app), request.ITEM, "Cause")] = True
    assert "quote not found in the submission" in shown(done(app))


def test_any_variable_that_a_judge_lacks_is_named_before_asking(
    store: Store, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    monkeypatch.delenv("TIDES_ORG", raising=False)
    saved_rubric(store)
    name = model(store, provider.url, params={"user": {"env": "TIDES_ORG"}})
    app = open_page(PAGE)
    done(app.multiselect(key=field("judges")).set_value([name]))
    assert "TIDES_ORG is not set in the environment of this app" in unescape(shown(app))


def test_asking_again_shows_which_verdicts_changed(store: Store, provider: Provider) -> None:
    saved_rubric(store)
    model(store, provider.url)
    app = checked(store)  # every answer is option 1: MET, Shallow
    before = run_of(app)
    press(app, "again")
    assert run_of(app) != before
    provider.rule = lambda body: ok(2 if "How deep" in str(body) else 1)
    worked_off(store, run_of(app))
    done(app)
    assert f"Compared with check {before}: 1 of 2 verdicts changed" in [
        e.label for e in app.expander
    ]
    assert "≠ Deep" in shown(app)
    assert "another seed" in shown(app)


def test_an_address_reopens_a_check_and_the_form_can_take_it_over(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)
    run_id = run_of(checked(store, "The Sun does it."))
    app = open_page(PAGE, **{state.RUN: str(run_id)})
    assert "✓ Done" in shown(app)
    done(app.text_area(key=field("text")).set_value("something new"))
    press(app, "edit")
    assert app.text_area(key=field("text")).value == "The Sun does it."
    press(app, "former")
    assert app.text_area(key=field("text")).value == "something new"


def test_an_address_of_no_check_says_so(store: Store) -> None:
    saved_rubric(store)
    assert "no run 99" in shown(open_page(PAGE, **{state.RUN: "99"}))


def test_an_unsaved_draft_can_be_checked_with_and_makes_no_listed_rubric(
    store: Store, provider: Provider
) -> None:
    library.keep(store, "new-d", draft_from(RUBRIC))
    model(store, provider.url)
    app = checked(store)
    assert "✓ Done" in shown(app)
    assert library.rubric_rows(store) == []


def test_a_panel_fills_in_its_judges_and_rules(store: Store, provider: Provider) -> None:
    saved_rubric(store)
    names = [model(store, provider.url, "Ann"), model(store, provider.url, "Bob")]
    rules = {"binary": "unanimous", "ordinal": "min", "nominal": "mode"}
    row = registry.save_panel(store, "Strict", names, rules)
    app = open_page(PAGE)
    done(app.selectbox(key=field("panel")).set_value(row.id))
    assert app.multiselect(key=field("judges")).value == names
    assert "binary: unanimous" in shown(app).replace("&#58;", ":").replace("\u2060", "")
    done(app.text_area(key=field("text")).set_value("The Moon pulls."))
    press(app, "grade")
    assert store.runs.get(run_of(app)).panel.rules.binary == "unanimous"


def test_offline_judges_without_fitting_labels_say_so(store: Store) -> None:
    saved_rubric(store)
    registry.ensure_defaults(store)
    form = request.opened_form(store)
    asked = {"judges": ("Text classifier",), "text": "The Moon."}
    request.keep(store, form.model_copy(update=asked))
    app = open_page(PAGE)
    assert "no dataset has labels that fit" in shown(app)
    press(app, "grade")
    assert "learn from labelled items" in shown(app)
    assert lifecycle.newest_runs(store, kind="spot") == []


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "![x](http://x.example/p.png)"])
def test_hostile_text_is_shown_as_it_is(store: Store, provider: Provider, text: str) -> None:
    saved_rubric(store)
    model(store, provider.url)
    provider.rule = lambda body: ok(1, reason=text)
    app = checked(store, text)
    app.session_state[state.key(VOTE_OPEN, run_of(app), request.ITEM, "Cause")] = True
    done(app)
    assert "<script>" not in shown(app)
    assert all(text not in str(m.value) for m in app.markdown)
