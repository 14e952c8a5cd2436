"""What a program graded is on screen like any run: verdicts, votes, and failures in words."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import rubric_studio as rs
from core.domain.dataset import Item
from core.store.store import Store
from pages.ui import routes, state
from pages.ui.run_status import RUN_ACT
from tests.pages.conftest import open_page, shown

DATA = [{"id": "one", "submission": "Thanks!"}, {"submission": "?"}]


def thanks(item: Item) -> bool:
    if "?" in item.output:
        raise ValueError("no <b>question</b>")
    return True


def test_a_run_of_functions_is_shown_with_its_votes_and_failures() -> None:
    run = rs.grade(["Thanks"], DATA, rs.check(thanks))
    app = open_page(routes.RUN, run=str(run.id))
    text = shown(app)
    assert "1 × the judge&#x27;s code failed" in text
    assert "Fix it and grade again." in text
    assert "<b>question" not in text
    one = shown(open_page(routes.RUN, run=str(run.id), item="one"))
    assert "thanks" in one
    assert "MET" in one


def acts(app: AppTest, run: int) -> list[str]:
    names = {state.key(RUN_ACT, act, run): act for act in ("resume", "retry", "cancel")}
    return [names[one.key] for one in app.button if one.key in names]


@pytest.mark.parametrize("status", ["done", "cancelled", "interrupted"])
def test_what_no_page_can_ask_is_said_where_a_button_would_be_refused(
    store: Store, status: str
) -> None:
    # One of two questions failed, so that it could be asked again or gone on with.
    run = rs.grade(["Thanks"], DATA, rs.check(thanks))
    with store.write() as db:
        db.execute("UPDATE run SET status = ? WHERE id = ?", [status, run.id])
    app = open_page(routes.RUN, run=str(run.id))
    assert acts(app, run.id) == []
    text = shown(app)
    assert "Remaining votes (1 vote) cannot be requested from here:" in text
    assert "is a Python function: only the program that brings it can ask it." in text
