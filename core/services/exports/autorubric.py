"""Export a run as an experiment folder of autorubric: manifest.json and items.jsonl.

Its models do not allow unknown values: a missing verdict becomes an abstention with an error, a
value that does not count becomes 0, and a key that may not be empty is omitted.
"""

from __future__ import annotations

import json
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import CANNOT_ASSESS, MET, UNMET, Criterion
from core.domain.runs import RunItemRow
from core.domain.votes import FailureRow, Verdict, VoteRow
from core.formats.rubrics.foreign import criteria_losses, requirement_in_full, rubric_losses
from core.scoring import Texts, needs_texts, score_item
from core.services.exports.judgement_rows import Graded
from core.services.results.item_view import choice_label
from core.text.names import fold


def experiment_files(data: Graded) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the files by name, and the facts that they cannot store."""
    lines = [
        _item_line(data, index, item, row)
        for index, (item, row) in enumerate(zip(data.items, data.rows, strict=True))
    ]
    files = {
        "manifest.json": json.dumps(_manifest(data), indent=2, ensure_ascii=False) + "\n",
        "items.jsonl": "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines),
    }
    return files, _losses(data)


#: The only failures of an answer that autorubric does not count as infrastructure errors.
_UNREADABLE = ("malformed", "out_of_range", "empty")


def _losses(data: Graded) -> tuple[str, ...]:
    losses = ["An experiment folder holds neither texts nor ids of items; they are numbered."]
    # In autorubric's format the options already say whether judges may abstain.
    criteria = criteria_losses(data.rubric.criteria, ("aggregation", "forced_choice"))
    losses += [loss.message for loss in (*rubric_losses(data.rubric), *criteria)]
    if any(option.description for c in data.rubric.criteria for option in c.options):
        losses.append("The descriptions of options are written below the requirement.")
    if any(judge.shadow for judge in data.run.panel.judges):
        losses.append("Votes of judges that do not count are left out.")
    if data.run.panel.asking.flip != "off":
        losses.append("Answers to options in reversed order are left out.")
    if data.run.plan.replicates > 1:
        losses.append("Replicates are judges of their own, NAME|REPLICATE.")
    if data.settled:
        cells = f"{len(data.settled):,} cells"
        losses.append(f"What people settled ({cells}) is the verdict there, without their names.")
    return tuple(losses)


def _manifest(data: Graded) -> dict[str, Any]:
    run, panel = data.run, data.run.panel
    dataset = data.store.datasets.version(run.dataset_version_id)
    finished = {"completed_at": run.finished} if run.status == "done" and run.finished else {}
    return {
        "experiment_name": run.name,
        "created_at": run.created,
        "dataset_name": run.dataset_name,
        "dataset_hash": dataset.hash.rpartition(":")[2][:16],
        "total_items": run.items,
        "status": {"done": "completed", "failed": "failed"}.get(run.status, "running"),
        "completed_indices": [index for index, row in enumerate(data.rows) if row.votes],
        "error": run.message or None,
        "started_at": run.started or run.created,
        **finished,
        "total_duration_seconds": run.seconds,
        "dataset_path": None,
        "grader_config": {
            "grader_class": "CriterionGrader",
            "judges": [_judge_data(judge, name) for name, judge in _voting_judges(data).items()],
            "aggregation": panel.rules.binary,
            "master_seed": run.plan.seed,
            "shuffle_options": any(judge.shuffle for judge in panel.judges if not judge.shadow),
            "auto_na_option": True,
        },
        "eval_config": {},
    }


def _voting_judges(data: Graded) -> dict[str, Judge]:
    """Return the voting judges by their exported name, with one name per replicate."""
    replicates = data.run.plan.replicates
    return {
        judge.name if replicates == 1 else f"{judge.name}|{replicate}": judge
        for judge in data.run.panel.judges
        if not judge.shadow
        for replicate in range(replicates)
    }


def _judge_data(judge: Judge, name: str) -> dict[str, Any]:
    return {
        "judge_id": name,
        "judge_kind": judge.rater_kind,
        "model": judge.model or judge.kind,
        "temperature": judge.temperature,
        "weight": judge.weight,
        "max_parallel_requests": judge.concurrency,
    }


def _item_line(data: Graded, index: int, item: Item, row: RunItemRow) -> dict[str, Any]:
    rubric = data.rubric_of(item.id)
    votes, failures = data.votes(item.id), data.failures(item.id)
    cells = {c.name: data.cells.get((item.id, c.name)) for c in rubric.criteria}
    reports = [
        _criterion_report(
            data,
            criterion,
            cells[criterion.name],
            [v for v in votes if v.cell.criterion == criterion.name],
            [f for f in failures if f.cell.criterion == criterion.name],
        )
        for criterion in rubric.criteria
    ]
    error = None if any(cells.values()) else "no judge answered"
    return {
        "item_idx": index,
        "duration_seconds": 0.0,
        "error": error,
        "report": {
            "score": row.score,
            "raw_score": row.raw,
            "error": error,
            "cannot_assess_count": sum(cell is None or cell.abstained for cell in cells.values()),
            "mean_agreement": row.agreement,
            "report_type": "ensemble",
            "criterion_reports": reports,
            "judge_scores": _judge_scores(data, item, votes),
        },
    }


def _judge_scores(data: Graded, item: Item, votes: list[VoteRow]) -> dict[str, float | None]:
    """Return each judge's own score; ``None`` if it did not answer every criterion."""
    rubric, replicates = data.rubric_of(item.id), data.run.plan.replicates
    texts = None
    if needs_texts(rubric):
        texts = Texts(output=item.output, thinking=item.thinking)
    scores = dict[str, float | None]()
    for name, judge in _voting_judges(data).items():
        answers = {
            vote.cell.criterion: vote.option
            for vote in votes
            if name == _exported_judge_name(vote, replicates) and vote.cell.judge == judge.name
        }
        complete = all(c.name in answers for c in rubric.criteria)
        scores[name] = score_item(rubric, answers, texts=texts).score if complete else None
    return scores


def _exported_judge_name(answer: VoteRow | FailureRow, replicates: int) -> str | None:
    """Return the exported name of the judge; ``None`` for an answer in reversed order."""
    if answer.cell.replicate >= replicates:
        return None
    return answer.cell.judge if replicates == 1 else f"{answer.cell.judge}|{answer.cell.replicate}"


def _criterion_report(
    data: Graded,
    criterion: Criterion,
    cell: Verdict | None,
    votes: list[VoteRow],
    failures: list[FailureRow],
) -> dict[str, Any]:
    binary = criterion.scale == "binary"
    answers = _votes(data, criterion, votes, failures)
    option, abstained = (
        (criterion.na_index, True) if cell is None else (cell.option, cell.abstained)
    )
    # Without a vote for an option, agreement is undefined; autorubric then computes it.
    agreement = {} if cell is None or cell.agreement is None else {"agreement": cell.agreement}
    return {
        "criterion": {
            "weight": criterion.weight,
            "requirement": requirement_in_full(criterion),
            "name": criterion.name,
            "options": None if binary else _options(criterion),
            "scale_type": "nominal" if criterion.scale == "nominal" else "ordinal",
            "aggregation": None if binary else criterion.aggregation,
        },
        "final_verdict": _verdict_word(criterion, option, abstained) if binary else None,
        "final_reason": " | ".join(f"{v.cell.judge}: {v.reason}" for v in votes if v.reason),
        **agreement,
        "votes": answers if binary else [],
        "final_multi_choice_verdict": None
        if binary
        else _choice_data(criterion, option, abstained)
        | {"aggregated_value": _aggregate_value(cell)},
        "multi_choice_votes": [] if binary else answers,
        "error": _missing_verdict_reason(failures) if cell is None else None,
        "escalated": any(vote["superseded"] for vote in answers),
    }


def _options(criterion: Criterion) -> list[dict[str, Any]]:
    return [
        {"label": option.label, "value": option.value or 0.0, "na": option.na}
        for option in criterion.choices
    ]


def _verdict_word(criterion: Criterion, option: int | None, abstained: bool) -> str:
    """Return one of autorubric's three verdicts, however the options are spelt."""
    if abstained or option is None:
        return CANNOT_ASSESS
    return MET if fold(criterion.choices[option].label) == fold(MET) else UNMET


def _choice_data(criterion: Criterion, option: int | None, abstained: bool) -> dict[str, Any]:
    value = None if option is None else criterion.value_of(option)
    return {
        "selected_index": option,
        "selected_label": choice_label(criterion, option, abstained),
        "value": value or 0.0,
        "na": abstained,
    }


def _aggregate_value(cell: Verdict | None) -> float:
    """Return the mean before snapping to an option, or else the option's value."""
    if cell is None:
        return 0.0
    return cell.value or 0.0 if cell.continuous is None else cell.continuous


def _missing_verdict_reason(failures: list[FailureRow]) -> str:
    """Return autorubric's term (of two) for the reason why the verdict is missing."""
    return _failure_text(failures[0]) if failures else "unknown: nobody was asked"


def _failure_text(failure: FailureRow) -> str:
    head = "parse" if failure.kind in _UNREADABLE else "infrastructure"
    return f"{head}: {failure.kind}: {failure.message}"


def _votes(
    data: Graded, criterion: Criterion, votes: list[VoteRow], failures: list[FailureRow]
) -> list[dict[str, Any]]:
    replicates = data.run.plan.replicates
    judges = {judge.name: judge for judge in data.run.panel.judges if not judge.shadow}
    last = max((judges[v.cell.judge].stage for v in votes if v.cell.judge in judges), default=0)
    cascade = data.run.panel.cascade is not None
    reports = []
    answers: list[VoteRow | FailureRow] = [*votes, *failures]
    for answer in answers:
        judge, name = judges.get(answer.cell.judge), _exported_judge_name(answer, replicates)
        if judge is None or name is None:
            continue
        head = {"judge_id": name, "weight": judge.weight}
        head["superseded"] = cascade and judge.stage < last
        reports.append(head | _answer_data(criterion, answer))
    return reports


def _answer_data(criterion: Criterion, answer: VoteRow | FailureRow) -> dict[str, Any]:
    order = None if answer.order is None else list(answer.order)
    if isinstance(answer, FailureRow):
        fields: dict[str, Any] = {"reason": "", "error": _failure_text(answer)}
        option, abstained = criterion.na_index, True
    else:
        fields = {"reason": answer.reason, "error": None, "confidence": answer.confidence}
        option, abstained = answer.option, answer.abstained
    if criterion.scale == "binary":
        return fields | {"verdict": _verdict_word(criterion, option, abstained)}
    return fields | _choice_data(criterion, option, abstained) | {"shuffle_order": order}
