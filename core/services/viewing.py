"""What a page or the command line shows of a run: items, and one item with every vote."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple, cast

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.votes import Call, Cell, FailureKind, Vote, VoteFailure
from core.errors import NotFound
from core.scoring import explain
from core.scoring.trace import Trace
from core.services.truth import effective
from core.store.run_rows import (
    CellResult,
    Run,
    RunItemFilter,
    RunItemRow,
    RunItemSort,
    ScoreBin,
)
from core.store.store import Store
from core.store.vote_rows import CallRow, FailureRow, VoteRow

__all__ = [
    "CallRow",
    "CriterionView",
    "ItemView",
    "Neighbours",
    "Run",
    "RunItemFilter",
    "RunItemRow",
    "RunItemSort",
    "ScoreBin",
    "ShownOption",
    "VerdictCounts",
    "VoteView",
    "call_of",
    "choice_label",
    "item_view",
    "neighbours",
    "require_run",
    "rubric_of",
    "run_items",
    "scores",
    "shown_options",
    "systems",
    "verdict_counts",
]


@dataclass(frozen=True)
class ShownOption:
    """An option as a judge saw it: at which place, and where the author had put it."""

    shown: int
    original: int
    option: Option
    chosen: bool


@dataclass(frozen=True)
class VoteView:
    """One judge's answer for one cell: a vote, or an open failure, or neither yet."""

    cell: Cell
    vote: VoteRow | None
    failure: FailureRow | None
    attempts: tuple[FailureRow, ...]
    options: tuple[ShownOption, ...]
    label: str | None

    @property
    def result(self) -> Vote | VoteFailure | None:
        """The vote or the open failure as the nouns they are; ``None``: not asked yet."""
        if self.vote is not None:
            names = (f.name for f in fields(Vote))
            return Vote(**{name: getattr(self.vote, name) for name in names})
        if self.failure is not None:
            kind = cast("FailureKind", self.failure.kind)
            return VoteFailure(self.cell, kind, self.failure.message, self.failure.order)
        return None


@dataclass(frozen=True)
class CriterionView:
    """A criterion of an item: its verdict, its truth where labelled, and the votes."""

    criterion: Criterion
    verdict: CellResult | None
    verdict_label: str | None
    truth: int | None
    truth_label: str | None
    truth_reason: str
    votes: tuple[VoteView, ...]


@dataclass(frozen=True)
class ItemView:
    """All there is to see of one item of a run."""

    run: Run
    rubric: Rubric
    row: RunItemRow
    item: Item
    criteria: tuple[CriterionView, ...]

    @property
    def trace(self) -> Trace | None:
        """How the score came about; ``None`` before the first vote."""
        return None if self.row.trace is None else Trace.from_dict(self.row.trace)

    @property
    def sentences(self) -> list[str]:
        """The trace in plain sentences; none before the first vote."""
        return [] if self.trace is None else explain(self.trace)


class Neighbours(NamedTuple):
    """The ids before and after an item in a list, its place (from 1), and the list's length.

    An item that the list does not hold has no place; ``after`` is then the list's first item.
    """

    before: str | None
    after: str | None
    place: int | None
    total: int


class VerdictCounts(NamedTuple):
    """How often each scored choice (``criterion.scored``) is the verdict, and abstentions."""

    criterion: Criterion
    settled: tuple[int, ...]
    abstained: int


def run_items(
    store: Store,
    run_id: int,
    where: RunItemFilter | None = None,
    *,
    sort: RunItemSort = "position",
    descending: bool = False,
    offset: int = 0,
    limit: int = 50,
) -> tuple[list[RunItemRow], int]:
    """One page of a run's items, and how many there are in all."""
    where = where or RunItemFilter()
    rows = store.results.items(
        run_id, where, sort=sort, descending=descending, offset=offset, limit=limit
    )
    return rows, store.results.count(run_id, where)


def item_view(store: Store, run_id: int, item_id: str) -> ItemView:
    """One item of a run with verdicts and votes; raises ``NotFound``."""
    run = store.runs.get(run_id)
    row = store.results.item(run_id, item_id)
    head = store.datasets.version(run.dataset_version_id).head
    item = head.resolved(store.datasets.item(run.dataset_version_id, item_id))
    rubric = effective(item, store.rubrics.version(run.rubric_version_id).rubric)
    votes = {v.cell: v for v in store.votes.for_item(run_id, item_id)}
    failures: dict[Cell, list[FailureRow]] = {}
    for failure in store.votes.failures_of(run_id, item_id):
        failures.setdefault(failure.cell, []).append(failure)
    cells = {c.criterion: c for c in store.results.cells(run_id, item_id)}
    views = tuple(
        _criterion_view(run, item, criterion, cells.get(criterion.name), votes, failures)
        for criterion in rubric.criteria
    )
    return ItemView(run, rubric, row, item, views)


def _criterion_view(
    run: Run,
    item: Item,
    criterion: Criterion,
    verdict: CellResult | None,
    votes: dict[Cell, VoteRow],
    failures: dict[Cell, list[FailureRow]],
) -> CriterionView:
    truth = item.labels.get(criterion.name)
    seen = tuple(
        _vote_view(
            run, item, criterion, Cell(item.id, criterion.name, judge.name, k), votes, failures
        )
        for judge in run.panel.judges
        for k in range(run.plan.replicates)
    )
    return CriterionView(
        criterion=criterion,
        verdict=verdict,
        verdict_label=choice_label(criterion, verdict.option, verdict.abstained)
        if verdict
        else None,
        truth=item.truth(criterion),
        truth_label=truth.label if truth else None,
        truth_reason=truth.reason if truth else "",
        votes=seen,
    )


def _vote_view(
    run: Run,
    item: Item,
    criterion: Criterion,
    cell: Cell,
    votes: dict[Cell, VoteRow],
    failures: dict[Cell, list[FailureRow]],
) -> VoteView:
    vote = votes.get(cell)
    attempts = tuple(failures.get(cell, ()))
    failure = next((f for f in reversed(attempts) if f.open), None)
    order = vote.order if vote else failure.order if failure else None
    chosen = vote.option if vote else None
    return VoteView(
        cell=cell,
        vote=vote,
        failure=failure,
        attempts=attempts,
        options=shown_options(criterion, order, chosen),
        label=choice_label(criterion, vote.option, vote.abstained) if vote else None,
    )


def shown_options(
    criterion: Criterion, order: tuple[int, ...] | None, chosen: int | None
) -> tuple[ShownOption, ...]:
    """The options in the order shown; in the author's order where none was shown."""
    sequence = order if order is not None else tuple(range(len(criterion.choices)))
    return tuple(
        ShownOption(place + 1, index, criterion.choices[index], index == chosen)
        for place, index in enumerate(sequence)
    )


def choice_label(criterion: Criterion, option: int | None, abstained: bool) -> str | None:
    """The label of a choice; ``None`` where there is none to name."""
    if option is None:
        return "Cannot assess" if abstained else None
    return criterion.choices[option].label


def call_of(store: Store, vote: VoteRow | FailureRow) -> CallRow | None:
    """The call a vote or failure came from, with the exact prompt and the raw reply."""
    return None if vote.call_id is None else store.votes.call(vote.call_id)


def call_noun(store: Store, vote: VoteRow | FailureRow) -> Call | None:
    """The same as the noun it is: what was sent, what came back, what it cost."""
    row = call_of(store, vote)
    if row is None:
        return None
    return Call(**{field.name: getattr(row, field.name) for field in fields(Call)})


def neighbours(
    store: Store,
    run_id: int,
    item_id: str,
    where: RunItemFilter,
    sort: RunItemSort,
    descending: bool,
) -> Neighbours:
    """Where an item stands in a list of items, and what is next to it."""
    ids = store.results.ids(run_id, where, sort=sort, descending=descending)
    try:
        at = ids.index(item_id)
    except ValueError:
        return Neighbours(None, ids[0] if ids else None, None, len(ids))
    before = ids[at - 1] if at > 0 else None
    return Neighbours(before, ids[at + 1] if at + 1 < len(ids) else None, at + 1, len(ids))


def verdict_counts(store: Store, run_id: int, rubric: Rubric) -> list[VerdictCounts]:
    """How often each choice is the verdict, per criterion of the run's rubric.

    Counted in the database, over the items that the rubric's criteria were asked about.
    """
    counts = {
        (c["criterion"], c["option"], c["abstained"]): c["count"]
        for c in store.results.verdict_counts(run_id)
    }
    found = list[VerdictCounts]()
    for criterion in rubric.criteria:
        settled = tuple(counts.get((criterion.name, i, False), 0) for i in criterion.scored)
        abstained = sum(
            n for (name, _, gone), n in counts.items() if gone and name == criterion.name
        )
        found.append(VerdictCounts(criterion, settled, abstained))
    return found


def scores(store: Store, run_id: int) -> list[ScoreBin]:
    """How the scores of a run are distributed; empty where no item has one."""
    return store.results.score_bins(run_id)


def systems(store: Store, run_id: int) -> list[str]:
    """The systems whose submissions a run grades."""
    return store.results.systems(run_id)


def rubric_of(store: Store, run: Run) -> Rubric:
    """The rubric of a run. Items may have their own; see ``item_view``."""
    return store.rubrics.version(run.rubric_version_id).rubric


def require_run(store: Store, run_id: int | None) -> Run:
    """The run of an address, or a ``NotFound`` fit to show."""
    if run_id is None:
        raise NotFound("No run is chosen. Pick one on the Runs page.")
    return store.runs.get(run_id)
