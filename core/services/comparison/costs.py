"""Compare the cost of runs with their accuracy, to find those that are worth their price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from core.domain.runs import Run
from core.errors import InputError
from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.bootstrap import intervals
from core.metrics.intervals.clustered_share import clustered_share
from core.metrics.measure import Array, ratio_or_nan
from core.services.agreement.group_figures import Draws
from core.services.agreement.ratings import Levels
from core.services.comparison.paired_runs import PairedRuns, PairOf, pair_runs
from core.store.store import Store

IMPORTED = "Its votes were imported; what they cost is not known."
NO_PRICE = "The price of {n} calls is not known."
NO_FIRST = "It used answers kept from earlier runs, and what they cost then is not known."
UNFINISHED = "It is not finished, so what all of it costs is not known yet."
NO_LABEL = "No item that all chosen runs graded has a label and a verdict."


class RunSpending(NamedTuple):
    """The cost of a run, in US dollars.

    ``now`` was paid for calls of this run. ``saved`` is the original cost of cached answers.
    ``whole`` is their sum: the cost of the run without a cache. ``None`` means unknown, for the
    ``reason`` given.
    """

    now: float | None
    saved: float
    whole: float | None
    calls: int
    cached: int
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class CostPoint:
    """One run: accuracy over the labelled cells it decided, and the cost of 1,000 items.

    ``decided`` of ``labelled`` cells have a verdict that is not an abstention. ``efficient``: no
    other run is at least as accurate and as cheap, and better in one of the two; ``None`` if its
    cost or accuracy is unknown.
    """

    run_id: int
    name: str
    accuracy: Estimate
    labelled: int
    decided: int
    spent: RunSpending
    per_thousand: float | None
    efficient: bool | None = None


def spending_of_run(run: Run) -> RunSpending:
    """Return the cost of a run, now and in total."""
    paid = None if run.cost_unknown else run.cost
    usage = run.calls, run.cached, run.seconds
    if run.plan.details.get("imported"):
        return RunSpending(None, 0.0, None, *usage, IMPORTED)
    if paid is None:
        return RunSpending(None, run.saved, None, *usage, NO_PRICE.format(n=run.cost_unknown))
    is_free = all(j.offline or (j.price_in == 0 and j.price_out == 0) for j in run.panel.judges)
    if run.cached and not run.saved and not is_free:
        return RunSpending(paid, 0.0, None, *usage, NO_FIRST)
    return RunSpending(paid, run.saved, paid + run.saved, *usage)


def cost_points(
    store: Store,
    run_ids: Sequence[int],
    *,
    confidence: Confidence = USUAL,
    pair: PairOf | None = None,
) -> tuple[CostPoint, ...]:
    """Return accuracy and cost of runs on their common items, with the efficient runs marked.

    Criteria are those that every run shares with the first. All accuracies use the same resamples
    of items. ``pair`` loads two runs, e.g. from a cache.

    Raises:
        InputError: fewer than two runs, or two without a common item or criterion.
    """
    if len(run_ids) < 2:
        raise InputError("Choose two runs or more.")
    first, *other_ids = run_ids
    pair = pair or partial(pair_runs, store)
    paired = [pair(first, run_id) for run_id in other_ids]
    common = set(paired[0].match.both).intersection(*(p.match.both for p in paired))
    shared = {s.name for s in paired[0].criteria}.intersection(
        *({s.name for s in p.criteria} for p in paired)
    )
    if not common or not shared:
        raise InputError("There is no item and criterion that all chosen runs have in common.")
    runs = [(paired[0].runs[0], paired[0], 0), *((p.runs[1], p, 1) for p in paired)]
    ids = [item for item in paired[0].match.both if item in common]
    truth = _truth_of_items(paired, ids, shared)
    draws = Draws(len(ids), 500, 0, confidence)
    runs_points = [
        _cost_point(run, _right_cells(p, side, ids, truth), draws) for run, p, side in runs
    ]
    return tuple(
        replace(point, efficient=_is_efficient(point, runs_points)) for point in runs_points
    )


#: The true levels for all runs, by criterion and item. If labels differ, the last run's count.
Truth = dict[str, Levels]


def _truth_of_items(paired: Sequence[PairedRuns], ids: Sequence[str], shared: set[str]) -> Truth:
    truth: Truth = {name: np.full(len(ids), -1) for name in shared}
    for pair in paired:
        rows = _rows_of_items(pair, ids)
        for sides in pair.criteria:
            if sides.name in shared:
                gold = sides.gold[rows]
                truth[sides.name] = np.where(gold >= 0, gold, truth[sides.name])
    return truth


def _rows_of_items(paired: PairedRuns, ids: Sequence[str]) -> Levels:
    """Return the rows of these items in a pair of runs."""
    if tuple(ids) == paired.match.both:
        return np.arange(len(ids))
    place = {item: index for index, item in enumerate(paired.match.both)}
    return np.array([place[item] for item in ids], np.int64)


def _right_cells(paired: PairedRuns, side: int, ids: Sequence[str], labels: Truth) -> Array:
    """Return the cells per item that are right, decided and labelled; shape (items, 3)."""
    rows, counts = _rows_of_items(paired, ids), np.zeros((len(ids), 3), dtype=np.int64)
    for sides in paired.criteria:
        if sides.name not in labels:
            continue
        gold, answers = labels[sides.name], sides.verdicts[side][rows]
        decided = (gold >= 0) & (answers >= 0)
        counts += np.column_stack([decided & (gold == answers), decided, gold >= 0])
    return counts.astype(np.float64)


def _cost_point(run: Run, hits: Array, draws: Draws) -> CostPoint:
    money = spending_of_run(run)
    if run.status != "done":
        money = money._replace(whole=None, reason=money.reason or UNFINISHED)
    _, decided, labelled = hits.sum(axis=0)
    per = None if money.whole is None or not run.items else 1000 * money.whole / run.items
    return CostPoint(
        run.id,
        run.name,
        _accuracy_of_hits(hits, draws) if decided else Estimate(None, reason=NO_LABEL),
        int(labelled),
        int(decided),
        money,
        per,
    )


def _accuracy_of_hits(hits: Array, draws: Draws) -> Estimate:
    right, decided = hits[:, :2].astype(np.int64).T
    if draws.confidence.method == "auto":
        item = np.repeat(np.arange(len(hits)), decided)
        # Only the number of an item's right cells matters, not which cells are right.
        place = np.arange(len(item)) - np.repeat(np.cumsum(decided) - decided, decided)
        return clustered_share(place < right[item], item, level=draws.confidence.level)
    distinct = patterns(hits[:, :2].astype(np.int64))
    right, decided = distinct.rows.T

    def share(weights: Array) -> dict[str, Array]:
        return {"": ratio_or_nan(right @ weights, decided @ weights)}

    value = Estimate(float(share(distinct.times[:, None].astype(np.float64))[""][0]))
    drawn = draws.of(distinct.of_item, distinct.times)
    return value.with_interval(
        intervals(share, drawn, distinct.times, confidence=draws.confidence)[""]
    )


def _is_efficient(point: CostPoint, all_of: Sequence[CostPoint]) -> bool | None:
    cost, value = point.per_thousand, point.accuracy.value
    if cost is None or value is None:
        return None
    for other in all_of:
        if other.per_thousand is None or other.accuracy.value is None:
            continue
        no_worse = other.per_thousand <= cost and other.accuracy.value >= value
        if no_worse and (other.per_thousand, other.accuracy.value) != (cost, value):
            return False
    return True
