"""Which cells of a run a rule queues, and why; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from core.domain.review import QueueRule, Reason
from core.domain.review_records import QueueRow
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.services.results.doubt import only_switched_off
from core.services.results.flip_check import twins
from core.services.results.scored_items import stale_cells
from core.store.runs.kept import MANY, Columns
from core.store.store import Store

if TYPE_CHECKING:
    from core.services.queueing.queue_table import CellTable, Flags, Named

Cells = Collection[tuple[str, str]]


class QueueCandidate(NamedTuple):
    """A cell that a rule queues. ``chance`` is 1, or that of being drawn.

    ``drawn``: why a draw would bring it in if the rule did not; ``labelled``: the dataset labels
    it. Both are empty or false where no draw is about the cell.
    """

    item_id: str
    position: int
    criterion: Criterion
    reasons: tuple[Reason, ...]
    chance: float
    drawn: tuple[Reason, ...] = ()
    labelled: bool = False

    @property
    def ruled(self) -> bool:
        """Whether the rule wants it, beside the draws."""
        return self.reasons not in (("audit",), ("gold",))


@dataclass(frozen=True)
class QueuePreview:
    """What a rule would queue. Cells count for every reason that holds, so counts may overlap.

    ``of`` are the cells that the rule looked at; ``settled`` those left out because people have
    settled them, ``left_out`` those that the rule wants and its cap leaves out.
    """

    cells: int
    items: int
    by_reason: Mapping[Reason, int]
    settled: int
    of: int
    left_out: int = 0


class DrawCounts(NamedTuple):
    """How many cells the audit was drawn from, and drew; and the same of cells with a label."""

    audit_of: int
    audit: int
    gold_of: int
    gold: int


@dataclass(frozen=True)
class ChosenCells:
    """The cells that a rule queues, in the order of items and criteria, and how many it saw.

    ``draws`` are those that were made among the cells with a verdict that nobody settled.
    """

    cells: tuple[QueueCandidate, ...]
    settled: int
    of: int
    draws: DrawCounts
    left_out: int = 0

    @property
    def preview(self) -> QueuePreview:
        """The counts."""
        reasons = Counter(reason for cell in self.cells for reason in cell.reasons)
        items = len({cell.item_id for cell in self.cells})
        counts = (dict(reasons), self.settled, self.of, self.left_out)
        return QueuePreview(len(self.cells), items, *counts)


def choose(
    store: Store,
    run_id: int,
    rule: QueueRule,
    *,
    seed: int = 0,
    stale: Cells = (),
    among: Cells | None = None,
) -> ChosenCells:
    """The cells of a run that a rule queues, its cap aside; ``stale`` are those whose question has
    changed, by default those that ``staleness`` finds; ``among`` narrows it to some cells.

    Raises ``NotFound`` for an unknown run.
    """
    return _seek(store, run_id, rule, seed, stale, among).chosen()


def foreseen(
    store: Store, run_id: int, rule: QueueRule, *, seed: int = 0, stale: Cells = ()
) -> QueuePreview:
    """The counts of what ``choose`` chooses, without choosing it."""
    return _seek(store, run_id, rule, seed, stale, None).preview()


def _seek(
    store: Store, run_id: int, rule: QueueRule, seed: int, stale: Cells, among: Cells | None
) -> _Sought:
    from core.services.queueing.queue_table import CellTable, Named

    run = store.runs.get(run_id)
    if rule.stale and not stale:
        stale = stale_cells(store, run_id)
    named = Named(
        apart=_apart(store, run) if rule.flip else frozenset(),
        stale=stale,
        unasked=only_switched_off(store, run) if rule.abstention else frozenset(),
        requested=store.events.unqueued_requests(run.id) if rule.requested else frozenset(),
    )
    return _Sought(CellTable(store, run), rule, seed, named, among)


class _Sought:
    """What a rule finds among the cells of a run. The audit and the draw among labelled cells know
    nothing of each other, nor of the reasons.
    """

    def __init__(
        self, table: CellTable, rule: QueueRule, seed: int, named: Named, among: Cells | None
    ) -> None:
        # Columns need numpy, which whoever only names a rule shall not wait for.
        from core.services.queueing.queue_table import drawn, reasons, shares

        self._table, self._rule = table, rule
        signs, asked = table.signs, table.asked_about(rule)
        if among is not None:
            asked &= table.among(among)
        done = asked & signs.active & ~table.among(named.requested)
        open_ = asked & ~done
        self._settled = int(done.sum())
        self._of = self._settled + int((open_ & (signs.there | rule.everything)).sum())
        self._reasons = {
            reason: holds & open_ for reason, holds in reasons(table, rule, named).items()
        }
        drawn_from = open_ & (signs.option >= 0)
        self._shares = shares(table, rule, drawn_from)
        self._audit = drawn_from & (table.chances(seed) < self._shares)
        self._known = drawn_from & (table.labelled() if rule.gold_share else False)
        self._gold = drawn(table, seed, self._known, rule.gold_share)
        counted = (drawn_from, self._audit, self._known, self._gold)
        self._draws = DrawCounts(*(int(one.sum()) for one in counted))
        self._ruled = drawn_from & False
        for holds in self._reasons.values():
            self._ruled |= holds

    def preview(self) -> QueuePreview:
        """The counts."""
        by_draw = ~self._ruled & (self._audit | self._gold)
        counts = {reason: int(holds.sum()) for reason, holds in self._reasons.items()}
        counts["audit"] = int((by_draw & self._audit).sum())
        counts["gold"] = int((by_draw & ~self._audit).sum())
        cells = self._ruled | by_draw
        items = len(set(self._table.item[cells].tolist()))
        by_reason = {reason: number for reason, number in counts.items() if number}
        return QueuePreview(int(cells.sum()), items, by_reason, self._settled, self._of)

    def chosen(self) -> ChosenCells:
        """The cells."""
        found = (self._ruled | self._audit | self._gold).nonzero()[0]
        why: list[tuple[Reason, ...]] = [()] * len(found)
        for reason, holds in self._reasons.items():
            for at in holds[found].nonzero()[0].tolist():
                why[at] += (reason,)
        rest = zip(
            found.tolist(),
            why,
            self._audit[found].tolist(),
            self._gold[found].tolist(),
            self._known[found].tolist(),
            strict=True,
        )
        cells = tuple(self._candidate(*one) for one in rest)
        return ChosenCells(cells, self._settled, self._of, self._draws)

    def _candidate(
        self, cell: int, why: tuple[Reason, ...], audit: bool, gold: bool, known: bool
    ) -> QueueCandidate:
        draw: tuple[Reason, ...] = ("audit",) if audit else ("gold",) if gold else ()
        chance = 1.0
        if not why:
            audit_share = float(self._shares[cell])
            chance = either(audit_share, self._rule.gold_share if known else 0.0)
        item = int(self._table.item[cell])
        item_id = self._table.ids[item]
        criterion = self._table.criterion_of(cell)
        return QueueCandidate(item_id, item, criterion, why or draw, chance, draw, known)


def splits_only(items: tuple[str, ...] | None = None) -> QueueRule:
    """The rule of exactly the cells on which judges disagree and that nobody has settled."""
    return QueueRule.only(split=True, items=items)


class Disagreements(NamedTuple):
    """How many cells ``splits_only`` chooses, and the newest queue made from it, if any."""

    cells: int
    queue: int | None


def disagreements(store: Store, run_id: int, item_id: str | None = None) -> Disagreements:
    """The disagreements of a run, or of one of its items, that nobody has settled."""
    rule = splits_only(None if item_id is None else (item_id,))
    made = [q.id for q in store.queues.list(run_id) if _uncapped(q.rule) == rule]
    return Disagreements(_splits(store, run_id, item_id), made[0] if made else None)


def _splits(store: Store, run_id: int, item_id: str | None) -> int:
    """How many cells judges disagree on and nobody has settled; of a run kept like its columns."""

    def count() -> Columns:
        return Columns({"cells": store.signs.unsettled_splits(run_id)}, {})

    run = store.runs.row(run_id)
    if item_id is not None or run.items < MANY or run.active:
        return store.signs.unsettled_splits(run_id, item_id)
    stamp = store.results.derived(run_id)
    return int(store.kept.made(f"splits of run {run_id}", stamp, count).head["cells"])


def _uncapped(rule: QueueRule) -> QueueRule:
    return rule.model_copy(update={"most": None})


def audited(table: CellTable, queue: QueueRow) -> Flags:
    """The cells that a queue's audit draws where no rule wants them, with votes or without.

    Where chances hang on the votes, all: nobody knows with what chance a cell whose votes came
    later would have been drawn.
    """
    drawn = table.asked_about(queue.rule)
    if queue.rule.draw == "even":
        drawn &= table.chances(queue.seed) < queue.rule.audit_share
    return drawn


def either(audit: float, gold: float) -> float:
    """The chance of being drawn by one or both of two draws that know nothing of each other.

    >>> either(0.1, 0.5)
    0.55
    """
    return audit + (1 - audit) * gold


def asked_about(rule: QueueRule, item_id: str, criterion: str) -> bool:
    """Whether a cell is among those that a rule is narrowed to."""
    return (rule.items is None or item_id in rule.items) and (
        rule.criteria is None or criterion in rule.criteria
    )


def _apart(store: Store, run: Run) -> frozenset[tuple[str, str]]:
    """The cells on which a judge answered otherwise when the order was reversed."""
    if run.panel.asking.flip == "off":
        return frozenset()
    pairs = twins(store.votes.all_ballots(run.id), run.plan.replicates)
    return frozenset(
        (row.item_id, row.criterion) for row, twin in pairs if row.option != twin.option
    )
