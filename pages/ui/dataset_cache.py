"""What the Datasets page computes once: a file read, a mapping checked, counts of a version.

Versions never change, so what is counted of one is counted for good. A file being imported
belongs to one session, and only the latest is kept.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import streamlit as st

from core.domain.library import ItemFilter
from core.domain.rubric import Rubric
from core.errors import InputError
from core.files.mapping import ColumnMapping
from core.files.tables import Table
from core.services import authoring, datasets
from core.services.datasets import Checked
from pages.ui.resources import store


class Upload(Protocol):
    """What `st.file_uploader` gives."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """Its content."""
        ...


class Source:
    """A file or a pasted text by a key that changes with its content."""

    def __init__(self, content: Upload | str, name: str) -> None:
        self.content, self.name = content, name
        if isinstance(content, str):
            self.key = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]
        else:
            self.key = content.file_id

    def data(self) -> bytes | str:
        """The content."""
        return self.content if isinstance(self.content, str) else self.content.getvalue()


def table(source: Source) -> Table | InputError:
    """The file's rows, or why it could not be read."""
    return _table(source.key, source.name, source)


@st.cache_resource(max_entries=1, scope="session", show_spinner="Reading the file …")
def _table(key: str, name: str, _source: Source) -> Table | InputError:
    try:
        return datasets.read_source(_source.data(), name)
    except InputError as error:
        # Kept like a result, so that a bad file is not read again on every rerun.
        return error


def rubric(version_id: int | None) -> Rubric | None:
    """The rubric to check labels against."""
    return None if version_id is None else authoring.version(store(), version_id).rubric


def checked(source: Source, rows: Table, mapping: ColumnMapping, version_id: int | None) -> Checked:
    """What the rows come to under that mapping and rubric version."""
    return _checked(source.key, mapping.model_dump_json(), version_id, rows)


@st.cache_resource(max_entries=1, scope="session", show_spinner="Checking every row …")
def _checked(key: str, mapping: str, version_id: int | None, _rows: Table) -> Checked:
    return datasets.check(_rows, ColumnMapping.model_validate_json(mapping), rubric(version_id))


def forget() -> None:
    """Let go of the file that was imported."""
    _table.clear()
    _checked.clear()


def count(version_id: int, where: ItemFilter) -> int:
    """How many items of a version the filter keeps."""
    words = (where.search, where.labelled, where.system, where.split)
    return _count(str(store().path), version_id, words, where)


@st.cache_data(max_entries=500, show_spinner=False)
def _count(db: str, version_id: int, words: tuple[object, ...], _where: ItemFilter) -> int:
    return datasets.count(store(), version_id, _where)


def systems(version_id: int) -> list[str]:
    """The systems that items of a version name."""
    return _systems(str(store().path), version_id)


@st.cache_data(max_entries=100, show_spinner=False)
def _systems(db: str, version_id: int) -> list[str]:
    return datasets.systems(store(), version_id)


def label_counts(version_id: int) -> dict[str, dict[str, int]]:
    """How often each label was given in a version, by criterion."""
    return _label_counts(str(store().path), version_id)


@st.cache_data(max_entries=100, show_spinner=False)
def _label_counts(db: str, version_id: int) -> dict[str, dict[str, int]]:
    return datasets.label_counts(store(), version_id)
