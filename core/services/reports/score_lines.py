"""The scores of a run, as lines of its report: of all items, by system and tag, the extremes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from core.domain.runs import RunItemRow
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.means import mean_of
from core.metrics.measure import Array
from core.services.agreement.ratings import RatedItems, Traits
from core.services.reports.report_values import ItemLine, ScoreSlice
from core.services.results.run_columns import ScoreColumns
from core.store.store import Store

#: Outcomes by index; the last means no outcome.
NAMES = ("pass", "fail", "review", "none")
#: The number of worst and of best items that are shown.
SHOWN = 5
#: The most slices that are still readable; the largest slices are kept.
MOST_SLICES = 40
EMPTY = "No item has a score."

Mean = Callable[[Array], Estimate]


def mean_function(resamples: int, seed: int, confidence: Confidence, *, normalized: bool) -> Mean:
    """Return a function from scores to their mean with its interval, by these resamples.

    Intervals of normalised scores end at 0 and 1.
    """
    ends = (0.0, 1.0) if normalized else (-np.inf, np.inf)

    def mean_with_interval(values: Array) -> Estimate:
        mean = mean_of(values, resamples=resamples, seed=seed, confidence=confidence, ends=ends)
        # The lines state their numbers of items themselves.
        return mean._replace(n=0) if mean.value is not None else Estimate.undefined(EMPTY)

    return mean_with_interval


def present_scores(scores: ScoreColumns) -> Array:
    """Return the scores that are not missing."""
    scored: Array = scores.score[~np.isnan(scores.score)]
    return scored


def _part_of_scores(scores: ScoreColumns, rows: Sequence[int]) -> ScoreColumns:
    indexes = np.array(rows, np.int64)
    return ScoreColumns._make(column[indexes] for column in scores)


def slice_of(name: str, scores: ScoreColumns, mean: Mean, level: float = USUAL.level) -> ScoreSlice:
    """Return the scores and outcomes of some items."""
    items, scored = len(scores.score), present_scores(scores)
    outcomes = np.bincount(scores.outcome, minlength=len(NAMES)).tolist()
    has_failures = outcomes[-1] < items
    each = (Estimate.share(hits, items, level) for hits in outcomes)
    shares = dict(zip(NAMES, each, strict=True))
    waiting = Estimate.share(int(scores.review.sum()), items, level)
    return ScoreSlice(
        name, items, len(scored), mean(scored), shares if has_failures else {}, waiting
    )


def slices_by_name(
    scores: ScoreColumns,
    rated_items: RatedItems,
    names_of: Callable[[Traits], Iterable[str]],
    mean: Mean,
    level: float = USUAL.level,
) -> tuple[ScoreSlice, ...]:
    """Return a slice of the items with each name, the largest first; an item may be in several.

    Empty if no item has a name, or all have the same.
    """
    rows_of: dict[str, list[int]] = {}
    for row, traits in enumerate(rated_items.traits):
        for name in names_of(traits):
            if name:
                rows_of.setdefault(name, []).append(row)
    covers_all = len(rows_of) == 1 and len(next(iter(rows_of.values()))) == len(rated_items.ids)
    if covers_all:
        return ()
    largest = sorted(rows_of.items(), key=lambda entry: (-len(entry[1]), entry[0]))[:MOST_SLICES]
    return tuple(
        slice_of(name, _part_of_scores(scores, rows), mean, level) for name, rows in largest
    )


def extreme_items(
    store: Store, run_id: int, scored: int
) -> tuple[tuple[ItemLine, ...], tuple[ItemLine, ...]]:
    """Return the worst and the best items, without duplicates.

    If few have a score, all of them are among the worst.
    """
    all_shown = scored <= 2 * SHOWN
    worst = store.results.items(run_id, sort="score", limit=scored if all_shown else SHOWN)
    if all_shown:
        return tuple(map(_item_line, worst)), ()
    # Among equal scores, an item could be listed as both worst and best.
    shown = {row.item_id for row in worst}
    most = store.results.items(run_id, sort="score", descending=True, limit=2 * SHOWN)
    best = [row for row in most if row.item_id not in shown][:SHOWN]
    return tuple(map(_item_line, worst)), tuple(map(_item_line, best))


def _item_line(row: RunItemRow) -> ItemLine:
    assert row.score is not None
    return ItemLine(
        row.item_id,
        row.score,
        row.low,
        row.high,
        row.outcome,
        row.review,
        row.complete,
        row.coverage,
        row.system,
        row.preview,
    )


def score_range(scores: ScoreColumns) -> tuple[float | None, float | None, float | None]:
    """Return the lowest, the median and the highest score."""
    scored = present_scores(scores)
    if not len(scored):
        return (None, None, None)
    return float(scored.min()), float(np.median(scored)), float(scored.max())
