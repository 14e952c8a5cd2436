"""An item of a run as shown: all votes, the verdict of every criterion, and its score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunItemRow
from core.domain.votes import (
    ADJUDICATED,
    CallRow,
    Cell,
    FailureRow,
    Verdict,
    VoteRow,
)
from core.errors import NotFound
from core.scoring import explain
from core.scoring.trace import Trace
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.results.verdicts import answers_of
from core.store.store import Store
from core.text.numbers import score

#: The role of a vote: it counts; it is a shadow's, which does not count; a later stage decided
#: instead; or it repeats another vote with the options reversed.
Standing = Literal["counts", "shadow", "superseded", "reversed"]


@dataclass(frozen=True)
class VoteView:
    """A judge's answer for a cell: a vote, an open failure, or neither yet.

    ``repeats`` is the replicate that this one repeats in reversed order; ``apart``: the answers in
    both orders differ.
    """

    cell: Cell
    vote: VoteRow | None
    failure: FailureRow | None
    attempts: tuple[FailureRow, ...]
    label: str | None
    standing: Standing = "counts"
    repeats: int | None = None
    apart: bool = False

    @property
    def result(self) -> VoteRow | FailureRow | None:
        """Return the vote or the open failure, or ``None`` before an answer."""
        return self.vote or self.failure

    @property
    def call_id(self) -> int | None:
        """Return the call of the vote or failure, if it is stored."""
        return None if self.result is None else self.result.call_id


@dataclass(frozen=True)
class CriterionView:
    """A criterion of an item: its verdict, its label if any, and the votes."""

    criterion: Criterion
    verdict: Verdict | None
    verdict_label: str | None
    truth: int | None
    truth_label: str | None
    truth_reason: str
    votes: tuple[VoteView, ...]

    @property
    def flipped_pairs(self) -> int:
        """Return how many pairs of answers in both orders differ."""
        return sum(vote.apart for vote in self.votes if vote.repeats is not None)


@dataclass(frozen=True)
class ItemView:
    """Everything to show about an item of a run."""

    run: Run
    rubric: Rubric
    row: RunItemRow
    item: Item
    criteria: tuple[CriterionView, ...]

    @property
    def trace(self) -> Trace | None:
        """Return the derivation of the score, or ``None`` before the first vote."""
        return None if self.row.trace is None else Trace.from_dict(self.row.trace)

    @property
    def sentences(self) -> list[str]:
        """Return the trace in plain sentences; empty before the first vote."""
        return [] if self.trace is None else explain(self.trace)


def item_view(store: Store, run_id: int, item_id: str) -> ItemView:
    """Return an item of a run with verdicts and votes; raises ``NotFound``."""
    run = store.runs.get(run_id)
    row = store.results.item(run_id, item_id)
    (item,) = resolved_items(store, run.dataset_version_id, [item_id])
    rubric = rubric_in_force(item, scored_rubric(store, run))
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
    verdict: Verdict | None,
    votes: dict[Cell, VoteRow],
    failures: dict[Cell, list[FailureRow]],
) -> CriterionView:
    truth = item.labels.get(criterion.name)
    views = [
        (judge, vote_view(criterion, cell, votes, failures))
        for judge in run.panel.judges
        for cell in _cells_of_judge(run, item, criterion, judge)
    ]
    last = max((j.stage for j, view in views if view.vote and not j.shadow), default=0)
    votes_shown = tuple(_vote_with_standing(run, judge, view, last, votes) for judge, view in views)
    return CriterionView(
        criterion=criterion,
        verdict=verdict,
        verdict_label=choice_label(criterion, verdict.option, verdict.abstained)
        if verdict
        else None,
        truth=item.truth(criterion),
        truth_label=truth.label if truth else None,
        truth_reason=truth.reason if truth else "",
        votes=votes_shown,
    )


def _cells_of_judge(run: Run, item: Item, criterion: Criterion, judge: Judge) -> Iterator[Cell]:
    """Yield the cells of a judge; a cell in reversed order follows the cell it repeats."""
    replicates = run.plan.replicates
    for replicate in range(replicates):
        for shown in range(replicate, answers_of(judge, run.panel, replicates), replicates):
            yield Cell(item.id, criterion.name, judge.name, shown)


def _vote_with_standing(
    run: Run, judge: Judge, view: VoteView, last: int, votes: dict[Cell, VoteRow]
) -> VoteView:
    replicates, replicate = run.plan.replicates, view.cell.replicate
    repeats = replicate - replicates if replicate >= replicates else None
    twin = votes.get(view.cell._replace(replicate=(replicate + replicates) % (2 * replicates)))
    standing: Standing = "counts" if repeats is None else "reversed"
    if judge.shadow:
        standing = "shadow"
    elif run.panel.cascade is not None and judge.stage < last:
        standing = "superseded"
    orders_differ = view.vote is not None and twin is not None and view.vote.option != twin.option
    return replace(view, standing=standing, repeats=repeats, apart=orders_differ)


def vote_view(
    criterion: Criterion,
    cell: Cell,
    votes: dict[Cell, VoteRow],
    failures: dict[Cell, list[FailureRow]],
) -> VoteView:
    """Return the state of a cell, from an item's votes and failures."""
    vote = votes.get(cell)
    attempts = tuple(failures.get(cell, ()))
    failure = next((f for f in reversed(attempts) if f.open), None)
    return VoteView(
        cell=cell,
        vote=vote,
        failure=failure,
        attempts=attempts,
        label=choice_label(criterion, vote.option, vote.abstained) if vote else None,
    )


def choice_label(criterion: Criterion, option: int | None, abstained: bool) -> str | None:
    """Return the label of a choice, or ``None`` without a choice."""
    if option is None:
        return "Cannot assess" if abstained else None
    return criterion.choices[option].label


def call_of(store: Store, vote: VoteRow | FailureRow) -> CallRow | None:
    """Return the call of a vote or failure, with the exact prompt and the raw reply."""
    return None if vote.call_id is None else store.votes.call(vote.call_id)


def rubric_of(store: Store, run: Run) -> Rubric:
    """Return the rubric of a run. Items may have their own; see ``item_view``."""
    return scored_rubric(store, run)


def require_run(store: Store, run_id: int | None) -> Run:
    """Return the run of an address; raise ``NotFound`` with a message for the reader."""
    if run_id is None:
        raise NotFound("No run is chosen. Pick one on the Runs page.")
    return store.runs.get(run_id)


_NEAR = 1e-9


def has_unvoted_option(verdict: Verdict) -> bool:
    """Return whether no vote chose the option that the votes' verdict has."""
    made_of_votes = verdict.rule != ADJUDICATED and verdict.votes > 0
    chosen = verdict.option is not None and not verdict.abstained
    return made_of_votes and chosen and verdict.agreement == 0.0


def averaged_in_words(criterion: Criterion, verdict: Verdict | None) -> str:
    """Return how a verdict that no vote chose was made, e.g. "between Some and Deep: mean 0.65,
    nearest Some"; empty if a vote chose it.
    """
    if verdict is None or verdict.option is None or not has_unvoted_option(verdict):
        return ""
    shown, mean = criterion.choices[verdict.option].label, verdict.continuous
    if mean is None:
        return f"{shown} is what the votes meant on labelled items; no vote says so"
    rule = verdict.rule.replace("_", " ")
    values = sorted(
        (criterion.values[i] or 0.0, criterion.choices[i].label) for i in criterion.scored
    )
    if any(abs(value - mean) <= _NEAR for value, _ in values):
        return f"{rule} {score(mean)}, which is {shown}; no vote is for it"
    below = [label for value, label in values if value < mean]
    above = [label for value, label in values if value > mean]
    nearest = "as near to either, the worse counts" if verdict.tie else f"nearest {shown}"
    return f"between {below[-1]} and {above[0]}: {rule} {score(mean)}, {nearest}"
