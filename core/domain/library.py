"""Rubrics, datasets, judges, panels and drafts as they are kept, with ids, versions and dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.domain.dataset import Dataset
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric


@dataclass(frozen=True, slots=True)
class RubricVersion:
    """One saved state of a rubric; never changed. ``number`` counts from 1 within the rubric."""

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

    ``runs`` counts runs (not spot checks) over any of its versions; ``updated`` is when the latest
    version was saved; ``archived`` when it was put away.
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
    """One saved state of a dataset; never changed.

    ``head`` is the dataset without its items (``head.items`` is empty, whatever ``items`` counts),
    so that ``head.resolved(item)`` works on an item fetched alone. ``labelled`` counts the items
    with at least one label.
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
        """The dataset's name in this version."""
        return self.head.name


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """That the labels of a dataset version were drawn at random, as somebody declared.

    ``note`` is the key of the items' meta that holds each one's chance of being drawn; empty where
    all had the same. ``by`` is empty where nobody signed in.
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
    """Which items of a dataset version to show; a default says nothing about that property.

    ``search`` looks (ignoring ASCII case) into id, submission, prompt and reference.
    """

    search: str = ""
    labelled: bool | None = None
    system: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A judge of the registry. ``updated`` is when its settings were last saved."""

    id: int
    name: str
    judge: Judge
    created: str
    updated: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A panel of the registry with its content hash."""

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
    """How much there is, for the home page and for empty states. Archived things do not count."""

    rubrics: int
    datasets: int
    judges: int
    panels: int
    runs: int
    spot_checks: int
    votes: int
    failures_open: int


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A stored content whose hash is not the one it was saved under."""

    what: str
    id: int
    expected: str
    found: str
