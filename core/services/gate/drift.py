"""Anchors: the same items graded again over weeks by the same judges, to detect drift.

A repeat is a normal run whose plan names the run that it repeats. It does not use cached answers,
since last month's answers say nothing about this month's model.
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
from core.metrics.drift import FALSE_ALARMS, RepetitionMean, comparisons_of_cells
from core.metrics.measure import Array
from core.services.access.allowing import allowed
from core.services.queueing.queue_table import CellTable
from core.services.results import run_columns
from core.services.results.grid import earned_share
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import CostEstimate
from core.services.runs.cost_estimate import estimate_request as estimate_run
from core.services.runs.planning import RunRequest
from core.store.store import Store
from core.text.numbers import day_of, percent

#: The detail of repeats: the number of the first run.
ANCHOR = "anchor"
_PLACE = "anchor/"
#: The watched measures: how often answers match the labels, and the share of points they give.
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
    """One look, of the anchor or a repeat: its run, its time, and the judge's version.

    ``means`` are those of the last two, four and eight looks, including this one.
    """

    run_id: int
    at: str
    version: str
    look: RepetitionMean
    means: tuple[RepetitionMean, ...] = ()

    @property
    def exceeding_look(self) -> RepetitionMean | None:
        """Return the look that exceeds its limits, or else the shortest mean of last looks that
        does.
        """
        return next((candidate for candidate in (self.look, *self.means) if candidate.out), None)

    @property
    def findable(self) -> float | None:
        """Return the smallest lasting change that would have been detected with 80% chance."""
        sizes = [
            candidate.findable
            for candidate in (self.look, *self.means)
            if candidate.findable is not None
        ]
        return min(sizes, default=None)


@dataclass(frozen=True)
class JudgeSeries:
    """One judge and one measure over time; the first point is the anchor itself."""

    judge: str
    measure: str
    points: tuple[DriftPoint, ...]

    @property
    def alert(self) -> str:
        """Return a sentence if the newest look exceeds its limits; otherwise an empty string."""
        last = self.points[-1]
        look = last.exceeding_look
        if look is None:
            return ""
        since = next(
            (
                point
                for index, point in enumerate(self.points)
                if all(later.exceeding_look for later in self.points[index:])
            ),
            last,
        )
        mean = "" if look.over == 1 else f" on average of the last {look.over} looks"
        return (
            f"{self.judge} has drifted: on the same {look.n} items {MEASURES[self.measure]} "
            f"{percent(look.now)}{mean}, when first asked {percent(look.before)} (control limits "
            f"{percent(max(0.0, look.low or 0.0))} to {percent(min(1.0, look.high or 0.0))}), "
            f"since {day_of(since.at)}{self._changed(since)}."
        )

    def _changed(self, since: DriftPoint) -> str:
        first = self.points[0].version
        if since.version == first:
            return f"; its version is still {first}" if first else ""
        return f"; its version is {since.version}, at first {first}"


@dataclass(frozen=True)
class Drift:
    """All series of an anchor. Without ``repeats`` a series is only the anchor's own point."""

    anchor: Run
    repeats: tuple[Run, ...]
    series: tuple[JudgeSeries, ...]

    @property
    def alerts(self) -> list[str]:
        """Return a sentence for each series whose newest look exceeds its limits."""
        return [row.alert for row in self.series if row.alert]

    @property
    def least(self) -> str:
        """Return the smallest lasting change that every series would have detected."""
        sizes = [size for row in self.series if (size := row.points[-1].findable) is not None]
        if not self.repeats or not sizes:
            return ""
        return (
            f" A lasting move of {percent(max(sizes), 1)} of all answers, or of what a criterion "
            "can earn, would have been found in 80% of cases."
        )


def anchor_of(store: Store, run_id: int) -> int:
    """Return the run that a run repeats, or itself. Raises ``NotFound``."""
    return int(store.runs.get(run_id).plan.details.get(ANCHOR, run_id))


def repeat_request(store: Store, run_id: int, budget: float | None = None) -> RunRequest:
    """Return the request of a repeat. Raise ``InputError`` if the run cannot be graded here."""
    run = store.runs.get(anchor_of(store, run_id))
    if not run.panel.askable:
        raise InputError(f"The votes of run {run.id} were imported: its judges cannot be asked.")
    asking = run.panel.asking.model_copy(update={"cache": False})
    teaching = run.plan.calibration
    return RunRequest(
        rubric_version=run.rubric_version_id,
        dataset_version=run.dataset_version_id,
        panel=run.panel.model_copy(update={"asking": asking}),
        name=f"{run.name[:180]}, asked again",
        seed=run.plan.seed,
        replicates=run.plan.replicates,
        budget=budget,
        items=tuple(store.runs.item_ids(run.id)),
        learn_from=teaching.get("dataset_version"),
        learn_items=tuple(teaching["items"]) if teaching else None,
        details={ANCHOR: run.id},
    )


def estimate(store: Store, run_id: int) -> CostEstimate:
    """Return the estimate of a repeat."""
    return estimate_run(store, repeat_request(store, run_id))


@allowed("write")
def ask(store: Store, run_id: int, budget: float | None = None) -> int:
    """Start a repeat; return its run's id, to be processed like any other."""
    repeat_id = lifecycle.start(store, repeat_request(store, run_id, budget))
    store.settings.add(f"{_PLACE}{anchor_of(store, run_id)}", repeat_id)
    return repeat_id


def repeats_in_order(store: Store, anchor: int) -> list[int]:
    """Return three numbers per repeat, which change whenever a series does: its run, its votes, and
    whether it is at work.
    """
    return [n for run in _repeats(store, anchor) for n in (run.id, run.votes, int(run.active))]


def latest(store: Store, anchor: int) -> RunRow | None:
    """Return the newest repeat, finished or not; or ``None``."""
    return next(reversed(_repeats(store, anchor)), None)


def _repeats(store: Store, anchor: int) -> list[RunRow]:
    return [store.runs.row(repeat_id) for repeat_id in store.settings.get(f"{_PLACE}{anchor}", [])]


def drift(store: Store, run_id: int) -> Drift:
    """Return a run's judges over time; ``run_id`` may be a repeat. Raises ``NotFound``."""
    anchor = store.runs.get(anchor_of(store, run_id))
    finished = [run for run in _repeats(store, anchor.id) if run.votes and not run.active]
    repeats = tuple(store.runs.get(run.id) for run in finished)
    answers = _Answers(store, anchor)
    first = answers.of(anchor)
    judges = [judge.name for judge in anchor.panel.judges if judge.rater_kind != "human"]
    tests = len(judges) * len(MEASURES)
    runs = (anchor, *repeats)
    answers_by_run = [first, *(answers.of(run) for run in repeats)]
    versions = [_judge_versions(store, run) for run in runs]

    def series_of(judge: str, measure: str) -> JudgeSeries:
        cells = np.array([answered[judge, measure] for answered in answers_by_run])
        itself = comparisons_of_cells(cells[[0, 0]], answers.items, tests)
        looks = [*itself, *comparisons_of_cells(cells, answers.items, tests)]
        points = (
            DriftPoint(run.id, run.created, version.get(judge, ""), look, tuple(means))
            for run, version, (look, *means) in zip(runs, versions, looks, strict=True)
        )
        return JudgeSeries(judge, measure, tuple(points))

    series = [series_of(judge, measure) for judge in judges for measure in MEASURES]
    return Drift(anchor, repeats, tuple(series))


class _Answers:
    """The cells of an anchor, and each run's answers to them."""

    def __init__(self, store: Store, anchor: Run) -> None:
        self._store, self._anchor = store, anchor
        # The version that judges graded by counts, even if scores now follow another version.
        graded = replace(anchor, scored_version_id=anchor.rubric_version_id)
        self._table = table = CellTable(store, graded)
        self._truth = np.full(len(table), run_columns.NO_LABEL)
        for name, labels in run_columns.label_columns(store, graded).items():
            cells, items = table.cells_of(name, np.arange(len(table.ids)))
            self._truth[cells] = labels[items]
        self._gives = table.by_option(_shares_of_options)
        self.items = table.item

    def of(self, run: Run) -> dict[tuple[str, str], Array]:
        """Return each cell's mean over replicates, by judge and measure; NaN if missing."""
        sums, counts = (
            {judge.name: np.zeros((2, len(self._table))) for judge in run.panel.judges}
            for _ in range(2)
        )
        place = run_columns.places_of_items(self._store, self._anchor)
        ids = run_columns.ids_of_run(self._store, run)
        rows = np.array([place.get(item_id, -1) for item_id in ids], np.int64)
        for vote in run_columns.vote_columns(self._store, run):
            shared = (rows[vote.rows] >= 0) & (vote.options >= 0)
            if vote.replicate >= run.plan.replicates:
                continue
            cells, places = self._table.cells_of(vote.criterion, rows[vote.rows[shared]])
            option, truth = vote.options[shared][places], self._truth[cells]
            right = np.where(truth >= 0, option == truth, np.nan)
            gives = self._gives[self._table.question[cells], option]
            for column, values in enumerate((right, gives)):
                defined = ~np.isnan(values)
                sums[vote.judge][column, cells[defined]] += values[defined]
                counts[vote.judge][column, cells[defined]] += 1
        by_judge = {}
        for judge, total in sums.items():
            number = counts[judge]
            means = np.where(number > 0, total / np.maximum(number, 1), np.nan)
            for column, measure in enumerate(MEASURES):
                by_judge[judge, measure] = means[column]
        return by_judge


def _shares_of_options(criterion: Criterion) -> list[float | None]:
    """Return the share that each option earns; ``None`` if options have no order."""
    if criterion.scale == "nominal":
        return [None] * len(criterion.values)
    return [earned_share(criterion, value) for value in criterion.values]


def _judge_versions(store: Store, run: Run) -> dict[str, str]:
    """Return each judge's version in a run: the provider's model name, and our prompt."""
    models = store.votes.models(run.id)
    return {
        judge.name: _judge_version(judge, models.get(judge.name, ()), run)
        for judge in run.panel.judges
    }


def _judge_version(judge: Judge, models: Sequence[str], run: Run) -> str:
    model = ", ".join(models) or judge.model
    prompt = run.plan.versions.get("prompt", "")
    return f"{model} ({prompt})" if model and prompt else model


# As text, and as data.


def as_text(result: Drift) -> str:
    """Return the alerts, or that no judge has drifted."""
    if not result.repeats:
        return f"Run {result.anchor.id} has not been asked again yet. `drift RUN --ask` does so."
    looks = f"{len(result.repeats)} look" + ("s" if len(result.repeats) > 1 else "")
    lines = result.alerts or [
        f"No judge of run {result.anchor.id} has moved beyond its limits.{result.least}"
    ]
    return "\n".join([*lines, f"{looks} so far. {PROMISED}"])


def as_data(result: Drift) -> dict[str, Any]:
    """Return the data of ``drift --json``."""
    return {
        "anchor": result.anchor.id,
        "looks": [run.id for run in result.repeats],
        "false_alarms": FALSE_ALARMS,
        "alerts": result.alerts,
        "series": [
            {
                "judge": row.judge,
                "measure": row.measure,
                "alert": row.alert or None,
                "points": list(_point_data(row)),
            }
            for row in result.series
        ],
    }


def _point_data(series: JudgeSeries) -> Iterator[dict[str, Any]]:
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
            "out": point.exceeding_look is not None,
            "findable": point.findable,
            **(
                {"mean": _mean_data(beyond)}
                if (beyond := point.exceeding_look) and not look.out
                else {}
            ),
            **({"undefined": look.reason} if look.reason else {}),
        }


def _mean_data(look: RepetitionMean) -> dict[str, Any]:
    """Return the mean of several looks that exceeds its limits although the newest does not."""
    limits = None if look.low is None else [look.low, look.high]
    return {"looks": look.over, "value": look.now, "limits": limits}
