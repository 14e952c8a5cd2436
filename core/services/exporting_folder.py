"""A run as a folder in the common layout, so that figures of the folder are those of the run."""

from __future__ import annotations

from core.domain.dataset import Dataset
from core.domain.rubric import CANNOT_ASSESS, Criterion
from core.files.cells import works_out
from core.files.csv_writer import csv_text
from core.files.dataset_writer import dump_dataset
from core.files.rubric_writer import dump_rubric
from core.services.exporting_rows import Graded

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


def folder_files(found: Graded) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files by name, and what they cannot hold.

    Nothing is guarded against spreadsheets here: ids must stay what they are in all three files.
    """
    rows = list[tuple[str | float | int, ...]]()
    own = found.run.plan.replicates
    weights = {judge.name: judge.weight for judge in found.run.panel.judges}
    flipped = 0
    for item in found.items:
        criteria = {c.name: c for c in found.rubric_of(item.id).criteria}
        given = [
            (vote.cell, _label(criteria[vote.cell.criterion], vote.option), vote.reason)
            for vote in found.votes(item.id)
        ]
        given += [(failure.cell, "", failure.message) for failure in found.failures(item.id)]
        for cell, label, reason in given:
            if cell.replicate >= own:
                flipped += 1
                continue
            head = (cell.item, cell.criterion, cell.judge, found.kinds.get(cell.judge, "llm"))
            rows.append((*head, label, reason, weights.get(cell.judge, 1.0), cell.replicate))
    name = found.run.dataset_name
    files = {
        "rubric.yaml": dump_rubric(found.rubric),
        "items.jsonl": dump_dataset(Dataset(name=name, items=found.items)),
        "votes.csv": csv_text(_HEADS, rows, guarded=False),
    }
    risky = sum(works_out(cell) for row in rows for cell in row if isinstance(cell, str))
    return files, _losses(found, flipped, risky)


def _label(criterion: Criterion, option: int | None) -> str:
    return CANNOT_ASSESS if option is None else criterion.choices[option].label


def _losses(found: Graded, flipped: int, risky: int) -> tuple[str, ...]:
    lost = [
        "The common layout has no verdicts: who reads it settles the votes anew, by plain majority."
    ]
    if flipped:
        lost.append(f"{flipped:,} answers to options in reversed order are left out.")
    if risky:
        lost.append(
            f"{risky:,} cells of votes.csv begin like a formula and are left as they are, as ids "
            "must be: do not open it in a spreadsheet."
        )
    if found.settled:
        lost.append(f"{len(found.settled):,} cells that people settled are labels there.")
    return tuple(lost)
