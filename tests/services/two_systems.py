"""A run over the answers of two systems to shared tasks, judged by one judge."""

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
    name="Answers",
    criteria=(
        Criterion(
            name="Depth",
            requirement="How deep is it?",
            scale="ordinal",
            options=(
                Option(label="None", value=0.0),
                Option(label="Some", value=0.5),
                Option(label="Deep", value=1.0),
            ),
        ),
        Criterion(name="Rude", requirement="The answer is rude.", weight=-5),
    ),
)
#: The option by item and criterion; of Rude 2 would be the abstention, `None` stands for it here.
ANSWERS: dict[str, dict[str, int | None]] = {
    "o1": {"Depth": 0, "Rude": 1},
    "n1": {"Depth": 2, "Rude": 1},
    "o2": {"Depth": 1, "Rude": 1},
    "n2": {"Depth": 1, "Rude": None},
    "o3": {"Depth": 0, "Rude": 0},
    "n3": {"Depth": 2, "Rude": 1},
    "n4": {"Depth": 2, "Rude": 0},
}
SYSTEMS = {"o": "old", "n": "new"}


def made(store: Store) -> int:
    """The run; `o1` is the answer of the system old to the first task."""
    items = tuple(
        Item(
            id=name, submission=f"Answer {name}", prompt=f"Task {name[1]}", system=SYSTEMS[name[0]]
        )
        for name in ANSWERS
    )
    plan = RunPlan(
        name="Two systems",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(name="Tasks", items=items), now=NOW).id,
        panel=Panel(name="One", judges=(Judge(name="ann", model="m"),)),
    )
    votes = [
        _vote(item, name, option) for item, of in ANSWERS.items() for name, option in of.items()
    ]
    run_id = store.runs.create(plan, [(item.id, 2) for item in items], now=NOW).id
    return record(store, run_id, RUBRIC, items, votes, now=NOW)


def _vote(item: str, name: str, option: int | None) -> AskedOutcome:
    away = RUBRIC.criterion(name).na_index
    chosen = away if option is None else option
    return AskedOutcome((Vote(Cell(item, name, "ann"), chosen, option is None, reason="So."),))
