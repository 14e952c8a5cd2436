"""What the peer's own package finds in experiment folders and rubrics, in a process of its own.

    python -m tests.services.exports.peer_reading FOLDER|RUBRIC.json [...]

Importing the package takes seconds and brings hundreds of modules with it, so that no test does.
Prints one JSON object, by path; of what it refuses the words it says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def read(folder: Path) -> dict[str, Any]:
    """The experiment as the peer holds it: in its words, and after it has written it itself."""
    from autorubric import EvalResult
    from autorubric.eval import ExperimentManifest, ItemResult

    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    kept = ExperimentManifest.from_dict(manifest)
    result = EvalResult.from_experiment(folder)
    items = [one.to_dict() for one in result.item_results]
    again = [
        ItemResult.from_dict(json.loads(json.dumps(line)), one.item).to_dict()
        for line, one in zip(items, result.item_results, strict=True)
    ]
    return {
        "name": result.experiment_name,
        "status": kept.status,
        "total": result.total_items,
        "done": sorted(kept.completed_indices),
        "failed": result.failed_items,
        "scores": result.get_scores(),
        "stable": again == items,
        "items": items,
        "metrics": _metrics(folder, result),
    }


def _metrics(folder: Path, result: Any) -> dict[str, Any] | None:
    """What the peer makes of it with labels: ``truth.json`` beside it, with a rubric of its own."""
    from autorubric import CriterionVerdict, DataItem, Rubric, RubricDataset

    path = folder / "truth.json"
    if not path.exists():
        return None
    given = json.loads(path.read_text(encoding="utf-8"))
    verdicts = {one.value: one for one in CriterionVerdict}
    truth = [[verdicts.get(label, label) for label in labels] for labels in given["labels"]]
    dataset = RubricDataset(
        prompt="",
        rubric=Rubric.from_json(given["rubric"]),
        items=[DataItem(submission="", description="", ground_truth=one) for one in truth],
        name="with labels",
    )
    found = result.compute_metrics(dataset, per_judge=True)
    return {
        "accuracy": found.criterion_accuracy,
        "mae": found.score_mae,
        "judges": {
            name: [one.criterion_accuracy, one.score_mae] for name, one in found.per_judge.items()
        },
    }


def _rubric(path: Path) -> dict[str, Any]:
    from autorubric import Rubric

    found = Rubric.from_file(str(path))
    return {
        "guidelines": found.guidelines,
        "criteria": [one.model_dump(mode="json") for one in found.rubric],
    }


def _read_or_refused(path: Path) -> dict[str, Any]:
    try:
        return read(path) if path.is_dir() else _rubric(path)
    except Exception as error:  # whatever it raises is its refusal
        return {"refused": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    # What it asks models by is two thirds of its import, and whoever only reads asks none.
    sys.modules |= {name: ModuleType(name) for name in ("litellm", "openai")}
    print(json.dumps({one: _read_or_refused(Path(one)) for one in sys.argv[1:]}))
