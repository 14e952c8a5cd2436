"""Which votes count towards a verdict: shadows do not, flipped answers do not by themselves, and in
a cascade only the last stage that was asked decides. All votes are kept; this only reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.aggregate import Ballot
from core.domain.panel import Judge, Panel
from core.domain.runs import RunPlan
from core.domain.votes import BallotRow


class Counted(NamedTuple):
    """The ballots that decide a cell, and how many were to be cast (``None`` for imports)."""

    ballots: list[Ballot]
    planned: int | None


@dataclass(frozen=True)
class Counting:
    """How votes count. The defaults count every vote alike, as imports need it.

    ``weights`` maps raters to weights (1 where absent). ``flip_from`` is the first replicate that
    repeats another one with the order of options reversed (``None``: there are none);
    ``require_both`` takes two answers that differ as one abstention. ``stages`` maps judges to
    their stage; ``None`` where there is no cascade.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    planned: int | None = None
    shadows: frozenset[str] = frozenset()
    flip_from: int | None = None
    require_both: bool = False
    stages: Mapping[str, int] | None = None
    planned_by_stage: Mapping[int, int] = field(default_factory=dict)

    def count(self, rows: Sequence[BallotRow]) -> Counted:
        """The ballots of one cell that decide it."""
        if not (self.shadows or self.stages or self.flip_from is not None):
            weight = self.weights.get
            return Counted(
                [Ballot(r.option, r.abstained, weight(r.judge, 1.0), r.judge) for r in rows],
                self.planned,
            )
        kept = [r for r in rows if r.judge not in self.shadows]
        planned = self.planned
        if self.stages is not None and kept:
            last = max(self.stages[r.judge] for r in kept)
            kept = [r for r in kept if self.stages[r.judge] == last]
            planned = self.planned_by_stage[last]
        return Counted(self._without_flips(kept), planned)

    def _without_flips(self, rows: Sequence[BallotRow]) -> list[Ballot]:
        if self.flip_from is None:
            return [self._ballot(r) for r in rows]
        flipped = {
            (r.judge, r.replicate - self.flip_from): r
            for r in rows
            if r.replicate >= self.flip_from
        }
        ballots = []
        for row in rows:
            if row.replicate >= self.flip_from:
                continue
            twin = flipped.get((row.judge, row.replicate))
            if not self.require_both or twin is None or twin.option == row.option:
                ballots.append(self._ballot(row))
            else:
                ballots.append(Ballot(None, True, self.weights.get(row.judge, 1.0), row.judge))
        return ballots

    def _ballot(self, row: BallotRow) -> Ballot:
        return Ballot(row.option, row.abstained, self.weights.get(row.judge, 1.0), row.judge)


def counting_of(plan: RunPlan) -> Counting:
    """How the votes of a run count."""
    panel = plan.panel
    counted = [j for j in panel.judges if not j.shadow]
    asked = [j for j in panel.judges if j.askable and not j.offline]
    flips = panel.asking.flip != "off" and bool(asked)
    by_stage: dict[int, int] = {}
    for judge in counted:
        by_stage[judge.stage] = by_stage.get(judge.stage, 0) + plan.replicates
    return Counting(
        weights={j.name: j.weight for j in panel.judges},
        # What an import holds is all there is: nothing was planned, so nothing is missing.
        planned=len(counted) * plan.replicates if panel.askable else None,
        shadows=frozenset(j.name for j in panel.judges if j.shadow),
        flip_from=plan.replicates if flips else None,
        require_both=panel.asking.flip == "require",
        stages={j.name: j.stage for j in panel.judges} if panel.cascade else None,
        planned_by_stage=by_stage,
    )


def answers_of(judge: Judge, panel: Panel, replicates: int) -> int:
    """How many answers a judge gives about a cell: replicates, twice as many where flipped too."""
    flipped = panel.asking.flip != "off" and judge.askable and not judge.offline
    return replicates * (2 if flipped else 1)


def answers_per_cell(panel: Panel, replicates: int) -> int:
    """How many answers all judges give about a cell at most."""
    return sum(answers_of(judge, panel, replicates) for judge in panel.judges)


def calls_of(judge: Judge, panel: Panel, replicates: int, *, items: int, cells: int) -> int:
    """How many calls a judge takes for so many items with so many (item, criterion) cells."""
    if judge.offline or not judge.askable:
        return 0
    questions = items if panel.asking.mode == "rubric" else cells
    steps = 2 if panel.asking.mode == "two_step" else 1
    return questions * steps * answers_of(judge, panel, replicates)
