"""Runs that are part of a task: in no list, graded by the normal engine, and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from core.domain.dataset import Dataset
from core.domain.panel import Panel
from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.errors import InputError
from core.services import clock, grading
from core.services.helping_desk import BudgetSpent, Desk
from core.services.jobs import work_here
from core.services.planning import RunRequest
from core.services.spot import HELP
from core.store.content import noun_hash
from core.store.store import Store

_LOOK_EVERY = 0.2


def hidden_request(
    store: Store,
    rubric: Rubric,
    dataset_version: int,
    panel: Panel,
    *,
    name: str,
    items: tuple[str, ...] | None = None,
    budget: float | None = None,
    seed: int = 0,
    details: Mapping[str, Any],
) -> RunRequest:
    """The request of a run that no list shows. ``rubric`` need not be saved."""
    same = store.rubrics.find_by_hash(noun_hash(rubric))
    version = same or store.rubrics.create(rubric, now=clock.now(), hidden=True)
    return RunRequest(
        rubric_version=version.id,
        dataset_version=dataset_version,
        panel=panel,
        name=name[:200],
        seed=seed,
        budget=budget,
        items=items,
        kind="spot",
        details={HELP: dict(details)},
    )


def hidden_dataset(store: Store, dataset: Dataset) -> int:
    """The version of a dataset that no list shows; the same one is there once."""
    return store.datasets.create(dataset, now=clock.now(), source="help", hidden=True).id


async def graded(desk: Desk, name: str, make: RunRequest) -> RunRow:
    """The finished run of that step: started once, gone on with after an interruption.

    Raises:
        BudgetSpent: the run's budget ended it.
        InputError: it failed as a whole, or cells of it did.
    """
    store = desk.store
    if desk.noted(name) is None:
        await desk.note(name, await desk.io(grading.start, store, make))
    run_id = int(desk.noted(name))
    row = await desk.io(store.runs.row, run_id)
    if row.status != "done":
        if not row.active:
            await desk.io(grading.resume, store, run_id)
        await _worked(desk, run_id)
        row = await desk.io(store.runs.row, run_id)
    if row.status == "budget":
        raise BudgetSpent
    if row.status != "done" or row.failures_open:
        raise InputError(_why(row))
    return row


async def _worked(desk: Desk, run_id: int) -> None:
    """Works on the run here, or waits for the Runner that does."""
    store = desk.store
    try:
        await asyncio.to_thread(work_here, store, run_id)
        while (await desk.io(store.runs.row, run_id)).active:
            await asyncio.sleep(_LOOK_EVERY)
    except asyncio.CancelledError:
        await desk.io(grading.cancel, store, run_id)
        raise


def _why(row: RunRow) -> str:
    if row.status == "done":
        cells = f"{row.failures_open} of {row.planned} answers failed"
        return f"{cells} in run {row.id}. Open it, ask them again, then go on here."
    return f"Run {row.id} ended as {row.status}. {row.message}".strip()
