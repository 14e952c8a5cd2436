"""Records: small values, as dataclasses, of which every judge's call makes many."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, slots: bool) -> Any:
        """A dataclass that is frozen for the type checker alone, and is hashed as a frozen one is.

        One that is frozen at run time sets each field by a call: five times the price of making
        it, and some eighty fields are set for every judge's call.
        """
        return dataclasses.dataclass(unsafe_hash=frozen, slots=slots)


__all__ = ["record"]
