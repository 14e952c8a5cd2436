"""Changes to a draft: each returns a new draft and leaves the old one alone.

An unknown uid changes nothing: the thing was removed a moment ago, in this tab or another.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, cast

from core.domain.names import fold
from core.domain.rubric import Criterion, Rubric
from core.services.draft_templates import TEMPLATE_SCALE, Template, template_options
from core.services.draft_types import CriterionDraft, Draft, OptionDraft, Serial
from core.services.drafts import draft_from

Item = TypeVar("Item", CriterionDraft, OptionDraft)
Step = Literal[-1, 1]


def set_field(draft: Draft, name: str, value: Any) -> Draft:
    """The draft with one field of its own changed (name, description, guidelines)."""
    return cast("Draft", {**draft, name: value})


def set_scoring(draft: Draft, name: str, value: Any) -> Draft:
    """The draft with one field of its scoring policy changed."""
    return cast("Draft", {**draft, "scoring": {**draft["scoring"], name: value}})


def set_criterion(draft: Draft, uid: str, name: str, value: Any) -> Draft:
    """The draft with one field of a criterion changed."""
    return with_criterion(draft, uid, lambda c: cast("CriterionDraft", {**c, name: value}))


def add_criterion(
    draft: Draft, template: Template = "yes_no", *, na: bool = False
) -> tuple[Draft, str]:
    """The draft with one more criterion at its end, and that criterion's uid.

    ``na`` gives it "Not applicable" as one more answer.
    """
    serial = Serial(draft["serial"])
    criterion = CriterionDraft(
        uid=serial.next("c"),
        name=free_name(draft, "Criterion"),
        requirement="",
        weight=10.0,
        scale=TEMPLATE_SCALE[template],
        options=template_options(template, serial, na=na),
        section=draft["criteria"][-1]["section"] if draft["criteria"] else "",
        tags=[],
        aggregation=None,
        forced_choice=False,
        meta={},
        parked={},
    )
    grown: Draft = {
        **draft,
        "criteria": [*draft["criteria"], criterion],
        "serial": serial.last,
    }
    return grown, criterion["uid"]


def append_criterion(draft: Draft, criterion: Criterion) -> Draft:
    """The draft with a whole criterion at its end; a name that is taken gets a number."""
    (made,) = draft_from(Rubric(criteria=(criterion,)))["criteria"]
    serial = Serial(draft["serial"])
    fresh: CriterionDraft = {
        **made,
        "uid": serial.next("c"),
        "name": free_of(made["name"], (c["name"] for c in draft["criteria"])),
        "options": [{**option, "uid": serial.next("o")} for option in made["options"]],
    }
    return {**draft, "criteria": [*draft["criteria"], fresh], "serial": serial.last}


def free_of(name: str, taken: Iterable[str]) -> str:
    """The name, with the first number that makes it differ from those taken.

    >>> free_of("Tone", ["tone", "Tone 2"])
    'Tone 3'
    """
    known, found, number = {fold(one) for one in taken}, name, 2
    while fold(found) in known:
        found, number = f"{name[:190]} {number}", number + 1
    return found


def free_name(draft: Draft, stem: str) -> str:
    """``stem`` with the lowest number that makes it a name no criterion has.

    >>> from core.services.drafts import new_draft
    >>> free_name(new_draft(), "Criterion")
    'Criterion 1'
    """
    taken = {fold(c["name"]) for c in draft["criteria"]}
    number = 1
    while fold(f"{stem} {number}") in taken:
        number += 1
    return f"{stem} {number}"


def remove_criterion(draft: Draft, uid: str) -> Draft:
    """The draft without a criterion. Gates on it stay, and are reported as problems."""
    return {**draft, "criteria": [c for c in draft["criteria"] if c["uid"] != uid]}


def move_criterion(draft: Draft, uid: str, step: Step) -> Draft:
    """The draft with a criterion one place up (-1) or down (1); at the end it stays."""
    return {**draft, "criteria": moved(draft["criteria"], uid, step)}


def duplicate_criterion(draft: Draft, uid: str) -> tuple[Draft, str]:
    """The draft with a copy of a criterion right after it, and the copy's uid."""
    index = index_of(draft["criteria"], uid)
    if index is None:
        return draft, uid
    serial = Serial(draft["serial"])
    twin = copy.deepcopy(draft["criteria"][index])
    twin["uid"] = serial.next("c")
    twin["name"] = free_name(draft, f"{twin['name']} copy")
    twin["options"] = [{**o, "uid": serial.next("o")} for o in twin["options"]]
    twin["parked"] = {}
    criteria = [*draft["criteria"][: index + 1], twin, *draft["criteria"][index + 1 :]]
    return {**draft, "criteria": criteria, "serial": serial.last}, twin["uid"]


def place_criterion(draft: Draft, uid: str, place: int) -> Draft:
    """The draft with a criterion at another place (from 0; beyond the end is the end)."""
    moving = [c for c in draft["criteria"] if c["uid"] == uid]
    rest = [c for c in draft["criteria"] if c["uid"] != uid]
    return {**draft, "criteria": [*rest[: max(0, place)], *moving, *rest[max(0, place) :]]}


def with_criterion(
    draft: Draft, uid: str, change: Callable[[CriterionDraft], CriterionDraft]
) -> Draft:
    """The draft with one criterion replaced by what ``change`` makes of it."""
    return {**draft, "criteria": [change(c) if c["uid"] == uid else c for c in draft["criteria"]]}


def index_of(items: Sequence[Item], uid: str) -> int | None:
    """Where the thing with that uid stands, or ``None``."""
    return next((i for i, item in enumerate(items) if item["uid"] == uid), None)


def moved(items: list[Item], uid: str, step: Step) -> list[Item]:
    """The list with one thing a place up or down; at the end it stays."""
    index = index_of(items, uid)
    if index is None or not 0 <= index + step < len(items):
        return items
    changed = list(items)
    changed[index], changed[index + step] = changed[index + step], changed[index]
    return changed
