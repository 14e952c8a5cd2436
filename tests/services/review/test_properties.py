"""Whatever people do, taking all of it back leaves nothing but the record."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.review import Policy, QueueSettings, Seat
from core.errors import Conflict
from core.services.review import adjudication, claims, other_acts
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET

ITEMS = ("i1", "i2", "i3")
ACTS = ("settle", "settle", "settle", "skip", "flag", "send_back", "undo")
act = st.tuples(
    st.sampled_from(ACTS),
    st.integers(0, 2),
    st.sampled_from(ITEMS),
    st.sampled_from([MET, UNMET, None]),
)


@settings(max_examples=10, deadline=None)
@given(
    acts=st.lists(act, min_size=3, max_size=14),
    people=st.integers(1, 3),
    policy=st.sampled_from(["unanimous", "adjudicator"]),
)
def test_everything_can_be_taken_back(
    acts: list[tuple[str, int, str, int | None]], people: int, policy: Policy
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = reviewed.open_store(Path(folder))
        run = reviewed.graded(store, 4)
        queue = reviewed.make_queue(
            store, run, settings=QueueSettings(reviewers=people, policy=policy)
        )
        before, cells = reviewed.pictures(store, run.id), _cells(store, queue)
        seats = (reviewed.sit(store, "Lea"), *reviewed.seats(store, "Ada", "Bea"))
        for kind, who, item, option in acts:
            try:
                _do(store, queue, kind, seats[who], item, option)
            except Conflict:  # not theirs to do now; nothing may have happened
                continue
            _consistent(store, run.id, queue)
        # Who gave a verdict that met another's cannot take it back; a lead who gave none can.
        _take_all_back(store, run.id, reviewed.lead(store, "Leo"))
        assert reviewed.pictures(store, run.id) == before
        assert _cells(store, queue) == cells
        assert store.verdicts.of_queue(queue) == []
        assert adjudication.settled_cells(store, run.id) == {}
        store.close()


def _do(store: Store, queue: int, kind: str, seat: Seat, item: str, option: int | None) -> None:
    if kind == "undo":
        other_acts.undo_last(store, seat, queue)
    elif kind == "send_back":
        other_acts.send_back(store, seat, queue, [(item, "Right")], "Again.")
    elif kind == "settle":
        why = "missing_info" if option is None else None
        reviewed.settle(store, seat, queue, item, option, why=why, note="So.")
    else:
        ticket = claims.claim(store, seat, queue, item)
        if kind == "skip":
            other_acts.skip(store, ticket)
        else:
            other_acts.flag(store, ticket, "Right", "adjudicator", "Odd.")
            claims.release(store, ticket)


def _consistent(store: Store, run_id: int, queue: int) -> None:
    """A cell is resolved if and only if it is settled, and then its verdict is what was settled."""
    settled = adjudication.settled_cells(store, run_id)
    for cell in store.queues.cells(queue):
        place = (cell.item_id, cell.criterion)
        assert (cell.state == "resolved") == (place in settled)
        rules = {c.criterion: c.rule for c in store.results.cells(run_id, cell.item_id)}
        assert (rules[cell.criterion] == "adjudicated") == (place in settled)
    # What is told by events alone is what is derived.
    version = store.runs.row(run_id).dataset_version_id
    upto = store.settled.last_event()
    assert store.settled.truth(version) == store.settled.truth(version, upto=upto)


def _cells(store: Store, queue: int) -> list[tuple[object, ...]]:
    found = store.queues.cells(queue)
    return [(c.item_id, c.criterion, c.state, c.flagged) for c in found]


def _take_all_back(store: Store, run_id: int, lead: Seat) -> None:
    """From the newest act to the oldest, whoever's it was."""
    acts = {"verdict", "final", "skip", "flag", "unflag", "send_back"}
    events = [e for e in store.events.of_run(run_id) if e.action in acts]
    gone = store.events.undone([e.id for e in events])
    for step in sorted({e.step for e in events if e.id not in gone}, reverse=True):
        other_acts.undo(store, lead, step)
