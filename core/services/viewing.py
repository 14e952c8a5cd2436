"""What a page or the command line shows of one item of a run: every vote, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.votes import Call, Cell, FailureKind, Vote, VoteFailure
from core.errors import NotFound
from core.scoring import explain
from core.scoring.trace import Trace
from core.services.truth import effective
from core.store.run_rows import CellResult, Run, RunItemRow
from core.store.store import Store
from core.store.vote_rows import CallRow, FailureRow, VoteRow

__all__ = [
    "CallRow",
    "CriterionView",
    "ItemView",
    "Run",
    "RunItemRow",
    "ShownOption",
    "VoteView",
    "call_of",
    "choice_label",
    "item_view",
    "require_run",
    "rubric_of",
    "shown_options",
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


def rubric_of(store: Store, run: Run) -> Rubric:
    """The rubric of a run. Items may have their own; see ``item_view``."""
    return store.rubrics.version(run.rubric_version_id).rubric


def require_run(store: Store, run_id: int | None) -> Run:
    """The run of an address, or a ``NotFound`` fit to show."""
    if run_id is None:
        raise NotFound("No run is chosen. Pick one on the Runs page.")
    return store.runs.get(run_id)
