"""A queue of at most so many cells, one of disagreements, and what switched-off judges queue."""

from __future__ import annotations

import pytest

from core.domain.base import build
from core.domain.review import QueueRule, QueueSettings
from core.services.queueing.queue_cap import choose_within
from core.services.queueing.queue_cells import choose, disagreements, splits_only
from core.services.results.doubt import in_doubt
from core.services.review import queues, random_audit
from core.store.store import Store
from tests.services import reviewed
from tests.services.review.test_queue_cells import only, places
from tests.services.review.test_reviewer_quality import timed
from tests.services.reviewed import UNMET, sit

#: Of four items two are split and one abstains; two criteria: 36 of 48 cells of 24 items.
ITEMS, WANTED, CELLS = 24, 36, 48


def capped(most: int, **on: object) -> QueueRule:
    return build(QueueRule, {"near_mark": None, "audit_share": 0.0, "most": most, **on}, "rule")


def test_a_cap_takes_what_comes_first_in_the_order_and_says_what_it_left_out(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    found = queues.preview(store, run.id, capped(10), order="impact")
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
    assert queues.preview(store, run.id, capped(WANTED)).left_out == 0


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
def test_the_draws_are_never_cut_and_their_chance_is_the_share_that_was_drawn(
    store: Store, seed: int
) -> None:
    run = reviewed.graded(store, ITEMS)
    drawn = choose(store, run.id, only(audit_share=0.3), seed=seed).cells
    found = choose_within(store, run.id, capped(20, audit_share=0.3), seed=seed)
    kept = [cell for cell in found.cells if cell.ruled]
    # How many cells are kept rests on the number of draws alone, whichever cells they are.
    assert len(kept) == max(0, 20 - len(drawn))
    assert len(found.cells) <= max(20, len(drawn))
    others = [cell for cell in found.cells if not cell.ruled]
    assert places(others) == places(drawn) - places(kept)
    assert {cell.chance for cell in others} == {len(drawn) / CELLS}
    assert {cell.chance for cell in kept} <= {1.0}


def test_cells_that_the_cap_cut_are_a_part_of_what_the_audit_speaks_of(store: Store) -> None:
    run = reviewed.graded(store, ITEMS)
    rule = capped(20, audit_share=0.2)
    queue = reviewed.make_queue(store, run, rule, QueueSettings(mode="blind"))
    cells = store.queues.cells(queue)
    kept = [cell for cell in cells if cell.stratum == "rule"]
    framed = random_audit.frame(store, queues.queue(store, queue)).cells
    assert len(framed.cells) == CELLS - len(kept)
    assert framed.drawn.sum() == len(cells) - len(kept)


def test_minutes_are_those_of_verdicts_on_the_rubric_and_none_where_nobody_was_timed(
    store: Store,
) -> None:
    run = reviewed.graded(store, ITEMS)
    one, two = QueueSettings(), QueueSettings(reviewers=2, overlap_share=0.5)
    assert queues.minutes(store, run.id, 30, one) is None
    queue = reviewed.make_queue(store, run)
    for item in ("i1", "i2", "i3"):
        timed(store, "Ada", queue, item, 20_000, 20_000)
    # 30 cells at 20 seconds; half of them by two people.
    assert queues.minutes(store, run.id, 30, one) == 10
    assert queues.minutes(store, run.id, 30, two) == 15


def test_cells_are_not_queued_because_a_judge_abstained_that_was_switched_off(
    store: Store,
) -> None:
    run = reviewed.graded(store, 8)
    # cem abstains on items 3 and 7, on both criteria.
    assert queues.preview(store, run.id, only(abstention=True)).cells == 4
    store.runs.set_notes(run.id, {"training": {"cem": {"Right": {"trained": False}}}})
    found = choose(store, run.id, only(abstention=True)).cells
    assert places(found) == {("i3", "Short"), ("i7", "Short")}
    # Bob was switched off as well, and would not have abstained: cem alone says something.
    store.runs.set_notes(run.id, {"training": {"bob": {"Short": {"trained": False}}}})
    assert len(choose(store, run.id, only(abstention=True)).cells) == 4


def test_nor_is_such_a_cell_in_doubt(store: Store) -> None:
    run = reviewed.graded(store, 4)
    with store.write() as db:
        db.execute("UPDATE cell SET entropy = 0 WHERE item_id = 'i3'")
    assert [one.why for one in in_doubt(store, run.id) if one.item == "i3"] == ["abstained"] * 2
    report = {"trained": False}
    store.runs.set_notes(run.id, {"training": {"cem": {"Right": report, "Short": report}}})
    assert [one for one in in_doubt(store, run.id) if one.item == "i3"] == []


def test_disagreements_are_the_cells_that_a_queue_of_them_takes_and_nobody_settled(
    store: Store,
) -> None:
    run = reviewed.graded(store, 8)
    # Items 1 to 3 and 5 to 7 are split on both criteria.
    assert disagreements(store, run.id) == (12, None)
    assert queues.preview(store, run.id, splits_only()).cells == 12
    assert disagreements(store, run.id, "i1") == (2, None)
    queue = reviewed.make_queue(store, run, splits_only().model_copy(update={"most": 9}))
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", UNMET)
    assert disagreements(store, run.id) == (10, queue)
    assert queues.preview(store, run.id, splits_only()).cells == 10
    assert disagreements(store, run.id, "i1").cells == 0
    assert disagreements(store, run.id, "i0").cells == 0
