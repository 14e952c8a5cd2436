"""A run, or one item of it, as text and as plain data for the command line."""

from __future__ import annotations

from typing import Any

from core.domain.runs import Run
from core.scoring import explain
from core.scoring.trace import Trace
from core.services import numbers as say
from core.services.grading import lost_words, said_of, summary
from core.services.unvoted import between
from core.services.viewing import CriterionView, VoteView, item_view
from core.store.store import Store


def run_as_text(store: Store, run_id: int) -> str:
    """A run in a few lines."""
    run = store.runs.get(run_id)
    figures = summary(store, run_id)
    failed = ", ".join(f"{n} {kind}" for kind, n in figures["failures"].items()) or "none"
    cost = figures["cost_usd"]
    lines = [
        f"Run {run.id}: {run.name} ({said_of(run)})",
        f"  rubric   {run.rubric_name}, {run.version_words}",
        f"  dataset  {run.dataset_name}, version {run.dataset_number}, {run.items} items",
        f"  judges   {', '.join(judge.name for judge in run.panel.judges)}",
        f"  votes    {run.votes} of {run.planned}, {run.abstentions} abstentions",
        f"  failed   {failed}",
        *_asked(run, cost),
        *(f"           {kind}: {why}" for kind, why in figures["reasons"].items() if why),
        *([f"  known    {run.cached} answers from earlier runs"] if run.cached else []),
        *([f"  lost     {lost_words(gone)}"] if (gone := figures["lost_calls"]) else []),
    ]
    if run.message:
        lines.append(f"  note     {run.message}")
    for judge, report in run.notes.get("training", {}).items():
        lines += [f"  {judge}, {name}: {training_line(entry)}" for name, entry in report.items()]
    return "\n".join(lines)


def _asked(run: Run, cost: float | None) -> list[str]:
    """What asking cost; votes that came from elsewhere were not asked for here."""
    imported = run.plan.details.get("imported")
    if imported is not None:
        return [f"  source   {imported.get('source') or 'elsewhere'}; nobody was asked here"]
    return [f"  cost     {'unknown' if cost is None else f'${cost:.4f}'}, {run.calls} calls"]


def training_line(report: dict[str, Any]) -> str:
    """What became of training one offline judge for one criterion, in a sentence."""
    if not report["trained"]:
        return f"switched off: {report['reason']}"
    return (
        f"learned from {report['n']} labels; right on {report['accuracy']:.0%} in "
        f"cross-validation, the commonest label on {report['majority']:.0%}"
    )


def item_as_data(store: Store, run_id: int, item_id: str) -> dict[str, Any]:
    """One item with verdicts and every vote as plain data."""
    view = item_view(store, run_id, item_id)
    return {
        "run": run_id,
        "item": item_id,
        "score": view.row.score,
        "raw": view.row.raw,
        "trace": view.row.trace,
        "criteria": {c.criterion.name: _criterion(c) for c in view.criteria},
    }


def _criterion(view: CriterionView) -> dict[str, Any]:
    verdict = view.verdict
    return {
        "label": None if verdict is None or verdict.abstained else view.verdict_label,
        "abstained": bool(verdict and verdict.abstained),
        "agreement": verdict.agreement if verdict else None,
        "between": between(view.criterion, verdict),
        "truth": view.truth_label,
        "votes": [_vote(vote) for vote in view.votes],
    }


def _vote(view: VoteView) -> dict[str, Any]:
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
    }


def item_as_text(store: Store, run_id: int, item_id: str) -> str:
    """One item with verdicts and every vote, to be read."""
    view = item_view(store, run_id, item_id)
    score = "no score" if view.row.score is None else say.score(view.row.score)
    lines = [f"Run {run_id}, item {item_id}: {score}"]
    if view.row.trace is not None:
        lines += [f"  {line}" for line in explain(Trace.from_dict(view.row.trace))]
    for criterion in view.criteria:
        settled = criterion.verdict_label or "no verdict"
        if words := between(criterion.criterion, criterion.verdict):
            settled += f" ({words})"
        truth = f" (label: {criterion.truth_label})" if criterion.truth_label else ""
        lines.append(f"\n{criterion.criterion.name}: {settled}{truth}")
        lines += [f"  {_vote_line(vote)}" for vote in criterion.votes]
    return "\n".join(lines)


def _vote_line(view: VoteView) -> str:
    if view.vote is None:
        why = (
            f"failed, {view.failure.kind}: {view.failure.message}" if view.failure else "not asked"
        )
        return f"{view.cell.judge}: {why}"
    shown = " | ".join(f"{'*' if o.chosen else ''}{o.option.label}" for o in view.options)
    order = f"  [{shown}]" if view.vote.order is not None else ""
    return f"{view.cell.judge}: {view.label}{order} {view.vote.reason}".rstrip()
