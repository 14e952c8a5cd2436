"""A cascade whose models were asked in both orders, as a Runner leaves it.

Stage 1 is `ann`, stage 2 is `bob`, `eve` is a shadow of stage 1; binary criterion, one item each:

    item  ann (given, reversed)  eve         bob           verdict
    a     MET, MET               MET, MET    not needed    MET
    b     abstains, MET          UNMET, MET  UNMET, UNMET  UNMET (ann's are superseded)
"""

from __future__ import annotations

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Asking, Cascade, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(name="R", criteria=(Criterion(name="Clear", requirement="It is clear."),))
ITEMS = (
    Item(id="a", submission="Rain.", labels={"Clear": Label(label="MET")}),
    Item(id="b", submission="Snow."),
)
ANSWERS = {
    ("a", "ann"): (0, 0),
    ("a", "eve"): (0, 0),
    ("b", "ann"): (2, 0),
    ("b", "eve"): (1, 0),
    ("b", "bob"): (1, 1),
}


def flipped(store: Store) -> int:
    """The run, done: 10 votes of 12 planned."""
    panel = Panel(
        judges=(
            Judge(name="ann", model="m"),
            Judge(name="bob", model="m", stage=1),
            Judge(name="eve", model="m", shadow=True),
        ),
        asking=Asking(flip="check", few_shot=2),
        cascade=Cascade(),
    )
    dataset = Dataset(name="D", items=ITEMS)
    plan = RunPlan(
        name="Flipped",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(dataset, now=NOW).id,
        panel=panel,
    )
    run_id = store.runs.create(plan, [(item.id, 6) for item in ITEMS], now=NOW).id
    lease = store.leases.claim("me:1:x", at=1e10, seconds=60, run_id=run_id)
    assert lease is not None
    votes = [
        _vote(item, judge, replicate, option)
        for (item, judge), options in ANSWERS.items()
        for replicate, option in enumerate(options)
    ]
    store.votes.record(
        run_id,
        votes,
        owner=lease.owner,
        fence=lease.fence,
        now=NOW,
        derive=derivation_for(store.runs.get(run_id).plan, RUBRIC, ITEMS),
    )
    store.leases.release(lease, "done", now=NOW)
    return run_id


def _vote(item: str, judge: str, replicate: int, option: int) -> AskedOutcome:
    order = (1, 0, 2) if replicate else (0, 1, 2)
    return AskedOutcome(
        (Vote(Cell(item, "Clear", judge, replicate), option, option == 2, order=order),)
    )
