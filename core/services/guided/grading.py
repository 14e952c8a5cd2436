"""The last steps of the path: a trial of three texts, the estimate for all, and the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.panel import Panel
from core.domain.review import QueueRule, Seat
from core.domain.review_records import QueueRow
from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.scoring.points import parts_of
from core.services.access.allowing import allowed
from core.services.datasets import catalog
from core.services.exports.grade_sheet import (
    JUDGES,
    LABELS,
    NO_VERDICT,
    TOO_LITTLE,
    Grade,
    grades,
    grades_by_labels,
    points_words,
)
from core.services.exports.judgement_rows import load_graded
from core.services.guided import judging
from core.services.guided.learning import SEED
from core.services.reports import worked_example
from core.services.results.item_view import ItemView, item_view
from core.services.review import queues
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import CostEstimate
from core.services.runs.planning import RunRequest
from core.store.store import Store
from core.text import numbers as fmt
from core.text.numbers import plural

#: The number of texts in the trial.
TRIED = 3
#: The rule of a queue of all cells in doubt, without a random part.
DOUBT = QueueRule(audit_share=0.0)


def run_request(
    store: Store,
    rubric_version: int,
    dataset_version: int,
    panel: Panel,
    *,
    trial_run: int | None = None,
) -> RunRequest:
    """Return the request for all texts. It has the trial's seed, so the trial's answers are reused
    and not paid for again. Judges that all learn give equal grades for equal labels.
    """
    if trial_run is not None:
        seed: int | None = store.runs.get(trial_run).plan.seed
    else:
        seed = SEED if all(judge.learns for judge in panel.judges) else None
    rubric = store.rubrics.version(rubric_version).rubric
    return RunRequest(
        rubric_version=rubric_version,
        dataset_version=dataset_version,
        panel=panel,
        seed=seed,
        label_share=judging.share_to_learn_from(store, dataset_version, rubric, panel),
    )


def trial_request(
    store: Store, rubric_version: int, dataset_version: int, panel: Panel
) -> RunRequest:
    """Return the request for a trial of the first three texts."""
    rubric = store.rubrics.version(rubric_version).rubric
    return RunRequest(
        rubric_version=rubric_version,
        dataset_version=dataset_version,
        panel=panel,
        name=f"Texts tried: {rubric.name}"[:200],
        label_share=judging.share_to_learn_from(store, dataset_version, rubric, panel),
        limit=TRIED,
        details={judging.TRY: True},
    )


def is_run_of(row: RunRow, rubric_version: int, dataset_version: int) -> bool:
    """Return whether a run is over these texts with this rubric."""
    return (row.rubric_version_id, row.dataset_version_id) == (rubric_version, dataset_version)


def estimate_line(estimate: CostEstimate, panel: Panel) -> str:
    """Return the estimate in one line."""
    texts, judges = plural(estimate.items, "text"), plural(len(panel.judges), "judge")
    return f"{texts}, {judges}, {estimate.words}"


def trial_texts(store: Store, run_id: int) -> tuple[ItemView, ...]:
    """Return the texts of a trial, with all verdicts and votes."""
    rows = store.results.items(run_id, limit=TRIED)
    return tuple(item_view(store, run_id, row.item_id) for row in rows)


def points(view: ItemView) -> str:
    """Return a trial text's score in points."""
    answers = {cell.criterion.name: cell.verdict.option for cell in view.criteria if cell.verdict}
    parts = parts_of(view.rubric, answers)
    return points_words(Grade(view.item, view.rubric, view.row.score, {}, parts=parts))


@dataclass(frozen=True)
class Outcome:
    """The results of a run.

    ``own`` texts are graded by their own labels; ``without`` have no grade, for these ``reasons``;
    ``in_doubt`` texts have a cell that people should check.
    """

    judged: int
    own: int
    without: int
    in_doubt: int
    reasons: Mapping[str, int]
    #: Texts whose grade covers only a part.
    partly: int = 0
    #: Texts without a grade.
    ungraded: tuple[str, ...] = ()

    @property
    def graded(self) -> int:
        """Return how many texts have a grade, from judges or people."""
        return self.judged + self.own

    @property
    def line(self) -> str:
        """Return the results in one line."""
        parts = [f"{fmt.count(self.graded)} graded"]
        parts += [f"{fmt.count(self.own)} of them by your own labels"] if self.own else []
        parts += [f"{fmt.count(self.partly)} partly assessed"] if self.partly else []
        parts += [f"{fmt.count(self.without)} without a grade"] if self.without else []
        return ", ".join([*parts, f"{fmt.count(self.in_doubt)} in doubt"])


def outcome(store: Store, run_id: int) -> Outcome:
    """Return the grades of the run's dataset, counted by origin."""
    origins, reasons, partly = Counter[str](), Counter[str](), 0
    ungraded = list[str]()
    for grade in grades(load_graded(store, run_id)):
        kind = "" if grade.score is None else grade.origin
        origins["own" if kind.startswith(LABELS) else "judged" if kind else ""] += 1
        partly += grade.score is not None and any(part.value is None for part in grade.parts)
        if grade.score is None:
            ungraded.append(grade.item.id)
            reasons[
                TOO_LITTLE if grade.too_little else grade.remark or f"{NO_VERDICT} of {JUDGES}"
            ] += 1
    doubt = queues.preview_queue(store, run_id, DOUBT).items
    return Outcome(
        origins["judged"],
        origins["own"],
        origins[""],
        doubt,
        dict(reasons),
        partly,
        tuple(ungraded),
    )


@allowed("review")
def take_up_ungraded(store: Store, seat: Seat, run_id: int) -> QueueRow:
    """Return the queue of cells without a verdict, of texts of a run without a grade; made now if
    missing.

    Raises:
        InputError: every text has a grade.
    """
    items = outcome(store, run_id).ungraded
    rule = QueueRule.only(undecided=True, items=items)
    return queues.take_up(store, seat, run_id, "Texts without a grade", rule)


def last_event(store: Store) -> int:
    """Return a value that changes whenever people settle a cell."""
    return store.settled.last_event()


def count_graded_by_labels(store: Store, dataset_version: int, rubric: Rubric) -> int:
    """Return how many texts have a grade by their own labels."""
    return sum(
        grade.score is not None for grade in grades_by_labels(store, dataset_version, rubric)
    )


def file_name(dataset_name: str) -> str:
    """Return a safe name for the workbook of grades."""
    return catalog.file_name(dataset_name).removesuffix(".jsonl") + "-grades.xlsx"


def dataset_to_compare(store: Store) -> int | None:
    """Return the newest dataset with answers of several systems, to compare two prompts; or
    ``None``.

    The worked example does not count.
    """
    example = worked_example.example_run(store)
    example_version = None if example is None else store.runs.row(example).dataset_version_id
    for row in catalog.list_datasets(store):
        if (
            row.version_id != example_version
            and len(catalog.systems_of_version(store, row.version_id)) > 1
        ):
            return row.id
    return None


@allowed("write")
def start(store: Store, run: RunRequest) -> int:
    """Start the run and return its id. Raise ``InputError`` if it cannot start."""
    return lifecycle.start(store, run)
