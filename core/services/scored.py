"""The rubric that a run's verdicts are scored under: what was asked, or a newer version of it."""

from __future__ import annotations

from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.store.store import Store


def scored_rubric(store: Store, run: RunRow) -> Rubric:
    """The rubric that the run's scores follow now. Items may have their own (``effective``)."""
    return store.rubrics.version(run.scored_version_id).rubric
