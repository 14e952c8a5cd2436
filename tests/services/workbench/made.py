"""A draft of two criteria with a workbench of three rows, and a model on loopback."""

from __future__ import annotations

from typing import Any

from core.domain.rubric import Criterion, Option, Rubric
from core.services.judges import registry
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_from
from core.services.runs.runner import work_here
from core.services.workbench import bench_rows
from core.services.workbench.asking import CellsToAsk, ask
from core.services.workbench.bench_rows import new_row
from core.services.workbench.bench_state import WorkbenchState, workbench_state
from core.store.store import Store
from tests.provider import Answer, ok

NAME = "new-bench"
RUBRIC = Rubric(
    name="Tide answers",
    guidelines="Be strict.",
    criteria=(
        Criterion(name="Cause", requirement="Names the Moon.", weight=6),
        Criterion(
            name="Depth",
            requirement="How deep is it?",
            weight=4,
            scale="ordinal",
            options=(
                Option(label="Shallow", description="It names a thing.", value=0.0),
                Option(label="Deep", description="It says how.", value=1.0),
            ),
        ),
    ),
)
TEXTS = ("The Moon pulls the water.", "Wind does it.", "The Moon and the Sun pull.")
EXPECTED = (
    {"Cause": "MET", "Depth": "Deep"},
    {"Cause": "UNMET"},
    {"Cause": "MET", "Depth": "Shallow"},
)


def draft(rubric: Rubric = RUBRIC) -> RubricDraft:
    """A fresh draft of the rubric."""
    return draft_from(rubric)


def filled(store: Store, url: str = "", **more: Any) -> list[str]:
    """Three rows in the workbench; with an address also a model, Ann, chosen; the rows' uids."""
    rows = [
        new_row(text, expected=expected) for text, expected in zip(TEXTS, EXPECTED, strict=True)
    ]
    bench_rows.add_rows(store, NAME, rows)
    if url:
        model(store, url, **more)
        bench_rows.set_asking(store, NAME, judges=["Ann"])
    return [row["uid"] for row in rows]


def model(store: Store, url: str, name: str = "Ann", **more: Any) -> None:
    """A registered judge behind ``url``, asked once per cell, options in the author's order."""
    settings = {"name": name, "model": "scripted", "api_base": url, "door": "openai"}
    there = name in {row.name for row in store.judges.list()}
    registry.save_judge(
        store,
        {**settings, "tries": 1, "shuffle": False, **more},
        former=name if there else None,
    )


def now(store: Store, of: RubricDraft) -> WorkbenchState:
    """How the workbench stands with that draft."""
    return workbench_state(store, bench_rows.followed(store, NAME, of), of)


def asked(store: Store, of: RubricDraft, want: CellsToAsk | None = None) -> tuple[int, ...]:
    """Ask, and do what the Runner does, here and now; the runs."""
    runs = ask(store, NAME, of, want or CellsToAsk())
    for run_id in runs:
        work_here(store, run_id, tick=0.02)
    return runs


def stale(of: WorkbenchState) -> set[tuple[int, str]]:
    """The cells that are stale: place of the row, and criterion."""
    places = {row["uid"]: at for at, row in enumerate(of.bench["rows"])}
    return {
        (places[row], name)
        for row, cells in of.cells.items()
        for name, cell in cells.items()
        if cell.state == "stale"
    }


def by_text(body: dict[str, Any]) -> Answer:
    """Option 1 (MET) where the Moon is in the submission; the deeper option never."""
    words = str(body["messages"])
    if "How deep" in words:
        return ok(1, reason="It names a thing.")
    said = words.split("BEGIN SUBMISSION")[1]
    return ok(1 if "Moon" in said.split("END SUBMISSION")[0] else 2, reason="It says so.")
