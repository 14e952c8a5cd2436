"""Stored rubrics, datasets, judges, panels and drafts, with ids, versions and dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.domain.dataset import Dataset
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric


@dataclass(frozen=True, slots=True)
class RubricVersion:
    """A saved version of a rubric; immutable. ``number`` counts from 1 within the rubric."""

    id: int
    rubric_id: int
    number: int
    hash: str
    rubric: Rubric
    created: str
    author: str
    note: str


@dataclass(frozen=True, slots=True)
class RubricVersionInfo:
    """A rubric version without its content, for histories."""

    id: int
    rubric_id: int
    number: int
    hash: str
    name: str
    criteria: int
    runs: int
    created: str
    author: str
    note: str


@dataclass(frozen=True, slots=True)
class RubricRow:
    """A rubric in a list, described by its latest version (``number``, ``version_id``).

    ``runs`` counts runs (not spot checks) over all of its versions; ``updated`` is when the latest
    version was saved, ``archived`` when it was archived.
    """

    id: int
    name: str
    number: int
    version_id: int
    hash: str
    criteria: int
    runs: int
    created: str
    updated: str
    author: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """A saved version of a dataset; immutable.

    ``head`` is the dataset without its items (``head.items`` is empty, whatever ``items`` counts),
    so ``head.resolved(item)`` also works on a single item. ``labelled`` counts the items with at
    least one label.
    """

    id: int
    dataset_id: int
    number: int
    hash: str
    head: Dataset
    items: int
    labelled: int
    created: str
    source: str

    @property
    def name(self) -> str:
        """Return the dataset's name in this version."""
        return self.head.name


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """A declaration that the labels of a dataset version were drawn at random.

    ``note`` is the meta key with each item's probability of being drawn; empty if they were equal.
    ``by`` is empty without sign-in.
    """

    version_id: int
    note: str
    by: str
    declared: str


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A dataset in a list, described by its latest version."""

    id: int
    name: str
    number: int
    version_id: int
    hash: str
    items: int
    labelled: int
    runs: int
    created: str
    updated: str
    source: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item for browsing. ``position`` counts from 0; ``labelled`` counts its labels.

    ``preview`` is the start of the submission on one line; ``split`` may be ``None``.
    """

    position: int
    id: str
    preview: str
    system: str
    split: str | None
    labelled: int


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items of a dataset version to show; defaults do not filter.

    ``search`` matches (ignoring ASCII case) id, submission, prompt and reference.
    """

    search: str = ""
    labelled: bool | None = None
    system: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A saved judge. ``updated`` is when its settings were last saved."""

    id: int
    name: str
    judge: Judge
    created: str
    updated: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A saved panel with its content hash."""

    id: int
    name: str
    hash: str
    panel: Panel
    created: str
    updated: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """Unsaved work that survives a restart; ``content`` is plain JSON data."""

    key: str
    content: Any
    updated: str


@dataclass(frozen=True, slots=True)
class LibraryCounts:
    """Counts for the home page and for empty states, without archived records."""

    rubrics: int
    datasets: int
    judges: int
    panels: int
    runs: int
    spot_checks: int
    votes: int
    failures_open: int
