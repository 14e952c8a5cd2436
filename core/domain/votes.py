"""Votes are facts: what one rater answered for one criterion of one item. They never change.

A call that failed is a ``VoteFailure`` with its kind: never a vote, never UNMET, never a guess.
These are plain named tuples and slotted dataclasses, because a run holds hundreds of thousands.
The rows are the same facts as the store hands them out. A ``Verdict`` is what the votes of a
cell settle to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from core.records import record

FailureKind = Literal[
    "rate_limit",
    "timeout",
    "connection",
    "server",
    "auth",
    "not_found",
    "bad_request",
    "context_length",
    "refusal",
    "content_filter",
    "empty",
    "malformed",
    "too_large",
    "out_of_range",
    "missing_key",
    "expired",
    "code",
    "internal",
]
FAILURE_KINDS: tuple[str, ...] = get_args(FailureKind)
BatchStatus = Literal["planned", "sent", "taken"]


class Cell(NamedTuple):
    """A vote's key within a run. ``replicate`` counts from 0."""

    item: str
    criterion: str
    judge: str
    replicate: int = 0


@record(frozen=True, slots=True)
class Segment:
    """A piece of a prompt. Calls share pieces, so that each is kept once.

    ``shared`` says that other calls of a run begin with all that is sent up to the end of this
    piece: a provider may keep it. It is a hint, no part of what was sent.
    """

    role: str
    text: str
    shared: bool = field(default=False, compare=False)


@record(frozen=True, slots=True)
class Call:
    """What one question to a judge sent, got back and cost. ``None`` where unknown.

    ``tries`` counts requests on the wire, ``asked`` what they were made for: an assessment, the
    answer, a repair, a summary (``None``: one, or none where ``cached``). ``kept`` counts those
    that were taken from earlier calls instead (``None``: none, or one where ``cached``). Token
    counts are the provider's; ``seconds`` is the time of the last try; ``cost`` is in US dollars.
    ``cached`` says that nobody was asked: the answer was kept from an earlier call, costs 0 now,
    and cost ``first_cost`` then; the token counts are those of then, too. Where only a part was
    kept, ``cached`` is false, ``first_cost`` is what that part cost, and counts and cost are those
    of the rest.
    """

    prompt: tuple[Segment, ...]
    params: dict[str, object]
    reply: str = ""
    thinking: str = ""
    model: str = ""
    finish: str = ""
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    tokens_thinking: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    tries: int = 1
    cached: bool = False
    first_cost: float | None = None
    asked: int | None = None
    kept: int | None = None

    @property
    def calls(self) -> int:
        """Calls that were really made, however often each was tried."""
        return int(not self.cached) if self.asked is None else self.asked

    @property
    def known(self) -> int:
        """Calls that were spared, since their answers were kept from earlier ones."""
        return int(self.cached) if self.kept is None else self.kept


#: A vote has chances only where at least so much of the chance lies on options. Below it the rater
#: meant something that is no option.
LEAST_ON_OPTIONS = 0.5


@record(frozen=True, slots=True)
class Vote:
    """One rater's answer. ``option`` indexes ``Criterion.choices``; an abstention has no value.

    ``order[shown position] = original index`` where options were shown in an order, else ``None``.
    ``probabilities`` run along ``choices`` as they were told: they may add up to less than 1.
    ``confidence`` in [0, 1].
    """

    cell: Cell
    option: int | None
    abstained: bool
    reason: str = ""
    evidence: tuple[str, ...] = ()
    order: tuple[int, ...] | None = None
    confidence: float | None = None
    probabilities: tuple[float, ...] | None = None
    detail: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VoteFailure:
    """No readable vote, and why. ``message`` is fit to show and holds no key."""

    cell: Cell
    kind: FailureKind
    message: str
    order: tuple[int, ...] | None = None


@record(frozen=True, slots=True)
class KeptAnswer:
    """A model's answer as it is kept for later runs, under the hash of what was asked.

    ``completion`` is plain JSON data; ``cost`` in US dollars, ``None`` unknown.
    """

    key: str
    model: str
    completion: Mapping[str, object]
    cost: float | None


@record(frozen=True, slots=True)
class AskedOutcome:
    """What asking gave: a vote or a failure per cell, and the call they came from, if any.

    ``answers`` are those of the call that are worth keeping: they are recorded with its votes.
    """

    results: tuple[Vote | VoteFailure, ...]
    call: Call | None = None
    answers: tuple[KeptAnswer, ...] = ()


class BallotRow(NamedTuple):
    """The part of a vote that decides. ``option`` is ``None`` only where it abstained outside.

    ``chances`` run along the choices, where the vote has them and somebody asked for them.
    """

    item_id: str
    criterion: str
    judge: str
    replicate: int
    option: int | None
    abstained: bool
    chances: tuple[float, ...] | None = None


class JudgeColumn(NamedTuple):
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


@record(frozen=True, slots=True)
class VoteRow(Vote):
    """A vote as kept, with the call that it came from, if any."""

    id: int = 0
    run_id: int = 0
    call_id: int | None = None
    created: str = ""


@dataclass(frozen=True, slots=True)
class FailureRow(VoteFailure):
    """A failure as kept. ``attempt`` counts from 1; ``open``: neither answered nor retried yet."""

    id: int = 0
    run_id: int = 0
    attempt: int = 1
    call_id: int | None = None
    created: str = ""
    open: bool = True


class FailureCount(NamedTuple):
    """How often a kind of failure happened, and the newest message of it."""

    kind: str
    times: int
    judges: tuple[str, ...]
    message: str


@record(frozen=True, slots=True)
class CallRow(Call):
    """A call as kept, its prompt put together again."""

    id: int = 0
    run_id: int = 0
    judge: str = ""
    created: str = ""


class Verdict(NamedTuple):
    """The settled option of a cell, and how sure its votes are of it.

    ``option`` indexes ``choices``; for an abstention it is an ``na`` option, or ``None`` where a
    choice was forced. ``value`` is the option's. ``continuous`` is the mean, median or weighted
    mean before it was snapped to ``value``; ``None`` for rules that take an option as it is.
    Over the ``votes`` that are not abstentions, heads and not weights: ``agreement`` is the share
    for the verdict's option, ``entropy`` that of the shares divided by its greatest possible value
    (all scored options alike), ``margin`` the top share minus the second. All in [0, 1]; ``None``
    without such a vote; 0.0 where disagreement makes an abstention. ``coverage`` is (votes +
    abstentions) / planned. If ``rule`` is adjudicated, people settled the cell, and ``voted`` is
    the option that the votes gave.
    """

    criterion: str
    option: int | None
    abstained: bool
    value: float | None
    continuous: float | None
    agreement: float | None
    entropy: float | None
    margin: float | None
    coverage: float | None
    votes: int
    abstentions: int
    failures: int
    rule: str
    tie: bool
    warning: str
    voted: int | None = None

    @property
    def judged(self) -> int | None:
        """The option that the votes gave, also where people settled on another one."""
        return self.voted if self.rule == ADJUDICATED else self.option

    @property
    def split(self) -> bool:
        """Whether its votes disagree; a verdict that is another option is no disagreement."""
        return bool(self.entropy)


#: The rule of a verdict that people settled.
ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A file of requests that a provider works off for one judge of a run.

    ``status`` is ours: planned before the provider has it, sent, and taken when all that came of it
    is recorded. ``said`` is the provider's own word, ``done`` and ``failed`` count its lines.
    ``file`` and ``batch`` are the provider's names, empty until they are known; ``token`` is the
    name that we gave it there. ``guess`` is what it is expected to cost, in US dollars. ``sent``,
    ``looked`` and ``due`` (the next look) are in Unix seconds. ``stopped``: we asked the provider
    to stop it. ``message`` says what went wrong.
    """

    id: int
    run_id: int
    judge: str
    token: str
    status: BatchStatus
    lines: int
    guess: float
    file: str
    batch: str
    said: str
    done: int
    failed: int
    stopped: bool
    message: str
    created: str
    sent: float | None
    looked: float | None
    due: float | None

    @property
    def at_provider(self) -> bool:
        """Whether a provider has it, and not all that came of it is recorded."""
        return self.status == "sent"

    @property
    def out(self) -> bool:
        """Whether a provider works it off, as far as is known."""
        return self.at_provider and not self.stopped

    @property
    def answered(self) -> int:
        """Lines that are over, well or not."""
        return self.done + self.failed


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
