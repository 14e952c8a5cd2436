"""What stopped whoever worked on it twice is put aside; what may be chance is not."""

from __future__ import annotations

import pytest

from core.domain.votes import Cell
from core.store.runs.stops import How, cells_to_skip, failure_message
from core.store.store import Store
from tests.store.making import AT, LATER, NOW, claimed

CLEAR, BRIEF = Cell("a", "Clear", "ann"), Cell("a", "Brief", "bob")
Stop = tuple[How, tuple[Cell, ...]]


def stopped(store: Store, run_id: int, *stops: Stop) -> list[bool]:
    """Whether the run was put aside at each of these."""
    return [
        store.stops.stopped(claimed(store, run_id, f"{n}", at=AT + 1000 * n), how, cells, now=NOW)
        for n, (how, cells) in enumerate(stops)
    ]


@pytest.mark.parametrize(
    ("stops", "aside"),
    [
        # Somebody may have ended a process, at whatever it was at.
        ([("ended", ())] * 3, [False] * 3),
        ([("ended", (CLEAR,)), ("ended", (BRIEF,)), ("ended", ())], [False] * 3),
        ([("ended", (CLEAR,)), ("ended", (CLEAR,))], [False, True]),
        # One that hung was not ended by anybody.
        ([("hung", ()), ("hung", ())], [False, True]),
        ([("hung", (CLEAR,)), ("hung", (BRIEF,))], [False, True]),
        ([("hung", (CLEAR,)), ("ended", (CLEAR,))], [False, True]),
    ],
)
def test_only_what_is_no_chance_puts_a_run_aside(
    store: Store, run_id: int, stops: list[Stop], aside: list[bool]
) -> None:
    assert stopped(store, run_id, *stops) == aside
    assert store.runs.row(run_id).status == ("failed" if aside[-1] else "running")
    if not aside[-1]:
        assert claimed(store, run_id, "next", at=AT + 9000)  # it is free at once


def test_what_stopped_it_is_named_and_known_to_whoever_resumes_it(
    store: Store, run_id: int
) -> None:
    stopped(store, run_id, ("hung", (CLEAR,)), ("hung", (CLEAR, BRIEF)))
    assert cells_to_skip(store.runs.get(run_id).notes) == (CLEAR, BRIEF)
    words = "at ann on 'Clear' of item 'a', bob on 'Brief' of item 'a'. Other runs go on."
    assert words in store.runs.row(run_id).message
    # Resumed, it may be stopped twice again before it is put aside again.
    store.runs.request_queue(run_id)
    lease = claimed(store, run_id, "me", at=AT + 9000)
    assert not store.stops.stopped(lease, "hung", (), now=LATER)


def test_words_stay_short_whatever_the_names_are() -> None:
    cells = [["i" * 10_000, "c" * 10_000, "ada", n] for n in range(9)]
    assert len(failure_message(cells)) < 800
    assert "and 6 more" in failure_message(cells)
