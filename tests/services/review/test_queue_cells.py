"""What a rule queues, in which order, and what the queue says of itself."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from core.domain.base import build_model
from core.domain.review import QueueRule, QueueSettings
from core.errors import Conflict, InputError
from core.services.queueing.queue_cells import QueueCandidate, choose_cells
from core.services.review import adjudication, claims, other_acts, queues, random_audit
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit

only = QueueRule.only


def places(cells: Iterable[QueueCandidate]) -> set[tuple[str, str]]:
    return {(cell.item_id, cell.criterion.name) for cell in cells}


def test_every_reason_is_counted_and_nothing_is_written(store: Store) -> None:
    run = reviewed.graded(store, 8)
    rule = QueueRule(near_mark=None, audit_share=0.0)
    found = queues.preview_queue(store, run.id, rule)
    # Per four items: two split and one where one of three abstains and the others differ; two
    # criteria each; twice.
    assert (found.cells, found.items, found.of) == (12, 6, 16)
    assert found.by_reason == {"split": 12, "abstention": 4}
    assert queues.queues_of_run(store) == []


@pytest.mark.parametrize(
    ("rule", "cells"),
    [
        (only(abstention=True), 4),  # items 3 and 7
        (only(margin=0.4), 12),  # 1/3 (items 1, 2, 5, 6) and 0 (items 3 and 7)
        (only(margin=0.2), 4),  # items 3 and 7
        (only(everything=True, items=("i0", "i4")), 4),
        (only(everything=True, criteria=("Short",)), 8),
        (only(split=True, items=("i0",)), 0),
    ],
)
def test_a_rule_queues_what_it_says(store: Store, rule: QueueRule, cells: int) -> None:
    run = reviewed.graded(store, 8)
    assert queues.preview_queue(store, run.id, rule).cells == cells


def test_votes_that_are_all_the_same_are_not_split_where_the_verdict_is_another(
    store: Store,
) -> None:
    run = reviewed.graded(store, 4)
    with store.write() as db:
        # All say MET of i0; a rule that reads chances (soft_mean) may settle on UNMET.
        db.execute("UPDATE cell SET option = 1, agreement = 0 WHERE item_id = 'i0'")

    assert queues.preview_queue(store, run.id, only(split=True, items=("i0",))).cells == 0


def test_near_a_mark_are_cells_that_can_move_the_score_over_it(store: Store) -> None:
    run = reviewed.graded(store, 4)
    # Scores are 1 or 0, .5 from the mark. Right moves up to 3/4, Short up to 1/4.
    assert queues.preview_queue(store, run.id, only(near_mark=0.4)).cells == 0
    found = choose_cells(store, run.id, only(near_mark=0.5)).cells
    assert {cell.criterion.name for cell in found} == {"Right"}
    assert {cell.reasons for cell in found} == {("near_mark",)}
    assert len(found) == 4


def test_stale_cells_are_queued_and_settled_ones_are_not(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", UNMET)
    rule = only(stale=True)
    assert queues.preview_queue(store, run.id, rule).settled == 2
    given = queues.preview_queue(store, run.id, rule, stale={("i0", "Right"), ("i1", "Right")})
    assert given.by_reason == {"stale": 1}  # i1 is settled and stands
    before = store.results.item(run.id, "i1").score
    lea = sit(store, "Lea")
    assert adjudication.mark(store, lea, run.id, [("i1", "Right")], "stale", "New wording.") == 1
    # It is stale already; i0 was never settled.
    both = [("i1", "Right"), ("i0", "Right")]
    assert adjudication.mark(store, lea, run.id, both, "stale", "New wording.") == 0
    assert choose_cells(store, run.id, rule).cells[0][:2] == ("i1", 1)
    # Not truth and not the verdict any more: Right is MET by the votes, Short stays settled.
    assert before == 0.0
    assert store.results.item(run.id, "i1").score == 0.75
    again = reviewed.make_queue(store, run, rule)
    done = reviewed.settle(store, sit(store, "Ada"), again, "i1", MET)
    assert done.effect is not None
    assert adjudication.settled_cells(store, run.id)["i1", "Right"].state == "active"
    queues.archive(store, lea, again)
    with pytest.raises(Conflict, match="archived"):
        claims.claim_next(store, lea, again)


def test_taking_back_what_replaced_a_stale_decision_brings_that_one_back(store: Store) -> None:
    run = reviewed.graded(store, 4)
    ada = sit(store, "Ada")
    reviewed.settle(store, ada, reviewed.make_queue(store, run), "i1", UNMET)
    adjudication.mark(store, ada, run.id, [("i1", "Right")], "stale", "New wording.")
    stale = adjudication.settled_cells(store, run.id)["i1", "Right"]
    queue = reviewed.make_queue(store, run, only(stale=True))
    reviewed.settle(store, ada, queue, "i1", MET)
    other_acts.undo_last(store, ada, queue)
    found = adjudication.settled_cells(store, run.id)["i1", "Right"]
    assert (found.option, found.state) == (stale.option, "stale")


def test_the_audit_draws_a_share_of_the_rest_whatever_the_rule(store: Store) -> None:
    run = reviewed.graded(store, 400)
    found = choose_cells(store, run.id, QueueRule(near_mark=None, audit_share=0.1), seed=3)
    audit = [cell for cell in found.cells if cell.reasons == ("audit",)]
    # A quarter of 800 cells is unanimous: 200 draws of .1, mean 20, standard deviation 4.2.
    assert 8 <= len(audit) <= 33
    assert {cell.chance for cell in audit} == {0.1}
    assert {cell.chance for cell in found.cells if cell not in audit} == {1.0}
    alone = choose_cells(store, run.id, only(audit_share=0.1), seed=3)
    assert places(audit) <= places(alone.cells)
    other = choose_cells(store, run.id, only(audit_share=0.1), seed=4)
    assert places(other.cells) != places(alone.cells)


def test_random_cells_are_mixed_evenly_into_an_order_by_doubt(store: Store) -> None:
    run = reviewed.graded(store, 80)
    # Of 80 cells 60 are doubtful: 24 of them are kept, and 8 of the other 56 cells are drawn.
    rule = QueueRule(near_mark=None, audit_share=0.25, most=32, criteria=("Right",))
    queue = reviewed.make_queue(store, run, rule, order="entropy")
    drawn = {cell.item_id for cell in store.queues.cells(queue) if cell.audit}
    assert len(drawn) == 8
    ada, handed_out = sit(store, "Ada"), list[str]()
    while (ticket := claims.claim_next(store, ada, queue)) is not None:
        handed_out.append(ticket.item_id)
        claims.release(store, ticket)
        reviewed.settle(store, ada, queue, ticket.item_id, UNMET, note="I looked.")
    # Every fourth item is a random one, however far the queue is: 1 in the first 4, 2 in 8, ...
    counts = [sum(item in drawn for item in handed_out[:n]) for n in range(4, 33, 4)]
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8]
    # Random ones come in an order of their own, drawn, not by what their votes say.
    places = {item.item_id: item.draw for item in store.queues.items(queue)}
    draws = [places[item] for item in handed_out if item in drawn]
    assert draws == sorted(draws)


def test_the_weighted_accuracy_is_that_of_all_cells_and_the_naive_one_is_not(
    store: Store,
) -> None:
    """The judges are right on every unanimous cell, and on half of the others."""
    run = reviewed.graded(store, 400)
    rule = QueueRule(near_mark=None, audit_share=0.1)
    queue = reviewed.make_queue(store, run, rule, QueueSettings(mode="blind"))
    ada = sit(store, "Ada")
    cells = store.queues.cells(queue)
    # People say MET: true of the verdicts on items 0 and 1 of four, false of 2 and 3.
    for item in dict.fromkeys(cell.item_id for cell in cells):
        reviewed.settle(store, ada, queue, item, MET)
    found = random_audit.verdict_accuracy(store, queue)
    assert found.missing == 0
    assert found.audited + found.queued == len(cells)
    truth = 0.5  # items 0 and 1 of every four
    assert found.weighted.low is not None
    assert found.weighted.high is not None
    assert found.weighted.low <= truth <= found.weighted.high
    assert found.weighted.value == pytest.approx(truth, abs=0.05)
    # Of the queue's 600 doubtful cells a third are right; the audit hardly lifts that.
    assert found.naive.high is not None
    assert found.naive.high < 0.42
    assert found.hard.value == pytest.approx(1 / 3)


def test_the_first_item_is_the_one_whose_outcome_is_likeliest_to_change(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING, order="impact")
    by_item = {(cell.item_id, cell.criterion): cell.flip for cell in store.queues.cells(queue)}
    # i3 Right: votes 1 MET, 1 UNMET; (1 + .5) / 3 = .5 for MET, which makes it pass.
    assert by_item["i3", "Right"] == pytest.approx(0.5)
    # i1 Right: two of three; (1 + .5) / 4 = .375 for the other. i0: (0 + .5) / 4 = .125.
    assert by_item["i1", "Right"] == pytest.approx(0.375)
    assert by_item["i0", "Right"] == pytest.approx(0.125)
    assert by_item["i3", "Short"] == 0.0  # a quarter of the score cannot lift 0 over .5
    turns = claims.next_items(store, sit(store, "Ada"), queue, limit=9)
    # Ties (i1 and i2) go by the expected change, then entropy, then the dataset's order.
    assert [turn.item_id for turn in turns] == ["i3", "i1", "i2", "i0"]


@pytest.mark.parametrize(
    ("order", "items"),
    [
        ("entropy", ["i3", "i1", "i2", "i0"]),  # 1, .92, .92, 0
        ("margin", ["i3", "i1", "i2", "i0"]),  # 0, 1/3, 1/3, 1
        ("dataset", ["i0", "i1", "i2", "i3"]),
        # D_e over 3 + 3 + 3 + 2 = 11 votes, 6 MET, 5 UNMET: 2 * 30 / 110. Within cells: 1, 2/3,
        # 2/3, 0.
        ("spread", ["i3", "i1", "i2", "i0"]),
    ],
)
def test_items_come_in_the_order_that_was_chosen(
    store: Store, order: str, items: list[str]
) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING, order=order)
    turns = claims.next_items(store, sit(store, "Ada"), queue, limit=9)
    assert [turn.item_id for turn in turns] == items
    assert order in queues.QUEUE_ORDERS


def test_a_random_order_is_the_seeds(store: Store) -> None:
    run = reviewed.graded(store, 20)
    ada = sit(store, "Ada")

    def order(seed: int) -> list[str]:
        queue = reviewed.make_queue(store, run, order="random", seed=seed)
        return [t.item_id for t in claims.next_items(store, ada, queue, limit=99)]

    assert order(1) == order(1) != order(2)


def test_a_queue_says_how_far_it_is_and_what_is_still_to_gain(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    before = queues.queue_progress(store, queue)
    # Flips of Right: .125 + .375 + .375 + .5; Short never decides by itself.
    assert before.flips == pytest.approx(1.375)
    reviewed.settle(store, sit(store, "Ada"), queue, "i3", MET)
    after = queues.queue_progress(store, queue)
    assert after.flips == pytest.approx(0.875)
    assert (after.resolved, after.total) == (2, 8)
    assert after.change < before.change


def test_what_cannot_be_queued_is_refused_in_words(store: Store) -> None:
    run = reviewed.graded(store, 4)
    lea = sit(store, "Lea")
    with pytest.raises(InputError, match="None of 8 cells fits this rule"):
        queues.make_queue(store, lea, run.id, "Q", only(), QueueSettings())
    with pytest.raises(InputError, match="Give the queue a name"):
        queues.make_queue(store, lea, run.id, " ", only(), QueueSettings())
    empty = reviewed.queued(store, 2)
    with pytest.raises(InputError, match="no cell of this run has a verdict yet"):
        queues.make_queue(store, lea, empty.id, "Q", QueueRule(), QueueSettings())
    queue = reviewed.make_queue(store, run)
    for item in ("i1", "i2", "i3"):
        reviewed.settle(store, lea, queue, item, MET)
    with pytest.raises(InputError, match="None of 8 cells"):
        queues.make_queue(store, lea, run.id, "Q", QueueRule(audit_share=0), QueueSettings())


def test_settings_that_cannot_work_are_refused(store: Store) -> None:
    with pytest.raises(InputError, match="needs at least three reviewers"):
        build_model(QueueSettings, {"policy": "majority", "reviewers": 2}, "queue")
    given = {"assignment": "named", "assignees": ["Ada"], "reviewers": 2}
    with pytest.raises(InputError, match="too few people for 2 reviewers"):
        build_model(QueueSettings, given, "queue")
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    with pytest.raises(Conflict, match="Only a lead"):
        queues.change(store, sit(store, "Ada"), queue, name="Mine")
    assert queues.change(store, sit(store, "Lea"), queue, name="Ours").name == "Ours"
