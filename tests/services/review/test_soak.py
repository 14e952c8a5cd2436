"""Ten reviewers at once: every cell is settled exactly once, and nobody's verdict is lost."""

from __future__ import annotations

import multiprocessing
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing.synchronize import Barrier
from pathlib import Path

from core.domain.review import ReviewerAnswer
from core.errors import Conflict
from core.services.review import adjudication, claims, commit_reveal, other_acts, queues, reviewers
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET

#: Seconds until all workers must be there, or done; a busy machine needs some.
PATIENCE = 240.0


def work(path: Path, queue: int, name: str, seed: int) -> None:
    """One reviewer: takes, decides at random, sometimes skips or walks away, until all is done."""
    store, dice = Store(path), random.Random(seed)
    try:
        reviewers.sign_in(store, name)
        seat = reviewers.seat_of(store, name, f"tab of {name}")
        while (ticket := claims.claim_next(store, seat, queue)) is not None or _more(store, queue):
            if ticket is not None:
                _one(store, ticket, dice)
    finally:
        store.close()


def _more(store: Store, queue: int) -> bool:
    done = queues.queue_progress(store, queue)
    return done.resolved < done.total


def _one(store: Store, ticket: claims.Ticket, dice: random.Random) -> None:
    kind = dice.random()
    if kind < 0.05:
        other_acts.skip(store, ticket)
        return
    if kind < 0.1:
        claims.release(store, ticket)
        return
    names = [
        cell.criterion.name for cell in commit_reveal.blind_item(store, ticket).cells if cell.mine
    ]
    given = {name: ReviewerAnswer(dice.choice([MET, UNMET]), note="So.") for name in names}
    ticket = commit_reveal.commit(store, ticket, given).ticket
    commit_reveal.reveal(store, ticket)
    commit_reveal.finish(store, ticket, given)
    claims.release(store, ticket)


def check(store: Store, run_id: int, queue: int, cells: int) -> None:
    """Every cell is settled once, by the verdict that its one reviewer confirmed."""
    assert queues.queue_progress(store, queue).cells == {"resolved": cells}
    settled = adjudication.settled_cells(store, run_id)
    assert len(settled) == cells
    events = list(store.events.of_run(run_id))
    times = Counter((e.item_id, e.criterion) for e in events if e.action == "settle")
    assert set(times.values()) == {1}
    for verdict in store.verdicts.of_queue(queue):
        found = settled[verdict.item_id, verdict.criterion]
        assert verdict.final is not None
        assert (found.option, found.people) == (verdict.final.option, (verdict.reviewer,))
    items = {item for item, _ in settled}
    assert {store.results.item(run_id, item).complete for item in items} == {True}


def test_ten_reviewers_settle_two_hundred_cells_once_each(store: Store) -> None:
    run = reviewed.graded(store, 100)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    together(
        lambda n: threading.Thread(target=work, args=(store.path, queue, f"person {n}", n)), 10
    )
    check(store, run.id, queue, 200)


def test_reviewers_in_processes_of_their_own_settle_every_cell_once(store: Store) -> None:
    run = reviewed.graded(store, 30)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    spawn, count = multiprocessing.get_context("spawn"), 3
    # All have imported everything before the first one begins: else it might do all the work.
    with ProcessPoolExecutor(count, spawn, _ready, (spawn.Barrier(count),)) as pool:
        people = [pool.submit(work, store.path, queue, f"person {n}", n) for n in range(count)]
        for one in as_completed(people):
            one.result()  # a process that failed or died raises here, and says why
    check(store, run.id, queue, 60)


def _ready(barrier: Barrier) -> None:
    barrier.wait(PATIENCE)


def test_of_two_who_commit_at_the_same_moment_one_is_told(store: Store) -> None:
    run = reviewed.graded(store, 40)
    first = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    second = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    ada, bea = reviewed.seats(store, "Ada", "Bea")
    told = list[str]()

    def commit_all(seat: object, queue: int) -> None:
        mine = Store(store.path)
        for n in range(40):
            ticket = claims.claim(mine, seat, queue, f"i{n}")  # type: ignore[arg-type]
            gate.wait()
            try:
                ticket = commit_reveal.commit(mine, ticket, {"Right": ReviewerAnswer(MET)}).ticket
                commit_reveal.finish(mine, ticket, {"Right": ReviewerAnswer(MET, note="So.")})
            except Conflict as error:
                told.append(str(error))
            gate.wait()
        mine.close()

    gate = threading.Barrier(2)
    people = [(ada, first), (bea, second)]
    together(lambda n: threading.Thread(target=commit_all, args=people[n]), 2)
    assert len(adjudication.settled_cells(store, run.id)) == 40
    assert len(told) == 40
    assert all("settled by" in words for words in told)


def together(make: Callable[[int], object], count: int) -> None:
    """Start so many and wait for all of them."""
    workers = [make(n) for n in range(count)]
    for worker in workers:
        worker.start()  # type: ignore[attr-defined]
    for worker in workers:
        worker.join(PATIENCE)  # type: ignore[attr-defined]
        assert not worker.is_alive()  # type: ignore[attr-defined]
