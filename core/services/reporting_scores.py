"""The scores of a run: over all items, by slice, from the worst to the best, and its gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.domain.runs import RunItemRow
from core.metrics.estimate import Estimate, Share
from core.metrics.means import MeanFigure, mean_of
from core.scoring.trace import Trace
from core.services.reporting_values import GateLine, ItemLine, Slice
from core.services.results import RubricOf
from core.store.store import Store

NONE = "none"
OUTCOMES = ("pass", "fail", "review", NONE)
#: As many of the worst and of the best items are shown.
SHOWN = 5
#: Slices beyond this many would make a wall of numbers; the largest are kept.
MOST_SLICES = 40
EMPTY = "No item has a score."

Mean = Callable[[Sequence[float]], Estimate]


def estimate(found: MeanFigure, empty: str = EMPTY) -> Estimate:
    """A mean as an estimate; without one its reason is ``empty``."""
    value = found.figure.value
    if value is None:
        return Estimate(None, reason=empty)
    return Estimate(value, found.interval.low, found.interval.high, found.interval.reason)


def mean_with(resamples: int, seed: int) -> Mean:
    """The mean of numbers with its interval, by these resamples."""
    return lambda values: estimate(mean_of(values, resamples=resamples, seed=seed))


def slice_of(name: str, rows: Sequence[RunItemRow], mean: Mean) -> Slice:
    """The scores and outcomes of some rows."""
    scores = [row.score for row in rows if row.score is not None]
    outcomes = Counter(NONE if row.outcome is None else row.outcome for row in rows)
    some = outcomes[NONE] < len(rows)
    shares = {one: Share.of(outcomes[one], len(rows)) for one in OUTCOMES} if some else {}
    return Slice(name, len(rows), len(scores), mean(scores), shares)


def slices(
    rows: Sequence[RunItemRow], names_of: Callable[[RunItemRow], Iterable[str]], mean: Mean
) -> tuple[Slice, ...]:
    """A slice per name, the largest first; none where fewer than two kinds of items are there.

    Items without a name are in no slice; one with several is in each.
    """
    found: dict[str, list[RunItemRow]] = {}
    for row in rows:
        for name in names_of(row):
            found.setdefault(name, []).append(row)
    whole = len(found) == 1 and len(next(iter(found.values()))) == len(rows)
    if whole:
        return ()
    largest = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_SLICES]
    return tuple(slice_of(name, part, mean) for name, part in largest)


def tags_of(items: Sequence[Item]) -> Callable[[RunItemRow], Iterable[str]]:
    """The tags of a row's item."""
    tags = {item.id: item.tags for item in items}
    return lambda row: tags.get(row.item_id, ())


def extremes(rows: Sequence[RunItemRow]) -> tuple[tuple[ItemLine, ...], tuple[ItemLine, ...]]:
    """The worst and the best items; where few have a score, all of them are among the worst."""
    scored = sorted(
        (row for row in rows if row.score is not None), key=lambda r: (r.score, r.position)
    )
    if len(scored) <= 2 * SHOWN:
        return tuple(map(_line, scored)), ()
    best = sorted(scored, key=lambda r: (-(r.score or 0.0), r.position))[:SHOWN]
    return tuple(map(_line, scored[:SHOWN])), tuple(map(_line, best))


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


def spread(rows: Sequence[RunItemRow]) -> tuple[float | None, float | None, float | None]:
    """The least, the median and the greatest score."""
    scores = [row.score for row in rows if row.score is not None]
    return (min(scores), median(scores), max(scores)) if scores else (None, None, None)


def gates(
    store: Store, run_id: int, rows: Sequence[RunItemRow], rubric_of: RubricOf
) -> tuple[GateLine, ...]:
    """What became of every gate and pre-check, over the items that have a score."""
    found: dict[tuple[str, str], Counter[str]] = {}
    known: dict[int, bool] = {}
    for row in rows:
        rubric = rubric_of(row.item_id)
        if not known.setdefault(id(rubric), _gated(rubric)) or not row.votes:
            continue
        trace = store.results.item(run_id, row.item_id).trace
        for key, marks in _marks(trace).items():
            found.setdefault(key, Counter()).update(marks)
    return tuple(
        GateLine(name, kind, marks["fired"], marks["moved"], marks["undecided"])
        for (name, kind), marks in found.items()
    )


def _gated(rubric: Rubric) -> bool:
    return bool(rubric.gates or rubric.prechecks)


def _marks(trace: Mapping[str, object] | None) -> dict[tuple[str, str], Counter[str]]:
    if trace is None:
        return {}
    read = Trace.from_dict(dict(trace))
    found = {}
    for gate in read.gates:
        found[gate.name, "gate"] = Counter(
            fired=gate.state == "fired", moved=gate.binding, undecided=gate.state == "indeterminate"
        )
    for check in read.checks:
        found[check.name, "pre-check"] = Counter(
            fired=bool(check.found), moved=check.binding, undecided=False
        )
    return found
