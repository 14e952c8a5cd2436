"""What is wrong with criteria: the check's findings on a draft, and what reviewers found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.domain import base
from core.domain.library import RubricVersion
from core.domain.review import Why
from core.domain.review_records import QueueRow, VerdictRow
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.errors import InputError
from core.lint.check import OFF, check, check_criterion, off, ordered
from core.lint.language import english
from core.lint.rules import LintEdit, LintFinding
from core.services.results.scored_items import effective
from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import payload, rubric_from
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


def check_draft(draft: RubricDraft, *, with_dismissed: bool = False) -> tuple[LintFinding, ...]:
    """What to mend in a draft; places count as in the draft.

    Where the draft is no rubric yet, those of its criteria that can be read are checked one by one.
    """
    try:
        return check(rubric_from(draft), with_dismissed=with_dismissed)
    except InputError:
        readable = _readable(draft)
        reads = english([criterion for _, criterion in readable])
        found = [
            finding
            for (at, criterion), is_read in zip(readable, reads, strict=True)
            for finding in check_criterion(criterion, at, reads=is_read)
            if with_dismissed or finding.rule not in off(criterion.meta)
        ]
        return ordered(found)


def unread_draft(draft: RubricDraft) -> tuple[str, ...]:
    """The names of the criteria whose wording is not checked, as they are not in English."""
    readable = [criterion for _, criterion in _readable(draft)]
    reads = english(readable)
    return tuple(c.name for c, is_read in zip(readable, reads, strict=True) if not is_read)


def _readable(draft: RubricDraft) -> list[tuple[int, Criterion]]:
    found = []
    for at, data in enumerate(payload(draft)["criteria"]):
        try:
            found.append((at, base.build(Criterion, data, "criterion")))
        except InputError:
            continue  # The editor lists what keeps it from being a criterion.
    return found


def mended(draft: RubricDraft, edit: LintEdit) -> RubricDraft:
    """The draft with the edit made; the draft as it was where its place is gone."""
    head, *rest = edit.path
    if head == "scoring":
        return draft_criteria.set_scoring(draft, str(rest[0]), edit.value)
    if head == "gates":
        return {**draft, "gates": [g for at, g in enumerate(draft["gates"]) if at != rest[0]]}
    at = rest[0]
    if not isinstance(at, int) or at >= len(draft["criteria"]):
        return draft
    uid = draft["criteria"][at]["uid"]
    match edit.act:
        case "split":
            return _split(draft, uid, edit.value)
        case "abstain":
            return _with_abstention(draft, uid, edit.value)
        case "spread":
            return draft_criteria.spread_values(draft, uid)
        case _:
            return draft_criteria.set_criterion(draft, uid, str(rest[1]), edit.value)


def _split(draft: RubricDraft, uid: str, requirements: list[str]) -> RubricDraft:
    """Two criteria that share the weight; gates stay with the first."""
    grown, twin = draft_criteria.duplicate_criterion(draft, uid)
    weight = next(c["weight"] for c in draft["criteria"] if c["uid"] == uid)
    for one, requirement in zip((uid, twin), requirements, strict=True):
        grown = draft_criteria.set_criterion(grown, one, "requirement", requirement)
        grown = draft_criteria.set_criterion(grown, one, "weight", (weight or 0.0) / 2)
    return grown


def _with_abstention(draft: RubricDraft, uid: str, words: list[str]) -> RubricDraft:
    grown = draft_criteria.add_option(draft, uid, na=True)
    added = next(c["options"][-1]["uid"] for c in grown["criteria"] if c["uid"] == uid)
    for name, value in zip(("label", "description"), words, strict=True):
        grown = draft_criteria.set_option(grown, uid, added, name, value)
    return grown


def is_dismissed(draft: RubricDraft, finding: LintFinding) -> bool:
    """Whether the draft remembers that this finding was dismissed."""
    at = finding.criterion
    return finding.rule in off(draft["meta"] if at is None else draft["criteria"][at]["meta"])


def dismiss(draft: RubricDraft, finding: LintFinding) -> RubricDraft:
    """The draft that remembers not to show this rule here again; it is saved with the rubric."""
    return _with_off(draft, finding, lambda listed: [*listed, finding.rule])


def recall(draft: RubricDraft, finding: LintFinding) -> RubricDraft:
    """The draft that shows a dismissed finding again."""
    return _with_off(draft, finding, lambda listed: [one for one in listed if one != finding.rule])


def _with_off(
    draft: RubricDraft, finding: LintFinding, change: Callable[[list[str]], list[str]]
) -> RubricDraft:
    at = finding.criterion
    if at is None:
        return draft_criteria.set_field(draft, "meta", _listed(draft["meta"], change))
    criterion = draft["criteria"][at]
    return draft_criteria.set_criterion(
        draft, criterion["uid"], "meta", _listed(criterion["meta"], change)
    )


def _listed(meta: dict[str, Any], change: Callable[[list[str]], list[str]]) -> dict[str, Any]:
    listed = list(dict.fromkeys(change(off(meta))))
    kept = {key: value for key, value in meta.items() if key != OFF}
    return {**kept, OFF: listed} if listed else kept
