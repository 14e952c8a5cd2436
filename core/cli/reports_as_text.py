"""Figures of a run and of its raters as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.cli.requests_from_files import batches_as_text
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.metrics.agreement.known_figures import KNOWN
from core.metrics.estimate import Estimate
from core.scoring.explanation import explain
from core.scoring.trace import Trace, coverage_of
from core.services.agreement.calibration import stand_in_lines
from core.services.agreement.rater_pairs import bias_direction
from core.services.results.item_view import CriterionView, VoteView, averaged_in_words, item_view
from core.services.runs.lifecycle import lost_calls_words, run_summary, shown_status
from core.store.store import Store
from core.text import numbers as say
from core.text.numbers import percent, score

#: With fewer items than this, figures are uncertain, and the text says so.
FEW_ITEMS = 30
#: The figures shown for each kind; ``KNOWN`` has their names.
_GROUP = (
    "percent_agreement",
    "krippendorff_alpha_nominal",
    "gwet_ac1",
    "icc_2_1",
    "krippendorff_alpha_ordinal",
)
_PAIR = ("accuracy", "f1_macro", "cohen_kappa", "kappa_quadratic", "bias_levels")
_MEAN = ("pearson", "rmse_levels", "bias_levels")
_SCORE = ("pearson", "mae", "bias")
_SURE = ("confidence", "accuracy", "ece", "brier")
_WHOLE = (
    "Scores of whole items: those with a verdict on every criterion, an answer or cannot assess"
)
_REFERENCES = {
    "vs_human_majority": "human majority",
    "vs_human_mean_level": "human mean level",
    "vs_human_mean": "human mean",
    "vs_gold": "labels",
    "vs_reference": "reference",
}


def metrics_as_text(report: Mapping[str, Any]) -> str:
    """Return the report as lines. Undefined figures come with their reason."""
    lines = [report["trust"]["in_words"], ""] if "trust" in report else []
    for name, criterion in report["criteria"].items():
        lines += _criterion_lines(name, criterion)
    lines += [_WHOLE]
    raters = {**report["score"]["raters"], "panel": report["score"]["panel"]}
    lines += [
        line
        for name, figures in raters.items()
        for line in _compared_lines(name, figures, _named_figures(_SCORE))
    ]
    if lines[-1] == _WHOLE:
        lines.append(
            "  No item has both such a score and one by people or labels to compare it with."
        )
    if (drawn := report.get("bootstrap")) is not None:
        lines += ["", f"Intervals: {say.level_words(drawn['level'])}, {drawn['method']}."]
    if report.get("reference") in (None, "human"):
        lines += ["", *stand_in_lines(report.get("alt_test"))]
    return "\n".join(lines)


def _named_figures(names: Sequence[str], *, ordered: bool = True) -> dict[str, str]:
    """Return the names of figures that apply to options with or without an order."""
    return {name: KNOWN[name].short for name in names if ordered or not KNOWN[name].ordered}


def _criterion_lines(name: str, measured: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name} ({measured['scale']}: {', '.join(measured['levels'])})"
    ordered = measured["scale"] != "nominal"
    group, pair = (_named_figures(names, ordered=ordered) for names in (_GROUP, _PAIR))
    for kind, figures in measured["groups"].items():
        yield (
            f"  {kind}: {say.plural(figures['raters'], 'rater')}, "
            f"{say.plural(figures['items'], 'item')}, {say.plural(figures['ratings'], 'rating')}, "
            f"{figures['abstained']} abstained, "
            f"{figures['failed']} failed"
        )
        yield f"    {_figure_lines(figures, group, figures['items_with_2plus'])}"
    if not measured["groups"]:
        yield "  Nobody rated it."
    for rater, versus in {**measured["raters"], "panel": measured["panel"]}.items():
        yield from _compared_lines(rater, versus, pair, measured)
    yield ""


def _compared_lines(
    name: str,
    compared: Mapping[str, Any],
    names: Mapping[str, str],
    criterion: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    for key, figures in compared.items():
        if key == "calibration":
            if figures["n"]:
                named = {"gold": "the labels", "human": "the human majority"}
                words = named.get(figures["reference"], figures["reference"])
                yield f"  {name}, sure and right by {words}:"
                certain = _named_figures(_SURE) | {"accuracy": "right"}
                yield f"    {_figure_lines(figures, certain, figures['n'])}"
        elif figures["n"]:
            shown = _named_figures(_MEAN) if key == "vs_human_mean_level" else names
            yield f"  {name} against the {_REFERENCES[key]}:"
            yield f"    {_figure_lines(figures, shown, figures['n'], criterion)}"


def _figure_lines(
    group: Mapping[str, Any],
    names: Mapping[str, str],
    n: int,
    criterion: Mapping[str, Any] | None = None,
) -> str:
    reasons = group.get("undefined", {})
    parts = [f"n = {n}" + (" (few)" if 0 < n < FEW_ITEMS else "")]
    missing: dict[str, list[str]] = {}
    for name, label in names.items():
        value = group.get(name)
        if value is None:
            missing.setdefault(reasons.get(name, ""), []).append(label)
            continue
        estimate = Estimate(value, *(group.get("ci", {}).get(name) or ()))
        if criterion and (
            direction := bias_direction(name, criterion["scale"], criterion["levels"], estimate)
        ):
            words, _, estimate = direction
            label = f"{words} by"
        parts.append(f"{label} {estimate.words(percent if KNOWN[name].share else score).inline}")
    for name, label in names.items():
        if group.get(name) is not None and (reason := reasons.get(f"ci.{name}")):
            missing.setdefault(reason, []).append(f"interval of {label}")
    undefined = [f"no {', '.join(labels)}: {reason}" for reason, labels in missing.items()]
    return "; ".join([", ".join(parts), *undefined])


def run_as_text(store: Store, run_id: int) -> str:
    """Return a run as a few lines of text."""
    run = store.runs.get(run_id)
    figures = run_summary(store, run_id)
    failed = ", ".join(f"{n} {kind}" for kind, n in figures["failures"].items()) or "none"
    rows = store.batches.of_run(run_id)
    lines = [
        f"Run {run.id}: {run.name} ({shown_status(run)})",
        f"  rubric   {run.rubric_name}, {run.version_words}",
        f"  dataset  {run.dataset_name}, version {run.dataset_number}, {run.items} items",
        f"  judges   {', '.join(judge.name for judge in run.panel.judges)}",
        f"  votes    {run.votes} of {run.planned}, {run.abstentions} abstentions",
        f"  failed   {failed}",
        *_cost_lines(run, figures["cost_usd"]),
        *(f"           {kind}: {reason}" for kind, reason in figures["reasons"].items() if reason),
        *([f"  known    {run.cached} answers from earlier runs"] if run.cached else []),
        *(f"  batches  {sentence}" for sentence in batches_as_text(rows, looking=run.active)),
        *(
            [f"  lost     {lost_calls_words(lost_calls)}"]
            if (lost_calls := figures["lost_calls"])
            else []
        ),
    ]
    if run.message:
        lines.append(f"  note     {run.message}")
    for judge, report in run.notes.get("training", {}).items():
        lines += [f"  {judge}, {name}: {training_line(entry)}" for name, entry in report.items()]
    return "\n".join(lines)


def _cost_lines(run: Run, cost: float | None) -> list[str]:
    """Return the line about the calls and their cost, or about the source of imported votes."""
    imported = run.plan.details.get("imported")
    if imported is not None:
        return [f"  source   {imported.get('source') or 'elsewhere'}; nobody was asked here"]
    return [f"  cost     {'unknown' if cost is None else f'${cost:.4f}'}, {run.calls} calls"]


def training_line(report: dict[str, Any]) -> str:
    """Return the result of training an offline judge for a criterion, as a sentence."""
    if not report["trained"]:
        return f"switched off: {report['reason']}"
    return (
        f"learned from {report['n']} labels; right on {percent(report['accuracy'])} in "
        f"cross-validation, the most common label on {percent(report['majority'])}"
    )


def item_as_data(store: Store, run_id: int, item_id: str) -> dict[str, Any]:
    """Return an item with its verdicts and all votes as plain data."""
    view = item_view(store, run_id, item_id)
    return {
        "run": run_id,
        "item": item_id,
        "score": view.row.score,
        "raw": view.row.raw,
        **coverage_of(view.row.trace or {}),
        "needs_a_person": view.row.review,
        "trace": view.row.trace,
        "criteria": {c.criterion.name: _criterion_as_data(c) for c in view.criteria},
    }


def _criterion_as_data(view: CriterionView) -> dict[str, Any]:
    verdict = view.verdict
    return {
        "label": None if verdict is None or verdict.abstained else view.verdict_label,
        "abstained": bool(verdict and verdict.abstained),
        "agreement": verdict.agreement if verdict else None,
        "between": averaged_in_words(view.criterion, verdict),
        "truth": view.truth_label,
        "votes": [_vote_data(vote) for vote in view.votes],
    }


def _vote_data(view: VoteView) -> dict[str, Any]:
    head = {"judge": view.cell.judge, "replicate": view.cell.replicate}
    if view.vote is None:
        failure = view.failure
        return {
            **head,
            "failure": failure.kind if failure else None,
            "message": failure.message if failure else "not asked yet",
        }
    return {
        **head,
        "label": None if view.vote.abstained else view.label,
        "abstained": view.vote.abstained,
        "reason": view.vote.reason,
        "evidence": list(view.vote.evidence),
        "order": list(view.vote.order) if view.vote.order is not None else None,
        "confidence": view.vote.confidence,
        "no_chances": view.vote.detail.get("no_chances"),
    }


def item_as_text(store: Store, run_id: int, item_id: str) -> str:
    """Return an item with its verdicts and all votes as text."""
    view = item_view(store, run_id, item_id)
    score = "no grade" if view.row.score is None else say.score(view.row.score)
    lines = [f"Run {run_id}, item {item_id}: {score}"]
    if view.row.trace is not None:
        lines += [f"  {line}" for line in explain(Trace.from_dict(view.row.trace))]
    for criterion in view.criteria:
        settled = criterion.verdict_label or "no verdict"
        if votes := averaged_in_words(criterion.criterion, criterion.verdict):
            settled += f" ({votes})"
        truth = f" (label: {criterion.truth_label})" if criterion.truth_label else ""
        lines.append(f"\n{criterion.criterion.name}: {settled}{truth}")
        lines += [f"  {_vote_line(criterion.criterion, vote)}" for vote in criterion.votes]
    return "\n".join(lines)


def _vote_line(criterion: Criterion, view: VoteView) -> str:
    if view.vote is None:
        reason = (
            f"failed, {view.failure.kind}: {view.failure.message}" if view.failure else "not asked"
        )
        return f"{view.cell.judge}: {reason}"
    order = ""
    if view.vote.order is not None:
        options = (
            ("*" if index == view.vote.option else "") + criterion.choices[index].label
            for index in view.vote.order
        )
        order = f"  [{' | '.join(options)}]"
    line = f"{view.cell.judge}: {view.label}{order} {view.vote.reason}".rstrip()
    missing = view.vote.detail.get("no_chances")
    return line if not missing else f"{line}  (no chances: {missing})"
