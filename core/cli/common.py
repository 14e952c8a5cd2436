"""What several commands share: the data file, and what a run's options mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
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


@contextmanager
def open_to_plan(db: Path | None, only_estimate: bool) -> Iterator[Store]:
    """The store for a verb that plans and goes on; with ``only_estimate`` nothing of it stays."""
    if not only_estimate:
        yield open_db(db)
        return
    store = open_to_read(db)
    with store.rehearsal():
        yield store


def open_to_read(db: Path | None) -> Store:
    """The store for a verb that keeps nothing.

    Where there is no data file yet, an empty one that is gone when the command ends: reading
    makes no file and no folder.
    """
    from core.services import open_store

    settings = settings_with(db)
    if not settings.db.exists():
        folder = click.get_current_context().with_resource(TemporaryDirectory())
        settings = replace(settings, db=Path(folder) / settings.db.name)
    return open_store(settings)
