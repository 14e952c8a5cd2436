"""Faults of criteria: findings of the check on a draft, and faults that reviewers reported."""

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
from core.lint.check import OFF, check, check_criterion, dismissed_rules, sorted_findings
from core.lint.language import are_english
from core.lint.rules import LintEdit, LintFinding
from core.services.results.scored_items import rubric_in_force
from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_payload, rubric_from
from core.store.store import Store

#: The reasons for "cannot assess" that concern the criterion instead of the submission.
ABOUT_CRITERION: tuple[Why, ...] = ("criterion_wrong", "ambiguous_criterion", "split_criterion")


@dataclass(frozen=True)
class CriterionIssue:
    """A person's report on one criterion. ``number`` is the version that was in force.

    ``changed``: the rubric's latest version changes or omits the criterion.
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


def criterion_issues(store: Store, rubric_id: int | None = None) -> list[CriterionIssue]:
    """Return every final verdict that calls a criterion wrong, ambiguous or two questions in one.

    Only resolved cells count, since verdicts on others must stay hidden until the review ends.
    Reports are sorted by rubric and criterion; reports on unchanged criteria come first. Criteria
    of items with their own rubric are excluded, since those rubrics cannot be opened.
    """
    reports = [
        issue
        for archived in (False, True)
        for queue in store.queues.list(None, archived=archived)
        for issue in _issues_of_queue(store, queue, rubric_id)
    ]
    return sorted(
        reports, key=lambda i: (i.changed, i.rubric, i.rubric_id, i.criterion, -i.queue_id)
    )


def _issues_of_queue(store: Store, queue: QueueRow, rubric_id: int | None) -> list[CriterionIssue]:
    run = store.runs.get(queue.run_id)
    version = store.rubrics.version(run.rubric_version_id)
    if rubric_id not in (None, version.rubric_id):
        return []
    reports = [v for v in store.verdicts.of_queue(queue.id) if _fault_reason(v) is not None]
    if not reports:
        return []
    resolved = {
        (c.item_id, c.criterion) for c in store.queues.cells(queue.id) if c.state == "resolved"
    }
    reports = [v for v in reports if (v.item_id, v.criterion) in resolved]
    own_rubrics = _own_rubrics(store, run, {v.item_id for v in reports})
    latest = store.rubrics.latest(version.rubric_id)
    return [
        _criterion_issue(v, queue, version, latest) for v in reports if v.item_id not in own_rubrics
    ]


def _fault_reason(verdict: VerdictRow) -> Why | None:
    reason = None if verdict.final is None else verdict.final.why
    return reason if reason in ABOUT_CRITERION else None


def _own_rubrics(store: Store, run: Run, ids: set[str]) -> set[str]:
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    items = store.datasets.items(run.dataset_version_id, sorted(ids)) if ids else ()
    return {item.id for item in items if rubric_in_force(item, rubric) != rubric}


def _criterion_issue(
    verdict: VerdictRow, queue: QueueRow, version: RubricVersion, latest: RubricVersion
) -> CriterionIssue:
    reason = _fault_reason(verdict)
    assert reason is not None, "only verdicts that say something of a criterion"
    assert verdict.final is not None, "they are final"
    criterion = version.rubric.criterion(verdict.criterion)
    current = {c.name: c for c in latest.rubric.criteria}.get(verdict.criterion)
    return CriterionIssue(
        rubric_id=version.rubric_id,
        rubric=latest.rubric.name,
        number=version.number,
        criterion=verdict.criterion,
        why=reason,
        note=verdict.final.note,
        reviewer=verdict.reviewer,
        run_id=queue.run_id,
        queue_id=queue.id,
        changed=current is None
        or _parts_shown_to_judges(current) != _parts_shown_to_judges(criterion),
    )


def _parts_shown_to_judges(criterion: Criterion) -> tuple[object, ...]:
    """Return the parts of the criterion that judges see."""
    return (criterion.requirement, criterion.scale, criterion.options)


def check_draft(draft: RubricDraft, *, with_dismissed: bool = False) -> tuple[LintFinding, ...]:
    """Return the findings on a draft, with places as in the draft.

    If the draft is invalid, its valid criteria are checked separately.
    """
    try:
        return check(rubric_from(draft), with_dismissed=with_dismissed)
    except InputError:
        readable = _readable_criteria(draft)
        reads = are_english([criterion for _, criterion in readable])
        lint_findings = [
            finding
            for (index, criterion), is_read in zip(readable, reads, strict=True)
            for finding in check_criterion(criterion, index, reads=is_read)
            if with_dismissed or finding.rule not in dismissed_rules(criterion.meta)
        ]
        return sorted_findings(lint_findings)


def unread_draft(draft: RubricDraft) -> tuple[str, ...]:
    """Return the names of criteria whose wording is not checked, since it is not English."""
    readable = [criterion for _, criterion in _readable_criteria(draft)]
    reads = are_english(readable)
    return tuple(c.name for c, is_read in zip(readable, reads, strict=True) if not is_read)


def _readable_criteria(draft: RubricDraft) -> list[tuple[int, Criterion]]:
    readable = []
    for index, data in enumerate(draft_payload(draft)["criteria"]):
        try:
            readable.append((index, base.build_model(Criterion, data, "criterion")))
        except InputError:
            continue  # The editor reports why this criterion is invalid.
    return readable


def with_edit(draft: RubricDraft, edit: LintEdit) -> RubricDraft:
    """Return the draft with the edit applied, or unchanged if its place is gone."""
    head, *inner_path = edit.path
    if head == "scoring":
        return draft_criteria.set_scoring(draft, str(inner_path[0]), edit.value)
    if head == "gates":
        return {
            **draft,
            "gates": [g for index, g in enumerate(draft["gates"]) if index != inner_path[0]],
        }
    index = inner_path[0]
    if not isinstance(index, int) or index >= len(draft["criteria"]):
        return draft
    uid = draft["criteria"][index]["uid"]
    match edit.act:
        case "split":
            return _split_criterion(draft, uid, edit.value)
        case "abstain":
            return _with_abstention(draft, uid, edit.value)
        case "spread":
            return draft_criteria.spread_values(draft, uid)
        case _:
            return draft_criteria.set_criterion(draft, uid, str(inner_path[1]), edit.value)


def _split_criterion(draft: RubricDraft, uid: str, requirements: list[str]) -> RubricDraft:
    """Return the draft with a criterion split in two, which share its weight; gates stay."""
    grown, second = draft_criteria.duplicate_criterion(draft, uid)
    weight = next(c["weight"] for c in draft["criteria"] if c["uid"] == uid)
    for part, requirement in zip((uid, second), requirements, strict=True):
        grown = draft_criteria.set_criterion(grown, part, "requirement", requirement)
        grown = draft_criteria.set_criterion(grown, part, "weight", (weight or 0.0) / 2)
    return grown


def _with_abstention(draft: RubricDraft, uid: str, texts: list[str]) -> RubricDraft:
    grown = draft_criteria.add_option(draft, uid, na=True)
    added = next(c["options"][-1]["uid"] for c in grown["criteria"] if c["uid"] == uid)
    for name, value in zip(("label", "description"), texts, strict=True):
        grown = draft_criteria.set_option(grown, uid, added, name, value)
    return grown


def is_dismissed(draft: RubricDraft, finding: LintFinding) -> bool:
    """Return whether this finding was dismissed in the draft."""
    place = finding.criterion
    return finding.rule in dismissed_rules(
        draft["meta"] if place is None else draft["criteria"][place]["meta"]
    )


def dismiss_finding(draft: RubricDraft, finding: LintFinding) -> RubricDraft:
    """Return the draft with this rule dismissed here; the rubric stores that."""
    return _with_dismissals(draft, finding, lambda listed: [*listed, finding.rule])


def recall_finding(draft: RubricDraft, finding: LintFinding) -> RubricDraft:
    """Return the draft with a dismissed finding shown again."""
    return _with_dismissals(
        draft, finding, lambda listed: [rule for rule in listed if rule != finding.rule]
    )


def _with_dismissals(
    draft: RubricDraft, finding: LintFinding, change: Callable[[list[str]], list[str]]
) -> RubricDraft:
    place = finding.criterion
    if place is None:
        return draft_criteria.set_field(draft, "meta", _with_changed_list(draft["meta"], change))
    criterion = draft["criteria"][place]
    return draft_criteria.set_criterion(
        draft, criterion["uid"], "meta", _with_changed_list(criterion["meta"], change)
    )


def _with_changed_list(
    meta: dict[str, Any], change: Callable[[list[str]], list[str]]
) -> dict[str, Any]:
    listed = list(dict.fromkeys(change(dismissed_rules(meta))))
    other_meta = {key: value for key, value in meta.items() if key != OFF}
    return {**other_meta, OFF: listed} if listed else other_meta
