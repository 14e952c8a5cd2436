"""What reviewers found wrong with criteria, for whoever writes the rubric."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.library import RubricVersion
from core.domain.review import Why
from core.domain.review_records import QueueRow, VerdictRow
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.services.truth import effective
from core.store.store import Store

#: The reasons for "cannot assess" that speak of the criterion and not of the submission.
ABOUT_CRITERION: tuple[Why, ...] = ("criterion_wrong", "ambiguous_criterion", "split_criterion")


@dataclass(frozen=True)
class Issue:
    """What one person said of one criterion. ``number`` is the version that was in force.

    ``changed``: the rubric's latest version asks something else there, or nothing.
    """

    rubric_id: int
    rubric: str
    number: int
    criterion: str
    why: Why
    note: str
    reviewer: str
    run_id: int
    queue_id: int
    changed: bool


def issues(store: Store, rubric_id: int | None = None) -> list[Issue]:
    """Every final verdict that calls a criterion wrong, ambiguous or two questions in one.

    Only of cells that are resolved, so that nobody reads here what others said of a cell that is
    still to be reviewed. By rubric and criterion, those that still stand first. Criteria of items
    with a rubric of their own are in no rubric that one could open, and left out.
    """
    found = [
        issue
        for archived in (False, True)
        for queue in store.queues.list(None, archived=archived)
        for issue in _of_queue(store, queue, rubric_id)
    ]
    return sorted(found, key=lambda i: (i.changed, i.rubric, i.rubric_id, i.criterion, -i.queue_id))


def _of_queue(store: Store, queue: QueueRow, rubric_id: int | None) -> list[Issue]:
    run = store.runs.get(queue.run_id)
    version = store.rubrics.version(run.rubric_version_id)
    if rubric_id not in (None, version.rubric_id):
        return []
    told = [v for v in store.verdicts.of_queue(queue.id) if _says(v) is not None]
    if not told:
        return []
    done = {(c.item_id, c.criterion) for c in store.queues.cells(queue.id) if c.state == "resolved"}
    told = [v for v in told if (v.item_id, v.criterion) in done]
    own = _own_rubrics(store, run, {v.item_id for v in told})
    latest = store.rubrics.latest(version.rubric_id)
    return [_issue(v, queue, version, latest) for v in told if v.item_id not in own]


def _says(verdict: VerdictRow) -> Why | None:
    why = None if verdict.final is None else verdict.final.why
    return why if why in ABOUT_CRITERION else None


def _own_rubrics(store: Store, run: Run, ids: set[str]) -> set[str]:
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    found = store.datasets.items(run.dataset_version_id, sorted(ids)) if ids else ()
    return {item.id for item in found if effective(item, rubric) != rubric}


def _issue(
    verdict: VerdictRow, queue: QueueRow, version: RubricVersion, latest: RubricVersion
) -> Issue:
    why = _says(verdict)
    assert why is not None, "only verdicts that say something of a criterion"
    assert verdict.final is not None, "they are final"
    then = version.rubric.criterion(verdict.criterion)
    now = {c.name: c for c in latest.rubric.criteria}.get(verdict.criterion)
    return Issue(
        rubric_id=version.rubric_id,
        rubric=latest.rubric.name,
        number=version.number,
        criterion=verdict.criterion,
        why=why,
        note=verdict.final.note,
        reviewer=verdict.reviewer,
        run_id=queue.run_id,
        queue_id=queue.id,
        changed=now is None or _asked(now) != _asked(then),
    )


def _asked(criterion: Criterion) -> tuple[object, ...]:
    """What a reader of the criterion is asked."""
    return (criterion.requirement, criterion.scale, criterion.options)
