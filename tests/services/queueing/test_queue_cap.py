"""A queue of at most so many cells, one of disagreements, and what switched-off judges queue."""

from __future__ import annotations

from collections import Counter

import pytest

from core.domain.base import build_model
from core.domain.review import QueueRule, QueueSettings
from core.services.queueing.queue_cap import choose_within
from core.services.queueing.queue_cells import choose_cells, disagreements_of, rule_for_splits
from core.services.results.doubt import doubtful_cells
from core.services.review import queues, random_audit
from core.store.store import Store
from tests.services import reviewed
from tests.services.review.test_queue_cells import only, places
from tests.services.review.test_reviewer_quality import timed
from tests.services.reviewed import UNMET, sit

#: Of four items two are split and one abstains; two criteria: 36 of 48 cells of 24 items.
ITEMS, WANTED, CELLS = 24, 36, 48


def capped(most: int, **on: object) -> QueueRule:
    return build_model(
        QueueRule, {"near_mark": None, "audit_share": 0.0, "most": most, **on}, "rule"
    )


def test_a_cap_takes_what_comes_first_in_the_order_and_says_what_it_left_out(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    found = queues.preview_queue(store, run.id, capped(10), order="impact")
    assert (found.cells, found.left_out) == (10, WANTED - 10)
    made = reviewed.make_queue(store, run, capped(10), order="impact")
    whole = reviewed.make_queue(store, run, order="impact")

    def flips(queue: int) -> list[float]:
        return sorted((cell.flip for cell in store.queues.cells(queue)), reverse=True)

    assert flips(made) == flips(whole)[:10]
    # As in the dataset: items 1 to 3 and 5 to 7 are doubtful, two cells each.
    first = reviewed.make_queue(store, run, capped(10), order="dataset")
    items = {cell.item_id for cell in store.queues.cells(first)}
    assert items == {"i1", "i2", "i3", "i5", "i6"}
    assert queues.preview_queue(store, run.id, capped(WANTED)).left_out == 0


def test_a_cap_holds_when_the_queue_is_brought_up_to_date(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reviewed.queued(store, ITEMS)
    items = reviewed.items(ITEMS)
    reviewed.record(store, run, items[:4])
    queue = reviewed.make_queue(store, run, capped(10))
    ada = sit(store, "Ada")
    # Items 1, 2 and 3 are doubtful; what is done counts as well.
    assert len(store.queues.cells(queue)) == 6
    reviewed.settle(store, ada, queue, "i1", UNMET)
    monkeypatch.setattr(reviewed, "NOW", "2999-01-01T00:00:00.000Z")  # after the queue was made
    reviewed.record(store, run, items[4:])
    assert queues.refresh(store, sit(store, "Lea"), queue) == 4
    assert queues.refresh(store, sit(store, "Lea"), queue) == 0
    full = reviewed.make_queue(store, run, capped(4))
    reviewed.settle(store, ada, full, "i2", UNMET)
    assert queues.refresh(store, sit(store, "Lea"), full) == 0
    assert len(store.queues.cells(full)) == 4


@pytest.mark.parametrize("seed", range(6))
def test_the_audit_is_a_share_of_the_cap_and_its_chance_is_the_share_of_the_rest(
    store: Store, seed: int
) -> None:
    run = reviewed.graded(store, ITEMS)
    found = choose_within(store, run.id, capped(20, audit_share=0.3), seed=seed)
    # 30 % of 20 cells are 6; the other 14 are the first of the order, as without an audit.
    preview = found.preview
    assert (preview.cells, preview.doubtful, preview.random) == (20, 14, 6)
    kept = [cell for cell in found.cells if cell.ruled]
    alone = choose_within(store, run.id, capped(14), seed=seed)
    assert places(kept) == places(alone.cells)
    # Drawn are 6 of the 34 that are not kept, doubtful ones that the cap left out among them.
    assert {cell.chance for cell in found.cells if not cell.ruled} == {6 / (CELLS - 14)}
    assert {cell.chance for cell in kept} == {1.0}


def test_the_recorded_chance_is_how_often_a_cell_is_drawn(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    rule = capped(20, audit_share=0.3)
    times = Counter[tuple[str, str]]()
    for seed in range(400):
        cells = choose_within(store, run.id, rule, order="dataset", seed=seed).cells
        times.update(places(cell for cell in cells if not cell.ruled))
    # In the order of the dataset the same 14 are kept always. Each of the other 34 is drawn with
    # chance 6 / 34: 70.6 of 400 times, standard deviation sqrt(400 * .176 * .824) = 7.6.
    assert len(times) == CELLS - 14
    assert sum(times.values()) == 6 * 400
    assert all(abs(count - 400 * 6 / 34) < 4 * 7.6 for count in times.values())


def test_few_doubtful_cells_leave_room_that_the_audit_does_not_take(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    # i3, i7, ... i23 hold an abstention, on both criteria: 12 cells. A quarter of 40 is 10.
    rule = capped(40, split=False, flip=False, audit_share=0.25)
    found = queues.preview_queue(store, run.id, rule, seed=1)
    assert (found.cells, found.doubtful, found.random, found.left_out) == (22, 12, 10, 0)
    # All that is not doubtful is drawn where a larger cap asks for more than there is.
    everything = queues.preview_queue(store, run.id, rule.model_copy(update={"most": 200}), seed=1)
    assert (everything.doubtful, everything.random) == (12, CELLS - 12)


def test_known_labels_are_a_share_of_the_cap_as_well(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    # i0 and i1 are labelled on "Right". By the dataset's order 6 cells are kept: i1, i2 and i3,
    # so of the labelled ones only i0 is left to be drawn.
    rule = capped(10, audit_share=0.2, gold_share=0.2)
    found = choose_within(store, run.id, rule, order="dataset", seed=2)
    gold = [cell for cell in found.cells if cell.item_id == "i0" and cell.criterion.name == "Right"]
    assert len(gold) == 1
    assert len(found.cells) <= 10
    # Drawn as one of 42 by the audit (2), or for its label (1 of 1): surely.
    assert gold[0].chance == 1.0
    # Both shares together never exceed the cap.
    assert (
        queues.preview_queue(store, run.id, capped(10, audit_share=0.9, gold_share=0.9)).cells <= 10
    )


def test_an_audit_is_not_drawn_anew_when_a_full_queue_is_brought_up_to_date(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reviewed.queued(store, 80)
    items = reviewed.items(80)
    reviewed.record(store, run, items[:40])
    # 80 cells: 60 doubtful. The cap keeps 30 of them and draws 30 of the other 50.
    rule = capped(60, audit_share=0.5)
    queue = reviewed.make_queue(store, run, rule)
    assert queues.refresh(store, sit(store, "Lea"), queue) == 0
    monkeypatch.setattr(reviewed, "NOW", "2999-01-01T00:00:00.000Z")  # after the queue was made
    reviewed.record(store, run, items[40:])
    # 80 more cells: the queue is full, and says that its audit does not speak of them.
    found = random_audit.unaudited_cells(store, queue)
    assert queues.refresh(store, sit(store, "Lea"), queue) == 0
    assert store.queues.size(queue) == 60
    assert found.behind > 0
    assert found.accuracy.value is None


def test_what_comes_later_is_drawn_with_the_same_chance_while_there_is_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reviewed.queued(store, 200)
    items = reviewed.items(200)
    reviewed.record(store, run, items[:100])
    # 200 cells, none doubtful by this rule: half of 200 are drawn, of 200.
    rule = capped(200, split=False, abstention=False, flip=False, audit_share=0.5)
    queue = reviewed.make_queue(store, run, rule)
    assert store.queues.size(queue) == 100
    monkeypatch.setattr(reviewed, "NOW", "2999-01-01T00:00:00.000Z")
    reviewed.record(store, run, items[100:])
    behind = random_audit.unaudited_cells(store, queue).behind
    added = queues.refresh(store, sit(store, "Lea"), queue)
    # 200 more with chance .5: 100 on average, standard deviation 7.1; there is room for 100.
    assert 70 <= added <= 100
    assert added == min(behind, 100)
    assert {chance for *_, chance in store.queues.chances(queue)} == {0.5}


def test_cells_that_the_cap_cut_are_a_part_of_what_the_audit_speaks_of(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    rule = capped(20, audit_share=0.2)
    queue = reviewed.make_queue(store, run, rule, QueueSettings(mode="blind"))
    cells = store.queues.cells(queue)
    kept = [cell for cell in cells if cell.stratum == "rule"]
    framed = random_audit.audit_frame_of(store, queues.queue_by_id(store, queue))
    assert len(framed.cells) == CELLS - len(kept)
    assert framed.drawn.sum() == len(cells) - len(kept)


def test_minutes_are_those_of_verdicts_on_the_rubric_and_none_where_nobody_was_timed(
    store: Store,
) -> None:
    run = reviewed.graded(store, ITEMS)
    one, two = QueueSettings(), QueueSettings(reviewers=2, overlap_share=0.5)
    assert queues.expected_minutes(store, run.id, 30, one) is None
    queue = reviewed.make_queue(store, run)
    for item in ("i1", "i2", "i3"):
        timed(store, "Ada", queue, item, 20_000, 20_000)
    # 30 cells at 20 seconds; half of them by two people.
    assert queues.expected_minutes(store, run.id, 30, one) == 10
    assert queues.expected_minutes(store, run.id, 30, two) == 15


def test_cells_are_not_queued_because_a_judge_abstained_that_was_switched_off(
    store: Store,
) -> None:
    run = reviewed.graded(store, 8)
    # cem abstains on items 3 and 7, on both criteria.
    assert queues.preview_queue(store, run.id, only(abstention=True)).cells == 4
    store.runs.set_notes(run.id, {"training": {"cem": {"Right": {"trained": False}}}})
    found = choose_cells(store, run.id, only(abstention=True)).cells
    assert places(found) == {("i3", "Short"), ("i7", "Short")}
    # Bob was switched off as well, and would not have abstained: cem alone says something.
    store.runs.set_notes(run.id, {"training": {"bob": {"Short": {"trained": False}}}})
    assert len(choose_cells(store, run.id, only(abstention=True)).cells) == 4


def test_nor_is_such_a_cell_in_doubt(store: Store) -> None:
    run = reviewed.graded(store, 4)
    with store.write() as db:
        db.execute("UPDATE cell SET entropy = 0 WHERE item_id = 'i3'")
    assert [one.why for one in doubtful_cells(store, run.id) if one.item == "i3"] == [
        "abstained"
    ] * 2
    report = {"trained": False}
    store.runs.set_notes(run.id, {"training": {"cem": {"Right": report, "Short": report}}})
    assert [one for one in doubtful_cells(store, run.id) if one.item == "i3"] == []


def test_disagreements_are_the_cells_that_a_queue_of_them_takes_and_nobody_settled(
    store: Store,
) -> None:
    run = reviewed.graded(store, 8)
    # Items 1 to 3 and 5 to 7 are split on both criteria.
    assert disagreements_of(store, run.id) == (12, None)
    assert queues.preview_queue(store, run.id, rule_for_splits()).cells == 12
    assert disagreements_of(store, run.id, "i1") == (2, None)
    queue = reviewed.make_queue(store, run, rule_for_splits().model_copy(update={"most": 9}))
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", UNMET)
    assert disagreements_of(store, run.id) == (10, queue)
    assert queues.preview_queue(store, run.id, rule_for_splits()).cells == 10
    assert disagreements_of(store, run.id, "i1")[0] == 0
    assert disagreements_of(store, run.id, "i0")[0] == 0
