"""Small nouns for the tests of the store, made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import ItemResult, Lease, RunKind, RunPlan
from core.domain.votes import (
    AskedOutcome,
    Call,
    Cell,
    FailureKind,
    ItemBallots,
    Segment,
    Verdict,
    Vote,
    VoteFailure,
)
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
LATER = "2026-03-01T11:00:00.000Z"
AT = 1_772_359_200.0  # NOW in Unix seconds (20,513 days of 86,400 s, and 10 hours)

RUBRIC = Rubric(
    name="Essay",
    criteria=(
        Criterion(name="Clear", requirement="The text is clear."),
        Criterion(name="Brief", requirement="The text is brief.", weight=-5),
    ),
)
JUDGES = (Judge(name="ann", model="m"), Judge(name="bob", model="m", weight=2))
PANEL = Panel(name="Two", judges=JUDGES)
MET, UNMET = Label(label="MET"), Label(label="UNMET", reason="It rambles.")
DATASET = Dataset(
    name="Essays",
    prompt="Write.",
    items=(
        Item(
            id="a",
            submission="An essay\nabout rain.",
            system="x",
            split="calibration",
            labels={"Clear": MET, "Brief": UNMET},
        ),
        Item(
            id="b",
            submission="100% of\nsnow.",
            system="y",
            tags=("odd", "cold"),
            labels={"Clear": MET},
        ),
        Item(id="c", submission="Sun.", prompt="Write about the sun.", system="x"),
    ),
)
ITEMS = [(item.id, 4) for item in DATASET.items]  # 2 criteria x 2 judges


def queued_run(store: Store, kind: RunKind = "run") -> int:
    """A run over all of DATASET that nobody has started."""
    rubric = store.rubrics.find_by_hash(store.rubrics.create(RUBRIC, now=NOW).hash)
    assert rubric is not None
    dataset = store.datasets.create(DATASET, now=NOW)
    plan = RunPlan("First", rubric.id, dataset.id, PANEL, kind=kind, seed=7)
    return store.runs.create(plan, ITEMS, now=NOW).id


def claimed(store: Store, run_id: int, owner: str = "me", at: float = AT) -> Lease:
    """The lease on a run, for a minute."""
    lease = store.leases.claim(owner, at=at, seconds=60, run_id=run_id)
    assert lease is not None
    return lease


def vote(
    item: str,
    criterion: str = "Clear",
    judge: str = "ann",
    option: int = 0,
    call: Call | None = None,
) -> AskedOutcome:
    """A vote; option 2 is the added abstention of a binary criterion."""
    cell = Cell(item, criterion, judge)
    return AskedOutcome((Vote(cell, option, option == 2, reason="Because."),), call)


def failure(item: str, kind: FailureKind = "timeout", message: str = "Too slow.") -> AskedOutcome:
    return AskedOutcome((VoteFailure(Cell(item, "Clear", "ann"), kind, message, (1, 0, 2)),))


def call(*texts: str, cost: float | None = 0.5) -> Call:
    return Call(
        tuple(Segment("user", text) for text in texts),
        {"temperature": 0},
        reply='{"option": 1}',
        model="m",
        tokens_in=100,
        tokens_out=10,
        cost=cost,
        seconds=0.25,
    )


def derive(items: Sequence[ItemBallots]) -> list[ItemResult]:
    """A derivation simple enough to do in the head: score = share of ballots for option 0."""
    return [_result(item) for item in items]


def _result(item: ItemBallots) -> ItemResult:
    counted = [b for b in item.ballots if not b.abstained]
    score = sum(b.option == 0 for b in counted) / len(counted) if counted else None
    cells = tuple(
        _cell(name, [b.option for b in counted if b.criterion == name], item.failures.get(name, 0))
        for name in sorted({b.criterion for b in counted})
    )
    return ItemResult(
        item.item_id,
        score=score,
        raw=score,
        complete=len(item.ballots) == 4,
        agreement=score,
        cells=cells,
        trace={"ballots": len(item.ballots)},
    )


def _cell(name: str, options: list[int | None], failures: int) -> Verdict:
    first = options[0]
    return Verdict(
        criterion=name,
        option=first,
        abstained=False,
        value=1.0 if first == 0 else 0.0,
        continuous=None,
        agreement=options.count(first) / len(options),
        entropy=float(len(set(options)) > 1),
        margin=None,
        coverage=None,
        votes=len(options),
        abstentions=0,
        failures=failures,
        rule="first",
        tie=False,
        warning="",
    )


def record(store: Store, lease: Lease, *outcomes: AskedOutcome, now: str = NOW) -> None:
    store.votes.record(
        lease.run_id, outcomes, owner=lease.owner, fence=lease.fence, now=now, derive=derive
    )
