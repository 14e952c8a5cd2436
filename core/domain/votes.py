"""Votes are facts: a rater's answer to a criterion for an item. They never change.

A failed call is a ``VoteFailure`` with its kind: never a vote, never UNMET, never a guess. These
are plain named tuples and slotted dataclasses, because a run has hundreds of thousands. Rows are
the same facts as returned by the store. A ``Verdict`` is the result of a cell's votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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
BatchStatus = Literal["planned", "sent", "taken"]


class Cell(NamedTuple):
    """The key of a vote within a run. ``replicate`` counts from 0."""

    item: str
    criterion: str
    judge: str
    replicate: int = 0


@record(frozen=True, slots=True)
class Segment:
    """A piece of a prompt. Calls share pieces, so each is stored once.

    ``shared``: other calls of a run begin with the same text up to the end of this piece, so a
    provider may cache it. It is a hint and not part of the request.
    """

    role: str
    text: str
    shared: bool = field(default=False, compare=False)


@record(frozen=True, slots=True)
class Call:
    """The requests of a question to a judge, their answers and cost. ``None`` if unknown.

    ``tries`` counts requests sent, ``asked`` their purposes: an assessment, the answer, a repair, a
    summary (``None``: one, or none if ``cached``). ``kept`` counts those reused from earlier calls
    (``None``: none, or one if ``cached``). Token counts are the provider's; ``seconds`` is the time
    of the last try; ``cost`` is in US dollars. ``cached``: no judge was called, the answer of an
    earlier call was reused, costs 0 now and cost ``first_cost`` then; token counts are from then,
    too. If only a part was reused, ``cached`` is false, ``first_cost`` is the cost of that part,
    and counts and cost are those of the other part.
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
        """Return the number of calls made, whatever their tries."""
        return int(not self.cached) if self.asked is None else self.asked

    @property
    def known(self) -> int:
        """Return the number of calls saved by reusing earlier answers."""
        return int(self.cached) if self.kept is None else self.kept


#: A vote keeps its probabilities only if the options' probabilities sum to at least this. With a
#: smaller sum, the rater's answer was not an option.
LEAST_ON_OPTIONS = 0.5


@record(frozen=True, slots=True)
class Vote:
    """A rater's answer. ``option`` indexes ``Criterion.choices``; an abstention has no value.

    ``order[shown position] = original index`` if options were shown in an order, else ``None``.
    ``probabilities`` follow ``choices``, as reported: they may add up to less than 1.
    ``confidence`` is in [0, 1].
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
    """The reason for a missing vote. ``message`` can be shown and contains no key."""

    cell: Cell
    kind: FailureKind
    message: str
    order: tuple[int, ...] | None = None


@record(frozen=True, slots=True)
class KeptAnswer:
    """A model's answer stored for later runs, under the hash of the request.

    ``completion`` is plain JSON data; ``cost`` in US dollars, ``None`` if unknown.
    """

    key: str
    model: str
    completion: Mapping[str, object]
    cost: float | None


@record(frozen=True, slots=True)
class AskedOutcome:
    """The result of asking: a vote or a failure per cell, and their call, if any.

    ``answers`` are the call's reusable answers, recorded with its votes.
    """

    results: tuple[Vote | VoteFailure, ...]
    call: Call | None = None
    answers: tuple[KeptAnswer, ...] = ()


class BallotRow(NamedTuple):
    """The part of a vote that rules use. ``option`` is ``None`` for abstentions outside choices.

    ``chances`` are probabilities of the choices, if the vote has them and the query asked for them.
    """

    item_id: str
    criterion: str
    judge: str
    replicate: int
    option: int | None
    abstained: bool
    chances: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class ItemBallots:
    """All votes of an item, and its open failures by criterion."""

    item_id: str
    ballots: tuple[BallotRow, ...]
    failures: Mapping[str, int]


@record(frozen=True, slots=True)
class VoteRow(Vote):
    """A stored vote, with its call, if any."""

    id: int = 0
    run_id: int = 0
    call_id: int | None = None
    created: str = ""


@dataclass(frozen=True, slots=True)
class FailureRow(VoteFailure):
    """A stored failure. ``attempt`` counts from 1; ``open``: not answered or retried yet."""

    id: int = 0
    run_id: int = 0
    attempt: int = 1
    call_id: int | None = None
    created: str = ""
    open: bool = True


class FailureCount(NamedTuple):
    """The number of failures of a kind, with the latest message."""

    kind: str
    times: int
    judges: tuple[str, ...]
    message: str


@record(frozen=True, slots=True)
class CallRow(Call):
    """A stored call with its prompt reassembled."""

    id: int = 0
    run_id: int = 0
    judge: str = ""
    created: str = ""


class Verdict(NamedTuple):
    """The verdict's option of a cell, and how certain its votes are.

    ``option`` indexes ``choices``; for an abstention it is an ``na`` option, or ``None`` if a
    choice was forced. ``value`` is the option's. ``continuous`` is the mean, median or weighted
    mean before rounding to ``value``; ``None`` for rules that choose an option directly. Over the
    ``votes`` that are not abstentions, counted without weights: ``agreement`` is the share for the
    verdict's option, ``entropy`` that of the shares divided by its maximum (all scored options
    equal), ``margin`` the top share minus the second. All in [0, 1]; ``None`` without such a vote;
    0.0 if disagreement makes an abstention. ``coverage`` is (votes + abstentions) / planned. If
    ``rule`` is adjudicated, people settled the cell, and ``voted`` is the option by the votes.
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
        """Return the option by the votes, even if people settled on another one."""
        return self.voted if self.rule == ADJUDICATED else self.option

    @property
    def split(self) -> bool:
        """Return whether its votes disagree; a verdict for another option is not a disagreement."""
        return bool(self.entropy)


#: The rule of a verdict settled by people.
ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A file of requests that a provider processes for a judge of a run.

    ``status`` is ours: planned before the provider has it, sent, and taken once all its results are
    recorded. ``said`` is the provider's own status; ``done`` and ``failed`` count its requests.
    ``file`` and ``batch`` are the provider's names, empty until known; ``token`` is our name for it
    there. ``guess`` is its expected cost in US dollars. ``sent``, ``looked`` (last checked) and
    ``due`` (next check) are in Unix seconds. ``stopped``: we asked the provider to stop it.
    ``message`` says what went wrong.
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
        """Return whether a provider has the batch and some results are not recorded yet."""
        return self.status == "sent"

    @property
    def is_pending(self) -> bool:
        """Return whether a provider is processing the batch, as far as we know."""
        return self.at_provider and not self.stopped

    @property
    def answered(self) -> int:
        """Return the number of finished requests, successful or not."""
        return self.done + self.failed


class OrderCount(NamedTuple):
    """How often a judge chose ``option`` when shown ``order`` (``order[place] = option``)."""

    judge: str
    criterion: str
    option: int
    order: tuple[int, ...]
    times: int
