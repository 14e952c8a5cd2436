"""Runs and help tasks as they are kept: plans, progress, results, leases.

Counts of a run and of its items: ``votes`` are all votes kept, abstentions among them;
``failures`` are the open ones; so a finished run has planned = votes + failures. Counts of a cell
follow ``core.scoring.verdict``: there ``votes`` are those that are not abstentions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from core.domain.panel import Panel
from core.domain.votes import Cell, ItemBallots, Verdict

RunKind = Literal["run", "spot"]
#: Where leases are kept.
HeldTable = Literal["run", "help_task"]
Outcome = Literal["pass", "fail", "review"]
RunStatus = Literal["queued", "running", "done", "cancelled", "interrupted", "budget", "failed"]
#: Nobody works on these and nobody will, until somebody asks.
RESTING: tuple[RunStatus, ...] = ("done", "cancelled", "interrupted", "budget", "failed")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that decides a run; never changed once the run is there.

    ``budget`` is in US dollars, ``None`` for no limit. ``calibration`` names what offline judges
    learn from (dataset version id, share, item ids); ``versions`` what ran (libraries, prompt).
    ``details`` is for whatever else must be remembered. All three are plain JSON data.
    """

    name: str
    rubric_version_id: int
    dataset_version_id: int
    panel: Panel
    kind: RunKind = "run"
    seed: int = 0
    replicates: int = 1
    budget: float | None = None
    calibration: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeldWork:
    """What a run and a help task have alike: one process holds it at a time, and asks models.

    ``cost`` is in US dollars over the calls whose cost is known, ``cost_unknown`` counts the
    others. ``lease_until`` is in Unix seconds.
    """

    table: ClassVar[HeldTable] = "run"
    id: int
    status: RunStatus
    planned: int
    calls: int
    cost: float
    cost_unknown: int
    created: str
    message: str
    cancel: bool
    lease_owner: str | None
    lease_until: float | None
    fence: int

    @property
    def active(self) -> bool:
        """Whether it is queued or running."""
        return self.status not in RESTING

    @property
    def lease(self) -> Lease:
        """The right to work on it, of whoever has it."""
        owner, until = self.lease_owner or "", self.lease_until or 0.0
        return Lease(self.id, owner, self.fence, until, self.cancel, self.table)


@dataclass(frozen=True, slots=True)
class RunRow(HeldWork):
    """A run and how far it is; light enough to be polled.

    ``calls`` counts every exchange with a model once, however often it was tried: a question takes
    two in two steps, and one more for a repair or a summary. ``cached`` counts answers kept
    from earlier calls, which are no calls and cost nothing now; ``saved`` is what they cost then,
    where known. ``lost`` counts calls that went out and whose answer was never recorded, because
    the run was stopped or killed; ``out`` those that are under way, or were when a run that nobody
    works on any more was killed. Neither is in ``calls`` or ``cost``. ``seconds`` is the time that
    runners spent. ``rubric_version_id`` is what was asked; scores follow
    ``scored_version_id``, which is the same unless somebody let them follow a newer one.
    """

    name: str
    kind: RunKind
    rubric_version_id: int
    rubric_id: int
    rubric_name: str
    rubric_number: int
    scored_version_id: int
    scored_number: int
    dataset_version_id: int
    dataset_id: int
    dataset_name: str
    dataset_number: int
    panel: Panel
    panel_hash: str
    plan_hash: str
    items: int
    votes: int
    abstentions: int
    failures_open: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    tokens_thinking: int
    cached: int
    saved: float
    lost: int
    out: int
    seconds: float
    started: str | None
    finished: str | None

    @property
    def version_words(self) -> str:
        """The version that scores follow, and what judges were asked where that is another one."""
        asked = self.rubric_number
        other = "" if asked == self.scored_number else f" (judges were asked version {asked})"
        return f"version {self.scored_number}{other}"


@dataclass(frozen=True, slots=True)
class Run(RunRow):
    """A run with its whole plan and its notes (training reports and the like, by key)."""

    plan: RunPlan
    notes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunItemRow:
    """One item of a run: its score and how sure it is. ``None``: nothing to say yet.

    ``low`` and ``high`` differ from ``score`` where a gate is indeterminate. ``outcome`` is pass,
    fail or review, or ``None`` where nothing decides; ``review``: a person must look, whatever the
    outcome is until then. ``coverage`` is the share of the weight that was assessed,
    ``assessed_points`` what was earned of the ``assessed_of`` points of these criteria. ``trace``
    is only there when one item is fetched.
    """

    run_id: int
    position: int
    item_id: str
    preview: str
    system: str
    split: str | None
    planned: int
    votes: int
    abstentions: int
    failures: int
    score: float | None
    raw: float | None
    low: float | None
    high: float | None
    complete: bool
    fail: bool
    review: bool
    agreement: float | None
    outcome: Outcome | None
    coverage: float | None
    assessed_points: float | None
    assessed_of: float | None
    trace: dict[str, Any] | None = None

    @property
    def ungraded(self) -> bool:
        """Whether the item was judged and has no grade, because too little was assessed."""
        return self.score is None and self.votes > 0


class RunMeans(NamedTuple):
    """Means over the items of a run; ``None`` where no item has a value.

    ``ungraded`` items were judged and have no grade: they are in no mean of scores.
    """

    score: float | None
    agreement: float | None
    ungraded: int = 0


class ScoreBin(NamedTuple):
    """How many items score from ``low`` up to ``high`` (the last bin holds its end, too)."""

    low: float
    high: float
    items: int


RunItemSort = Literal[
    "position", "item_id", "score", "agreement", "failures", "abstentions", "system", "criterion"
]
#: What is remarkable about a cell: its judges disagree, one abstained, one failed, people settled
#: it, or it has no verdict.
CellSign = Literal["split", "abstained", "failed", "settled", "none"]


@dataclass(frozen=True, slots=True)
class RunItemFilter:
    """Which items of a run to show; a default says nothing about that property.

    ``criterion`` with ``option`` keeps the items whose verdict there is that option (an index into
    ``choices``); with ``option=None`` those whose verdict there is an abstention. ``signs`` keeps
    those with each of these signs on that criterion or, where it is ``None``, on any.
    """

    has_failures: bool | None = None
    has_abstentions: bool | None = None
    complete: bool | None = None
    review: bool | None = None
    outcome: Outcome | None = None
    min_score: float | None = None
    max_score: float | None = None
    search: str = ""
    system: str | None = None
    tag: str | None = None
    split: str | None = None
    item_ids: tuple[str, ...] | None = None
    criterion: str | None = None
    option: int | None = None
    signs: tuple[tuple[CellSign, str | None], ...] = ()


class CellTallies(NamedTuple):
    """How many verdicts a run has, how many abstain, were settled by people, or are between votes.

    ``unvoted``: made of votes of which none is for it (``services.results.item_view.unvoted``).
    """

    cells: int
    abstained: int
    adjudicated: int
    unvoted: int


class ItemResult(NamedTuple):
    """What is derived from the votes of one item; replaces what was derived before."""

    item_id: str
    score: float | None
    raw: float | None
    complete: bool
    agreement: float | None
    cells: tuple[Verdict, ...]
    trace: dict[str, Any]
    low: float | None = None
    high: float | None = None
    fail: bool = False
    review: bool = False
    outcome: Outcome | None = None


class BroughtVotes(NamedTuple):
    """Votes that say no more than who chose what, as columns. ``option`` as in ``BallotRow``."""

    item: Sequence[str]
    criterion: Sequence[str]
    judge: Sequence[str]
    option: Sequence[int | None]
    abstained: Sequence[bool]


class BroughtItem(NamedTuple):
    """What became of an item: its counts, and its result with the trace as JSON text."""

    votes: int
    abstentions: int
    failures: int
    result: ItemResult
    trace: str


class Brought(NamedTuple):
    """What is brought into a run that has nothing so far; made portion by portion when written.

    ``failed`` cells have no answer, for the reason that ``words`` say; ``cells`` come with their
    item's id.
    """

    votes: Iterable[BroughtVotes]
    failed: Iterable[Cell]
    words: str
    items: Iterable[BroughtItem]
    cells: Iterable[tuple[str, Verdict]]


#: The service computes, the store stores: all votes of the touched items in, their results out.
Derive = Callable[[Sequence[ItemBallots]], Sequence[ItemResult]]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a run until ``until`` (Unix seconds), as long as the fence stands.

    ``table`` is ``help_task`` for the right to work on such a task, whose id is ``run_id``.
    """

    run_id: int
    owner: str
    fence: int
    until: float
    cancel: bool
    table: HeldTable = "run"


@dataclass(frozen=True, slots=True)
class HelpTask(HeldWork):
    """A task and how far it is.

    ``planned`` counts the steps it takes at most, ``done`` those with a value, ``failed`` those
    whose last try failed.
    """

    table: ClassVar[HeldTable] = "help_task"
    kind: str
    subject: str
    request: dict[str, Any]
    budget: float | None
    result: Any
    updated: str
    done: int
    failed: int
    made_by: str


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
