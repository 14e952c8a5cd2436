"""How another version of the rubric changes a run's scores, and which runs use each version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import NamedTuple

from core.domain.review import SettledCell
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import ItemResult, Outcome, Run, RunItemFilter, RunRow
from core.domain.votes import BallotRow, ItemBallots
from core.rubric_diff.edits import VersionEdits
from core.store.store import Store


def new_places(edits: VersionEdits) -> dict[str, tuple[Criterion, tuple[int | None, ...]]]:
    """Return, for each older criterion, the newer criterion and the new position of each old
    choice.
    """
    return {
        old.name: (new, edits.moves.options.get(old.name, tuple(range(len(old.choices)))))
        for old, new in edits.pairs
    }


def translated_ballots(item: ItemBallots, edits: VersionEdits) -> ItemBallots:
    """Return an item's ballots in the newer version's terms, without those that have no
    equivalent.
    """
    places_by_criterion = new_places(edits)
    ballots = (_translated_ballot(row, places_by_criterion) for row in item.ballots)
    failures = {
        places_by_criterion[name][0].name: n
        for name, n in item.failures.items()
        if name in places_by_criterion
    }
    return ItemBallots(item.item_id, tuple(row for row in ballots if row), failures)


def _translated_ballot(
    row: BallotRow, to: Mapping[str, tuple[Criterion, tuple[int | None, ...]]]
) -> BallotRow | None:
    if row.criterion not in to:
        return None
    new, place = to[row.criterion]
    if row.option is None:
        return row._replace(criterion=new.name)
    option = place[row.option]
    if option is None:
        return None
    abstained, chances = (
        new.choices[option].na,
        _moved_chances(row.chances, place, len(new.choices)),
    )
    return row._replace(criterion=new.name, option=option, abstained=abstained, chances=chances)


def _moved_chances(
    chances: tuple[float, ...] | None, place: tuple[int | None, ...], count: int
) -> tuple[float, ...] | None:
    """Return chances in the newer version's order; ``None`` if some would be lost."""
    if chances is None or any(p and to is None for p, to in zip(chances, place, strict=True)):
        return None
    spread = [0.0] * count
    for chance, to in zip(chances, place, strict=True):
        if to is not None:
            spread[to] += chance
    return tuple(spread)


def translated_settled(
    cells: Mapping[str, SettledCell], edits: VersionEdits
) -> dict[str, SettledCell]:
    """Return people's verdicts on an item in the newer version's terms."""
    translated = dict[str, SettledCell]()
    for name, (new, place) in new_places(edits).items():
        cell = cells.get(name)
        if cell is None:
            continue
        option = None if cell.option is None else place[cell.option]
        if cell.option is not None and option is None:
            continue
        label = None if option is None or new.choices[option].na else new.choices[option].label
        translated[new.name] = replace(cell, criterion=new.name, option=option, label=label)
    return translated


BINS = 20
_SAME = 1e-9
_ALL = RunItemFilter()


class ChangedItem(NamedTuple):
    """An item with a changed score or outcome."""

    item_id: str
    before: float | None
    after: float | None
    outcome_before: Outcome | None
    outcome_after: Outcome | None

    @property
    def change(self) -> float | None:
        """Return the change of the score; ``None`` if it appears, disappears or never existed."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


class VerdictChanges(NamedTuple):
    """How many verdicts on a criterion become better for the score, worse, or merely different.

    ``items`` are the ids of items with such a verdict; ``was`` is the criterion's name in the run.
    """

    criterion: str
    up: int
    down: int
    other: int
    was: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreDifference:
    """How a version of the rubric would change a run.

    ``items`` have votes; ``moved`` are those that change, the largest change first. Means are over
    the items with a score, ``None`` without any. ``outcomes`` count items before and after by (pass
    | fail | review | none), ``bins`` count them by score from ``low`` up to ``high``: (low, high,
    before, after). ``stale`` and ``open`` are cells.
    """

    edits: VersionEdits
    items: int
    moved: tuple[ChangedItem, ...]
    flips: tuple[VerdictChanges, ...]
    mean_before: float | None
    mean_after: float | None
    bins: tuple[tuple[float, float, int, int], ...]
    outcomes: Mapping[str, tuple[int, int]]
    crossed: Mapping[tuple[str, str], int]
    stale: int
    open: int

    @property
    def rising(self) -> int:
        """Return how many scores rise."""
        return sum((m.change or 0.0) > _SAME for m in self.moved)

    @property
    def falling(self) -> int:
        """Return how many scores fall."""
        return sum((m.change or 0.0) < -_SAME for m in self.moved)

    @property
    def largest(self) -> ChangedItem | None:
        """Return the item whose score changes most, if any does."""
        return next((m for m in self.moved if abs(m.change or 0.0) > _SAME), None)


def compare_scores(
    store: Store,
    run: Run,
    edits: VersionEdits,
    after: Sequence[ItemResult],
    own: Mapping[str, Rubric],
) -> ScoreDifference:
    """Return the difference between the run's current results and ``after``."""
    rows = {r.item_id: r for r in store.results.items(run.id, _ALL, limit=run.items)}
    pairs = [(rows[result.item_id], result) for result in after]
    changed_items = [
        ChangedItem(new.item_id, old.score, new.score, old.outcome, new.outcome)
        for old, new in pairs
        if not _nearly_equal(old.score, new.score) or old.outcome != new.outcome
    ]
    changed_items.sort(key=lambda m: -abs(m.change) if m.change is not None else -float("inf"))
    before_scores = [old.score for old, _ in pairs if old.score is not None]
    after_scores = [new.score for _, new in pairs if new.score is not None]
    crossed: dict[tuple[str, str], int] = {}
    outcomes: dict[str, list[int]] = {}
    for old, new in pairs:
        outcome_before, outcome_after = old.outcome or "none", new.outcome or "none"
        outcomes.setdefault(outcome_before, [0, 0])[0] += 1
        outcomes.setdefault(outcome_after, [0, 0])[1] += 1
        if outcome_before != outcome_after:
            crossing = outcome_before, outcome_after
            crossed[crossing] = crossed.get(crossing, 0) + 1
    shared_items = sum(result.item_id not in own for result in after)
    return ScoreDifference(
        edits=edits,
        items=len(pairs),
        moved=tuple(changed_items),
        flips=_verdict_changes(store, run, edits, after, own),
        mean_before=fmean(before_scores) if before_scores else None,
        mean_after=fmean(after_scores) if after_scores else None,
        bins=_change_bins(before_scores, after_scores),
        outcomes={name: (before, now) for name, (before, now) in outcomes.items()},
        crossed=crossed,
        stale=len(edits.stale) * shared_items,
        open=len(edits.added) * shared_items,
    )


def _verdict_changes(
    store: Store,
    run: Run,
    edits: VersionEdits,
    after: Sequence[ItemResult],
    own: Mapping[str, Rubric],
) -> tuple[VerdictChanges, ...]:
    places_by_criterion = new_places(edits)
    before: dict[tuple[str, str], int | None] = {}
    for item_id, cell in store.results.verdicts(run.id):
        if item_id not in own and cell.criterion in places_by_criterion:
            new, place = places_by_criterion[cell.criterion]
            before[item_id, new.name] = None if cell.option is None else place[cell.option]
    news = {new.name: new for _, new in edits.pairs}
    olds = {new.name: old.name for old, new in edits.pairs}
    counts: dict[str, list[int]] = {name: [0, 0, 0] for name in news}
    items: dict[str, list[str]] = {name: [] for name in news}
    for item in after:
        for now in item.cells:
            key = (item.item_id, now.criterion)
            if key in before and before[key] != now.option:
                counts[now.criterion][
                    _change_direction(news[now.criterion], before[key], now.option)
                ] += 1
                items[now.criterion].append(item.item_id)
    return tuple(
        VerdictChanges(name, up, down, different, olds[name], tuple(items[name]))
        for name, (up, down, different) in counts.items()
        if items[name]
    )


def _change_direction(criterion: Criterion, before: int | None, after: int | None) -> int:
    """Return 0 for better, 1 for worse, 2 if neither is known."""
    values = [None if option is None else criterion.values[option] for option in (before, after)]
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return 2
    return 0 if (values[1] - values[0]) * criterion.weight > 0 else 1


def _change_bins(
    before: Sequence[float], after: Sequence[float]
) -> tuple[tuple[float, float, int, int], ...]:
    """Return equal bins from 0 to 1, or over the range of all scores if that is wider."""
    scores = [*before, *after]
    if not scores:
        return ()
    low, high = min(0.0, *scores), max(1.0, *scores)
    width = (high - low) / BINS

    def count_in_bins(scores: Sequence[float]) -> list[int]:
        counts = [0] * BINS
        for score in scores:
            # A rounding error must not move a score on a bin's lower edge below it.
            counts[min(BINS - 1, int((score - low) / width + 1e-9))] += 1
        return counts

    return tuple(
        (low + index * width, low + (index + 1) * width, *pair)
        for index, pair in enumerate(zip(count_in_bins(before), count_in_bins(after), strict=True))
    )


def _nearly_equal(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= _SAME


@dataclass
class VersionRuns:
    """The runs whose judges were asked a version, and the others whose scores follow it now.

    ``queues`` counts the review queues of all runs whose scores follow it.
    """

    asked: list[RunRow] = field(default_factory=list)
    follow: list[RunRow] = field(default_factory=list)
    queues: int = 0


def uses_of_versions(store: Store, rubric_id: int) -> dict[int, VersionRuns]:
    """Return the uses of each version of a rubric, by version id; newest runs first."""
    by_version: dict[int, VersionRuns] = {}
    queued: dict[int, int] = {}
    for queue in store.queues.list():
        queued[queue.run_id] = queued.get(queue.run_id, 0) + 1
    for run_id in store.scored.runs_of(rubric_id):
        run = store.runs.row(run_id)
        by_version.setdefault(run.rubric_version_id, VersionRuns()).asked.append(run)
        if run.scored_version_id != run.rubric_version_id:
            by_version.setdefault(run.scored_version_id, VersionRuns()).follow.append(run)
        if run_id in queued:
            by_version[run.scored_version_id].queues += queued[run_id]
    return by_version


def runs_on_older_versions(store: Store, rubric_id: int) -> list[RunRow]:
    """Return the runs with votes whose scores do not follow the newest version, newest first."""
    newest = store.rubrics.latest_number(rubric_id)
    runs = [store.runs.row(run_id) for run_id in store.scored.runs_of(rubric_id)]
    return [run for run in runs if run.votes and run.scored_number != newest]
