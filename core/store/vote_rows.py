"""What the store hands out of votes: votes, failures, calls, and the ballots that decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from core.domain.votes import Cell, Segment


class BallotRow(NamedTuple):
    """The part of a vote that decides. ``option`` is ``None`` only where it abstained outside."""

    item_id: str
    criterion: str
    judge: str
    replicate: int
    option: int | None
    abstained: bool


class VoteColumn(NamedTuple):
    """What a judge answered to a criterion in one replicate, item by item.

    An option that is ``None``, or that is no answer (na), is an abstention.
    """

    criterion: str
    judge: str
    replicate: int
    items: list[str]
    options: list[int | None]


@dataclass(frozen=True, slots=True)
class ItemBallots:
    """All votes of one item, and its open failures by criterion."""

    item_id: str
    ballots: tuple[BallotRow, ...]
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class VoteRow:
    """A vote as kept; the fields are those of ``core.domain.votes.Vote``."""

    id: int
    run_id: int
    cell: Cell
    option: int | None
    abstained: bool
    reason: str
    evidence: tuple[str, ...]
    order: tuple[int, ...] | None
    confidence: float | None
    probabilities: tuple[float, ...] | None
    detail: dict[str, Any]
    call_id: int | None
    created: str


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failure as kept. ``attempt`` counts from 1; ``open``: neither answered nor retried yet."""

    id: int
    run_id: int
    cell: Cell
    attempt: int
    kind: str
    message: str
    order: tuple[int, ...] | None
    call_id: int | None
    created: str
    open: bool


class FailureCount(NamedTuple):
    """How often a kind of failure happened, and the newest message of it."""

    kind: str
    times: int
    judges: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call as kept, its prompt put together again. ``None``: the provider did not say."""

    id: int
    run_id: int
    judge: str
    prompt: tuple[Segment, ...]
    params: dict[str, Any]
    reply: str
    thinking: str
    model: str
    finish: str
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    tokens_thinking: int | None
    cost: float | None
    seconds: float
    tries: int
    created: str
    cached: bool
    first_cost: float | None
    asked: int | None
    kept: int | None


class OrderCount(NamedTuple):
    """How often a judge chose ``option`` when shown ``order`` (``order[place] = option``)."""

    judge: str
    criterion: str
    option: int
    order: tuple[int, ...]
    times: int


class Recorded(NamedTuple):
    """What one recording added: new votes (abstentions among them), failures and calls."""

    votes: int
    failures: int
    calls: int
