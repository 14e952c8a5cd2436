"""Reviewing as it is kept: reviewers, queues, turns, events, verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from core.domain.review import (
    CellState,
    Given,
    Mode,
    Order,
    Part,
    QueueRule,
    QueueSettings,
    Reason,
    Role,
)

#: What an event can say. ``settle`` and ``unsettle`` are consequences; ``undo`` takes one event
#: back; ``mark`` changes the state of what is settled; ``reveal`` is that votes were looked at;
#: ``repeat`` is what a second look gave, and changes nothing; so does ``request``: somebody outside
#: asked for a regrade; ``withdraw`` says that one was a mistake.
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
    """A queue: a rule over a run's cells, saved, with how it is worked off."""

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
    """A cell of a queue with why it is there and what settling it was expected to change.

    ``chance`` is that of being queued: 1 where a rule holds, else that of the draws. ``flip``,
    ``change``, ``entropy``, ``margin`` and ``spread`` are as of when the cell was queued.
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
        """Whether only the random audit chose it."""
        return self.reasons == ("audit",)

    @property
    def gold(self) -> bool:
        """Whether only its known label brought it in."""
        return self.reasons == ("gold",)

    @property
    def stratum(self) -> Literal["rule", "audit", "gold"]:
        """Which draw brought it in: the rule takes all that fit it."""
        if self.audit:
            return "audit"
        return "gold" if self.gold else "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event of reviewing; ``id`` is 0 until it is kept.

    Events of one act share their ``step``, the id of its first event; 0 begins a new step.
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
    """One person's verdict on a cell of a queue. ``final`` is ``None`` until it is confirmed.

    ``mode`` is how it came about: ``assisted`` where the votes had been seen before.
    """

    item_id: str
    criterion: str
    part: Part
    reviewer: str
    mode: Mode
    first: Given
    first_event: int
    revealed: str | None
    final: Given | None
    final_event: int | None


#: What an item of a queue is to a person now.
TurnStatus = Literal["available", "locked", "assigned", "mine_done", "waiting", "filtered", "done"]


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which cells a person wants to see; a default says nothing."""

    criterion: str | None = None
    reason: Reason | None = None
    flagged: bool = False


class ItemTurn(NamedTuple):
    """What an item is to a person now. ``until`` and ``holder``: the lease that is in the way."""

    item_id: str
    position: int
    status: TurnStatus
    part: Part
    holder: str | None
    until: float | None


class ItemLease(NamedTuple):
    """A lease: the item that a person has open in a session, and for what, until when."""

    item_id: str
    reviewer: str
    session: str
    part: Part
    until: float
