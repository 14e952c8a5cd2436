"""Which function works on which kind of task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, cast

from core.services.helping_desk import Desk

#: Where the ``work`` of each kind is. By name, since those modules begin tasks themselves.
MODULES = {
    "draft": "core.services.drafting",
    "improve": "core.services.improving",
    "loop": "core.services.improving_loop_work",
    "data": "core.services.generating",
    "edits": "core.services.generating_edits",
}


def work_of(kind: str) -> Callable[[Desk], Awaitable[Any]]:
    """The function that works on tasks of a kind."""
    return cast("Callable[[Desk], Awaitable[Any]]", import_module(MODULES[kind]).work)
