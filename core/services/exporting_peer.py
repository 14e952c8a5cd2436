"""A run as an experiment folder of autorubric: manifest.json and items.jsonl."""

from __future__ import annotations

import json
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import CANNOT_ASSESS, Criterion
from core.services.exporting_rows import Graded
from core.services.viewing import choice_label
from core.store.run_rows import CellResult, RunItemRow
from core.store.vote_rows import FailureRow, VoteRow


def experiment_files(found: Graded) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files by name, and what they cannot hold."""
    lines = [
        _line(found, at, item, row)
        for at, (item, row) in enumerate(zip(found.items, found.rows, strict=True))
    ]
    files = {
        "manifest.json": json.dumps(_manifest(found), indent=2, ensure_ascii=False) + "\n",
        "items.jsonl": "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines),
    }
    return files, _losses(found)


def _losses(found: Graded) -> tuple[str, ...]:
    lost = ["An experiment folder holds neither texts nor ids of items; they are numbered."]
    if any(judge.shadow for judge in found.run.panel.judges):
        lost.append("Votes of judges that do not count are left out.")
    if found.run.panel.asking.flip != "off":
        lost.append("Answers to options in reversed order are left out.")
    if found.run.plan.replicates > 1:
        lost.append("Replicates are judges of their own, NAME|REPLICATE.")
    return tuple(lost)


def _manifest(found: Graded) -> dict[str, Any]:
    run, panel = found.run, found.run.panel
    counted = [judge for judge in panel.judges if not judge.shadow]
    dataset = found.store.datasets.version(run.dataset_version_id)
    finished = run.finished if run.status == "done" else None
    return {
        "experiment_name": run.name,
        "created_at": run.created,
        "dataset_name": run.dataset_name,
        "dataset_hash": dataset.hash.rpartition(":")[2][:16],
        "total_items": run.items,
        "status": {"done": "completed", "failed": "failed"}.get(run.status, "running"),
        "completed_indices": [at for at, row in enumerate(found.rows) if row.votes],
        "error": run.message or None,
        "started_at": run.started or run.created,
        "completed_at": finished,
        "total_duration_seconds": run.seconds,
        "dataset_path": None,
        "grader_config": {
            "grader_class": "CriterionGrader",
            "judges": [_judge(judge) for judge in counted],
            "aggregation": panel.rules.binary,
            "master_seed": run.plan.seed,
            "shuffle_options": any(judge.shuffle for judge in counted),
            "auto_na_option": True,
        },
        "eval_config": {},
    }


def _judge(judge: Judge) -> dict[str, Any]:
    return {
        "judge_id": judge.name,
        "judge_kind": "llm",
        "model": judge.model or judge.kind,
        "temperature": judge.temperature,
        "weight": judge.weight,
        "max_parallel_requests": judge.concurrency,
    }


def _line(found: Graded, at: int, item: Item, row: RunItemRow) -> dict[str, Any]:
    rubric = found.rubric_of(item.id)
    votes, failures = found.votes(item.id), found.failures(item.id)
    reports = [
        _criterion_report(
            found,
            criterion,
            found.cells.get((item.id, criterion.name)),
            [v for v in votes if v.cell.criterion == criterion.name],
            [f for f in failures if f.cell.criterion == criterion.name],
        )
        for criterion in rubric.criteria
    ]
    gone = [found.cells.get((item.id, criterion.name)) for criterion in rubric.criteria]
    error = None if votes else "no judge answered"
    return {
        "item_idx": at,
        "duration_seconds": 0.0,
        "error": error,
        "report": {
            "score": row.score,
            "raw_score": row.raw,
            "error": error,
            "cannot_assess_count": sum(bool(cell and cell.abstained) for cell in gone),
            "mean_agreement": row.agreement,
            "report_type": "ensemble",
            "criterion_reports": reports,
        },
    }


def _criterion_report(
    found: Graded,
    criterion: Criterion,
    cell: CellResult | None,
    votes: list[VoteRow],
    failures: list[FailureRow],
) -> dict[str, Any]:
    binary = criterion.scale == "binary"
    given = _votes(found, criterion, votes, failures)
    label = None if cell is None else choice_label(criterion, cell.option, cell.abstained)
    final = None
    if cell is not None and not binary:
        value = 0.0 if cell.value is None else cell.value
        final = _choice(criterion, cell.option, cell.abstained) | {
            "value": value,
            "aggregated_value": cell.continuous,
        }
    return {
        "criterion": {
            "weight": criterion.weight,
            "requirement": criterion.requirement,
            "name": criterion.name,
            "options": None if binary else _options(criterion),
            "scale_type": "nominal" if criterion.scale == "nominal" else "ordinal",
            "aggregation": criterion.aggregation,
        },
        "final_verdict": None if not binary or cell is None else _verdict(label, cell.abstained),
        "final_reason": " | ".join(f"{v.cell.judge}: {v.reason}" for v in votes if v.reason),
        "agreement": None if cell is None else cell.agreement,
        "votes": given if binary else [],
        "final_multi_choice_verdict": final,
        "multi_choice_votes": [] if binary else given,
        "error": None if cell is not None else "no verdict",
        "escalated": False,
    }


def _options(criterion: Criterion) -> list[dict[str, Any]]:
    return [
        {"label": one.label, "value": one.value or 0.0, "na": one.na} for one in criterion.choices
    ]


def _verdict(label: str | None, abstained: bool) -> str:
    return CANNOT_ASSESS if abstained or label is None else label


def _choice(criterion: Criterion, option: int | None, abstained: bool) -> dict[str, Any]:
    return {
        "selected_index": option,
        "selected_label": choice_label(criterion, option, abstained),
        "na": abstained,
    }


def _votes(
    found: Graded, criterion: Criterion, votes: list[VoteRow], failures: list[FailureRow]
) -> list[dict[str, Any]]:
    own = found.run.plan.replicates
    judges = {judge.name: judge for judge in found.run.panel.judges if not judge.shadow}
    last = max((judges[v.cell.judge].stage for v in votes if v.cell.judge in judges), default=0)
    cascade = found.run.panel.cascade is not None
    made = []
    given: list[VoteRow | FailureRow] = [*votes, *failures]
    for one in given:
        judge = judges.get(one.cell.judge)
        if judge is None or one.cell.replicate >= own:
            continue
        name = judge.name if own == 1 else f"{judge.name}|{one.cell.replicate}"
        head = {"judge_id": name, "weight": judge.weight}
        head["superseded"] = cascade and judge.stage < last
        made.append(head | _answer(criterion, one))
    return made


def _answer(criterion: Criterion, one: VoteRow | FailureRow) -> dict[str, Any]:
    order = None if one.order is None else list(one.order)
    if isinstance(one, FailureRow):
        rest: dict[str, Any] = {"reason": "", "error": f"{one.kind}: {one.message}"}
        option, abstained = criterion.na_index, True
    else:
        rest = {"reason": one.reason, "error": None, "confidence": one.confidence}
        option, abstained = one.option, one.abstained
    if criterion.scale == "binary":
        label = choice_label(criterion, option, abstained)
        return rest | {"verdict": _verdict(label, abstained)}
    value = None if option is None else criterion.value_of(option)
    choice = _choice(criterion, option, abstained) | {"value": value or 0.0}
    return rest | choice | {"shuffle_order": order}
