"""What was decided about a cell since somebody opened it is never overwritten unseen."""

from __future__ import annotations

import pytest

from core.domain.review import QueueSettings, ReviewerAnswer
from core.errors import Conflict
from core.services.review import claims, commit_reveal, other_acts
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, UNMET, sit

SAID = {"Right": ReviewerAnswer(MET), "Short": ReviewerAnswer(MET)}


def test_a_cell_that_was_sent_back_since_it_was_opened_must_be_looked_at_again(
    store: Store,
) -> None:
    settings = QueueSettings(mode="blind", reviewers=2)
    queue = reviewed.make_queue(store, reviewed.graded(store, 2), EVERYTHING, settings)
    lea = sit(store, "Lea")  # the first to sit down is a lead
    ada = sit(store, "Ada")
    opened = claims.claim(store, ada, queue, "i1")
    reviewed.settle(store, sit(store, "Bob"), queue, "i1", UNMET)
    other_acts.send_back(store, lea, queue, [("i1", "Right")], "The reference was wrong.")
    # The cell waits for a verdict again, as when Ada opened it; only its version tells.
    states = {c.criterion: c.state for c in store.queues.cells(queue, "i1")}
    assert states["Right"] == "needs_review"
    with pytest.raises(Conflict, match=r"'Right' was sent back by Lea at .* was not recorded"):
        commit_reveal.commit(store, opened, SAID)
    assert "Ada" not in {v.reviewer for v in store.verdicts.of_item(queue, "i1")}
    commit_reveal.commit(store, claims.renewed_ticket(store, opened), SAID)
    said = {v.criterion for v in store.verdicts.of_item(queue, "i1") if v.reviewer == "Ada"}
    assert said == {"Right", "Short"}


def test_what_was_finished_as_the_server_died_is_given_back_when_its_window_comes_again(
    store: Store,
) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 2), EVERYTHING, QueueSettings())
    ada = sit(store, "Ada")
    open_still = claims.claim(store, ada, queue, "i1")
    again = claims.claim_mine(store, ada, queue)
    assert again is not None
    assert again.item_id == "i1"
    # All is decided, and nobody was left to give it back.
    done = commit_reveal.commit(store, open_still, SAID)
    commit_reveal.finish(store, done.ticket, SAID)
    assert [lease.item_id for lease in claims.open_leases(store, queue)] == ["i1"]
    assert claims.claim_mine(store, ada, queue) is None
    assert claims.open_leases(store, queue) == ()
    taken = claims.claim_next(store, ada, queue)
    assert taken is not None
    assert taken.item_id == "i0"
