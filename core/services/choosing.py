"""What a run can be made of: rubrics, datasets, panels and judges, and their versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.base import build
from core.domain.library import (
    DatasetRow,
    DatasetVersion,
    JudgeRow,
    PanelRow,
    RubricRow,
    RubricVersionInfo,
)
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.rules import SCALES, Scale
from core.domain.secrets import variables
from core.services.registry import ensure_defaults, env_status, key_status
from core.services.seating import Seating, panel_data
from core.store.store import Store


@dataclass(frozen=True)
class Choices:
    """Everything in use, newest first where there is an order; nothing archived."""

    rubrics: tuple[RubricRow, ...]
    datasets: tuple[DatasetRow, ...]
    panels: tuple[PanelRow, ...]
    judges: tuple[JudgeRow, ...]


def choices(store: Store) -> Choices:
    """What there is to choose from."""
    ensure_defaults(store)
    return Choices(
        tuple(store.rubrics.list()),
        tuple(store.datasets.list()),
        tuple(store.panels.list()),
        tuple(sorted(store.judges.list(), key=lambda row: row.judge.offline)),
    )


def rubric_versions(store: Store, rubric_id: int) -> list[RubricVersionInfo]:
    """The versions of a rubric, newest first."""
    return store.rubrics.versions(rubric_id)


def dataset_versions(store: Store, dataset_id: int) -> list[DatasetVersion]:
    """The versions of a dataset, newest first."""
    return store.datasets.versions(dataset_id)


def rubric_at(store: Store, version_id: int) -> Rubric:
    """One version of a rubric."""
    return store.rubrics.version(version_id).rubric


def scales_of(rubric: Rubric) -> list[Scale]:
    """The scales whose votes the panel's rules settle: those of criteria without an own rule."""
    used = {c.scale for c in rubric.criteria if c.aggregation is None}
    return [scale for scale in SCALES if scale in used]


def panel_of(
    name: str, judges: Sequence[Judge], rules: Mapping[Scale, str], seating: Seating | None = None
) -> Panel:
    """A panel as chosen for one run. Raises ``InputError``, e.g. where nobody judges."""
    return build(Panel, panel_data(name, judges, rules, seating or Seating()), "panel")


def missing_keys(judges: Sequence[Judge]) -> list[tuple[str, str]]:
    """Judges whose key, or another value, is not in the environment: (judge, the variable)."""
    found = [(judge.name, *key_status(judge)) for judge in judges]
    missing = [(name, variable) for name, variable, status in found if status == "not set"]
    return missing + [
        (judge.name, variable)
        for judge in judges
        for variable, there in env_status(variables(judge.params)).items()
        if not there
    ]
