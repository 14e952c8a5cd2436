"""The check in the editor: findings of a draft, edits made to it, findings dismissed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.domain import base
from core.domain.rubric import Criterion
from core.errors import InputError
from core.services import draft_edits as edits
from core.services import draft_options as options
from core.services.checking.checker import OFF, check, check_criterion, off, ordered
from core.services.checking.finding import Edit, Finding
from core.services.checking.tongue import english
from core.services.draft_types import Draft
from core.services.drafts import payload, rubric_from


def check_draft(draft: Draft, *, with_dismissed: bool = False) -> tuple[Finding, ...]:
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


def unread_draft(draft: Draft) -> tuple[str, ...]:
    """The names of the criteria whose wording is not checked, as they are not in English."""
    readable = [criterion for _, criterion in _readable(draft)]
    reads = english(readable)
    return tuple(c.name for c, is_read in zip(readable, reads, strict=True) if not is_read)


def _readable(draft: Draft) -> list[tuple[int, Criterion]]:
    found = []
    for at, data in enumerate(payload(draft)["criteria"]):
        try:
            found.append((at, base.build(Criterion, data, "criterion")))
        except InputError:
            continue  # The editor lists what keeps it from being a criterion.
    return found


def mended(draft: Draft, edit: Edit) -> Draft:
    """The draft with the edit made; the draft as it was where its place is gone."""
    head, *rest = edit.path
    if head == "scoring":
        return edits.set_scoring(draft, str(rest[0]), edit.value)
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
            return options.spread_values(draft, uid)
        case _:
            return edits.set_criterion(draft, uid, str(rest[1]), edit.value)


def _split(draft: Draft, uid: str, requirements: list[str]) -> Draft:
    """Two criteria that share the weight; gates stay with the first."""
    grown, twin = edits.duplicate_criterion(draft, uid)
    weight = next(c["weight"] for c in draft["criteria"] if c["uid"] == uid)
    for one, requirement in zip((uid, twin), requirements, strict=True):
        grown = edits.set_criterion(grown, one, "requirement", requirement)
        grown = edits.set_criterion(grown, one, "weight", (weight or 0.0) / 2)
    return grown


def _with_abstention(draft: Draft, uid: str, words: list[str]) -> Draft:
    grown = options.add_option(draft, uid, na=True)
    added = next(c["options"][-1]["uid"] for c in grown["criteria"] if c["uid"] == uid)
    for name, value in zip(("label", "description"), words, strict=True):
        grown = options.set_option(grown, uid, added, name, value)
    return grown


def is_dismissed(draft: Draft, finding: Finding) -> bool:
    """Whether the draft remembers that this finding was dismissed."""
    at = finding.criterion
    return finding.rule in off(draft["meta"] if at is None else draft["criteria"][at]["meta"])


def dismiss(draft: Draft, finding: Finding) -> Draft:
    """The draft that remembers not to show this rule here again; it is saved with the rubric."""
    return _with_off(draft, finding, lambda listed: [*listed, finding.rule])


def recall(draft: Draft, finding: Finding) -> Draft:
    """The draft that shows a dismissed finding again."""
    return _with_off(draft, finding, lambda listed: [one for one in listed if one != finding.rule])


def _with_off(draft: Draft, finding: Finding, change: Callable[[list[str]], list[str]]) -> Draft:
    at = finding.criterion
    if at is None:
        return edits.set_field(draft, "meta", _listed(draft["meta"], change))
    criterion = draft["criteria"][at]
    return edits.set_criterion(draft, criterion["uid"], "meta", _listed(criterion["meta"], change))


def _listed(meta: dict[str, Any], change: Callable[[list[str]], list[str]]) -> dict[str, Any]:
    listed = list(dict.fromkeys(change(off(meta))))
    kept = {key: value for key, value in meta.items() if key != OFF}
    return {**kept, OFF: listed} if listed else kept
