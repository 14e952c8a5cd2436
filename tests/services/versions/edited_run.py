"""A graded run to edit the rubric of: every expected number below can be followed by hand.

Items i0 to i7, judges ann, bob, cem, no decision by people. Criteria:

    Right  weight 3, binary         MET on even items, UNMET on odd ones; all judges agree
    Depth  weight 1, Low 0 Mid .5 High 1    item n gets level n % 3; all judges agree

Score = (3 * Right + Depth) / 4:

    item   0     1      2     3   4      5     6     7
    Right  1     0      1     0   1      0     1     0
    Depth  0     .5     1     0   .5     1     0     .5
    score  .75   .125   1     0   .875   .25   .75   .125
"""

from __future__ import annotations

from typing import Any

from core.domain.dataset import Dataset, Item
from core.domain.library import RubricVersion
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import Run, RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for, settled_lookup
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
JUDGES = ("ann", "bob", "cem")
SCORES = [0.75, 0.125, 1.0, 0.0, 0.875, 0.25, 0.75, 0.125]
LEVELS = (
    Option(label="Low", value=0),
    Option(label="Mid", value=0.5),
    Option(label="High", value=1),
)
RIGHT = Criterion(name="Right", requirement="It is right.", weight=3)
DEPTH = Criterion(
    name="Depth", requirement="How deep is it?", weight=1, scale="ordinal", options=LEVELS
)
RUBRIC = Rubric(name="Answers", criteria=(RIGHT, DEPTH))


def changed(criterion: Criterion, **fields: Any) -> Criterion:
    """The criterion with other fields, checked."""
    return Criterion.model_validate({**criterion.model_dump(by_alias=True), **fields})


def rubric(*criteria: Criterion, **fields: Any) -> Rubric:
    """The rubric with these criteria and fields."""
    return Rubric(name="Answers", criteria=criteria or RUBRIC.criteria, **fields)


def items(own: Rubric | None = None) -> tuple[Item, ...]:
    """The items; with ``own``, i0 brings that rubric itself."""
    return tuple(
        Item(id=f"i{n}", submission=f"Answer {n}.", rubric=own if n == 0 else None)
        for n in range(8)
    )


def graded(store: Store, own: Rubric | None = None) -> Run:
    """The run of the table above, done."""
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=items(own)), now=NOW).id,
        panel=Panel(judges=tuple(Judge(name=name, model="m") for name in JUDGES)),
    )
    run = store.runs.create(plan, [(item.id, 6) for item in items()], now=NOW)
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run.id)
    assert lease is not None
    outcomes = [
        AskedOutcome((Vote(Cell(f"i{n}", name, judge), option, False, f"said by {judge}"),))
        for n in range(8)
        for name, option in (("Right", n % 2), ("Depth", n % 3))
        for judge in JUDGES
    ]
    store.votes.record(
        run.id,
        outcomes,
        owner="me",
        fence=lease.fence,
        now=NOW,
        derive=derivation_for(plan, RUBRIC, items(own), settled_lookup(store, run.id)),
    )
    store.leases.release(lease, "done", now=NOW)
    return store.runs.get(run.id)


def saved(store: Store, run: Run, new: Rubric) -> RubricVersion:
    """The rubric of the run with another version."""
    parent = store.rubrics.latest(run.rubric_id).number
    return store.rubrics.add_version(run.rubric_id, new, parent=parent, now=NOW)


def scores(store: Store, run_id: int) -> list[float | None]:
    """The scores of a run in the order of its items."""
    return [row.score for row in store.results.items(run_id)]
