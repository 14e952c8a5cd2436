"""How fast votes are kept with their results, and how fast pages read 100,000 of them.

    python -m bench.store

A run of 5,000 items x 5 criteria x 4 judges is recorded in batches of 50: first half item by item
(as the engine asks), second half in random order (as slow judges answer). Every batch is one
durable transaction with call, prompt, vote, verdict and score. Then the queries of the pages, in
milliseconds: the median of 9 calls, each on a connection that is already open.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Lease, RunItemFilter, RunPlan
from core.domain.votes import AskedOutcome, Call, Cell, Segment, Vote, VoteFailure
from core.services.results.verdicts import VoteCounting, result_deriver
from core.store.store import Store

ITEMS, CRITERIA, JUDGES, BATCH, ROUNDS = 5_000, 5, 4, 50, 9
NOW = "2026-01-01T00:00:00.000Z"
RUBRIC = Rubric(
    criteria=tuple(Criterion(name=f"c{n}", requirement="Is it so?") for n in range(CRITERIA))
)
PANEL = Panel(judges=tuple(Judge(name=f"j{n}", model="m") for n in range(JUDGES)))
INSTRUCTIONS = "You judge one criterion. " * 40


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "studio.db")
        lease = _prepared(store)
        outcomes = [_outcome(cell) for cell in _cells()]
        half = len(outcomes) // 2
        rest = outcomes[half:]
        random.Random(7).shuffle(rest)
        _record(store, lease, outcomes[:half], "record, item by item")
        _record(store, lease, rest, "record, random order")
        store.leases.release(lease, "done", now=NOW)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        row = store.runs.row(lease.run_id)
        print(f"{row.votes:,} votes, {row.failures_open:,} failures, {size / 1e6:.0f} MB")
        _pages(store, lease.run_id)
        store.close()


def _prepared(store: Store) -> Lease:
    items = tuple(
        Item(id=f"item-{n}", submission=f"Submission {n}. " + "Words words words. " * 60)
        for n in range(ITEMS)
    )
    rubric = store.rubrics.create(RUBRIC, now=NOW)
    began = time.perf_counter()
    dataset = store.datasets.create(Dataset(items=items), now=NOW)
    print(f"{'datasets.create':34} {(time.perf_counter() - began) * 1000:8.0f} ms")
    plan = RunPlan("bench", rubric.id, dataset.id, PANEL)
    run = store.runs.create(plan, [(item.id, CRITERIA * JUDGES) for item in items], now=NOW)
    lease = store.leases.claim("bench", at=0.0, seconds=60)
    assert lease is not None
    assert lease.run_id == run.id
    return lease


def _cells() -> list[Cell]:
    return [
        Cell(f"item-{i}", f"c{c}", f"j{j}")
        for i in range(ITEMS)
        for c in range(CRITERIA)
        for j in range(JUDGES)
    ]


def _outcome(cell: Cell) -> AskedOutcome:
    draw = random.Random(str(cell)).random()
    prompt = (
        Segment("system", INSTRUCTIONS),
        Segment("user", f"<submission {cell.item}> " + "Words words words. " * 60),
        Segment("user", f"The criterion is {cell.criterion}."),
    )
    call = Call(prompt, {"temperature": 0}, reply="x" * 300, model="m", tokens_in=900, cost=0.001)
    if draw < 0.01:
        return AskedOutcome(
            (VoteFailure(cell, "timeout", "The judge took longer than 60 s."),), call
        )
    option = 2 if draw < 0.05 else int(draw < 0.4)
    reason = "Because of what it says. " * 8
    vote = Vote(cell, option, option == 2, reason, ("quoted words",), (1, 0, 2))
    return AskedOutcome((vote,), call)


def _record(store: Store, lease: Lease, outcomes: Sequence[AskedOutcome], name: str) -> None:
    derive = result_deriver(PANEL.rules, VoteCounting(planned=JUDGES), lambda _: RUBRIC)
    times = list[float]()
    for start in range(0, len(outcomes), BATCH):
        began = time.perf_counter()
        store.votes.record(
            lease.run_id,
            outcomes[start : start + BATCH],
            owner=lease.owner,
            fence=lease.fence,
            now=NOW,
            derive=derive,
        )
        times.append(time.perf_counter() - began)
    rate, median, worst = len(outcomes) / sum(times), statistics.median(times), max(times)
    spread = f"{median * 1000:.1f} ms per batch, worst {worst * 1000:.0f}"
    print(f"{name:34} {rate:8,.0f} votes/s   {spread}")


def _pages(store: Store, run_id: int) -> None:
    run = store.runs.get(run_id)
    doubtful = RunItemFilter(max_agreement=0.6, has_abstentions=True)
    results, votes, data = store.results, store.votes, run.dataset_version_id
    searched = RunItemFilter(search="on 4321.")
    for name, work in (
        ("runs.list", store.runs.list),
        ("runs.row (poll)", lambda: store.runs.row(run_id)),
        ("results.items by agreement", lambda: results.items(run_id, sort="agreement")),
        ("results.items by failures", lambda: results.items(run_id, sort="failures")),
        ("results.items filtered", lambda: results.items(run_id, doubtful, sort="score")),
        ("results.count filtered", lambda: results.count(run_id, doubtful)),
        ("results.items searched", lambda: results.items(run_id, searched)),
        ("results.ids by agreement", lambda: results.ids(run_id, sort="agreement")),
        ("results.verdict_counts", lambda: results.verdict_counts(run_id)),
        ("results.verdicts (25,000)", lambda: results.verdicts(run_id)),
        ("votes.for_item", lambda: votes.for_item(run_id, "item-42")),
        ("votes.failure_kinds", lambda: votes.failure_kinds(run_id)),
        ("votes.call", lambda: votes.call(50_000)),
        ("votes.present (99,000)", lambda: votes.present(run_id)),
        ("votes.all_ballots (99,000)", lambda: votes.all_ballots(run_id)),
        ("votes.all_ballots, one criterion", lambda: votes.all_ballots(run_id, "c1")),
        ("datasets.rows", lambda: store.datasets.rows(data, offset=2_500)),
        ("datasets.load", lambda: store.datasets.load(data)),
        ("counts", store.counts),
    ):  # fmt: skip
        times = [_seconds(work) for _ in range(ROUNDS)]
        print(f"{name:34} {statistics.median(times) * 1000:8.2f} ms")
    opened = [_seconds(lambda: _reopened(store, run_id)) for _ in range(ROUNDS)]
    print(f"{'open a connection, runs.row':34} {statistics.median(opened) * 1000:8.2f} ms")


def _reopened(store: Store, run_id: int) -> None:
    store.close()
    store.runs.row(run_id)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
