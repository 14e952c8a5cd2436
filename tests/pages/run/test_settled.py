"""The Run page says of a cell who settled it, when, from what, and leads to its timeline."""

from __future__ import annotations

import pytest

from core import clock
from core.domain.review import ReviewerAnswer
from core.services.review import adjudication, claims, commit_reveal, other_acts
from core.services.review.audit_trail import settled_decisions
from core.store.store import Store
from pages.ui import routes
from tests.pages.conftest import open_page, shown
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, sit, take


def settle(store: Store) -> tuple[int, int]:
    """Item i2, criterion Right, settled as MET by Ada; returns the run and its queue."""
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    ticket = take(store, sit(store, "Ada"), queue, "i2")
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)}).ticket
    done = commit_reveal.finish(
        store, ticket, {"Right": ReviewerAnswer(MET, note="It **is** right.")}
    )
    claims.release(store, done.ticket)
    return run.id, queue


def test_an_item_says_who_settled_a_cell_and_what_the_votes_gave(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", lambda: "2026-03-05T09:30:00.000Z")
    run, _ = settle(store)
    app = open_page(routes.RUN, run=str(run), item="i2")
    text = shown(app)
    for told in ("settled by Ada", "as MET", "5 Mar 2026", "one person", "the votes gave UNMET"):
        assert told in text
    assert "It **is** right." in text
    assert "right: the label is MET" not in text
    links = [link.proto for link in app.get("page_link")]
    (timeline,) = [link for link in links if link.label == "Timeline"]
    assert timeline.page == "record"
    assert timeline.query_string == f"run={run}&item=i2&criterion=Right"


def test_a_cell_that_nobody_settled_says_nothing_of_it(store: Store) -> None:
    run, queue = settle(store)
    assert "settled by Ada" not in shown(open_page(routes.RUN, run=str(run), item="i0"))
    ada = sit(store, "Ada")
    while other_acts.undo_last(store, ada, queue):
        pass
    assert settled_decisions(store, run, "i2") == {}
    assert "settled by Ada" not in shown(open_page(routes.RUN, run=str(run), item="i2"))


def test_what_is_stale_says_so(store: Store) -> None:
    run, _ = settle(store)
    adjudication.mark(store, sit(store, "Lea"), run, [("i2", "Right")], "stale", "Other words.")
    text = shown(open_page(routes.RUN, run=str(run), item="i2"))
    assert "stale: Ada" in text
    assert "the votes gave UNMET" in text
