"""Adaptive contests: the next round holds the bouts that would tell most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from core.identity import seeded
from core.metrics.ranking import win_matrix
from core.metrics.ranking_fit import fit, outcome_shares
from core.metrics.ranking_strengths import PRIOR
from core.services.contest_designs import Bout, Design
from core.services.contest_field import Field, join
from core.services.contest_questions import Question
from core.services.contest_votes import Contests, read
from core.services.contests import ContestRequest, details_of
from core.services.ranking import decided, leaderboard_of, table_of
from core.store.store import Store


def next_round(store: Store, run_ids: Sequence[int], bouts: int) -> ContestRequest | None:
    """The request of the next round after these runs: so many bouts, or as many as are left.

    A bout between two systems tells the more, the more open it is (its points have the larger
    variance) and the fewer there were; systems that are told apart already do not meet again.
    ``None`` where nothing is left to hold: all are told apart, or all bouts were held.
    """
    run = store.runs.get(run_ids[0])
    details = details_of(store, run_ids[0])
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    contests = read(store, run_ids)
    field = join(
        [store.datasets.load(v) for v in details["datasets"]],
        contests.systems,
        details.get("join"),
    )
    seed = run.plan.seed + len(run_ids)
    chosen = _chosen(field, contests, bouts, seed)
    if not chosen:
        return None
    return ContestRequest(
        datasets=tuple(details["datasets"]),
        panel=run.panel,
        systems=contests.systems,
        questions=tuple(Question(c.name, c.requirement, c.weight) for c in rubric.criteria),
        design=Design.model_validate(details["design"]),
        guidelines=rubric.guidelines,
        join=details.get("join"),
        name=f"{run.name[:180]}, round {len(run_ids) + 1}",
        seed=seed,
        replicates=run.plan.replicates,
        budget=run.plan.budget,
        bouts=chosen,
        after=tuple(run_ids),
    )


def rounds_of(store: Store, run_id: int) -> list[int]:
    """The runs a round goes on from, and itself."""
    return [*details_of(store, run_id).get("after", []), run_id]


def with_first_round(request: ContestRequest, share: float = 0.5) -> ContestRequest:
    """An adaptive request whose first round is sampled: at least one bout on every task.

    ``share`` of all pairs, so that the first round joins the systems.
    """
    pairs = max(1, round(share * len(list(combinations(request.systems, 2)))))
    design = request.design.model_copy(update={"per_task": max(request.design.per_task, pairs)})
    return replace(request, design=design)


def _chosen(field: Field, contests: Contests, bouts: int, seed: int) -> tuple[Bout, ...]:
    held = {Bout(h.task, h.first, h.second) for h in contests.held}
    free: dict[tuple[str, str], list[Bout]] = {}
    for task in field.tasks:
        there = [s for s in contests.systems if s in task.answers]
        for pair in combinations(there, 2):
            bout = Bout(task.id, *pair)
            if bout not in held:
                free.setdefault(pair, []).append(bout)
    for pair, left in free.items():
        seeded("next round", seed, *pair).shuffle(left)
    worth = _worth(contests)
    met = Counter((b.first, b.second) for b in held)
    chosen: list[Bout] = []
    open_ = [pair for pair in free if worth.get(pair, 1.0) > 0]
    while open_ and len(chosen) < bouts:
        best = max(open_, key=lambda pair: (worth.get(pair, 1.0) / (1 + met[pair]), pair))
        chosen.append(free[best].pop())
        met[best] += 1
        open_ = [pair for pair in open_ if free[pair]]
    return tuple(chosen)


def _worth(contests: Contests) -> dict[tuple[str, str], float]:
    """The variance of one contest's points per pair; 0 where the two are told apart."""
    found = decided(contests)
    systems = contests.systems
    if not len(found.item):
        return {}
    table = table_of(found, len(systems))
    fitted = fit(table.pairs, table.totals()[:, :, None], len(systems), prior=PRIOR)
    apart = {
        frozenset((gap.better, gap.worse))
        for gap in leaderboard_of(found, systems, resamples=400).gaps
        if gap.apart
    }
    met = win_matrix(table).contests
    worth = {}
    for i, j in combinations(range(len(systems)), 2):
        pair = (systems[i], systems[j])
        gap = np.asarray(fitted.strengths[i, 0] - fitted.strengths[j, 0])
        won, _, lost = outcome_shares(gap, fitted.log_tie[0])
        variance = float(won + lost - (won - lost) ** 2) / 4
        # A pair that never met may join groups, whatever its strengths seem to be.
        worth[pair] = 0.0 if frozenset(pair) in apart and met[i, j] else variance
    return worth
