"""Which function works on which kind of task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from core.services import (
    drafting,
    generating,
    generating_edits,
    improving,
    improving_loop,
    improving_loop_work,
)
from core.services.helping_desk import Desk

WORK: Mapping[str, Callable[[Desk], Awaitable[Any]]] = {
    drafting.KIND: drafting.work,
    improving.KIND: improving.work,
    improving_loop.KIND: improving_loop_work.work,
    generating.KIND: generating.work,
    generating_edits.KIND: generating_edits.work,
}
