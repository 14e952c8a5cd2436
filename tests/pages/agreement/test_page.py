"""The Agreement page: figures, what is undefined, and the items behind a cell."""

from __future__ import annotations

import html
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from core.store.store import Store
from pages.agreement import selection as keys
from pages.ui import routes, state, widgets
from tests.pages.conftest import open_page, shown
from tests.pages.graded import FIRST, graded, planned
from tests.pages.ways import Work, offered
from tests.services import reviewed

PAGE = routes.AGREEMENT


def field(name: str) -> str:
    return state.key(keys.AGREEMENT_FIELD, name)


def linked_items(app: AppTest) -> list[str]:
    """The items that links of the page lead to."""
    queries = [parse_qs(e.proto.query_string) for e in app.get("page_link")]
    return [query[state.ITEM][0] for query in queries if state.ITEM in query]


def test_without_votes_the_page_says_what_it_is_for(store: Store) -> None:
    assert "No run has votes yet" in shown(open_page(PAGE))
    assert "No votes yet" in shown(open_page(PAGE, run=str(planned(store))))


def test_the_newest_run_is_shown_against_its_labels(store: Store) -> None:
    graded(store)

    app = open_page(PAGE)

    assert app.selectbox(key=field(keys.REFERENCE)).value == "labels"
    # Agreement beyond chance is drawn in the table itself.
    assert shown(app).count("rs-bar") == 2
    text = shown(open_page(PAGE, view="figures"))
    # One of three verdicts on Clear is the label; the most common label would get all three.
    assert "33%" in text
    assert "100%" in text
    assert "few: uncertain" in text
    assert "from 1,000 resamples of the items, computed once" in text


def test_what_is_undefined_says_why(store: Store) -> None:
    text = shown(open_page(PAGE, run=str(graded(store)), rater="judge:ann", view="figures"))

    assert "undefined" in text
    assert "Both raters used the same single level throughout." in text


def test_findings_come_with_their_promise(store: Store) -> None:
    text = shown(open_page(PAGE, run=str(graded(store)), view="findings"))

    assert "Nothing found among" in text or "Too little is known" in text
    assert "At most 1% of simulated runs without faults raise any finding" in text


def test_choosing_a_cell_lists_exactly_its_items(store: Store) -> None:
    app = open_page(PAGE, run=str(graded(store)), criterion="Clear", view="one")
    assert linked_items(app) == []

    # Row MET, column UNMET: the verdicts on a and c, both labelled MET.
    app.selectbox(key=field(keys.CELL)).set_value("0-1").run()

    assert not app.exception
    assert app.query_params[keys.CELL] == "0-1"
    # The first link steps through them, the others open each of the same list.
    assert linked_items(app) == [FIRST, FIRST, "c"]
    assert offered(app, store) == [
        Work("Step through these 2", (FIRST, "c"), "Clear"),
        Work("Review these", (FIRST, "c"), "Clear"),
    ]


def test_the_address_opens_a_cell(store: Store) -> None:
    app = open_page(PAGE, run=str(graded(store)), criterion="Clear", cell="0-0")

    assert linked_items(app) == ["b", "b"]


def test_another_rater_forgets_the_cell(store: Store) -> None:
    app = open_page(PAGE, run=str(graded(store)), criterion="Clear", cell="0-1")

    app.selectbox(key=field(keys.RATER)).set_value("judge:ann").run()

    assert not app.exception
    assert keys.CELL not in app.query_params
    assert linked_items(app) == []


def test_against_the_panel_a_judge_meets_what_the_others_said(store: Store) -> None:
    app = open_page(PAGE, run=str(graded(store)), reference="panel", view="figures")

    assert app.selectbox(key=field(keys.RATER)).options == ["Rater: ann", "Rater: bob"]
    text = shown(app).replace("\\", "")
    assert "ann is compared with the majority of the panel's other raters." in text
    # Nobody says what is right here: it is agreement, no accuracy.
    assert "Agreement: the share of items" in text
    assert "Accuracy" not in text


def test_an_address_that_makes_no_sense_is_as_none(store: Store) -> None:
    app = open_page(
        PAGE, run=str(graded(store)), criterion="x", reference="y", rater="z", cell="9-9"
    )

    assert app.selectbox(key=field(state.CRITERION)).value == "Clear"
    assert linked_items(app) == []


def test_a_run_that_does_not_exist_is_said_to_be_missing() -> None:
    assert "There is no run 99" in shown(open_page(PAGE, run="99")).replace("&#46;", ".")


def test_very_many_votes_are_worked_out_when_asked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(widgets.MANY, "agreement", 5)
    app = open_page(PAGE, run=str(graded(store)))
    assert "Agreement per criterion" not in shown(app)

    app.button(key=state.key(widgets.WORKED_OUT, "agreement")).click().run()

    assert "Agreement per criterion" in shown(app)


def test_labels_that_come_from_review_are_said_not_to_speak_of_all(store: Store) -> None:
    run = reviewed.graded(store, 4)
    before = shown(open_page(PAGE, run=str(run.id)))
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    reviewed.settle(store, reviewed.sit(store, "Ada"), queue, "i1", reviewed.MET)

    text = html.unescape(shown(open_page(PAGE, run=str(run.id))))
    words = "Of the 3 labelled cells people settled 2 in review, which picked doubtful cells, too"
    assert words in text.replace("\u2060", "")
    assert "settled in review" not in before
    # Who is compared with somebody else is not concerned.
    other = shown(open_page(PAGE, run=str(run.id), reference="judge:ann", rater="judge:bob"))
    assert "settled in review" not in other


def test_which_way_a_judge_leans_is_named_by_the_option(store: Store) -> None:
    """The panel says MET of one of three items on Clear that are all labelled MET."""
    text = shown(open_page(PAGE, run=str(graded(store)), criterion="Clear", view="one"))

    assert "Says UNMET more often" in text
    assert "as a share of the items" in text


def test_it_is_said_which_items_have_a_score_of_both(store: Store) -> None:
    """ann and bob have verdicts on a and b; on b both could not assess Depth."""
    run, sides = str(graded(store)), {"reference": "judge:ann", "rater": "judge:bob"}

    text = shown(open_page(PAGE, run=run, view="scores", **sides))

    assert "2 items with verdicts from both on every criterion" in text
    assert "on 1 of them one of the two could not assess a criterion" in text
