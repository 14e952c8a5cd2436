"""The only `st.cache_*` of the pages: one store per process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from core.settings import load_settings

if TYPE_CHECKING:
    from core.store.store import Store


def store() -> Store:
    """The store of the data file that the environment names, opened once per process.

    Pages hand it on to services and never look inside.
    """
    return _open(load_settings().db)


@st.cache_resource(show_spinner=False, max_entries=4)
def _open(db: Path) -> Store:
    from core.services import open_store

    return open_store(replace(load_settings(), db=db))
