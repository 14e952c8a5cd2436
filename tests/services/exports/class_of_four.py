"""A class of four whose grades can be worked out by hand.

    item   sid     Method (8: .25, .5, 1)   Units (2)   score
    7      s-001   Whole   1                MET         (8 + 2) / 10 = 1.0
    8      s-002   Sketchy .5               MET         (4 + 2) / 10 = 0.6
    9      s-003   Poor    .25              UNMET       (2 + 0) / 10 = 0.2
    10     s-004   nobody answered                      no score

The worst answers earn 2 of 10, so as a range 0.6 is (0.6 - 0.2) / 0.8 = 0.5.
"""

from __future__ import annotations

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.store.store import Store
from tests.recording import record

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(
    name="Lab report",
    criteria=(
        Criterion(
            name="Method",
            requirement="Is the method told?",
            weight=8,
            scale="ordinal",
            options=(
                Option(label="Poor", value=0.25),
                Option(label="Sketchy", value=0.5),
                Option(label="Whole", value=1.0),
            ),
        ),
        Criterion(name="Units", requirement="Has every number its unit?", weight=2),
    ),
)
ANSWERS = {"7": (2, 0), "8": (1, 0), "9": (0, 1)}


def class_of_four(store: Store, rubric: Rubric = RUBRIC) -> int:
    """The run above, finished."""
    items = tuple(
        Item(id=str(n), submission=f"Report {n}", meta={"sid": f"s-00{n - 6}"})
        for n in range(7, 11)
    )
    plan = RunPlan(
        name="Class",
        rubric_version_id=store.rubrics.create(rubric, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(name="Class", items=items), now=NOW).id,
        panel=Panel(name="One", judges=(Judge(name="ann", model="openai/m"),)),
    )
    votes = [
        AskedOutcome((Vote(Cell(item, name, "ann"), option, False, "=SECRET REASON"),))
        for item, answers in ANSWERS.items()
        for name, option in zip(("Method", "Units"), answers, strict=True)
    ]
    run_id = store.runs.create(plan, [(item.id, 2) for item in items], now=NOW).id
    return record(store, run_id, rubric, items, votes, now=NOW)
