"""Tasks of a writing model's help as the store hands them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

HelpStatus = Literal["queued", "running", "done", "cancelled", "interrupted", "budget", "failed"]


@dataclass(frozen=True, slots=True)
class HelpTask:
    """A task and how far it is.

    ``planned`` counts the steps it takes at most, ``done`` those with a value, ``failed`` those
    whose last try failed. ``cost`` is in US dollars over the calls whose cost is known,
    ``cost_unknown`` counts the others.
    """

    id: int
    kind: str
    subject: str
    request: dict[str, Any]
    status: HelpStatus
    planned: int
    budget: float | None
    result: Any
    message: str
    owner: str | None
    until: float | None
    cancel: bool
    created: str
    updated: str
    done: int
    failed: int
    calls: int
    cost: float
    cost_unknown: int

    @property
    def active(self) -> bool:
        """Whether it waits or is being worked on."""
        return self.status in ("queued", "running")


@dataclass(frozen=True, slots=True)
class HelpStep:
    """One step: its value, or the kind of failure with a sentence; and its call as plain data.

    Beside a value ``message`` says what of the reply was left out; empty where nothing was.
    ``asked`` says whether a model was asked; ``cost`` is ``None`` where unknown.
    """

    id: int
    name: str
    value: Any
    failure: str | None
    message: str
    call: dict[str, Any] | None
    asked: bool
    cost: float | None
    created: str
