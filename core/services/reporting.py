"""A run's report: what was graded how, what came out, how sure that is, and what it cannot say."""

from __future__ import annotations

from dataclasses import replace

from core.services import clock

# The same resamples as on the Agreement page: a figure has one interval, wherever it stands.
from core.services.agreeing_pairs import RESAMPLES, SEED
from core.services.browsing import scores as score_bins
from core.services.browsing import stands_on as run_stands_on
from core.services.diagnosing import diagnose
from core.services.rated import of_run
from core.services.reporting_criteria import (
    compared,
    criterion_lines,
    rater_lines,
    reference_line,
)
from core.services.reporting_limits import limits
from core.services.reporting_reviews import review_lines
from core.services.reporting_scores import (
    extremes,
    gates,
    mean_with,
    slice_of,
    slices,
    spread,
    tags_of,
)
from core.services.reporting_setup import counts_of, setup_of
from core.services.reporting_values import Report
from core.services.scored import scored_rubric
from core.store.store import Store

__all__ = ["RESAMPLES", "SEED", "Report", "report", "stands_on"]


def report(
    store: Store, run_id: int, *, resamples: int = RESAMPLES, seed: int = SEED, made: str = ""
) -> Report:
    """The report of a run; imported runs are runs.

    Intervals are 95 %, from ``resamples`` of the items; ``made`` is the report's date (now where
    not given). Raises ``NotFound`` for an unknown run.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    rated = of_run(store, run_id)
    rows = store.results.items(run_id, limit=run.items)
    cells = store.results.verdicts(run_id)
    asked = sum(len(rated.rubric_of(row.item_id).criteria) for row in rows)
    mean = mean_with(resamples, seed)
    verdicts = {(item, cell.criterion): cell for item, cell in cells}
    found = compared(rated, verdicts)
    worst, best = extremes(rows)
    least, middle, most = spread(rows)
    diagnosis = diagnose(store, run_id)
    made_of = Report(
        made=made or clock.now(),
        setup=setup_of(store, run, rubric),
        counts=counts_of(store, run, rows, cells, asked),
        scores=slice_of("All items", rows, mean),
        least=least,
        median=middle,
        most=most,
        bins=tuple((low, high, n) for low, high, n in score_bins(store, run_id)),
        systems=slices(rows, lambda row: [row.system] if row.system else [], mean),
        tags=slices(rows, tags_of(rated.items), mean),
        splits=slices(rows, lambda row: [row.split] if row.split else [], mean),
        reference=found.reference,
        labelled_items=found.labelled_items,
        criteria=criterion_lines(found, verdicts, mean, resamples=resamples, seed=seed),
        more_criteria=found.more,
        raters=rater_lines(found, mean),
        reference_scores=reference_line(found, mean),
        worst=worst,
        best=best,
        gates=gates(store, run_id, rows, rated.rubric_of),
        reviews=review_lines(store, run_id),
        findings=tuple(finding.sentence for finding in diagnosis.findings),
        checks=diagnosis.promise if diagnosis.made else "",
        limits=(),
        resamples=resamples,
        seed=seed,
    )
    return replace(made_of, limits=limits(made_of))


def stands_on(store: Store, run_id: int) -> tuple[object, ...]:
    """Plain values that change whenever the report of a run would."""
    row = store.runs.row(run_id)
    queues = tuple(queue.id for queue in store.queues.list(run_id))
    return (*run_stands_on(store, row), row.status, queues)
