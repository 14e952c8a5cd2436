"""The only SQL. Rows in, nouns out; votes, versions and items are only ever added."""

from core.store.leases import Fenced
from core.store.store import Store

__all__ = ["Fenced", "Store"]
