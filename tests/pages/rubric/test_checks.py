"""The rubric check in the editor: seen at its criterion, mended with a click, dismissed."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.domain.rubric import Rubric
from core.metrics.estimate import Estimate
from core.services.agreement import conclusion
from core.services.agreement.conclusion import Conclusion, Known
from core.services.agreement.ratings import LABELS, PANEL
from core.services.rubrics import library
from core.store.store import Store
from pages.ui import state
from pages.ui.drafts import RUBRIC_ACT, RUBRICS_ACT
from tests.lint.made import criterion, levels, rubric
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import PAGE, done, draft_of, field, name_of, press, saved
from tests.services.diagnostics.test_diagnosis import JUDGES, run

GIVEN: Rubric = rubric(
    criterion("The answer is clear and concise.", name="Style"),
    levels(
        ("None", "No claim has a source beside it."),
        ("Each", "Each claim has a source beside it."),
        name="Backed",
    ),
)


def act(app: AppTest, name: str, where: str, what: str, words: str) -> AppTest:
    start = state.key(RUBRIC_ACT, name, "check", where, what)
    (button,) = [b for b in app.button if str(b.key).startswith(start) and words in b.label]
    return done(button.click())


def test_a_finding_stands_at_its_criterion_and_in_the_summary_with_reason_and_source(
    store: Store,
) -> None:
    app = open_page(PAGE, rubric=saved(store, GIVEN))
    text = shown(app)
    assert "1 to fix" in text
    assert "1 finding to review: 1 serious" in text
    assert "Asks more than one thing" in text
    assert "Krosnick and Presser 2010" in text


def test_of_a_rubric_in_another_language_it_is_said_that_words_are_not_checked(
    store: Store,
) -> None:
    german = rubric(criterion("Die Antwort ist gut, vollständig etc.", name="Güte"))
    text = shown(open_page(PAGE, rubric=saved(store, german)))
    assert "Found no levels, weights or gates that are known to make judges disagree" in text
    assert "Wording is checked in English only: of “Güte” options" in text


def test_a_mend_is_made_with_one_click_and_taken_back_with_undo(store: Store) -> None:
    name = saved(store, GIVEN)
    app = act(open_page(PAGE, rubric=name), name, "side", "mend", "Split")
    assert [c["requirement"] for c in draft_of(app)["criteria"][:2]] == [
        "The answer is clear.",
        "The answer is concise.",
    ]
    assert "Asks more than one thing" not in shown(app)
    assert "“is clear” is not said to mean anything" in shown(app)  # what is left to mend
    app = press(app, name, "undo")
    assert len(draft_of(app)["criteria"]) == 2


def test_a_dismissed_finding_is_saved_with_the_rubric_and_can_be_shown_again(store: Store) -> None:
    name = saved(store, GIVEN)
    app = act(open_page(PAGE, rubric=name), name, "side", "dismiss", "Dismiss")
    assert "1 to fix" not in shown(app)
    press(app, name, "save")
    kept = library.latest_version(store, int(name)).rubric
    assert kept.criteria[0].meta == {"checks_off": ["double-barrelled"]}
    app = open_page(PAGE, rubric=name)
    assert "1 to fix" not in shown(app)
    app = act(app, name, "dismissed", "recall", "Show again")
    assert "1 to fix" in shown(app)


def test_the_open_criterion_shows_its_own_findings(store: Store) -> None:
    name = saved(store, GIVEN)
    app = act(open_page(PAGE, rubric=name), name, "side", "open", "Open")
    app = act(app, name, "card", "mend", "Split")
    assert len(draft_of(app)["criteria"]) == 3


def test_what_the_newest_run_says_stands_beside_its_criterion_with_the_way_to_it(
    store: Store,
) -> None:
    row = store.runs.row(run(store, first=1.0))  # one of its two judges answers at random
    name = str(row.rubric_id)
    app = open_page(PAGE, rubric=name)
    assert "Findings of the newest run" in shown(app)
    uid = draft_of(app)["criteria"][0]["uid"]
    app = press(app, name, "toggle", uid)
    assert "From the votes" in shown(app)
    assert "has changed since" not in shown(app)
    app = done(app.text_area(key=field(name, uid, "requirement")).set_value("Cites a law."))
    assert "The criterion has changed since that run asked it" in shown(app)


def test_where_no_criterion_is_at_fault_undecided_ones_are_named_with_the_reason(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(store.runs.row(run(store)).rubric_id)  # both of its judges are always right
    assert "No criterion is clearly a problem.</div>" in shown(open_page(PAGE, rubric=name))

    undecided = Conclusion((Known("Law", Estimate(0.3, 0.1, 0.5, n=90)),), LABELS, PANEL)
    monkeypatch.setattr(conclusion, "conclusion_on", lambda sheet: undecided)
    st.cache_data.clear()
    text = shown(open_page(PAGE, rubric=name))
    assert "No criterion is clearly a problem. Undecided: Law, kappa 0.30" in text
    assert "the interval crosses 0.40" in text


def test_a_newer_run_with_one_judge_says_that_agreement_is_unknown(store: Store) -> None:
    row = store.runs.row(run(store, judges=JUDGES[1:], labelled=False))
    app = open_page(PAGE, rubric=str(row.rubric_id))
    assert "Agreement unknown: one judge." in shown(app)
    assert "No criterion is clearly" not in shown(app)

    worse = store.runs.row(run(store, first=1.0))
    run(store, judges=JUDGES[1:], rubric_version=worse.rubric_version_id, labelled=False)
    app = open_page(PAGE, rubric=str(worse.rubric_id))
    assert "A newer run, made, shows nothing about agreement: one judge." in shown(app)
    assert "serious" in shown(app)


def test_a_criterion_is_added_from_a_template_with_a_way_out_in_one_click() -> None:
    app = press(open_page(PAGE), "new", family=RUBRICS_ACT)
    name = name_of(app)
    done(app.toggle(key=state.key(RUBRIC_ACT, name, "with_na")).set_value(True))
    press(app, name, "add", "bands")
    labels = [o["label"] for o in draft_of(app)["criteria"][0]["options"]]
    assert labels[0] == "Fails (1-2)"
    assert labels[-1] == "Not applicable"
