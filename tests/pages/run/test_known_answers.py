"""The Run page says what was answered from earlier runs."""

from __future__ import annotations

from dataclasses import replace

from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for
from core.store.store import Store
from pages.run.filters import ITEM_OPEN
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.pages.graded import CALL, DATASET, FIRST, NOW, RUBRIC, planned

KNOWN = replace(CALL, cost=0.0, first_cost=0.25, seconds=0.0, tries=0, cached=True)


def half_known(store: Store) -> int:
    """A run in which bob was asked twice, and two of ann's answers were known for $0.25 each."""
    run_id = planned(store)
    lease = store.leases.claim("me:1:x", at=0.0, seconds=60, run_id=run_id)
    assert lease is not None
    votes = [
        AskedOutcome((Vote(Cell(item, "Clear", judge), 0, False),), call)
        for item in (FIRST, "b")
        for judge, call in (("ann", KNOWN), ("bob", CALL))
    ]
    derive = derivation_for(store.runs.get(run_id).plan, RUBRIC, DATASET.items)
    store.votes.record(run_id, votes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive)
    store.leases.release(lease, "done", now=NOW)
    return run_id


def test_the_run_says_how_many_answers_were_known_and_what_that_saved(store: Store) -> None:
    app = open_page(routes.RUN, run=str(half_known(store)))
    # bob's two calls cost $0.50 each; ann's two answers cost $0.25 each in their time
    assert "2 calls · $1.00" in shown(app)
    assert "200 tokens in, 20 tokens out · 2 answers from earlier runs, saved $0.50" in shown(app)


def test_a_known_answer_says_what_it_cost_then(store: Store) -> None:
    run_id = half_known(store)
    (vote, _) = store.votes.for_item(run_id, FIRST)
    app = open_page(routes.RUN, run=str(run_id), item=FIRST)
    app.session_state[state.key(ITEM_OPEN, "call", vote.call_id, "Clear", "ann", 0)] = True
    app.run()
    assert not app.exception
    assert "answer from an earlier run, cost $0.25 then, nothing now" in shown(app)
