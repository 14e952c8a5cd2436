"""Changes to the criteria and options of a draft; each returns a new draft.

An unknown uid changes nothing, since its object may have just been removed, in this tab or another.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import dropwhile
from typing import Any

from core.domain.rubric import RULES, Criterion, Option, Rubric
from core.formats.rubrics.shapes import name_for
from core.services.rubrics.draft_shapes import (
    DEFAULT_TEMPLATE,
    TEMPLATE_SCALE,
    CriterionDraft,
    OptionDraft,
    RubricDraft,
    Template,
    UidSource,
    blank_criterion,
    option_draft,
    started_draft,
    template_options,
)
from core.services.rubrics.drafts import draft_from
from core.services.rubrics.path_edit import (
    Step,
    index_by_uid,
    numbered_name,
    with_change_at,
    with_copy,
    with_object_moved,
    with_object_placed,
    with_value_at,
    without_object,
)
from core.text.names import fold


def set_field(draft: RubricDraft, name: str, value: Any) -> RubricDraft:
    """Return the draft with one of its own fields changed (name, description, guidelines)."""
    return with_value_at(draft, (name,), value)


def set_scoring(draft: RubricDraft, name: str, value: Any) -> RubricDraft:
    """Return the draft with one field of its scoring policy changed."""
    return with_value_at(draft, ("scoring", name), value)


def set_criterion(draft: RubricDraft, uid: str, name: str, value: Any) -> RubricDraft:
    """Return the draft with one field of a criterion changed."""
    return with_value_at(draft, ("criteria", uid, name), value)


def add_criterion(
    draft: RubricDraft, template: Template = "yes_no", *, na: bool = False
) -> tuple[RubricDraft, str]:
    """Return the draft with a new criterion at its end, and its uid.

    ``na`` adds the option "Not applicable".
    """
    draft = _drop_untouched_first_criterion(draft)
    serial = UidSource(draft["serial"])
    section = draft["criteria"][-1]["section"] if draft["criteria"] else ""
    name = numbered_name("Criterion", _criterion_names(draft))
    criterion = blank_criterion(name, template, serial, section=section, na=na)
    return _with_criterion_added(draft, criterion, serial), criterion["uid"]


def _drop_untouched_first_criterion(draft: RubricDraft) -> RubricDraft:
    """Return the draft without a new rubric's first criterion, if that is untouched."""
    untouched = draft["criteria"] == started_draft()["criteria"]
    return {**draft, "criteria": []} if untouched and draft["base"] is None else draft


def set_requirement(
    draft: RubricDraft, uid: str, requirement: str, suggested: str = ""
) -> RubricDraft:
    """Return the draft with another requirement, and a generated name derived from it.

    An empty name, "Criterion 3", and the name ``suggested`` before count as generated.

    >>> draft = started_draft()
    >>> uid = draft["criteria"][0]["uid"]
    >>> set_requirement(draft, uid, "The answer names density.")["criteria"][0]["name"]
    'Names density'
    """
    current = next((c for c in draft["criteria"] if c["uid"] == uid), None)
    changed = set_criterion(draft, uid, "requirement", requirement)
    if current is None or not requirement.strip():
        return changed
    taken_names = {fold(c["name"]) for c in draft["criteria"] if c["uid"] != uid}
    if current["name"] in ("", suggested) or re.fullmatch(r"Criterion \d+", current["name"]):
        return set_criterion(changed, uid, "name", _suggested_name(requirement, taken_names))
    return changed


#: Words that most requirements begin with; a generated name skips them.
_BEGINNINGS = {
    *("the", "a", "an", "it", "this", "does", "do", "did", "is", "are", "answer", "response"),
    *("reply", "submission", "text", "essay", "student", "model", "assistant"),
}


def _suggested_name(requirement: str, used_names: set[str]) -> str:
    """Return the first significant words of a requirement, as a unique name."""
    parts = requirement.split()
    words = list(dropwhile(lambda word: word.casefold() in _BEGINNINGS, parts)) or parts
    text = " ".join(words)
    return name_for(text[:1].upper() + text[1:], len(used_names), used_names)


def _with_criterion_added(
    draft: RubricDraft, criterion: CriterionDraft, serial: UidSource
) -> RubricDraft:
    return {**draft, "criteria": [*draft["criteria"], criterion], "serial": serial.last}


def append_criterion(draft: RubricDraft, criterion: Criterion) -> RubricDraft:
    """Return the draft with this criterion at its end; a repeated name gets a number."""
    draft = _drop_untouched_first_criterion(draft)
    (copied,) = draft_from(Rubric(criteria=(criterion,)))["criteria"]
    serial = UidSource(draft["serial"])
    criterion_draft: CriterionDraft = {
        **copied,
        "uid": serial.next("c"),
        "name": free_name(copied["name"], _criterion_names(draft)),
        "options": [{**option, "uid": serial.next("o")} for option in copied["options"]],
    }
    return _with_criterion_added(draft, criterion_draft, serial)


def _criterion_names(draft: RubricDraft) -> list[str]:
    return [criterion["name"] for criterion in draft["criteria"]]


def free_name(name: str, used_names: Iterable[str]) -> str:
    """Return the name, with a number if it is taken.

    >>> free_name("Tone", ["tone", "Tone 2"])
    'Tone 3'
    """
    names = list(used_names)
    return numbered_name(name[:190], names, 2) if fold(name) in map(fold, names) else name


def remove_criterion(draft: RubricDraft, uid: str) -> RubricDraft:
    """Return the draft without a criterion. Gates on it stay, and are reported as problems."""
    return with_change_at(draft, ("criteria",), lambda criteria: without_object(criteria, uid))


def move_criterion(draft: RubricDraft, uid: str, step: Step) -> RubricDraft:
    """Return the draft with a criterion one place up (-1) or down (1), if there is room."""
    return with_change_at(
        draft, ("criteria",), lambda criteria: with_object_moved(criteria, uid, step)
    )


def place_criterion(draft: RubricDraft, uid: str, place: int) -> RubricDraft:
    """Return the draft with a criterion at another place (from 0; beyond the end is the end)."""
    return with_change_at(
        draft, ("criteria",), lambda criteria: with_object_placed(criteria, uid, place)
    )


def duplicate_criterion(draft: RubricDraft, uid: str) -> tuple[RubricDraft, str]:
    """Return the draft with a copy of a criterion right after it, and the copy's uid."""
    if index_by_uid(draft["criteria"], uid) is None:
        return draft, uid
    serial = UidSource(draft["serial"])
    new_uid = serial.next("c")

    def twin_of(original: CriterionDraft) -> CriterionDraft:
        copied = copy.deepcopy(original)
        copied["uid"], copied["parked"] = new_uid, {}
        copied["name"] = numbered_name(f"{original['name']} copy", _criterion_names(draft))
        copied["options"] = [{**option, "uid": serial.next("o")} for option in copied["options"]]
        return copied

    grown = with_change_at(draft, ("criteria",), lambda criteria: with_copy(criteria, uid, twin_of))
    return {**grown, "serial": serial.last}, new_uid


def set_option(draft: RubricDraft, uid: str, option: str, name: str, value: Any) -> RubricDraft:
    """Return the draft with one field of an option changed."""
    return with_value_at(draft, ("criteria", uid, "options", option, name), value)


def add_option(draft: RubricDraft, uid: str, *, na: bool = False) -> RubricDraft:
    """Return the draft with a new option before the abstentions, or a new abstention last."""
    serial = UidSource(draft["serial"])

    def with_option_added(options: list[OptionDraft]) -> list[OptionDraft]:
        stem = "Not applicable" if na else "Option"
        option = Option.model_construct(
            label=_free_label(options, stem, always_number=not na),
            value=None if na else _next_option_value(options),
            na=na,
        )
        added = option_draft(option, serial.next("o"))
        return [*options, added] if na else _sort_abstentions_last([*options, added])

    return {**_with_changed_options(draft, uid, with_option_added), "serial": serial.last}


def _next_option_value(options: Sequence[OptionDraft]) -> float:
    """Return a value that continues the list and keeps an ordinal scale in order."""
    values = [
        option["value"] for option in options if not option["na"] and option["value"] is not None
    ]
    falling = len(values) > 1 and values[-1] < values[0]
    return 0.0 if falling else 1.0


def _free_label(options: Sequence[OptionDraft], stem: str, *, always_number: bool) -> str:
    taken_labels = [option["label"] for option in options]
    if not always_number and fold(stem) not in map(fold, taken_labels):
        return stem
    return numbered_name(
        stem, taken_labels, len([option for option in options if not option["na"]]) + 1
    )


def _sort_abstentions_last(options: Sequence[OptionDraft]) -> list[OptionDraft]:
    return sorted(options, key=lambda option: option["na"])


def remove_option(draft: RubricDraft, uid: str, option: str) -> RubricDraft:
    """Return the draft without an option."""
    return _with_changed_options(draft, uid, lambda options: without_object(options, option))


def move_option(draft: RubricDraft, uid: str, option: str, step: Step) -> RubricDraft:
    """Return the draft with an option one place up (-1) or down (1), if there is room."""
    return _with_changed_options(
        draft, uid, lambda options: with_object_moved(options, option, step)
    )


def set_abstention(draft: RubricDraft, uid: str, option: str, na: bool) -> RubricDraft:
    """Return the draft with an option made an abstention (moved last), or scored again."""
    fields = {"na": na, "value": None if na else 0.0}
    return _with_changed_options(
        draft,
        uid,
        lambda options: _sort_abstentions_last(
            with_change_at(options, (option,), lambda o: {**o, **fields})
        ),
    )


def duplicate_option(draft: RubricDraft, uid: str, option: str) -> RubricDraft:
    """Return the draft with a copy of an option right after it."""
    serial = UidSource(draft["serial"])

    def with_option_added(options: list[OptionDraft]) -> list[OptionDraft]:
        def twin_of(original: OptionDraft) -> OptionDraft:
            label = _free_label(options, original["label"], always_number=True)
            return {**original, "uid": serial.next("o"), "label": label}

        return with_copy(options, option, twin_of)

    return {**_with_changed_options(draft, uid, with_option_added), "serial": serial.last}


def change_scale(draft: RubricDraft, uid: str, scale: str) -> RubricDraft:
    """Return the draft with a criterion on another scale.

    The previous options are parked, and return when their scale does. Ordinal and nominal share
    options if none are parked. An aggregation rule that does not fit the scale is dropped.
    """
    serial = UidSource(draft["serial"])

    def changed_criterion(criterion: CriterionDraft) -> CriterionDraft:
        if criterion["scale"] == scale:
            return criterion
        options_before = criterion["options"]
        parked = {**criterion["parked"], criterion["scale"]: options_before}
        if scale in criterion["parked"]:
            options = criterion["parked"][scale]
        elif "binary" in (scale, criterion["scale"]):
            options = template_options(DEFAULT_TEMPLATE[scale], serial)
        else:
            options = (
                sorted(options_before, key=_value_order) if scale == "ordinal" else options_before
            )
        return _fit_options({**criterion, "scale": scale, "options": options, "parked": parked})

    return {**with_change_at(draft, ("criteria", uid), changed_criterion), "serial": serial.last}


def _value_order(option: OptionDraft) -> tuple[bool, float]:
    return option["na"], option["value"] or 0.0


def apply_template(
    draft: RubricDraft, uid: str, template: Template, *, na: bool = False
) -> RubricDraft:
    """Return the draft with a criterion's scored options replaced by a template's.

    Abstentions stay; ``na`` adds "Not applicable" if the criterion has no abstention.
    """
    serial = UidSource(draft["serial"])

    def changed_criterion(criterion: CriterionDraft) -> CriterionDraft:
        abstentions = [option for option in criterion["options"] if option["na"]]
        options = [*template_options(template, serial, na=na and not abstentions), *abstentions]
        parked = {**criterion["parked"], criterion["scale"]: criterion["options"]}
        scale = TEMPLATE_SCALE[template]
        return _fit_options({**criterion, "scale": scale, "options": options, "parked": parked})

    return {**with_change_at(draft, ("criteria", uid), changed_criterion), "serial": serial.last}


def _fit_options(criterion: CriterionDraft) -> CriterionDraft:
    rules_of_scale: tuple[str, ...] = {str(scale): rules for scale, rules in RULES.items()}[
        criterion["scale"]
    ]
    return (
        criterion
        if criterion["aggregation"] in rules_of_scale
        else {**criterion, "aggregation": None}
    )


def spread_values(draft: RubricDraft, uid: str) -> RubricDraft:
    """Return the draft with a criterion's values spread evenly from 0 to 1, or down from 1."""

    def spread_values(options: list[OptionDraft]) -> list[OptionDraft]:
        scored = [option for option in options if not option["na"]]
        values = [option["value"] for option in scored if option["value"] is not None]
        falling = len(values) > 1 and values[-1] < values[0]
        last = max(1, len(scored) - 1)
        even = [round(i / last, 4) for i in range(len(scored))]
        new_values = dict(
            zip((option["uid"] for option in scored), even[::-1] if falling else even, strict=True)
        )
        return [{**option, "value": new_values.get(option["uid"])} for option in options]

    return _with_changed_options(draft, uid, spread_values)


def _with_changed_options(
    draft: RubricDraft, uid: str, change: Callable[[list[OptionDraft]], list[OptionDraft]]
) -> RubricDraft:
    return with_change_at(draft, ("criteria", uid, "options"), change)
