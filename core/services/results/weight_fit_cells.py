"""What the rule ``calibrated`` learns from: a run's cells with the votes that count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.domain.rubric import Criterion
from core.domain.votes import BallotRow
from core.judging.near_duplicates import group_numbers
from core.scoring.verdict import Ballot
from core.services.results.scored_items import (
    effective,
    labels_of,
    resolved_items,
    scored_rubric,
)
from core.services.results.verdicts import counting_of
from core.services.results.weight_fit_kinds import LabelledCell
from core.store.store import Store

#: So many cells of a criterion without a label are learned from at most.
MOST_OTHERS = 2_000


class VotedCells(NamedTuple):
    """The cells of a criterion whose truth is known, and the votes on those of which it is not."""

    known: list[LabelledCell]
    others: list[Sequence[Ballot]]


def cells_of_run(store: Store, run_id: int) -> dict[str, VotedCells]:
    """The cells of a run by criterion, with the votes that count.

    An item with a rubric of its own takes part where its criterion has the same options. Of cells
    without a label at most ``MOST_OTHERS`` are looked at, the first of the run.
    """
    run = store.runs.get(run_id)
    plan = run.plan
    rubric = scored_rubric(store, run)
    counting = counting_of(plan)
    ids = store.runs.item_ids(run_id)
    by_item = {found.item_id: found for found in store.votes.ballots(run_id)}
    cells = {criterion.name: VotedCells([], []) for criterion in rubric.criteria}
    items = resolved_items(store, plan.dataset_version_id, ids)
    # Twins matter among what is learned from: comparing all texts of a run takes its time.
    truths = {item.id: labels_of(item, effective(item, rubric)) for item in items}
    known = [item for item in items if truths[item.id]]
    groups = dict(zip((item.id for item in known), group_numbers(known), strict=True))
    for item in sorted(items, key=lambda one: one.id not in groups):
        own, found = effective(item, rubric), by_item.get(item.id)
        if found is None:
            continue
        if item.id not in groups and all(_enough(one) for one in cells.values()):
            break
        rows: dict[str, list[BallotRow]] = {}
        for row in found.ballots:
            rows.setdefault(row.criterion, []).append(row)
        for criterion in rubric.criteria:
            name = criterion.name
            if name not in rows or not _alike(own.criterion(name), criterion):
                continue
            truth = truths[item.id].get(name)
            if truth is not None:
                ballots = counting.count(rows[name]).ballots
                label = LabelledCell(item.id, ballots, truth, str(groups[item.id]))
                cells[name].known.append(label)
            elif item.id in groups or not _enough(cells[name]):
                cells[name].others.append(counting.count(rows[name]).ballots)
    return cells


def _enough(cells: VotedCells) -> bool:
    """Whether votes without a label would teach nothing more, or nothing at all."""
    from core.metrics.weight_fit import FEWEST

    return len(cells.known) < FEWEST or len(cells.others) >= MOST_OTHERS


def _alike(one: Criterion, other: Criterion) -> bool:
    return [o.label for o in one.choices] == [o.label for o in other.choices]
