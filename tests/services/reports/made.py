"""Reports of runs small enough to be worked out by hand."""

from __future__ import annotations

from core.domain.dataset import Dataset, Item, Label
from core.domain.gates import Decision
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.store.store import Store
from tests.recording import record

NOW = "2026-03-01T10:00:00.000Z"
MADE = "2026-03-02T10:00:00.000Z"


def decided(store: Store, items: int = 20, *, labelled: bool = True, grouped: bool = False) -> int:
    """One judge, one binary criterion; every fourth item is MET, every other label is the vote.

    Of 20 items 5 are MET: those pass, the others fail. Systems x and y take turns, so x has the
    items 0, 2, 4 ... and y the rest; items 0, 4, 8, 12, 16 are MET, so x has all five.

    `grouped`: every fifth item has the tag "a & b", every second one "long", and every tenth is
    marked as of the evaluation part.
    """
    rubric = Rubric(
        name="Short",
        criteria=(Criterion(name="short", requirement="Is it short?"),),
        decision=Decision(pass_at=0.5, fail_below=0.5),
    )
    rows = tuple(
        Item(
            id=f"i{at:02}",
            submission=f"=text {at}",
            system="xy"[at % 2],
            tags=tuple(t for t, n in (("a & b", 5), ("long", 2)) if grouped and at % n == 0),
            split="evaluation" if grouped and at % 10 == 0 else None,
            labels={"short": Label(label="MET" if at % 4 == 0 else "UNMET")} if labelled else {},
        )
        for at in range(items)
    )
    dataset = Dataset(name="Texts", items=rows)
    plan = RunPlan(
        name="Short ones",
        rubric_version_id=store.rubrics.create(rubric, now=NOW).id,
        dataset_version_id=store.datasets.create(dataset, now=NOW).id,
        panel=Panel(name="One", judges=(Judge(name="ann", model="openai/m"),)),
    )
    votes = [
        AskedOutcome((Vote(Cell(item.id, "short", "ann"), 0 if at % 4 == 0 else 1, False, "=why"),))
        for at, item in enumerate(rows)
    ]
    run_id = store.runs.create(plan, [(item.id, 1) for item in rows], now=NOW).id
    return record(store, run_id, rubric, rows, votes, now=NOW)
