"""Stored reviews: reviewers, queues, turns, events, verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from core.domain.review import (
    CellState,
    Mode,
    Order,
    Part,
    QueueRule,
    QueueSettings,
    Reason,
    ReviewerAnswer,
    Role,
)

#: The kinds of events. ``settle`` and ``unsettle`` are consequences; ``undo`` reverts one event;
#: ``mark`` changes the state of a settled cell; ``reveal``: the reviewer looked at votes;
#: ``repeat`` is the result of a second look and changes nothing. ``request`` records a regrade
#: request from outside and changes nothing either; ``withdraw`` withdraws one.
Action = Literal[
    "verdict",
    "reveal",
    "final",
    "settle",
    "unsettle",
    "mark",
    "skip",
    "flag",
    "unflag",
    "send_back",
    "assign",
    "take_over",
    "unmask",
    "change",
    "repeat",
    "request",
    "withdraw",
    "undo",
]


@dataclass(frozen=True, slots=True)
class ReviewerRow:
    """A person who reviews."""

    id: int
    name: str
    role: Role
    created: str


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A saved queue: a rule over a run's cells, with its settings."""

    id: int
    run_id: int
    name: str
    rule: QueueRule
    settings: QueueSettings
    order: Order
    seed: int
    author: str
    created: str
    archived: str | None


@dataclass(frozen=True, slots=True)
class QueuedItem:
    """An item of a queue. ``position`` is its place in the run, ``draw`` its random number."""

    item_id: str
    position: int
    draw: float
    assisted: bool
    required: int
    assigned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueuedCell:
    """A cell of a queue, with the reasons for queueing it and the expected effect of settling it.

    ``chance`` is the probability of being queued: 1 by a rule, otherwise by the draws. ``flip``,
    ``change``, ``entropy``, ``margin`` and ``spread`` are from the time when it was queued.
    """

    item_id: str
    criterion: str
    reasons: tuple[Reason, ...]
    chance: float
    failed: bool
    flip: float
    change: float
    entropy: float | None
    margin: float | None
    spread: float | None
    state: CellState = "needs_review"
    flagged: Role | None = None
    version: int = 1

    @property
    def audit(self) -> bool:
        """Return whether only the random audit selected the cell."""
        return self.reasons == ("audit",)

    @property
    def gold(self) -> bool:
        """Return whether only its known label selected the cell."""
        return self.reasons == ("gold",)

    @property
    def stratum(self) -> Literal["rule", "audit", "gold"]:
        """Return the draw that selected the cell, or ``rule``, which takes all matching cells."""
        if self.audit:
            return "audit"
        return "gold" if self.gold else "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """A review event; ``id`` is 0 until it is stored.

    Events of one action share their ``step``, the id of its first event; 0 begins a new step.
    """

    id: int = 0
    step: int = 0
    ts: str
    actor: str
    role: Role
    session: str
    run_id: int
    queue_id: int | None = None
    item_id: str = ""
    criterion: str = ""
    rubric_version_id: int
    action: Action
    part: Part | Literal[""] = ""
    before: Any = None
    after: Any = None
    reason: str = ""
    mode: Mode | Literal[""] = ""
    ms_active: int | None = None
    revealed_at: str | None = None
    evidence: Any = ()
    undo_of: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A reviewer's verdict on a cell of a queue. ``final`` is ``None`` until it is confirmed.

    ``mode`` is how it was made: ``assisted`` if the reviewer had already seen the votes.
    """

    item_id: str
    criterion: str
    part: Part
    reviewer: str
    mode: Mode
    first: ReviewerAnswer
    first_event: int
    revealed: str | None
    final: ReviewerAnswer | None
    final_event: int | None

    @property
    def final_option(self) -> int | None:
        """Return the confirmed option; ``None`` before that, or if the cell cannot be assessed."""
        return None if self.final is None else self.final.option


#: The status of a queue's item as one reviewer sees it.
TurnStatus = Literal["available", "locked", "assigned", "mine_done", "waiting", "filtered", "done"]


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """The cells that a reviewer wants to see; by default all."""

    criterion: str | None = None
    reason: Reason | None = None
    flagged: bool = False


class ItemTurn(NamedTuple):
    """An item's status for a reviewer. ``until`` and ``holder`` describe the blocking lease."""

    item_id: str
    position: int
    status: TurnStatus
    part: Part
    holder: str | None
    until: float | None


class ItemLease(NamedTuple):
    """A lease: a reviewer has an item open in a session, for a purpose, until a time."""

    item_id: str
    reviewer: str
    session: str
    part: Part
    until: float
