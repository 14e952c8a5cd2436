"""Stored runs and help tasks: plans, progress, results, leases.

In counts of a run and its items, ``votes`` are all stored votes including abstentions, and
``failures`` the open ones; so a finished run has planned = votes + failures. Counts of a cell
follow ``core.scoring.verdict``: there ``votes`` excludes abstentions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from core.domain.panel import Panel
from core.domain.votes import Cell, ItemBallots, Verdict

RunKind = Literal["run", "spot"]
#: The tables whose rows processes lease.
HeldTable = Literal["run", "help_task"]
Outcome = Literal["pass", "fail", "review"]
RunStatus = Literal["queued", "running", "done", "cancelled", "interrupted", "budget", "failed"]
#: No worker works on a run in these states until a user resumes it.
RESTING: tuple[RunStatus, ...] = ("done", "cancelled", "interrupted", "budget", "failed")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that determines a run; immutable once the run exists.

    ``budget`` is in US dollars, ``None`` for no limit. ``calibration`` names the data for offline
    judges (dataset version id, share, item ids); ``versions`` the software (libraries, prompt).
    ``details`` holds everything else worth keeping. All three are plain JSON data.
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
class LeasedWork:
    """The common part of a run and a help task: one process at a time leases it and calls models.

    ``cost`` is in US dollars over the calls with a known cost, ``cost_unknown`` counts the others.
    ``lease_until`` is in Unix seconds.
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
        """Return whether the work is queued or running."""
        return self.status not in RESTING

    @property
    def lease(self) -> Lease:
        """Return the lease of the current owner."""
        owner, until = self.lease_owner or "", self.lease_until or 0.0
        return Lease(self.id, owner, self.fence, until, self.cancel, self.table)


#: The key of a run's note about a question that has been in flight for long.
WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class RunRow(LeasedWork):
    """A run and its progress; cheap enough to poll.

    ``calls`` counts every exchange with a model once, whatever its tries: a question takes two in
    two-step mode, and one more for a repair or a summary. ``cached`` counts answers reused from
    earlier calls, which are not calls and cost nothing now; ``saved`` is their former cost, if
    known. ``lost`` counts calls that were sent but never recorded an answer, because the run was
    stopped or killed; ``out`` counts calls in flight, or in flight when a run without a worker was
    killed. Neither is in ``calls`` or ``cost``. ``seconds`` is the time spent by workers.
    ``rubric_version_id`` is the version that judges saw; scores follow ``scored_version_id``, which
    differs only if a user chose a newer one.
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
        """Return the version that scores follow and, if it differs, the version that judges saw."""
        judged_version = self.rubric_number
        suffix = (
            ""
            if judged_version == self.scored_number
            else f" (judges were asked version {judged_version})"
        )
        return f"version {self.scored_number}{suffix}"


@dataclass(frozen=True, slots=True)
class Run(RunRow):
    """A run with its whole plan and its notes (such as training reports, by key)."""

    plan: RunPlan
    notes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunItemRow:
    """An item of a run, with its score and certainty. ``None``: not known yet.

    ``low`` and ``high`` differ from ``score`` if a gate is indeterminate. ``outcome`` is pass, fail
    or review, or ``None`` if neither thresholds nor rules decide; ``review``: a person must look,
    whatever the outcome is until then. ``coverage`` is the assessed share of the weight,
    ``assessed_points`` the points earned of the ``assessed_of`` points of these criteria. ``trace``
    is only loaded when a single item is fetched.
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
        """Return whether the item was judged but has no grade, because too little was assessed."""
        return self.score is None and self.votes > 0


RunItemSort = Literal[
    "position", "item_id", "score", "agreement", "failures", "abstentions", "system", "criterion"
]
#: Notable states of a cell: its judges disagree, one abstained, one failed, people settled it, or
#: it has no verdict.
CellSign = Literal["split", "abstained", "failed", "settled", "none"]


@dataclass(frozen=True, slots=True)
class RunItemFilter:
    """Which items of a run to show; defaults do not filter.

    ``criterion`` with ``option`` selects the items with that option (an index into ``choices``) as
    their verdict; with ``option=None`` those with an abstention. ``signs`` selects those with all
    of these states on that criterion or, if it is ``None``, on any. ``but`` excludes items.
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
    but: tuple[str, ...] = ()
    criterion: str | None = None
    option: int | None = None
    signs: tuple[tuple[CellSign, str | None], ...] = ()


class ItemResult(NamedTuple):
    """The results derived from an item's votes, which replace earlier results."""

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


#: Imported votes as columns: item, criterion, judge, option (as in ``BallotRow``), abstained.
VoteColumns = tuple[
    Sequence[str], Sequence[str], Sequence[str], Sequence[int | None], Sequence[bool]
]


#: An imported item: its numbers of votes, abstentions and failures, its result, its trace as JSON.
ImportedItem = tuple[tuple[int, int, int], ItemResult, str]


class ImportedData(NamedTuple):
    """Data to import into an empty run; produced in portions while it is written.

    ``failed`` cells have no answer, for the reason in ``words``; ``cells`` are given with their
    item id.
    """

    votes: Iterable[VoteColumns]
    failed: Iterable[Cell]
    words: str
    items: Iterable[ImportedItem]
    cells: Iterable[tuple[str, Verdict]]


#: Computes the results of changed items from all their votes; the store calls it.
Derive = Callable[[Sequence[ItemBallots]], Sequence[ItemResult]]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a run until ``until`` (Unix seconds), while the fence is valid.

    ``table`` is ``help_task`` for a help task; ``run_id`` is then its id.
    """

    run_id: int
    owner: str
    fence: int
    until: float
    cancel: bool
    table: HeldTable = "run"


@dataclass(frozen=True, slots=True)
class HelpTask(LeasedWork):
    """A help task and its progress.

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
    """A step: its value, or a failure's kind and message; and its call as plain data.

    With a value, ``message`` says which part of the reply was ignored; empty if none was.
    ``asked``: a model was called. ``cost`` is ``None`` if unknown.
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
