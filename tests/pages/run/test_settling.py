"""Cells settled in the grid: by the selection's bar, by a digit, in the open cell; and undone."""

from __future__ import annotations

import html
import json

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Item, Pair
from core.domain.rubric import Criterion, Option
from core.services.review import adjudication, reviewers
from core.store.store import Store
from pages.run import open_cell
from pages.run.filters import CELL, ONLY
from pages.ui import state
from pages.ui.identity import NAME, SESSION
from pages.ui.places import settling
from tests.pages.conftest import shown
from tests.pages.run.test_page import open_run
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET


def settled(store: Store, run_id: int) -> dict[tuple[str, str], int | None]:
    return {cell: one.option for cell, one in adjudication.settled_cells(store, run_id).items()}


def undo_button(app: AppTest) -> tuple[str, str]:
    """The words of the button that undoes a settlement, and its help."""
    button = app.button(key=state.key(settling.SETTLE, "undo"))
    return button.label, html.unescape(button.help)


def at_grid(store: Store, *cells: tuple[str, str], **address: str | list[str]) -> AppTest:
    """The grid of a graded run, with these cells selected by somebody who is known."""
    app = open_run(reviewed.graded(store).id, **address)
    app.session_state[NAME], app.session_state[SESSION] = "Ada", "tab"
    app.session_state[settling.SELECTED] = [json.dumps(cell) for cell in cells]
    return app.run()


def press(app: AppTest, *ids: object) -> AppTest:
    return app.button(key=state.key(settling.SETTLE, *ids)).click().run()


def test_selected_cells_are_settled_by_one_press_and_undone_by_another(store: Store) -> None:
    app = at_grid(store, ("i1", "Right"), ("i2", "Right"))
    assert "2 cells, Right" in shown(app)

    press(app, "bar", "as", MET)
    assert settled(store, 1) == {("i1", "Right"): MET, ("i2", "Right"): MET}
    assert "2 cells settled: MET." in shown(app)

    press(app, "undo")
    assert settled(store, 1) == {}


def test_cells_of_several_criteria_can_be_accepted_as_they_stand(store: Store) -> None:
    app = at_grid(store, ("i1", "Right"), ("i2", "Short"))
    assert not [
        one for one in app.button if one.key == state.key(settling.SETTLE, "bar", "as", MET)
    ]

    press(app, "bar", "as", "stand")

    assert settled(store, 1) == {("i1", "Right"): MET, ("i2", "Short"): UNMET}


def test_a_refusal_says_why_and_keeps_the_selection(store: Store) -> None:
    # On i0 all judges said MET.
    app = at_grid(store, ("i0", "Right"), ("i1", "Right"))

    press(app, "bar", "as", UNMET)
    assert "A note is needed" in shown(app)
    assert settled(store, 1) == {}

    app.text_input(key=state.key(settling.SETTLE, "bar", "note")).set_value(
        "It is about rain."
    ).run()
    press(app, "bar", "as", UNMET)
    assert settled(store, 1) == {("i0", "Right"): UNMET, ("i1", "Right"): UNMET}


def test_the_open_cell_shows_its_text_and_folds_only_a_long_one(store: Store) -> None:
    app = open_run(reviewed.graded(store).id, **{CELL: ["i1", "Right"]})
    short = reviewed.items(2)[1]
    assert f'rs-prose\\">{short.output}</div>' in shown(app)
    assert "<details" not in open_cell.text_html(short)

    long = Item(id="long", prompt="Why?", submission="\n".join(["A line."] * 20))
    html = open_cell.text_html(long)
    assert '<details class="rs-clamped rs-answer">' in html
    assert "Why?" in html
    pair = open_cell.text_html(Item(id="two", submission=Pair(first="Left.", second="Right.")))
    places = [pair.index(words) for words in ("Answer A", "Left.", "Answer B", "Right.")]
    assert places == sorted(places)


def test_the_open_cell_is_settled_beside_its_votes(store: Store) -> None:
    app = at_grid(store, **{CELL: ["i1", "Right"]})

    press(app, "cell", "as", MET)

    assert settled(store, 1) == {("i1", "Right"): MET}


def test_after_a_doubtful_cell_the_next_one_is_open(store: Store) -> None:
    # Judges disagree on both criteria of i1 and of i2 (see `reviewed`).
    app = at_grid(store, **{CELL: ["i1", "Right"]})

    press(app, "cell", "as", MET)
    assert app.query_params[CELL] == ["i1", "Short"]

    # Where they agree, what was open stays open.
    app = at_grid(store, **{CELL: ["i0", "Right"]})
    press(app, "cell", "as", MET)
    assert app.query_params[CELL] == ["i0", "Right"]


def test_the_filters_of_a_run_say_that_they_count_items(store: Store) -> None:
    reviewed.graded(store)
    app = open_run(1)
    # Judges disagree on items 1, 2 and 3 of every four (see `reviewed`); on 3 one abstained.
    filters = str([one.proto for one in app.get("button_group")])
    assert "Judges disagree: 6 items" in filters
    assert "Abstentions: 2" in filters


def test_items_and_their_disagreements_are_counted_side_by_side(store: Store) -> None:
    # Votes split on both criteria of six of the eight items (see `reviewed`).
    app = at_grid(store, **{ONLY: "doubt"})

    labels = [link.proto.label for link in app.get("page_link")]
    assert "Settle 12 disagreements" in labels
    assert "6 items found, 12 disagreements to settle" in shown(app)
    # Among other items they are not counted: these are all of the run.
    assert "to settle" not in shown(open_run(1))


def test_a_digit_settles_as_the_option_whose_mark_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = tuple(Option(label=str(mark), value=mark / 2) for mark in range(3))
    of = Criterion(name="Cause", requirement="Named?", scale="ordinal", options=marks)
    given = list[tuple[int | None, str]]()
    monkeypatch.setattr(settling, "may_settle", lambda: True)
    monkeypatch.setattr(
        settling, "_on_settle", lambda *args: given.append((args[4].option, args[5]))
    )

    for digit in (0, 2, 3):
        settling.settle_by_digit(1, [("i1", "Cause")], of, digit, None)

    assert given == [(0, "0"), (2, "2")]


def test_who_is_not_known_is_asked_for_a_name_before_the_first_press(store: Store) -> None:
    reviewers.sign_in(store, "Kim")
    app = at_grid(store)
    assert not [one for one in app.text_input if one.key == settling.WHO]
    app.session_state[NAME] = ""
    app.run()
    assert app.text_input(key=settling.WHO).value == ""

    app.session_state[settling.SELECTED] = [json.dumps(("i1", "Right"))]
    app.run()
    press(app, "bar", "as", MET)
    assert "Give a name" in shown(app)
    app.text_input(key=settling.WHO).set_value("Ada").run()
    press(app, "bar", "as", MET)

    assert settled(store, 1) == {("i1", "Right"): MET}


def test_who_settles_first_without_a_name_is_the_grader(store: Store) -> None:
    app = open_run(reviewed.graded(store).id, **{CELL: ["i1", "Right"]})

    press(app, "cell", "as", MET)

    assert settled(store, 1) == {("i1", "Right"): MET}
    assert undo_button(app) == ("Undo MET", "1 cell settled: MET, as Grader.")


def test_where_others_have_reviewed_the_open_cell_asks_for_a_name(store: Store) -> None:
    run = reviewed.graded(store)
    reviewers.sign_in(store, "Ada")
    app = open_run(run.id, **{CELL: ["i1", "Right"]})

    press(app, "cell", "as", MET)
    assert settled(store, 1) == {}

    app.text_input(key=settling.WHO_CELL).set_value("Bo").run()
    press(app, "cell", "as", MET)
    assert settled(store, 1) == {("i1", "Right"): MET}
    assert undo_button(app) == ("Undo MET", "1 cell settled: MET.")
