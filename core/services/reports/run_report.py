"""The report of a run: what was graded and how, the results, and their certainty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core import clock
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.identity import canonical_json
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.services.agreement import calibration, overall
from core.services.agreement.conclusion import (
    Conclusion,
    Known,
    conclusion_of_alphas,
    conclusion_of_figures,
)
from core.services.agreement.load_ratings import run_ratings

# The same resamples as on the Agreement page, so that a figure has one interval everywhere.
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.ratings import MAJORITY, PANEL, TIED, Rated
from core.services.datasets import label_draws
from core.services.datasets.twins import twins_of
from core.services.diagnostics import probe_results, probes
from core.services.diagnostics.diagnosis import diagnose
from core.services.gate import drift
from core.services.pairwise import system_gaps
from core.services.reports.limits import limits_of
from core.services.reports.report_lines import (
    ComparedRatings,
    compared_ratings,
    criterion_lines,
    gate_lines,
    rater_lines,
    reference_line,
)
from core.services.reports.report_values import (
    CorrectedLine,
    CriterionLine,
    JudgeFacts,
    ReportCounts,
    ReviewLine,
    RunReport,
    Setup,
    Training,
)
from core.services.reports.score_lines import (
    extreme_items,
    mean_function,
    present_scores,
    score_range,
    slice_of,
    slices_by_name,
)
from core.services.results import run_columns
from core.services.results.browsing import results_state as run_stands_on
from core.services.results.browsing import score_distribution as score_bins
from core.services.results.scored_items import fitted_of, scored_rubric
from core.services.results.weight_fit_words import fit_explanation
from core.services.review import corrected_estimates, random_labels
from core.services.review.corrected_estimates import CorrectedMean, audited_queues
from core.services.review.random_audit import scope_words
from core.services.runs.lifecycle import cells_not_needed, unrecorded_calls
from core.store.store import Store

__all__ = ["RESAMPLES", "SEED", "RunReport", "report_run", "report_state"]


def review_lines(store: Store, run_id: int, level: float = USUAL.level) -> tuple[ReviewLine, ...]:
    """Return a line per queue with a random audit, the oldest first, including archived queues.

    Raises ``NotFound``.
    """
    return tuple(
        ReviewLine(
            queue=estimate.queue.id,
            name=estimate.queue.name,
            audited=estimate.audited,
            queued=estimate.queued,
            missing=estimate.missing,
            weighted=estimate.weighted,
            hard=estimate.hard,
            only=scope_words(estimate.queue.rule),
        )
        for estimate in audited_queues(store, run_id, level)
    )


def corrected_lines(
    store: Store, run: Run, level: float = USUAL.level
) -> tuple[tuple[CorrectedLine, ...], str]:
    """Return means corrected by labels drawn at random, and the leading system by them.

    The lines are for all criteria by weight, for each, and for the systems; empty without such
    labels.
    """
    if random_labels.labels_of_run(store, run.id).reason:
        return (), ""
    lines, _ = corrected_estimates.corrected_means_of_run(store, run.id, level)
    systems = system_gaps.corrected_systems(store, run, level=level)
    named = [(corrected.criterion or "All criteria, by weight", corrected) for corrected in lines]
    named += [(corrected.system, corrected.mean) for corrected in systems.systems]
    sentence = system_gaps.in_words(systems) if systems.systems else ""
    return tuple(_corrected_line(name, corrected) for name, corrected in named), sentence


def _declared_by(store: Store, run: Run) -> str:
    """Return who declared the labels as a random draw of all cells; empty for labels of a queue."""
    return label_draws.draw_words(random_labels.labels_of_run(store, run.id).declared)


def _corrected_line(name: str, corrected: CorrectedMean) -> CorrectedLine:
    undefined = Estimate.undefined(corrected.reason)
    mean, labels = (
        (undefined, undefined)
        if corrected.powered is None
        else (corrected.powered.mean, corrected.powered.labels)
    )
    return CorrectedLine(name, corrected.cells, corrected.labelled, corrected.said, mean, labels)


#: Fields that are not settings: the judge's identity, and the source of its key.
_NOT_SETTINGS = {"name", "kind", "model", "weight", "shadow", "key_env"}
_USER = re.compile(r"//[^/@]*@")


def setup_of(store: Store, run: Run, rubric: Rubric) -> Setup:
    """Return the plan of a run in words and hashes."""
    dataset = store.datasets.version(run.dataset_version_id)
    plan = run.plan
    return Setup(
        run=run.id,
        name=run.name,
        status=run.status,
        message=run.message,
        rubric=run.rubric_name,
        rubric_number=run.scored_number,
        rubric_hash=store.rubrics.version(run.scored_version_id).hash,
        asked_number=run.rubric_number,
        dataset=run.dataset_name,
        dataset_number=run.dataset_number,
        dataset_hash=dataset.hash,
        panel=run.panel.name,
        panel_hash=run.panel_hash,
        judges=tuple(
            judge_facts(judge, run.notes.get("training", {}).get(judge.name, {}))
            for judge in run.panel.judges
        ),
        rules=run.panel.rules.model_dump(),
        abstention=rubric.scoring.abstention,
        asking=_asking_setup(run.panel),
        seed=plan.seed,
        replicates=plan.replicates,
        learned_from=len(plan.calibration.get("items", ())),
        twins=twins_of(plan.calibration).in_words(),
        fitted={name: fit_explanation(rule) for name, rule in fitted_of(run).items()},
        versions=dict(plan.versions),
        imported=dict(plan.details.get("imported", {})),
        created=run.created,
        started=run.started,
        finished=run.finished,
    )


def judge_facts(judge: Judge, training: Mapping[str, Mapping[str, Any]]) -> JudgeFacts:
    """Return a judge with its non-default settings, and what it learned; never its key."""
    settings = judge.model_dump(exclude_defaults=True, exclude=_NOT_SETTINGS)
    return JudgeFacts(
        name=judge.name,
        kind=judge.kind,
        model=judge.model,
        weight=judge.weight,
        shadow=judge.shadow,
        settings={name: _value_words(value) for name, value in settings.items()},
        training=tuple(
            Training(
                criterion=name,
                trained=bool(entry["trained"]),
                n=int(entry["n"]),
                accuracy=entry.get("accuracy"),
                majority=entry.get("majority"),
                reason=str(entry.get("reason") or ""),
            )
            for name, entry in training.items()
        ),
    )


def _value_words(value: Any) -> str:
    if isinstance(value, str):
        # An address may contain a name and a password.
        return _USER.sub("//", value)
    return canonical_json(value)


def _asking_setup(panel: Panel) -> dict[str, str]:
    """Return how models were asked; empty without models."""
    if not any(judge.rater_kind == "llm" for judge in panel.judges):
        return {}
    asking: Asking = panel.asking
    settings = {name: _value_words(value) for name, value in asking.model_dump().items()}
    if panel.cascade is not None:
        settings["cascade"] = _value_words(panel.cascade.model_dump())
    return settings


def counts_of(
    store: Store,
    run: Run,
    scores: run_columns.ScoreColumns,
    asked: int,
    tied: int = 0,
) -> ReportCounts:
    """Return the counts of a run; ``asked`` is its number of (item, criterion) pairs."""
    cells, abstained, adjudicated, unvoted = store.results.cell_tallies(run.id)
    return ReportCounts(
        items=run.items,
        scored=len(present_scores(scores)),
        complete=int((scores.complete & ~np.isnan(scores.score)).sum()),
        ungraded=scores.ungraded,
        cells=asked,
        missing=asked - cells,
        abstained=abstained,
        adjudicated=adjudicated,
        unvoted=unvoted,
        tied=tied,
        planned=run.planned,
        spared=cells_not_needed(run),
        votes=run.votes,
        abstentions=run.abstentions,
        failures={kind.kind: kind.times for kind in store.votes.failure_kinds(run.id)},
        calls=run.calls,
        lost_calls=unrecorded_calls(run),
        cached=run.cached,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        cost=run.cost,
        cost_unknown=run.cost_unknown,
        saved=run.saved,
        seconds=round(run.seconds, 3),
    )


def _tied_cells(rated: Rated) -> int:
    """Return the number of cells with a verdict in force but without a majority option."""
    return sum(
        int(((criterion.columns[MAJORITY] == TIED) & (criterion.panel >= 0)).sum())
        for criterion in rated.criteria
        if MAJORITY in criterion.columns
    )


def report_run(
    store: Store,
    run_id: int,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: Confidence = USUAL,
    created: str = "",
) -> RunReport:
    """Return the report of a run, which may be imported.

    Intervals come from ``resamples`` of the items, by method and level ``confidence``; trusted
    criteria, limits and findings are decided at 95%, whatever that level. ``created`` is the
    report's date (default: now). Raises ``NotFound`` for an unknown run.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    rated = run_ratings(store, run_id)
    scores = run_columns.score_columns(store, run)
    with_run_rubric = run.items - len(rated.of.own)
    cells = with_run_rubric * len(rubric.criteria) + sum(
        len(own_rubric.criteria) for own_rubric in rated.of.own.values()
    )
    mean = mean_function(resamples, seed, confidence, normalized=rubric.scoring.normalize)
    comparison = compared_ratings(rated, run_columns.cell_columns(store, run))
    worst, best = extreme_items(store, run_id, len(present_scores(scores)))
    least, middle, most = score_range(scores)
    diagnosis = diagnose(store, run_id)
    by_people = corrected_lines(store, run, confidence.level)
    made_of = RunReport(
        made=created or clock.now(),
        setup=setup_of(store, run, rubric),
        counts=counts_of(store, run, scores, cells, _tied_cells(rated)),
        scores=slice_of("All items", scores, mean, confidence.level),
        least=least,
        median=middle,
        most=most,
        bins=tuple(score_bins(store, run_id)),
        systems=slices_by_name(
            scores, rated.of, lambda item: (item.system,), mean, confidence.level
        ),
        tags=slices_by_name(scores, rated.of, lambda item: item.tags, mean, confidence.level),
        splits=slices_by_name(scores, rated.of, lambda item: (item.split,), mean, confidence.level),
        reference=comparison.reference,
        labelled_items=comparison.labelled_items,
        criteria=criterion_lines(
            comparison, mean, resamples=resamples, seed=seed, confidence=confidence
        ),
        more_criteria=comparison.more,
        raters=rater_lines(comparison, mean),
        reference_scores=reference_line(comparison, mean),
        worst=worst,
        best=best,
        gates=gate_lines(store, run_id, scores, rated.of),
        reviews=review_lines(store, run_id, confidence.level),
        corrected=by_people[0],
        systems_by_people=by_people[1],
        findings=tuple(finding.sentence for finding in diagnosis.findings),
        checks=diagnosis.summary if diagnosis.check_count else "",
        limits=(),
        conclusion=None,
        resamples=resamples,
        seed=seed,
        asked_again=_probe_findings(store, run_id),
        stand_in=calibration.alt_test_data(comparison.sheet),
        labels_declared=_declared_by(store, run) if by_people[0] else "",
        trust=overall.trust_of(rated, level=confidence.level).as_data() if run.votes else {},
        level=confidence.level,
        interval=confidence.method,
    )
    lines = made_of.criteria
    if confidence != USUAL:
        lines = criterion_lines(comparison, mean, resamples=resamples, seed=seed)
    if run.votes and lines:
        made_of = replace(made_of, conclusion=_conclusion_from(comparison, lines))
    return replace(made_of, limits=limits_of(replace(made_of, criteria=lines)))


def _probe_findings(store: Store, run_id: int) -> tuple[str, ...]:
    """Return the findings of a run's newest finished probe, and which judges have drifted since."""
    finished = [row for row in probes.of_run(store, run_id) if row.votes and not row.active]
    findings = probe_results.result(store, finished[0].id).findings if finished else []
    if drift.latest(store, run_id) is not None:
        findings += drift.drift(store, run_id).alerts
    return tuple(findings)


def _conclusion_from(compared_run: ComparedRatings, lines: Sequence[CriterionLine]) -> Conclusion:
    """Return which criteria can be trusted, from the figures of their lines."""
    if not compared_run.column:
        names, alphas = [line.name for line in lines], [line.alpha for line in lines]
        return conclusion_of_alphas(names, alphas, people=not compared_run.sheet.judges)
    criteria = (
        Known(
            line.name,
            line.kappa._replace(n=line.labelled),
            line.accuracy,
            line.commonest.value,
            line.scale == "ordinal",
        )
        for line in lines
    )
    return conclusion_of_figures(criteria, compared_run.column, PANEL, compared_run.sheet)


def report_state(store: Store, run_id: int) -> tuple[object, ...]:
    """Return plain values that change whenever the report of a run would."""
    row = store.runs.row(run_id)
    queues = tuple(queue.id for queue in store.queues.list(run_id))
    probed = tuple(
        (probe.id, probe.votes, probe.active) for probe in probes.of_run(store, run_id)[:1]
    )
    repeats = tuple(drift.repeats_in_order(store, run_id))
    return (*run_stands_on(store, row), row.status, queues, probed, repeats)
