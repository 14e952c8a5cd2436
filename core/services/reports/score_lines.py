"""The scores of a run, as lines of its report: of all items, by system and tag, the extremes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.domain.runs import RunItemRow
from core.metrics.estimate import Estimate
from core.metrics.intervals.bootstrap import mean_of
from core.metrics.measure import Array
from core.services.agreement.ratings import Levels, RatedItems, Traits
from core.services.reports.report_values import ItemLine, ScoreSlice
from core.store.store import Store

NONE = "none"
OUTCOMES = ("pass", "fail", "review", NONE)
#: As many of the worst and of the best items are shown.
SHOWN = 5
#: Slices beyond this many would make a wall of numbers; the largest are kept.
MOST_SLICES = 40
EMPTY = "No item has a score."

Mean = Callable[[Array], Estimate]


def estimate(found: Estimate, empty: str = EMPTY) -> Estimate:
    """A mean as an estimate; without one its reason is ``empty``."""
    # The lines count their items themselves.
    return found._replace(n=0) if found.value is not None else Estimate.undefined(empty)


def mean_with(resamples: int, seed: int) -> Mean:
    """The mean of numbers with its interval, by these resamples."""
    return lambda values: estimate(mean_of(values, resamples=resamples, seed=seed))


@dataclass(frozen=True)
class ItemScores:
    """What came out for the items of a run, in its order: scores, NaN where there is none, and
    outcomes as places in ``OUTCOMES``.
    """

    score: Array
    outcome: Levels
    complete: npt.NDArray[np.bool_]
    votes: Levels

    @property
    def known(self) -> Array:
        """The scores that there are."""
        return self.score[~np.isnan(self.score)]

    def of(self, rows: Sequence[int]) -> ItemScores:
        """Those of some items."""
        at = np.array(rows, np.int64)
        return ItemScores(self.score[at], self.outcome[at], self.complete[at], self.votes[at])


def item_scores(store: Store, run_id: int) -> ItemScores:
    """The scores of a run."""
    found = store.results.scored(run_id)
    score, outcome, complete, votes = zip(*found, strict=True) if found else ((), (), (), ())
    place = {None if name == NONE else name: at for at, name in enumerate(OUTCOMES)}
    return ItemScores(
        score=np.array(score, np.float64),
        outcome=np.array([place[one] for one in outcome], np.int64),
        complete=np.array(complete, np.bool_),
        votes=np.array(votes, np.int64),
    )


def slice_of(name: str, scores: ItemScores, mean: Mean) -> ScoreSlice:
    """The scores and outcomes of some items."""
    items, known = len(scores.score), scores.known
    outcomes = np.bincount(scores.outcome, minlength=len(OUTCOMES)).tolist()
    some = outcomes[OUTCOMES.index(NONE)] < items
    shares = dict(zip(OUTCOMES, (Estimate.share(one, items) for one in outcomes), strict=True))
    return ScoreSlice(name, items, len(known), mean(known), shares if some else {})


def slices(
    scores: ItemScores, of: RatedItems, names_of: Callable[[Traits], Iterable[str]], mean: Mean
) -> tuple[ScoreSlice, ...]:
    """A slice per name, the largest first; none where fewer than two kinds of items are there.

    Items without a name are in no slice; one with several is in each.
    """
    found: dict[str, list[int]] = {}
    for row, traits in enumerate(of.traits):
        for name in names_of(traits):
            if name:
                found.setdefault(name, []).append(row)
    whole = len(found) == 1 and len(next(iter(found.values()))) == len(of.ids)
    if whole:
        return ()
    largest = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_SLICES]
    return tuple(slice_of(name, scores.of(rows), mean) for name, rows in largest)


def extremes(
    store: Store, run_id: int, scored: int
) -> tuple[tuple[ItemLine, ...], tuple[ItemLine, ...]]:
    """The worst and the best items; where few have a score, all of them are among the worst."""
    few = scored <= 2 * SHOWN
    worst = store.results.items(run_id, sort="score", limit=scored if few else SHOWN)
    if few:
        return tuple(map(_line, worst)), ()
    best = store.results.items(run_id, sort="score", descending=True, limit=SHOWN)
    return tuple(map(_line, worst)), tuple(map(_line, best))


def _line(row: RunItemRow) -> ItemLine:
    assert row.score is not None
    return ItemLine(
        row.item_id,
        row.score,
        row.low,
        row.high,
        row.outcome,
        row.complete,
        row.system,
        row.preview,
    )


def spread(scores: ItemScores) -> tuple[float | None, float | None, float | None]:
    """The least, the median and the greatest score."""
    known = scores.known
    if not len(known):
        return (None, None, None)
    return float(known.min()), float(np.median(known)), float(known.max())
