"""What several commands share: the data file, and what a run's options mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.store.store import Store

db_option: Callable[[Any], Any] = click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The data file (default: the app's own; see `where`).",
)


def settings_with(db: Path | None) -> Settings:
    """The settings of the environment, with the data file of ``--db`` if given."""
    settings = load_settings()
    return settings if db is None else replace(settings, db=db.expanduser().absolute())


def open_db(db: Path | None) -> Store:
    """The store, made on first use."""
    from core.services import open_store

    return open_store(settings_with(db))
