"""Cascades and early stops: who is asked in which round, and about which cells.

What a round asks is decided from the votes of earlier rounds alone, so a run that was killed and
resumed decides the same again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

from core.aggregate import Ballot, settle
from core.domain.panel import Cascade, Judge, Panel, Rules
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import BallotRow, ItemBallots
from core.scoring.gating import evaluate
from core.services.counting import Counting
from core.services.results import RubricOf

#: More outstanding votes than this are taken to be able to change any verdict.
MOST_OUTSTANDING = 4


@dataclass(frozen=True)
class Round:
    """Judges asked together. ``stage`` is theirs; ``earlier`` were asked in this stage before."""

    judges: tuple[Judge, ...]
    stage: int
    earlier: tuple[Judge, ...] = ()
    later: tuple[Judge, ...] = ()


def rounds_of(panel: Panel) -> list[Round]:
    """The rounds of a panel: one for all, one a stage, or one a judge where it may stop early."""
    stages = sorted({j.stage for j in panel.judges}) if panel.cascade else [0]
    found = []
    for stage in stages:
        members = [j for j in panel.judges if not panel.cascade or j.stage == stage]
        if not panel.early_stop:
            found.append(Round(tuple(members), stage))
            continue
        # Shadows decide nothing, so they go with the first; the free ones are asked first.
        voters = sorted((j for j in members if not j.shadow), key=lambda j: not j.offline)
        shadows = tuple(j for j in members if j.shadow)
        for at, judge in enumerate(voters):
            with_it = (judge, *shadows) if at == 0 else (judge,)
            found.append(Round(with_it, stage, tuple(voters[:at]), tuple(voters[at:])))
    return found


@dataclass
class Selector:
    """Says which cells a round asks about, from the votes there are."""

    panel: Panel
    replicates: int
    counting: Counting
    rubric_of: RubricOf
    confidence: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)
    _open: dict[object, bool] = field(default_factory=dict)

    def wanted(self, round_: Round, items: Iterable[ItemBallots]) -> set[tuple[str, str]]:
        """The (item id, criterion) cells that the round is to be asked about."""
        chosen = set()
        for item in items:
            rubric = self.rubric_of(item.item_id)
            rows: dict[str, list[BallotRow]] = {c.name: [] for c in rubric.criteria}
            for row in item.ballots:
                rows[row.criterion].append(row)
            for criterion in rubric.criteria:
                votes = rows[criterion.name]
                failed = item.failures.get(criterion.name, 0)
                if self._asks(round_, rubric, criterion, item.item_id, votes, failed):
                    chosen.add((item.item_id, criterion.name))
        return chosen

    def _asks(
        self,
        round_: Round,
        rubric: Rubric,
        criterion: Criterion,
        item: str,
        rows: Sequence[BallotRow],
        failed: int,
    ) -> bool:
        cascade = self.panel.cascade
        if cascade is not None:
            for stage in sorted({j.stage for j in self.panel.judges if j.stage < round_.stage}):
                if not self._goes_on(cascade, stage, rubric, criterion, item, rows, failed):
                    return False
        if not round_.earlier:
            return True
        names = {j.name for j in round_.earlier}
        cast = self.counting.count([r for r in rows if r.judge in names]).ballots
        return self._can_change(criterion, cast, round_.later)

    def _goes_on(
        self,
        cascade: Cascade,
        stage: int,
        rubric: Rubric,
        criterion: Criterion,
        item: str,
        rows: Sequence[BallotRow],
        failed: int,
    ) -> bool:
        """Whether a cell leaves a stage for the next one."""
        names = {j.name for j in self.panel.judges if j.stage == stage and not j.shadow}
        counted = self.counting.count([r for r in rows if r.judge in names])
        verdict = settle(criterion, counted.ballots, self.panel.rules)
        if verdict is None:
            return cascade.on_failure
        if verdict.abstained:
            return cascade.on_abstention
        if cascade.on_split and verdict.agreement is not None and verdict.agreement < 1:
            return True
        if cascade.on_failure and failed and verdict.votes < len(names) * self.replicates:
            return True
        if cascade.below_confidence is not None:
            sure = [c for n in names for c in self.confidence.get((item, criterion.name, n), ())]
            if sure and fmean(sure) < cascade.below_confidence:
                return True
        return cascade.near_gate and near_gate(rubric, criterion, verdict.option)

    def _can_change(
        self, criterion: Criterion, cast: Sequence[Ballot], later: Sequence[Judge]
    ) -> bool:
        """Whether any answers of the judges still to be asked could change the verdict."""
        weights = tuple(j.weight for j in later for _ in range(self.replicates))
        asked = (criterion.scale, criterion.values, criterion.weight, criterion.aggregation)
        key = (asked, tuple(sorted((b[:3] for b in cast), key=str)), weights)
        if key not in self._open:
            self._open[key] = can_change(criterion, cast, self.panel.rules, weights)
        return self._open[key]


def can_change(
    criterion: Criterion, cast: Sequence[Ballot], rules: Rules, outstanding: Sequence[float]
) -> bool:
    """Whether votes of these weights, whatever they are, could change the verdict of ``cast``.

    Without a verdict yet, or with more than ``MOST_OUTSTANDING`` votes to come: yes.

    >>> yes = Ballot(0, False)
    >>> can_change(Criterion(name="a", requirement="Is it?"), [yes, yes], Rules(), [1.0])
    False
    """
    now = settle(criterion, list(cast), rules)
    if now is None or now.abstained or len(outstanding) > MOST_OUTSTANDING:
        return bool(outstanding)
    options = range(len(criterion.choices))
    for answers in product(options, repeat=len(outstanding)):
        more = [
            Ballot(option, criterion.choices[option].na, weight)
            for option, weight in zip(answers, outstanding, strict=True)
        ]
        then = settle(criterion, [*cast, *more], rules)
        if then is None or then.option != now.option:
            return True
    return False


def near_gate(rubric: Rubric, criterion: Criterion, option: int | None) -> bool:
    """Whether one step up or down the criterion's options would change what a gate does."""
    if option is None or not any(g.when.criterion == criterion.name for g in rubric.gates):
        return False
    by_value = sorted(criterion.scored, key=lambda i: (criterion.values[i] or 0.0, i))
    at = by_value.index(option)

    def states(index: int) -> list[str]:
        marks = evaluate(rubric, {criterion.name: index})
        return [
            m.state
            for m, g in zip(marks, rubric.gates, strict=True)
            if g.when.criterion == criterion.name
        ]

    beside = [by_value[i] for i in (at - 1, at + 1) if 0 <= i < len(by_value)]
    return any(states(other) != states(option) for other in beside)
