"""Agreement of a run with few labels: ten more are one press away, until it is enough."""

from __future__ import annotations

import html

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.panel import Judge, Panel
from core.services.guided import learning, ten_more
from core.store.store import Store
from pages.ui import routes, state
from tests.pages import reviewing as at
from tests.pages.agreement.test_page import PAGE
from tests.pages.conftest import open_page, shown
from tests.services.guided.test_ten_more import SAYS, TRUTH, grade, made, ten
from tests.services.reviewed import sit

LEARNS = Panel(judges=(Judge(name="one", kind="classifier"),))


def ways(app: AppTest) -> dict[str, str]:
    return {one.proto.label: one.proto.query_string for one in app.main.get("page_link")}


def test_with_few_labels_ten_more_are_one_press_away_and_what_they_teach_is_told(
    store: Store,
) -> None:
    run = made(store, panel=LEARNS)
    assert (
        ways(open_page(PAGE, run=str(run)))["Grade ten texts yourself"] == f"run={run}&rule=random"
    )
    ten(store, run)
    app = open_page(PAGE, run=str(run))
    assert ways(app)["Grade ten more"] == f"run={run}&rule=random"
    text = html.unescape(shown(app))
    assert "1 criterion of 1 cannot be judged yet: grade ten more." in text
    assert "plan=new" in ways(app)["Plan that run"]


def test_where_nothing_learns_it_says_how_many_are_graded(store: Store) -> None:
    run = made(store)
    ten(store, run)
    app = open_page(PAGE, run=str(run))
    assert "10 texts drawn at random graded." in html.unescape(shown(app))
    assert "Grade ten more" in ways(app)


def test_where_none_was_drawn_no_count_is_shown(store: Store) -> None:
    run = made(store, labelled=frozenset(range(8)))
    assert "drawn at random graded" not in shown(open_page(PAGE, run=str(run)))


def test_with_enough_labels_nothing_more_is_asked_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(store, panel=LEARNS)
    ten(store, run)
    monkeypatch.setattr(learning, "MANY", 10)
    assert not [words for words in ways(open_page(PAGE, run=str(run))) if "ten" in words]


def test_findings_of_their_queue_speak_of_all_texts(store: Store) -> None:
    run = made(store)
    queue = ten_more.take_up(store, sit(store, "Lea"), run)
    address = {state.QUEUE: queue.id, state.VIEW: "all"}
    text = html.unescape(shown(at.at(store, "Lea", routes.RECORD, **address)))
    assert "10 cells of the queue are still open." in text
    grade(store, queue.id)
    right = sum(SAYS[int(i[1:])] == TRUTH[int(i[1:])] for i in queue.rule.items or ())
    text = html.unescape(shown(at.at(store, "Lea", routes.RECORD, **address)))
    assert f"Of all cells {right}0% (" in text
    assert "by 10 cells of texts drawn at random." in text
    assert "Picked as doubtful" not in text
