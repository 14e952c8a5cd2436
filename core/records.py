"""Cheap dataclasses for small values, of which every judge's call makes many."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, slots: bool) -> Any:
        """Return a dataclass that is frozen for the type checker only, but hashed like a frozen
        one.

        A truly frozen one sets each field by a call: five times the cost of creation, and every
        judge's call sets some eighty fields.
        """
        return dataclasses.dataclass(unsafe_hash=frozen, slots=slots)


__all__ = ["record"]
