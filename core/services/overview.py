"""What there is, for the start page."""

from __future__ import annotations

from core.domain.library import LibraryCounts
from core.store.store import Store


def counts(store: Store) -> LibraryCounts:
    """How many rubrics, datasets, runs and votes there are; archived ones do not count."""
    return store.counts()
