"""Anchors: the same items asked again over weeks, by the same judges; and whether they moved.

A repeat is a run like any other, whose plan names the run that it repeats. It takes nothing from
kept answers: an answer of last month says nothing of this month's model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.domain.runs import Run, RunRow
from core.errors import InputError
from core.metrics.drift import FALSE_ALARMS, Look, looks_at
from core.metrics.measure import Array
from core.services.access.allowing import allowed
from core.services.queueing.queue_table import CellTable
from core.services.results import run_columns
from core.services.results.grid import earned
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import CostEstimate
from core.services.runs.cost_estimate import estimate as estimate_run
from core.services.runs.planning import RunRequest
from core.store.store import Store
from core.text.numbers import day, percent

#: The detail of runs that ask the same again: the number of the first.
ANCHOR = "anchor"
_PLACE = "anchor/"
#: What is watched: how often answers are the labels, and how much of the best they give.
RIGHT, GIVES = "accuracy", "earned"
MEASURES: Mapping[str, str] = {
    RIGHT: "its answers are the labels' in",
    GIVES: "its answers give, of the best a criterion can,",
}
PROMISED = (
    f"Of judges that do not move at most {FALSE_ALARMS:.0%} of series raise any alarm, however "
    "often one looks."
)


@dataclass(frozen=True)
class DriftPoint:
    """One look: which run, when, by which version of the judge.

    ``means`` are those of the last two, four and eight looks, this one among them.
    """

    run_id: int
    at: str
    version: str
    look: Look
    means: tuple[Look, ...] = ()

    @property
    def beyond(self) -> Look | None:
        """The look, or else the shortest mean of the last looks, that lies beyond its limits."""
        return next((one for one in (self.look, *self.means) if one.out), None)

    @property
    def findable(self) -> float | None:
        """The smallest lasting move that would have been found with a chance of 80%."""
        sizes = [one.findable for one in (self.look, *self.means) if one.findable is not None]
        return min(sizes, default=None)


@dataclass(frozen=True)
class JudgeSeries:
    """One judge and one measure over time; the first point is the anchor itself."""

    judge: str
    measure: str
    points: tuple[DriftPoint, ...]

    @property
    def alert(self) -> str:
        """What has happened, where the newest look lies beyond its limits; else nothing."""
        last = self.points[-1]
        look = last.beyond
        if look is None:
            return ""
        since = next(
            (
                point
                for at, point in enumerate(self.points)
                if all(later.beyond for later in self.points[at:])
            ),
            last,
        )
        mean = "" if look.over == 1 else f" on average of the last {look.over} looks"
        return (
            f"{self.judge} has drifted: on the same {look.n} items {MEASURES[self.measure]} "
            f"{percent(look.now)}{mean}, when first asked {percent(look.before)} (control limits "
            f"{percent(max(0.0, look.low or 0.0))} to {percent(min(1.0, look.high or 0.0))}), "
            f"since {day(since.at)}{self._changed(since)}."
        )

    def _changed(self, since: DriftPoint) -> str:
        first = self.points[0].version
        if since.version == first:
            return f"; its version is still {first}" if first else ""
        return f"; its version is {since.version}, at first {first}"


@dataclass(frozen=True)
class Drift:
    """All series of an anchor; without repeats there is nothing to say yet."""

    anchor: Run
    repeats: tuple[Run, ...]
    series: tuple[JudgeSeries, ...]

    @property
    def alerts(self) -> list[str]:
        """A sentence for each series whose newest look lies beyond its limits."""
        return [one.alert for one in self.series if one.alert]

    @property
    def least(self) -> str:
        """How small a lasting move would have been found, by the least sensitive of all series."""
        sizes = [size for one in self.series if (size := one.points[-1].findable) is not None]
        if not self.repeats or not sizes:
            return ""
        return (
            f" A lasting move of {percent(max(sizes), 1)} of all answers, or of what a criterion "
            "can earn, would have been found in 80% of cases."
        )


def anchor_of(store: Store, run_id: int) -> int:
    """The run that a run repeats, or itself. Raises ``NotFound``."""
    return int(store.runs.get(run_id).plan.details.get(ANCHOR, run_id))


def request(store: Store, run_id: int, budget: float | None = None) -> RunRequest:
    """The run that asks the same again. Raises ``InputError`` where it cannot be asked."""
    run = store.runs.get(anchor_of(store, run_id))
    if not run.panel.askable:
        raise InputError(f"The votes of run {run.id} came from elsewhere: nobody can be asked.")
    asking = run.panel.asking.model_copy(update={"cache": False})
    taught = run.plan.calibration
    return RunRequest(
        rubric_version=run.rubric_version_id,
        dataset_version=run.dataset_version_id,
        panel=run.panel.model_copy(update={"asking": asking}),
        name=f"{run.name[:180]}, asked again",
        seed=run.plan.seed,
        replicates=run.plan.replicates,
        budget=budget,
        items=tuple(store.runs.item_ids(run.id)),
        learn_from=taught.get("dataset_version"),
        learn_items=tuple(taught["items"]) if taught else None,
        details={ANCHOR: run.id},
    )


def estimate(store: Store, run_id: int) -> CostEstimate:
    """What asking the same again will take."""
    return estimate_run(store, request(store, run_id))


@allowed("write")
def ask(store: Store, run_id: int, budget: float | None = None) -> int:
    """Ask the same again; returns the new run's id, to be worked off like any other."""
    made = lifecycle.start(store, request(store, run_id, budget))
    store.settings.add(f"{_PLACE}{anchor_of(store, run_id)}", made)
    return made


def looks(store: Store, anchor: int) -> list[int]:
    """The repeats of an anchor, in the order asked, and how many votes each has: what may change
    a series.
    """
    return [n for run in _repeats(store, anchor) for n in (run.id, run.votes, int(run.active))]


def latest(store: Store, anchor: int) -> RunRow | None:
    """The newest repeat, finished or not."""
    return next(reversed(_repeats(store, anchor)), None)


def _repeats(store: Store, anchor: int) -> list[RunRow]:
    return [store.runs.row(one) for one in store.settings.get(f"{_PLACE}{anchor}", [])]


def drift(store: Store, run_id: int) -> Drift:
    """How the judges of a run answer over time; ``run_id`` may be a repeat. ``NotFound``."""
    anchor = store.runs.get(anchor_of(store, run_id))
    asked = [run for run in _repeats(store, anchor.id) if run.votes and not run.active]
    repeats = tuple(store.runs.get(run.id) for run in asked)
    answers = _Answers(store, anchor)
    first = answers.of(anchor)
    judges = [judge.name for judge in anchor.panel.judges if judge.rater_kind != "human"]
    tests = len(judges) * len(MEASURES)
    runs = (anchor, *repeats)
    given = [first, *(answers.of(run) for run in repeats)]
    versions = [_versions(store, run) for run in runs]

    def series_of(judge: str, measure: str) -> JudgeSeries:
        cells = np.array([one[judge, measure] for one in given])
        itself = looks_at(cells[[0, 0]], answers.items, tests)
        looks = [*itself, *looks_at(cells, answers.items, tests)]
        points = (
            DriftPoint(run.id, run.created, version.get(judge, ""), look, tuple(means))
            for run, version, (look, *means) in zip(runs, versions, looks, strict=True)
        )
        return JudgeSeries(judge, measure, tuple(points))

    series = [series_of(judge, measure) for judge in judges for measure in MEASURES]
    return Drift(anchor, repeats, tuple(series))


class _Answers:
    """The cells of an anchor, and what each run answered to them."""

    def __init__(self, store: Store, anchor: Run) -> None:
        self._store, self._anchor = store, anchor
        # What was asked counts, whatever version scores follow since.
        asked = replace(anchor, scored_version_id=anchor.rubric_version_id)
        self._table = table = CellTable(store, asked)
        self._truth = np.full(len(table), run_columns.NO_LABEL)
        for name, labels in run_columns.label_columns(store, asked).items():
            cells, items = table.cells_of(name, np.arange(len(table.ids)))
            self._truth[cells] = labels[items]
        self._gives = table.by_option(_earned)
        self.items = table.item

    def of(self, run: Run) -> dict[tuple[str, str], Array]:
        """Per judge and measure the mean over replicates of each cell; NaN where there is none."""
        sums, counts = (
            {judge.name: np.zeros((2, len(self._table))) for judge in run.panel.judges}
            for _ in range(2)
        )
        place = run_columns.places_of_items(self._store, self._anchor)
        ids = run_columns.items_of_run(self._store, run).ids
        rows = np.array([place.get(item_id, -1) for item_id in ids], np.int64)
        for vote in run_columns.vote_columns(self._store, run):
            here = (rows[vote.rows] >= 0) & (vote.options >= 0)
            if vote.replicate >= run.plan.replicates:
                continue
            cells, kept = self._table.cells_of(vote.criterion, rows[vote.rows[here]])
            option, truth = vote.options[here][kept], self._truth[cells]
            right = np.where(truth >= 0, option == truth, np.nan)
            gives = self._gives[self._table.question[cells], option]
            for column, values in enumerate((right, gives)):
                known = ~np.isnan(values)
                sums[vote.judge][column, cells[known]] += values[known]
                counts[vote.judge][column, cells[known]] += 1
        found = {}
        for judge, total in sums.items():
            number = counts[judge]
            means = np.where(number > 0, total / np.maximum(number, 1), np.nan)
            for column, measure in enumerate(MEASURES):
                found[judge, measure] = means[column]
        return found


def _earned(criterion: Criterion) -> list[float | None]:
    """What each option earns; nothing where options have no order."""
    if criterion.scale == "nominal":
        return [None] * len(criterion.values)
    return [earned(criterion, value) for value in criterion.values]


def _versions(store: Store, run: Run) -> dict[str, str]:
    """What each judge was in a run: the model that its provider says answered, and our prompt."""
    models = store.votes.models(run.id)
    return {
        judge.name: _version(judge, models.get(judge.name, ()), run) for judge in run.panel.judges
    }


def _version(judge: Judge, models: Sequence[str], run: Run) -> str:
    said = ", ".join(models) or judge.model
    prompt = run.plan.versions.get("prompt", "")
    return f"{said} ({prompt})" if said and prompt else said


# In words, and as data.


def as_text(found: Drift) -> str:
    """The alerts, or that nothing has moved."""
    if not found.repeats:
        return f"Run {found.anchor.id} has not been asked again yet. `drift RUN --ask` does so."
    looks = f"{len(found.repeats)} look" + ("s" if len(found.repeats) > 1 else "")
    lines = found.alerts or [
        f"No judge of run {found.anchor.id} has moved beyond its limits.{found.least}"
    ]
    return "\n".join([*lines, f"{looks} so far. {PROMISED}"])


def as_data(found: Drift) -> dict[str, Any]:
    """What ``drift --json`` says."""
    return {
        "anchor": found.anchor.id,
        "looks": [run.id for run in found.repeats],
        "false_alarms": FALSE_ALARMS,
        "alerts": found.alerts,
        "series": [
            {
                "judge": one.judge,
                "measure": one.measure,
                "alert": one.alert or None,
                "points": list(_points(one)),
            }
            for one in found.series
        ],
    }


def _points(series: JudgeSeries) -> Iterator[dict[str, Any]]:
    for point in series.points:
        look = point.look
        yield {
            "run": point.run_id,
            "at": point.at,
            "version": point.version,
            "value": look.now,
            "first": look.before,
            "limits": None if look.low is None else [look.low, look.high],
            "items": look.n,
            "out": point.beyond is not None,
            "findable": point.findable,
            **({"mean": _mean(beyond)} if (beyond := point.beyond) and not look.out else {}),
            **({"undefined": look.reason} if look.reason else {}),
        }


def _mean(look: Look) -> dict[str, Any]:
    """The mean of several looks that lies beyond its limits where the newest alone does not."""
    limits = None if look.low is None else [look.low, look.high]
    return {"looks": look.over, "value": look.now, "limits": limits}
