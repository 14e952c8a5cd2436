"""The bundled example: short science answers that the offline panel grades, without a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core import clock
from core.domain.panel import Panel
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.domain.votes import ADJUDICATED, Verdict
from core.errors import NotFound
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.access.allowing import allowed
from core.services.judges.registry import OFFLINE_JUDGES, ensure_defaults
from core.services.runs.lifecycle import run_summary, start
from core.services.runs.planning import RunRequest
from core.settings import SAMPLES
from core.store.store import Store
from core.text.numbers import score

if TYPE_CHECKING:
    from core.services.agreement.conclusion import Conclusion
    from core.services.agreement.rater_pairs import PairLine

RUBRIC = SAMPLES / "short-science-answers.yaml"
DATASET = SAMPLES / "data" / "short_science_answers.jsonl"
NAME = "Worked example: short science answers"
SEED = 20261121


@allowed("administer")
def ensure_example(store: Store) -> int:
    """Return the run of the example, created (and queued) if it does not exist."""
    ensure_defaults(store)
    run = example_run(store)
    if run is not None:
        return run
    rubric = read_rubric_file(RUBRIC).value
    dataset = read_dataset_file(DATASET, rubric).value.model_copy(
        update={"name": "Short science answers, labelled"}
    )
    request = RunRequest(
        rubric_version=store.rubrics.create(rubric, now=clock.now(), note="bundled example").id,
        dataset_version=store.datasets.create(dataset, now=clock.now(), source=DATASET.name).id,
        panel=Panel(name="Offline panel", judges=OFFLINE_JUDGES),
        name=NAME,
        seed=SEED,
    )
    run_id = start(store, request)
    store.settings.put("example_run", run_id)
    return run_id


def example_run(store: Store) -> int | None:
    """Return the run of the example, or ``None`` if it was never created."""
    run_id = store.settings.get("example_run")
    if run_id is None:
        return None
    try:
        return store.runs.row(int(run_id)).id
    except NotFound:
        return None


@allowed("administer")
def grade_example(store: Store) -> dict[str, Any]:
    """Grade the example here, unless that is done, and return its ``report``."""
    from core.services.runs.runner import follow

    run_id = ensure_example(store)
    if store.runs.row(run_id).status != "done":
        follow(store, run_id, lambda look: None)
    return example_report(store, run_id)


def example_report(store: Store, run_id: int) -> dict[str, Any]:
    """Scores and agreement with the labels of a run, with the majority class's accuracy."""
    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    lines = panel_against_labels(store, run_id)
    rows = store.results.items(run_id, limit=run.items)
    scores = [row.score for row in rows if row.score is not None]
    return {
        **run_summary(store, run_id),
        "rubric": rubric.name,
        "items": run.items,
        "learned_from": learned_item_count(store, run_id),
        "mean_score": sum(scores) / len(scores) if scores else None,
        "scores": {row.item_id: row.score for row in rows},
        "criteria": {
            line.name: {
                "scale": line.scale,
                "n": line.n,
                "abstained": line.abstained,
                "accuracy": line.accuracy.value,
                "majority_class_accuracy": line.commonest.value,
                "kappa": line.kappa.value,
                "kappa_weights": line.weights,
                **_undefined(line),
            }
            for line, _ in lines
        },
        "training": run.notes.get("training", {}),
        "look": f"`rubric-studio app`, then Runs, run {run_id}; or `rubric-studio show {run_id}`.",
    }


def _undefined(line: PairLine) -> dict[str, str]:
    missing = [figure.reason for figure in (line.accuracy, line.kappa) if figure.value is None]
    return {"undefined": missing[0]} if missing and missing[0] else {}


def panel_against_labels(store: Store, run_id: int) -> list[tuple[PairLine, bool]]:
    """Return, per criterion of the run's rubric, the panel against the items' labels, as on the
    Agreement page, in the report and in ``metrics``; and whether all judges are switched off on it.

    Labels are the dataset's own, overridden by people's settlements. Items on which the panel
    abstains are counted, but left out of all three figures.
    """
    from core.services.agreement import load_ratings, rater_pairs, ratings

    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    without_judges = _criteria_without_judges(run)
    sheet = load_ratings.sheet_of_run(store, run_id)
    lines = {
        line.name: line for line in rater_pairs.compare_pair(sheet, ratings.LABELS, ratings.PANEL)
    }
    return [(lines[c.name], c.name in without_judges) for c in rubric.criteria if c.name in lines]


def label_conclusion(store: Store, run_id: int) -> Conclusion:
    """Return which criteria can be trusted against the labels, as on the Agreement page."""
    from core.services.agreement import conclusion, load_ratings

    return conclusion.conclusion_on(load_ratings.sheet_of_run(store, run_id))


def learned_item_count(store: Store, run_id: int) -> int:
    """Return how many labelled items the run's offline judges learned from."""
    return len(store.runs.get(run_id).plan.calibration.get("items", ()))


def telling_item(store: Store, run_id: int) -> tuple[str, int, int] | None:
    """Return the item with the most verdicts that differ from labels, their number, and that of all
    its labelled verdicts; ``None`` without any.
    """
    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    truth = _labelled_choices(store, run, rubric)
    labelled, wrong = Counter[str](), Counter[str]()
    for item_id, cell in store.results.verdicts(run_id):
        true_option = truth.get((item_id, cell.criterion))
        if true_option is not None and not _panel_abstained(
            cell, rubric.criterion(cell.criterion).scored
        ):
            labelled[item_id] += 1
            wrong[item_id] += cell.judged != true_option
    item = max(labelled, key=lambda item_id: (wrong[item_id], item_id), default=None)
    return (item, wrong[item], labelled[item]) if item and wrong[item] else None


def _labelled_choices(store: Store, run: Run, rubric: Rubric) -> dict[tuple[str, str], int | None]:
    """Return the true choice by (item, criterion), if labelled; ``None`` if the label is no
    option.
    """
    criteria = {c.name: c for c in rubric.criteria}
    labels: dict[tuple[str, str], str | None] = {
        (item_id, name): label
        for item_id, name, label in store.datasets.labels(run.dataset_version_id)
    }
    for item_id, settled in store.settled.truth(run.dataset_version_id).items():
        for name, verdict in settled.items():
            labels[item_id, name] = None if verdict is None else verdict.label
    return {
        (item_id, name): criteria[name].index_of(label)
        for (item_id, name), label in labels.items()
        if name in criteria and label is not None
    }


def _criteria_without_judges(run: Run) -> set[str]:
    """Return the criteria for which no judge of the run was usable."""
    reports = list(run.notes.get("training", {}).values())
    if len(reports) < len(run.panel.judges):
        return set()
    return set.intersection(
        *(
            {name for name, report in by_name.items() if not report["trained"]}
            for by_name in reports
        )
    )


def _panel_abstained(cell: Verdict, scored: Sequence[int]) -> bool:
    """Return whether the panel abstained, even if people settled the cell later."""
    if cell.rule == ADJUDICATED:
        return cell.voted is not None and cell.voted not in scored
    return cell.abstained


def report_text(report: dict[str, Any]) -> str:
    """Return the report as a short table."""
    lines = [
        f"{report['rubric']}: {report['items']} answers graded by the offline panel, which learned "
        f"from {report['learned_from']} labelled ones. No key, no network.",
        "",
        f"{'criterion':<34}{'n':>5}{'abstained':>11}{'accuracy':>10}{'majority':>10}{'kappa':>8}",
    ]
    for name, c in report["criteria"].items():
        figures = (c["accuracy"], c["majority_class_accuracy"], c["kappa"])
        accuracy, majority, kappa = map(score, figures)
        lines.append(
            f"{name[:33]:<34}{c['n']:>5}{c['abstained']:>11}{accuracy:>10}{majority:>10}{kappa:>8}"
        )
    mean = report["mean_score"]
    lines += ["", f"Mean score: {'none' if mean is None else score(mean)}. See {report['look']}"]
    return "\n".join(lines)
