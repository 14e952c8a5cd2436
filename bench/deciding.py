"""How many decisions a second one data file takes, without pages: `python -m bench.deciding`.

Reviewers in 1, 2 and 4 processes take an item, draft a verdict, commit, look at the votes, confirm
and give the item back, through the same services as the pages, as fast as they can for ten
seconds. What is said is the rate, the processor time of a decision, and how long writers waited.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path

from bench.reviewers import CRITERION, prepare
from core.domain.review import ReviewerAnswer
from core.services.review import claims, commit_reveal, reviewers
from core.store.store import Store


def decide(db: Path, queue: int, name: str, seconds: float) -> tuple[int, float]:
    """Decisions of one reviewer in so many seconds, and the processor time they took."""
    store = Store(db)
    reviewers.sign_in(store, name)
    seat = reviewers.seat_of(store, name, f"tab of {name}")
    done, used, until = 0, time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until:
        ticket = claims.claim_next(store, seat, queue)
        assert ticket is not None, "the queue is too short for this machine"
        given = {CRITERION: ReviewerAnswer(0, note="The reference says so.")}
        commit_reveal.blind_item(store, ticket)
        commit_reveal.save_draft(store, ticket, given)
        ticket = commit_reveal.commit(store, ticket, given).ticket
        commit_reveal.reveal(store, ticket)
        commit_reveal.finish(store, ticket, given)
        claims.release(store, ticket)
        done += 1
    store.close()
    return done, time.process_time() - used


def main() -> None:
    """Print a line per number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "studio.db"
        queue = prepare(db, 20_000)
        for people in (1, 2, 4):
            with multiprocessing.get_context("spawn").Pool(people) as pool:
                names = [f"Reviewer {people}-{n}" for n in range(people)]
                rows = pool.starmap(decide, [(db, queue, name, asked.seconds) for name in names])
            count, used = sum(n for n, _ in rows), sum(cpu for _, cpu in rows)
            print(
                f"{people} at once: {count / asked.seconds:.0f} decisions a second, "
                f"{used / count * 1000:.1f} ms of CPU each"
            )


if __name__ == "__main__":
    main()
