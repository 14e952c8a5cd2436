"""The services that a person may request: pages and the command line call only these, and no lower
layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.settings import Settings
    from core.store.store import Store


def open_store(settings: Settings) -> Store:
    """Return the store in the settings' data file, created (with its folder) on first use.

    Raises ``StoreError`` if the file is not ours, is newer than this program, or cannot be written.
    """
    from core.store.store import Store

    return Store(settings.db)
