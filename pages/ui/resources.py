"""The only `st.cache_*` of the pages: one store per process, and what is slow to make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import streamlit as st

from core.settings import load_settings

if TYPE_CHECKING:
    from core.store.store import Store

ValueT = TypeVar("ValueT")


def store() -> Store:
    """The store of the data file that the environment names, opened once per process.

    Pages hand it on to services and never look inside.
    """
    return _open(load_settings().db)


@st.cache_resource(show_spinner=False, max_entries=4)
def _open(db: Path) -> Store:
    from core.services import open_store

    return open_store(replace(load_settings(), db=db))


def remembered(what: str, about: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
    """`make()`, or a copy of what it gave before for the same `what` and `about`.

    `about` holds plain values that change whenever the result would, e.g. a run's id with its
    counts of votes and failures. An exception is not remembered.
    """
    return cast("ValueT", _remembered(str(load_settings().db), what, about, make))


@st.cache_data(show_spinner=False, max_entries=256)
def _remembered(
    db: str, what: str, about: tuple[object, ...], _make: Callable[[], object]
) -> object:
    return _make()


def shared(what: str, about: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
    """As `remembered`, but the very object it gave before, for everybody: nobody may change it.

    For a value so large that its copy would take longer than the page (0.9 s for 90,000 votes).
    """
    return cast("ValueT", _shared(str(load_settings().db), what, about, make))


@st.cache_resource(show_spinner=False, max_entries=8)
def _shared(db: str, what: str, about: tuple[object, ...], _make: Callable[[], object]) -> object:
    return _make()
