"""Which cells of a run a rule queues, and why; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.domain.review import QueueRule, Reason
from core.domain.review_records import QueueRow
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.identity import seeded
from core.services.results.doubt import only_switched_off
from core.services.results.flip_check import twins
from core.services.results.scored_items import (
    effective,
    labels_of,
    resolved_items,
    scored_rubric,
    stale_cells,
)
from core.services.runs.questions import near_gate
from core.store.review.queues import Signs
from core.store.store import Store

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


class _Item(NamedTuple):
    """An item of the run with its rubric in force and the distance of its score to a mark."""

    item_id: str
    position: int
    rubric: Rubric
    distance: float | None


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

    The audit draws for every cell there is, in a fixed order: another rule or more votes do not
    change whom it draws. Raises ``NotFound`` for an unknown run.
    """
    run = store.runs.get(run_id)
    signs = store.signs.of_cells(run_id)
    if rule.stale and not stale:
        stale = stale_cells(store, run_id)
    why = _Why.of(store, run, rule, frozenset(stale))
    drawn = _Draws(rule, seed, _labelled(store, run) if rule.gold_share else frozenset())
    cells, settled, of = list[QueueCandidate](), 0, 0
    for item, criterion, chance in _places(store, run, rule, seed):
        place = (item.item_id, criterion.name)
        if among is not None and place not in among:
            continue
        sign = signs.get(place)
        if sign is not None and sign.settled == "active" and place not in why.requested:
            settled, of = settled + 1, of + 1
            continue
        of += sign is not None or rule.everything
        reasons, pi, draw = why.queued(item, criterion, sign), 1.0, tuple[Reason, ...]()
        if sign and sign.option is not None:
            draw, drawn_with = drawn.queued(place, chance)
            if not reasons:
                reasons, pi = draw, drawn_with
        if reasons:
            known = place in drawn.labelled and sign is not None and sign.option is not None
            cells.append(
                QueueCandidate(item.item_id, item.position, criterion, reasons, pi, draw, known)
            )
    return ChosenCells(tuple(cells), settled, of, drawn.counts)


def splits_only(items: tuple[str, ...] | None = None) -> QueueRule:
    """The rule of exactly the cells on which judges disagree and that nobody has settled."""
    return QueueRule(
        abstention=False, failure=False, flip=False, stale=False, items=items, audit_share=0.0
    )


class Disagreements(NamedTuple):
    """How many cells ``splits_only`` chooses, and the newest queue made from it, if any."""

    cells: int
    queue: int | None


def disagreements(store: Store, run_id: int, item_id: str | None = None) -> Disagreements:
    """The disagreements of a run, or of one of its items, that nobody has settled."""
    rule = splits_only(None if item_id is None else (item_id,))
    made = [q.id for q in store.queues.list(run_id) if _uncapped(q.rule) == rule]
    return Disagreements(store.signs.unsettled_splits(run_id, item_id), made[0] if made else None)


def _uncapped(rule: QueueRule) -> QueueRule:
    return rule.model_copy(update={"most": None})


def audited(store: Store, queue: QueueRow) -> frozenset[tuple[str, str]]:
    """The cells that a queue's audit draws where no rule wants them, with votes or without."""
    rule = queue.rule
    return frozenset(
        (item.item_id, criterion.name)
        for item, criterion, chance in _places(
            store, store.runs.get(queue.run_id), rule, queue.seed
        )
        if chance < rule.audit_share
    )


def _places(
    store: Store, run: Run, rule: QueueRule, seed: int
) -> Iterator[tuple[_Item, Criterion, float]]:
    """The cells that a rule is about, each with the number that the audit draws for it."""
    draw = seeded("audit", seed).random
    for item in _items(store, run, rule):
        for criterion in item.rubric.criteria:
            chance = draw()
            if asked_about(rule, item.item_id, criterion.name):
                yield item, criterion, chance


class _Draws:
    """Draws for the audit, and for the cells whose label is known; neither looks at the other."""

    def __init__(self, rule: QueueRule, seed: int, labelled: Cells) -> None:
        self._rule, self._seed, self.labelled = rule, seed, labelled
        self.counts = DrawCounts(0, 0, 0, 0)

    def queued(self, place: tuple[str, str], chance: float) -> tuple[tuple[Reason, ...], float]:
        """Why the cell is in, if it is, and the chance that it had of being drawn at all."""
        audit, gold = self._rule.audit_share, 0.0
        known = place in self.labelled
        if known:
            gold = self._rule.gold_share
        in_audit = chance < audit
        in_gold = known and seeded("gold", self._seed, *place).random() < gold
        of = self.counts
        self.counts = DrawCounts(
            of.audit_of + 1, of.audit + in_audit, of.gold_of + known, of.gold + in_gold
        )
        if in_audit or in_gold:
            return ("audit",) if in_audit else ("gold",), either(audit, gold)
        return (), 1.0


def either(audit: float, gold: float) -> float:
    """The chance of being drawn by one or both of two draws that know nothing of each other.

    >>> either(0.1, 0.5)
    0.55
    """
    return audit + (1 - audit) * gold


def _labelled(store: Store, run: Run) -> frozenset[tuple[str, str]]:
    """The cells that the dataset itself labels with one of their options."""
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run.id), upto=0)
    return frozenset(
        (item.id, name) for item in items for name in labels_of(item, effective(item, rubric))
    )


def asked_about(rule: QueueRule, item_id: str, criterion: str) -> bool:
    """Whether a cell is among those that a rule is narrowed to."""
    return (rule.items is None or item_id in rule.items) and (
        rule.criteria is None or criterion in rule.criteria
    )


def _items(store: Store, run: Run, rule: QueueRule) -> Iterator[_Item]:
    rubric = scored_rubric(store, run)
    own = store.signs.own_rubrics(run.id)
    scores = store.signs.scores(run.id)
    for item_id, position, score in scores:
        in_force = own.get(item_id, rubric)
        distance = None if rule.near_mark is None else _distance(in_force, score)
        yield _Item(item_id, position, in_force, distance)


def _distance(rubric: Rubric, score: float | None) -> float | None:
    """How far a score is from the nearest mark of the decision."""
    if rubric.decision is None or score is None:
        return None
    return min(abs(score - rubric.decision.pass_at), abs(score - rubric.decision.floor))


def _apart(store: Store, run: Run) -> frozenset[tuple[str, str]]:
    """The cells on which a judge answered otherwise when the order was reversed."""
    if run.panel.asking.flip == "off":
        return frozenset()
    pairs = twins(store.votes.all_ballots(run.id), run.plan.replicates)
    return frozenset(
        (row.item_id, row.criterion) for row, twin in pairs if row.option != twin.option
    )


class _Why:
    """Says for which reasons a cell is queued.

    ``unasked`` are the cells on which nobody but judges that were switched off abstained;
    ``requested`` those of which a regrade was asked for.
    """

    def __init__(
        self, rule: QueueRule, apart: Cells, stale: Cells, unasked: Cells, requested: Cells
    ) -> None:
        self._rule, self._apart, self._stale, self._unasked = rule, apart, stale, unasked
        self.requested = requested
        self._near: dict[tuple[int, str, int | None], bool] = {}

    @classmethod
    def of(cls, store: Store, run: Run, rule: QueueRule, stale: Cells) -> _Why:
        """With what the rule needs to know of a run."""
        apart = _apart(store, run) if rule.flip else frozenset()
        unasked = only_switched_off(store, run) if rule.abstention else frozenset()
        requested = store.events.unqueued_requests(run.id) if rule.requested else frozenset()
        return cls(rule, apart, stale, unasked, requested)

    def queued(self, item: _Item, criterion: Criterion, sign: Signs | None) -> tuple[Reason, ...]:
        """The reasons, none where the rule does not want the cell."""
        rule, cell = self._rule, (item.item_id, criterion.name)
        found: list[Reason] = [] if sign is None else self._of_votes(sign, cell)
        if cell in self._apart:
            found.append("flip")
        if rule.stale and (cell in self._stale or (sign and sign.settled == "stale")):
            found.append("stale")
        if sign is not None and rule.near_gate and self._at_gate(item.rubric, criterion, sign):
            found.append("near_gate")
        if sign is not None and self._at_mark(item, criterion):
            found.append("near_mark")
        if rule.everything:
            found.append("chosen")
        if cell in self.requested:
            found.append("regrade")
        return tuple(found)

    def _of_votes(self, sign: Signs, cell: tuple[str, str]) -> list[Reason]:
        rule = self._rule
        abstained = sign.abstentions > 0 and cell not in self._unasked
        tests: list[tuple[Reason, bool]] = [
            ("failure", rule.failure and sign.failures > 0),
            # Not the agreement: a verdict may be an option that no vote is for.
            ("split", rule.split and bool(sign.entropy)),
            ("abstention", rule.abstention and abstained),
            (
                "margin",
                rule.margin is not None and sign.margin is not None and sign.margin < rule.margin,
            ),
        ]
        return [reason for reason, holds in tests if holds]

    def _at_gate(self, rubric: Rubric, criterion: Criterion, sign: Signs) -> bool:
        if sign.option is None or sign.abstained or not rubric.gates:
            return False
        key = (id(rubric), criterion.name, sign.option)
        if key not in self._near:
            self._near[key] = near_gate(rubric, criterion, sign.option)
        return self._near[key]

    def _at_mark(self, item: _Item, criterion: Criterion) -> bool:
        near = self._rule.near_mark
        if near is None or item.distance is None or item.distance > near:
            return False
        return item.distance <= _reach(item.rubric, criterion)


def _reach(rubric: Rubric, criterion: Criterion) -> float:
    """How far one criterion can move the score at most, without gates."""
    if not rubric.scoring.normalize:
        return abs(criterion.weight)
    rewards = sum(c.weight for c in rubric.criteria if c.weight > 0)
    possible = rewards or sum(abs(c.weight) for c in rubric.criteria)
    return abs(criterion.weight) / possible if possible else 0.0
