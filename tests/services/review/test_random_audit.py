"""What a queue's audit says of the cells nobody looked at."""

from __future__ import annotations

from core.domain.review import QueueRule
from core.metrics.intervals.acceptance import share_of_rest
from core.metrics.intervals.finite import upper_bound_of_rest
from core.services.review.random_audit import unaudited_cells
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, sit

#: No rule but the audit: of every cell a verdict was given on, half are drawn.
AUDIT = QueueRule.only(stale=True, audit_share=0.5)


def test_the_audit_speaks_of_the_rest_once_it_is_decided(store: Store) -> None:
    run = reviewed.graded(store, 24)
    queue = reviewed.make_queue(store, run, AUDIT)
    drawn = [(c.item_id, c.criterion) for c in store.queues.cells(queue)]
    waiting = unaudited_cells(store, queue)
    assert (waiting.audited, waiting.missing, waiting.rest) == (0, len(drawn), 48 - len(drawn))
    assert waiting.acceptance is None
    assert "still to be decided" in waiting.accuracy.reason
    for item in dict.fromkeys(item for item, _ in drawn):
        reviewed.settle(store, sit(store, "Ada"), queue, item, MET)
    found = unaudited_cells(store, queue, 0.3)
    # People say MET; the votes do on items 0 and 1 of every four.
    right = sum(int(item[1:]) % 4 < 2 for item, _ in drawn)
    assert (found.audited, found.right, found.missing) == (len(drawn), right, 0)
    assert found.rest == 48 - len(drawn)
    assert found.accuracy.value == right / len(drawn)
    assert found.acceptance is not None
    assert found.acceptance.threshold is None


def test_what_a_rule_queued_is_not_spoken_of(store: Store) -> None:
    run = reviewed.graded(store, 24)
    rule = QueueRule(audit_share=1.0, near_mark=None, criteria=("Right",))
    queue = reviewed.make_queue(store, run, rule)
    # One cell in four is unanimous: those 6 of "Right" are drawn, nothing is left.
    found = unaudited_cells(store, queue)
    assert (found.missing, found.rest) == (6, 0)


def test_the_interval_of_the_rest_is_made_of_exact_bounds() -> None:
    mean = share_of_rest(28, 30, 170)
    assert mean.high == upper_bound_of_rest(28, 30, 170, 0.025)
    assert mean.low == 1 - upper_bound_of_rest(2, 30, 170, 0.025)
