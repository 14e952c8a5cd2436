"""Changes to the options of a criterion in a draft: edit, reorder, other scales, templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from core.domain.names import fold
from core.domain.rules import RULES
from core.services.draft_edits import Step, index_of, moved, with_criterion
from core.services.draft_templates import (
    DEFAULT_TEMPLATE,
    TEMPLATE_SCALE,
    Template,
    template_options,
)
from core.services.draft_types import CriterionDraft, Draft, OptionDraft, Serial


def set_option(draft: Draft, uid: str, option: str, name: str, value: Any) -> Draft:
    """The draft with one field of an option changed."""

    def change(one: OptionDraft) -> OptionDraft:
        return cast("OptionDraft", {**one, name: value})

    return _with_options(
        draft, uid, lambda options: [change(o) if o["uid"] == option else o for o in options]
    )


def add_option(draft: Draft, uid: str, *, na: bool = False) -> Draft:
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


def remove_option(draft: Draft, uid: str, option: str) -> Draft:
    """The draft without an option."""
    return _with_options(draft, uid, lambda os: [o for o in os if o["uid"] != option])


def move_option(draft: Draft, uid: str, option: str, step: Step) -> Draft:
    """The draft with an option one place up (-1) or down (1); at the end it stays."""
    return _with_options(draft, uid, lambda options: moved(options, option, step))


def set_abstention(draft: Draft, uid: str, option: str, na: bool) -> Draft:
    """The draft with an option made an abstention (moved last), or given a value again."""

    def change(options: list[OptionDraft]) -> list[OptionDraft]:
        value = None if na else 0.0
        changed = [
            cast("OptionDraft", {**o, "na": na, "value": value}) if o["uid"] == option else o
            for o in options
        ]
        return [*(o for o in changed if not o["na"]), *(o for o in changed if o["na"])]

    return _with_options(draft, uid, change)


def duplicate_option(draft: Draft, uid: str, option: str) -> Draft:
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


def change_scale(draft: Draft, uid: str, scale: str) -> Draft:
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


def apply_template(draft: Draft, uid: str, template: Template, *, na: bool = False) -> Draft:
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


def spread_values(draft: Draft, uid: str) -> Draft:
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
    draft: Draft, uid: str, change: Callable[[list[OptionDraft]], list[OptionDraft]]
) -> Draft:
    return with_criterion(draft, uid, lambda c: {**c, "options": change(c["options"])})
