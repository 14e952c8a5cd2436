"""Select the cells that a rule queues, with the reasons; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import nextafter
from typing import TYPE_CHECKING, NamedTuple

from core.domain.review import QueueRule, Reason
from core.domain.review_records import QueueRow
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.services.results.doubt import only_switched_off
from core.services.results.flip_check import answers_with_twins
from core.services.results.scored_items import stale_cells
from core.store.runs.kept import MANY, Columns
from core.store.store import Store

if TYPE_CHECKING:
    from core.services.queueing.queue_table import CellTable, Flags, NamedCells, Numbers

Cells = Collection[tuple[str, str]]


class QueueCandidate(NamedTuple):
    """A cell that a rule queues. ``chance`` is 1, or the chance of being drawn."""

    item_id: str
    position: int
    criterion: Criterion
    reasons: tuple[Reason, ...]
    chance: float

    @property
    def ruled(self) -> bool:
        """Return whether the rule selects the cell for a reason other than a draw."""
        return self.reasons not in (("audit",), ("gold",))


@dataclass(frozen=True)
class QueuePreview:
    """The cells that a rule would queue. A cell counts for each of its reasons, so counts may
    overlap.

    ``of`` counts the cells that the rule considered, ``settled`` those left out because people have
    settled them, ``left_out`` those that the rule selects and its cap drops.
    """

    cells: int
    items: int
    by_reason: Mapping[Reason, int]
    settled: int
    of: int
    left_out: int = 0

    @property
    def random(self) -> int:
        """Return the number of cells queued only by a draw."""
        return self.by_reason.get("audit", 0) + self.by_reason.get("gold", 0)

    @property
    def doubtful(self) -> int:
        """Return the number of cells queued for a reason."""
        return self.cells - self.random


@dataclass(frozen=True)
class ChosenCells:
    """The cells that a rule queues, in the order of items and criteria, with counts."""

    cells: tuple[QueueCandidate, ...]
    settled: int
    of: int
    left_out: int = 0

    @property
    def preview(self) -> QueuePreview:
        """Return the counts."""
        reasons = Counter(reason for cell in self.cells for reason in cell.reasons)
        items = len({cell.item_id for cell in self.cells})
        counts = (dict(reasons), self.settled, self.of, self.left_out)
        return QueuePreview(len(self.cells), items, *counts)


def choose_cells(
    store: Store,
    run_id: int,
    rule: QueueRule,
    *,
    seed: int = 0,
    stale: Cells = (),
) -> ChosenCells:
    """Return the cells of a run that a rule queues, ignoring its cap.

    ``stale`` are cells whose question has changed, by default those of ``staleness``. Raises
    ``NotFound`` for an unknown run.
    """
    return consider_cells(store, run_id, rule, seed=seed, stale=stale).chosen()


def expected_counts(
    store: Store, run_id: int, rule: QueueRule, *, seed: int = 0, stale: Cells = ()
) -> QueuePreview:
    """Return the counts of ``choose_cells`` without building the cells."""
    return consider_cells(store, run_id, rule, seed=seed, stale=stale).preview()


def consider_cells(
    store: Store,
    run_id: int,
    rule: QueueRule,
    *,
    seed: int,
    stale: Cells = (),
    candidates: Cells | None = None,
) -> ConsideredCells:
    """Return the cells that a rule considers, before selecting; arguments as `choose_cells`.

    ``candidates`` limit the choice to some cells.
    """
    from core.services.queueing.queue_table import CellTable

    run = store.runs.get(run_id)
    if rule.stale and not stale:
        stale = stale_cells(store, run_id)
    requested = store.events.unqueued_requests(run.id) if rule.requested else frozenset()
    named = _cells_by_name(store, run, rule)._replace(stale=stale, requested=requested)
    return ConsideredCells(CellTable(store, run), rule, seed, named, candidates)


def wanted_by_votes(store: Store, table: CellTable, run: Run, rule: QueueRule) -> Flags | None:
    """Return which cells a rule selects because of their votes, settled or not.

    Return ``None`` if a score decides, since it changes with what people settle.
    """
    from core.services.queueing.queue_table import reason_flags

    if rule.near_gate or rule.near_mark is not None:
        return None
    rule = rule.model_copy(update={"stale": False})
    selected = table.statistics.there & False
    for flags in reason_flags(table, rule, _cells_by_name(store, run, rule)).values():
        selected |= flags
    return selected


def _cells_by_name(store: Store, run: Run, rule: QueueRule) -> NamedCells:
    """Return the cells that a rule selects by name because of their votes."""
    from core.services.queueing.queue_table import NamedCells

    return NamedCells(
        apart=_order_dependent(store, run) if rule.flip else frozenset(),
        stale=frozenset(),
        unasked=only_switched_off(store, run) if rule.abstention else frozenset(),
        requested=frozenset(),
    )


class CellDraws(NamedTuple):
    """The cells drawn by the audit, those drawn for their label, and every cell's chance to be
    drawn.
    """

    audit: Flags
    gold: Flags
    chance: Numbers


class ConsideredCells:
    """The cells that a rule considers: those with a reason, and those with a verdict, to draw from.

    The audit, the draw of labelled cells, and the reasons are independent of each other.
    """

    def __init__(
        self,
        table: CellTable,
        rule: QueueRule,
        seed: int,
        named: NamedCells,
        candidates: Cells | None,
    ) -> None:
        # Columns need numpy, which should not load only to name a rule.
        from core.services.queueing.queue_table import reason_flags

        self.table, self._rule, self._seed = table, rule, seed
        statistics, considered = table.statistics, table.asked_about(rule)
        if candidates is not None:
            considered &= table.among(candidates)
        resolved = considered & statistics.active & ~table.among(named.requested)
        open_ = considered & ~resolved
        self._settled = int(resolved.sum())
        self._of = self._settled + int((open_ & (statistics.there | rule.everything)).sum())
        self._reasons = {
            reason: flags & open_ for reason, flags in reason_flags(table, rule, named).items()
        }
        self.drawn_from: Flags = open_ & (statistics.option >= 0)
        self.wanted: Flags = self.drawn_from & False
        for flags in self._reasons.values():
            self.wanted |= flags

    def preview(self) -> QueuePreview:
        """Return the counts of ``chosen``."""
        draws = self._shares_drawn()
        by_draw = ~self.wanted & (draws.audit | draws.gold)
        counts = {reason: int(flags.sum()) for reason, flags in self._reasons.items()}
        counts["audit"] = int((by_draw & draws.audit).sum())
        counts["gold"] = int((by_draw & ~draws.audit).sum())
        cells = self.wanted | by_draw
        items = len(set(self.table.item[cells].tolist()))
        by_reason = {reason: number for reason, number in counts.items() if number}
        return QueuePreview(int(cells.sum()), items, by_reason, self._settled, self._of)

    def chosen(self) -> ChosenCells:
        """Return the cells to queue if no cap is set: all with a reason, and the drawn others."""
        return self._chosen_cells(self.wanted, self._shares_drawn())

    def capped(self, kept: Flags, draws: CellDraws) -> ChosenCells:
        """Return these selected cells, and draws from the others."""
        chosen = self._chosen_cells(kept, draws)
        queued = kept | draws.audit | draws.gold
        return replace(chosen, left_out=int((self.wanted & ~queued).sum()))

    def fixed_draws(self, kept: Flags, audit: int, gold: int) -> CellDraws:
        """Draw this number of cells for each draw, or all if there are fewer, from the cells that
        are not kept.
        """
        from core.services.queueing.draw_chances import fixed_draw
        from core.services.queueing.queue_table import gold_numbers

        available = self.drawn_from & ~kept
        labelled = available & (self.table.labelled() if gold else False)
        first, chance = fixed_draw(self.table.chances(self._seed), available, audit)
        second, chance_of_gold = fixed_draw(
            gold_numbers(self.table, self._seed, labelled), labelled, gold
        )
        return CellDraws(first, second, _chance_of_either(chance, chance_of_gold * labelled))

    def candidates(self, cells: Flags) -> list[QueueCandidate]:
        """Return these cells, if selected, as candidates."""
        return self._queue_candidates(cells, cells, CellDraws(cells, cells, cells * 1.0))

    def _shares_drawn(self) -> CellDraws:
        """Return the cells drawn by the rule's shares."""
        from core.services.queueing.queue_table import audit_chances, gold_numbers

        rule, from_ = self._rule, self.drawn_from
        share = audit_chances(self.table, rule, from_)
        labelled = from_ & (self.table.labelled() if rule.gold_share else False)
        audit = from_ & (self.table.chances(self._seed) < share)
        gold = labelled & (gold_numbers(self.table, self._seed, labelled) < rule.gold_share)
        return CellDraws(audit, gold, _chance_of_either(share, rule.gold_share * labelled))

    def _chosen_cells(self, kept: Flags, draws: CellDraws) -> ChosenCells:
        cells = self._queue_candidates(kept | draws.audit | draws.gold, kept, draws)
        return ChosenCells(tuple(cells), self._settled, self._of)

    def _queue_candidates(
        self, cells: Flags, kept: Flags, draws: CellDraws
    ) -> list[QueueCandidate]:
        places = cells.nonzero()[0]
        reasons_of: list[tuple[Reason, ...]] = [()] * len(places)
        for reason, flags in self._reasons.items():
            for at in (flags & kept)[places].nonzero()[0].tolist():
                reasons_of[at] += (reason,)
        columns = (places, draws.audit[places], draws.chance[places])
        fields = zip(reasons_of, *(column.tolist() for column in columns), strict=True)
        return [
            self._queue_candidate(cell, reasons, 1.0)
            if reasons
            else self._queue_candidate(cell, ("audit",) if audit else ("gold",), chance)
            for reasons, cell, audit, chance in fields
        ]

    def _queue_candidate(
        self, cell: int, reasons: tuple[Reason, ...], chance: float
    ) -> QueueCandidate:
        item = int(self.table.item[cell])
        criterion = self.table.criterion_of(cell)
        return QueueCandidate(self.table.ids[item], item, criterion, reasons, chance)


def rule_for_splits(items: tuple[str, ...] | None = None) -> QueueRule:
    """Return the rule for exactly the unsettled cells on which judges disagree."""
    return QueueRule.only(split=True, items=items)


def disagreements_of(
    store: Store, run_id: int, item_id: str | None = None
) -> tuple[int, int | None]:
    """Return how many cells ``rule_for_splits`` selects of a run, or of one of its items, and the
    newest queue made from it, if any.
    """
    queue = newest_queue_of_rule(
        store, run_id, rule_for_splits(None if item_id is None else (item_id,))
    )
    return _disagreement_count(store, run_id, item_id), None if queue is None else queue.id


def newest_queue_of_rule(store: Store, run_id: int, rule: QueueRule) -> QueueRow | None:
    """Return the newest current queue of a run made by a rule, whatever its cap."""
    matching = (
        q for q in store.queues.list(run_id) if _rule_without_cap(q.rule) == _rule_without_cap(rule)
    )
    return next(matching, None)


def _disagreement_count(store: Store, run_id: int, item_id: str | None) -> int:
    """Return the number of unsettled disagreements; for a run it is cached like its columns."""

    def count_splits() -> Columns:
        return Columns({"cells": store.vote_statistics.unsettled_splits(run_id)}, {})

    run = store.runs.row(run_id)
    if item_id is not None or run.items < MANY or run.active:
        return store.vote_statistics.unsettled_splits(run_id, item_id)
    stamp = store.results.derived(run_id)
    return int(
        store.kept.cached_columns(f"splits of run {run_id}", stamp, count_splits).head["cells"]
    )


def _rule_without_cap(rule: QueueRule) -> QueueRule:
    return rule.model_copy(update={"most": None})


def audited_cells(store: Store, table: CellTable, queue: QueueRow) -> Flags:
    """Return the cells that a queue's audit draws unless a rule selects them, with or without
    votes.

    If chances depend on the votes, these are all cells: the chance of a cell whose votes came later
    is unknown.
    """
    considered = table.asked_about(queue.rule)
    if queue.rule.draw != "even":
        return considered
    share = queue.rule.audit_share
    if queue.rule.most is not None:
        share, _ = capped_audit(store, table, queue)
    return considered & (table.chances(queue.seed) < share)


def capped_audit(store: Store, table: CellTable, queue: QueueRow) -> tuple[float, float]:
    """Return the limit of the drawn numbers and the chance of each cell in the audit of a capped
    queue, so that later cells are drawn the same way.
    """
    drawn = [row for row in store.queues.chances(queue.id) if row[2] == '["audit"]']
    if not drawn:
        return 0.0, 0.0
    cells = table.cells_at((item, criterion) for item, criterion, *_ in drawn)
    # A labelled cell can be drawn by the audit or for its label, which raises its chance. So the
    # smallest chance is the audit's alone.
    chance = min(chance for *_, chance in drawn)
    below = float(table.chances(queue.seed)[cells].max())
    return 1.0 if chance == 1 else nextafter(below, 1.0), chance


def _chance_of_either(audit: Numbers | float, gold: Numbers) -> Numbers:
    """Return each cell's chance of being drawn by at least one of two independent draws."""
    chance: Numbers = audit + (1 - audit) * gold
    return chance


def _order_dependent(store: Store, run: Run) -> frozenset[tuple[str, str]]:
    """Return the cells on which a judge answered differently with the options reversed."""
    if run.panel.asking.flip == "off":
        return frozenset()
    pairs = answers_with_twins(store.votes.all_ballots(run.id), run.plan.replicates)
    return frozenset(
        (row.item_id, row.criterion) for row, flipped in pairs if row.option != flipped.option
    )
