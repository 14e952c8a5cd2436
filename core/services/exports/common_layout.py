"""Export a run as a folder in the common layout: rubric.yaml, items.jsonl, votes.csv."""

from __future__ import annotations

from core.domain.dataset import Dataset
from core.domain.rubric import CANNOT_ASSESS, Criterion
from core.domain.votes import FailureRow, VoteRow
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.rubrics.rubric_file import dump_rubric
from core.formats.source.csv_writer import Value, csv_text, is_formula
from core.services.exports.judgement_rows import Graded, chances_of

_HEADS = (
    "item_id",
    "criterion",
    "rater_id",
    "rater_kind",
    "label",
    "reason",
    "weight",
    "replicate",
)


def files(data: Graded) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the files by name, and the facts that they cannot store.

    Cells are not guarded against spreadsheets, since ids must be equal in all three files.
    """
    rows = list[list[Value]]()
    replicates = data.run.plan.replicates
    weights = {judge.name: judge.weight for judge in data.run.panel.judges}
    columns = [*_HEADS, *(["confidence"] if data.certainty_recorded[0] else []), *data.chances]
    flipped = 0
    for item in data.items:
        criteria = {c.name: c for c in data.rubric_of(item.id).criteria}
        answers: list[VoteRow | FailureRow] = [*data.votes(item.id), *data.failures(item.id)]
        for answer in answers:
            cell = answer.cell
            if cell.replicate >= replicates:
                flipped += 1
                continue
            fields = {
                "item_id": cell.item,
                "criterion": cell.criterion,
                "rater_id": cell.judge,
                "rater_kind": data.kinds.get(cell.judge, "llm"),
                "weight": weights.get(cell.judge, 1.0),
                "replicate": cell.replicate,
                **_answer_cells(criteria[cell.criterion], answer),
            }
            rows.append([fields.get(head) for head in columns])
    name = data.run.dataset_name
    contents = {
        "rubric.yaml": dump_rubric(data.rubric),
        "items.jsonl": dump_dataset(Dataset(name=name, items=data.items)),
        "votes.csv": csv_text(columns, rows, guarded=False),
    }
    risky = sum(is_formula(cell) for row in rows for cell in row if isinstance(cell, str))
    return contents, _folder_losses(data, flipped, risky)


def _answer_cells(criterion: Criterion, answer: VoteRow | FailureRow) -> dict[str, Value]:
    if isinstance(answer, FailureRow):
        return {"label": "", "reason": answer.message}
    label = _option_label(criterion, answer.option)
    confidence_cells = {"confidence": answer.confidence, **chances_of(criterion, answer)}
    return {"label": label, "reason": answer.reason, **confidence_cells}


def _option_label(criterion: Criterion, option: int | None) -> str:
    return CANNOT_ASSESS if option is None else criterion.choices[option].label


def _folder_losses(data: Graded, flipped: int, risky: int) -> tuple[str, ...]:
    losses = [
        "The common layout has no verdicts: who reads it settles the votes anew, by plain majority."
    ]
    if flipped:
        losses.append(f"{flipped:,} answers to options in reversed order are left out.")
    if risky:
        losses.append(
            f"{risky:,} cells of votes.csv begin like a formula and are left as they are, as ids "
            "must be: do not open it in a spreadsheet."
        )
    if data.settled:
        losses.append(f"{len(data.settled):,} cells that people settled are labels there.")
    return tuple(losses)
