"""What the Import votes page computes once: a file opened, and its votes checked.

A file being imported belongs to one session, and only the latest is kept.
"""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.files.vote_mapping import VoteMapping
from core.files.vote_source import SourceKind
from core.services import importing_files
from core.services.importing_files import CheckedVotes, Look
from pages.ui.dataset_cache import Upload
from pages.ui.resources import store


def look(upload: Upload, shape: SourceKind | None) -> Look | InputError:
    """What the file seems to be, or why it cannot be read."""
    return _look(upload.file_id, upload.name, shape, upload)


@st.cache_resource(max_entries=2, scope="session", show_spinner="Reading the file …")
def _look(key: str, name: str, shape: SourceKind | None, _upload: Upload) -> Look | InputError:
    try:
        seen = importing_files.look_at_bytes(_upload.getvalue(), name)
        if shape is None or shape == seen.kind:
            return seen
        return importing_files.look(seen.source, kind=shape)
    except InputError as error:
        # Kept like a result, so that a bad file is not read again on every rerun.
        return error


def checked(
    key: str,
    seen: Look,
    mapping: VoteMapping | None,
    rubric_version: int | None,
    dataset_version: int | None,
) -> CheckedVotes:
    """What the file comes to under that mapping."""
    words = mapping.model_dump_json() if mapping else ""
    about = (key, seen.kind, words, rubric_version, dataset_version)
    return _checked(about, seen, mapping)


@st.cache_resource(max_entries=1, scope="session", show_spinner="Checking every vote …")
def _checked(
    about: tuple[str, str, str, int | None, int | None],
    _seen: Look,
    _mapping: VoteMapping | None,
) -> CheckedVotes:
    *_, rubric_version, dataset_version = about
    return importing_files.check(
        store(),
        _seen,
        _mapping,
        rubric_version=rubric_version,
        dataset_version=dataset_version,
    )


def forget() -> None:
    """Let go of the file that was imported."""
    _look.clear()
    _checked.clear()
