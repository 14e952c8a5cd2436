"""Where a run keeps the rules that were fitted for it: beside the plan, which never changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.domain.base import build
from core.domain.fitted import Fitted
from core.domain.runs import Run
from core.store.content import dump
from core.store.store import Store

NOTE = "fitted"


def fitted_of(run: Run) -> dict[str, Fitted]:
    """The fitted rules that settle a run's criteria, by criterion name."""
    kept: Mapping[str, object] = run.notes.get(NOTE, {})
    return {name: build(Fitted, data, "fitted rule") for name, data in kept.items()}


def keep(store: Store, run_id: int, fitted: Iterable[Fitted]) -> None:
    """Let these rules settle the run's criteria, and no others. Nothing is derived yet."""
    store.runs.set_notes(run_id, {NOTE: {each.criterion: dump(each) for each in fitted}})
