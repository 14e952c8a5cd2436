"""Cells settled in the grid: final at once, on record, replaced, undone (world: reviewed.py)."""

from __future__ import annotations

import pytest

from core.domain.review import ReviewerAnswer
from core.errors import Conflict, InputError, NotFound
from core.services.labelling import settle_at_sight
from core.services.labelling.settle_at_sight import NAME
from core.services.review import adjudication, queues, random_labels
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit


def settled(store: Store, run_id: int) -> dict[tuple[str, str], int | None]:
    return {cell: one.option for cell, one in adjudication.settled_cells(store, run_id).items()}


def test_several_cells_are_settled_with_one_answer_and_undone_together(store: Store) -> None:
    run, ada = reviewed.graded(store), sit(store, "Ada")
    # Both are split: i1 two for MET, i2 two for UNMET.
    cells = [("i1", "Right"), ("i2", "Right")]

    steps = settle_at_sight.settle(store, ada, run.id, cells, ReviewerAnswer(MET))

    assert len(steps) == 2
    assert settled(store, run.id) == dict.fromkeys(cells, MET)
    assert store.results.item(run.id, "i2").score == 3 / 4  # Right, of weight 3 in 4
    (queue,) = queues.queues_of_run(store, run.id)
    assert queue.name == NAME
    assert queues.queue_progress(store, queue.id).cells == {"resolved": 2}

    assert settle_at_sight.undo(store, ada, steps) == 2
    assert settled(store, run.id) == {}
    assert store.results.item(run.id, "i2").score == 0


def test_what_stands_is_accepted_cell_by_cell(store: Store) -> None:
    run, ada = reviewed.graded(store), sit(store, "Ada")

    settle_at_sight.settle(store, ada, run.id, [("i1", "Right"), ("i2", "Short")], None)

    assert settled(store, run.id) == {("i1", "Right"): MET, ("i2", "Short"): UNMET}


def test_a_second_verdict_replaces_the_first_and_both_are_on_record(store: Store) -> None:
    run, ada = reviewed.graded(store), sit(store, "Ada")
    for option in (MET, UNMET):
        settle_at_sight.settle(store, ada, run.id, [("i1", "Right")], ReviewerAnswer(option))

    assert settled(store, run.id) == {("i1", "Right"): UNMET}
    actions = [event.action for event in store.events.of_cell(run.id, "i1", "Right")]
    assert actions.count("verdict") == 2
    assert len(queues.queues_of_run(store, run.id)) == 1


def test_all_or_none_and_a_note_where_judges_agree(store: Store) -> None:
    run, ada = reviewed.graded(store), sit(store, "Ada")
    # On i0 all three judges said MET.
    cells = [("i1", "Right"), ("i0", "Right")]

    with pytest.raises(InputError, match="A note is needed"):
        settle_at_sight.settle(store, ada, run.id, cells, ReviewerAnswer(UNMET))
    assert settled(store, run.id) == {}
    assert queues.queues_of_run(store, run.id) == []

    settle_at_sight.settle(store, ada, run.id, cells, ReviewerAnswer(UNMET, note="It is about i3."))
    assert settled(store, run.id) == dict.fromkeys(cells, UNMET)


def test_no_other_cell_and_no_other_persons_verdict(store: Store) -> None:
    run, ada, ben = reviewed.graded(store), sit(store, "Ada"), sit(store, "Ben")
    settle_at_sight.settle(store, ada, run.id, [("i1", "Right")], ReviewerAnswer(MET))

    with pytest.raises(Conflict, match="Ada did this"):
        settle_at_sight.settle(store, ben, run.id, [("i1", "Right")], ReviewerAnswer(UNMET))
    with pytest.raises(InputError, match="Not every cell can be settled"):
        settle_at_sight.settle(store, ada, run.id, [("i1", "Wrong")], None)
    with pytest.raises(NotFound, match="'i99'"):
        settle_at_sight.settle(store, ada, run.id, [("i99", "Right")], None)
    with pytest.raises(InputError, match="between one cell and"):
        settle_at_sight.settle(store, ada, run.id, [], None)


def test_cells_picked_by_sight_are_no_random_labels(store: Store) -> None:
    run, ada = reviewed.graded(store), sit(store, "Ada")
    settle_at_sight.settle(
        store, ada, run.id, [("i1", "Right"), ("i2", "Right")], ReviewerAnswer(MET)
    )

    assert random_labels.number_drawn(store, run.id) == 0
