"""Changes to the criteria and options of a draft: each returns a new draft."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, cast

from core.domain.rubric import RULES, Criterion, Rubric
from core.services.rubrics.draft_shapes import (
    DEFAULT_TEMPLATE,
    TEMPLATE_SCALE,
    CriterionDraft,
    OptionDraft,
    RubricDraft,
    Serial,
    Template,
    template_options,
)
from core.services.rubrics.drafts import draft_from
from core.text.names import fold

# Changes to a draft: each returns a new draft and leaves the old one alone.
#
# An unknown uid changes nothing: the thing was removed a moment ago, in this tab or another.

Item = TypeVar("Item", CriterionDraft, OptionDraft)
Step = Literal[-1, 1]


def set_field(draft: RubricDraft, name: str, value: Any) -> RubricDraft:
    """The draft with one field of its own changed (name, description, guidelines)."""
    return cast("RubricDraft", {**draft, name: value})


def set_scoring(draft: RubricDraft, name: str, value: Any) -> RubricDraft:
    """The draft with one field of its scoring policy changed."""
    return cast("RubricDraft", {**draft, "scoring": {**draft["scoring"], name: value}})


def set_criterion(draft: RubricDraft, uid: str, name: str, value: Any) -> RubricDraft:
    """The draft with one field of a criterion changed."""
    return with_criterion(draft, uid, lambda c: cast("CriterionDraft", {**c, name: value}))


def add_criterion(
    draft: RubricDraft, template: Template = "yes_no", *, na: bool = False
) -> tuple[RubricDraft, str]:
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
    grown: RubricDraft = {
        **draft,
        "criteria": [*draft["criteria"], criterion],
        "serial": serial.last,
    }
    return grown, criterion["uid"]


def append_criterion(draft: RubricDraft, criterion: Criterion) -> RubricDraft:
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


def free_name(draft: RubricDraft, stem: str) -> str:
    """``stem`` with the lowest number that makes it a name no criterion has.

    >>> from core.services.rubrics.drafts import new_draft
    >>> free_name(new_draft(), "Criterion")
    'Criterion 1'
    """
    taken = {fold(c["name"]) for c in draft["criteria"]}
    number = 1
    while fold(f"{stem} {number}") in taken:
        number += 1
    return f"{stem} {number}"


def remove_criterion(draft: RubricDraft, uid: str) -> RubricDraft:
    """The draft without a criterion. Gates on it stay, and are reported as problems."""
    return {**draft, "criteria": [c for c in draft["criteria"] if c["uid"] != uid]}


def move_criterion(draft: RubricDraft, uid: str, step: Step) -> RubricDraft:
    """The draft with a criterion one place up (-1) or down (1); at the end it stays."""
    return {**draft, "criteria": moved(draft["criteria"], uid, step)}


def duplicate_criterion(draft: RubricDraft, uid: str) -> tuple[RubricDraft, str]:
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


def place_criterion(draft: RubricDraft, uid: str, place: int) -> RubricDraft:
    """The draft with a criterion at another place (from 0; beyond the end is the end)."""
    moving = [c for c in draft["criteria"] if c["uid"] == uid]
    rest = [c for c in draft["criteria"] if c["uid"] != uid]
    return {**draft, "criteria": [*rest[: max(0, place)], *moving, *rest[max(0, place) :]]}


def with_criterion(
    draft: RubricDraft, uid: str, change: Callable[[CriterionDraft], CriterionDraft]
) -> RubricDraft:
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


# Changes to the options of a criterion in a draft: edit, reorder, other scales, templates.


def set_option(draft: RubricDraft, uid: str, option: str, name: str, value: Any) -> RubricDraft:
    """The draft with one field of an option changed."""

    def change(one: OptionDraft) -> OptionDraft:
        return cast("OptionDraft", {**one, name: value})

    return _with_options(
        draft, uid, lambda options: [change(o) if o["uid"] == option else o for o in options]
    )


def add_option(draft: RubricDraft, uid: str, *, na: bool = False) -> RubricDraft:
    """The draft with one more option: before the abstentions, or a new abstention last."""
    serial = Serial(draft["serial"])

    def grow(options: list[OptionDraft]) -> list[OptionDraft]:
        scored = [o for o in options if not o["na"]]
        out = [o for o in options if o["na"]]
        stem = "Not applicable" if na else "Option"
        one = OptionDraft(
            uid=serial.next("o"),
            label=_free_label(options, stem, always_number=not na),
            description="",
            value=None if na else _next_value(scored),
            na=na,
        )
        return [*options, one] if na else [*scored, one, *out]

    return {**_with_options(draft, uid, grow), "serial": serial.last}


def _next_value(scored: Sequence[OptionDraft]) -> float:
    """Continue where the list is going, so that an ordinal scale stays in order."""
    values = [o["value"] for o in scored if o["value"] is not None]
    falling = len(values) > 1 and values[-1] < values[0]
    return 0.0 if falling else 1.0


def _free_label(options: Sequence[OptionDraft], stem: str, *, always_number: bool) -> str:
    taken = {fold(o["label"]) for o in options}
    if not always_number and fold(stem) not in taken:
        return stem
    number = len([o for o in options if not o["na"]]) + 1
    while fold(f"{stem} {number}") in taken:
        number += 1
    return f"{stem} {number}"


def remove_option(draft: RubricDraft, uid: str, option: str) -> RubricDraft:
    """The draft without an option."""
    return _with_options(draft, uid, lambda os: [o for o in os if o["uid"] != option])


def move_option(draft: RubricDraft, uid: str, option: str, step: Step) -> RubricDraft:
    """The draft with an option one place up (-1) or down (1); at the end it stays."""
    return _with_options(draft, uid, lambda options: moved(options, option, step))


def set_abstention(draft: RubricDraft, uid: str, option: str, na: bool) -> RubricDraft:
    """The draft with an option made an abstention (moved last), or given a value again."""

    def change(options: list[OptionDraft]) -> list[OptionDraft]:
        value = None if na else 0.0
        changed = [
            cast("OptionDraft", {**o, "na": na, "value": value}) if o["uid"] == option else o
            for o in options
        ]
        return [*(o for o in changed if not o["na"]), *(o for o in changed if o["na"])]

    return _with_options(draft, uid, change)


def duplicate_option(draft: RubricDraft, uid: str, option: str) -> RubricDraft:
    """The draft with a copy of an option right after it."""
    serial = Serial(draft["serial"])

    def grow(options: list[OptionDraft]) -> list[OptionDraft]:
        index = index_of(options, option)
        if index is None:
            return options
        label = _free_label(options, options[index]["label"], always_number=True)
        twin: OptionDraft = {**options[index], "uid": serial.next("o"), "label": label}
        return [*options[: index + 1], twin, *options[index + 1 :]]

    return {**_with_options(draft, uid, grow), "serial": serial.last}


def change_scale(draft: RubricDraft, uid: str, scale: str) -> RubricDraft:
    """The draft with a criterion on another scale.

    The options it had are parked and come back with their scale. Ordinal and nominal share their
    options where nothing is parked. An aggregation rule that does not fit the scale is dropped.
    """
    serial = Serial(draft["serial"])

    def change(criterion: CriterionDraft) -> CriterionDraft:
        if criterion["scale"] == scale:
            return criterion
        kept = criterion["options"]
        parked = {**criterion["parked"], criterion["scale"]: kept}
        if scale in criterion["parked"]:
            options = criterion["parked"][scale]
        elif "binary" in (scale, criterion["scale"]):
            options = template_options(DEFAULT_TEMPLATE[scale], serial)
        else:
            options = sorted(kept, key=_by_value) if scale == "ordinal" else kept
        return _fitting({**criterion, "scale": scale, "options": options, "parked": parked})

    return {**with_criterion(draft, uid, change), "serial": serial.last}


def _by_value(option: OptionDraft) -> tuple[bool, float]:
    return option["na"], option["value"] or 0.0


def apply_template(
    draft: RubricDraft, uid: str, template: Template, *, na: bool = False
) -> RubricDraft:
    """The draft with a criterion's scored options replaced by a template's; abstentions stay.

    ``na`` adds "Not applicable" where the criterion has no abstention of its own.
    """
    serial = Serial(draft["serial"])

    def change(criterion: CriterionDraft) -> CriterionDraft:
        out = [o for o in criterion["options"] if o["na"]]
        options = [*template_options(template, serial, na=na and not out), *out]
        parked = {**criterion["parked"], criterion["scale"]: criterion["options"]}
        scale = TEMPLATE_SCALE[template]
        return _fitting({**criterion, "scale": scale, "options": options, "parked": parked})

    return {**with_criterion(draft, uid, change), "serial": serial.last}


def _fitting(criterion: CriterionDraft) -> CriterionDraft:
    fits: tuple[str, ...] = {str(scale): rules for scale, rules in RULES.items()}[
        criterion["scale"]
    ]
    return criterion if criterion["aggregation"] in fits else {**criterion, "aggregation": None}


def spread_values(draft: RubricDraft, uid: str) -> RubricDraft:
    """The draft with a criterion's values spread evenly from 0 to 1 (or back, where they fall)."""

    def spread(options: list[OptionDraft]) -> list[OptionDraft]:
        scored = [o for o in options if not o["na"]]
        values = [o["value"] for o in scored if o["value"] is not None]
        falling = len(values) > 1 and values[-1] < values[0]
        last = max(1, len(scored) - 1)
        even = [round(i / last, 4) for i in range(len(scored))]
        given = dict(zip((o["uid"] for o in scored), even[::-1] if falling else even, strict=True))
        return [{**o, "value": given.get(o["uid"])} for o in options]

    return _with_options(draft, uid, spread)


def _with_options(
    draft: RubricDraft, uid: str, change: Callable[[list[OptionDraft]], list[OptionDraft]]
) -> RubricDraft:
    return with_criterion(draft, uid, lambda c: {**c, "options": change(c["options"])})
