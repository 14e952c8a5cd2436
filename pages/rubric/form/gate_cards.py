"""A gate in the form, as a sentence of choices: when, then, because, and if unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from core.services.rubrics import draft_rules
from core.services.rubrics.draft_shapes import CriterionDraft, RubricDraft
from core.text import numbers as fmt
from core.text.names import fold
from pages.ui import drafts, state
from pages.ui.text import one_line
from pages.ui.widgets import shown_errors

COMPARES: Mapping[str, str] = {
    "below": "is below",
    "at_most": "is at most",
    "above": "is above",
    "at_least": "is at least",
}
PREDICATES: Mapping[str, str] = {
    "is": "is",
    "in": "is one of",
    **COMPARES,
    "abstained": "abstained",
    "answered": "did not abstain",
}
#: The choice that asks for a number instead of an option.
NUMBER = "a value …"
CRITERION, TAG = "criterion", "tag"


def show_when(
    name: str, draft: RubricDraft, uid: str, gate: Mapping[str, Any]
) -> list[CriterionDraft]:
    """Draw the condition; return the criteria that it considers."""
    when = gate["when"]
    names, chosen = _subject_captions(draft, when)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if chosen is not None and chosen[0] == TAG:
            st.number_input(
                "When at least",
                min_value=1,
                step=1,
                key=drafts.synced_key(name, when.get("count_at_least") or 1, uid, "count"),
                width=120,
                on_change=_on_count,
                args=(name, uid),
            )
        st.selectbox(
            "of the criteria" if chosen is not None and chosen[0] == TAG else "When",
            list(names),
            index=None if chosen is None else 0,
            key=drafts.synced_key(name, chosen, uid, "subject"),
            format_func=lambda name: names.get(name, "?"),
            placeholder="Choose a criterion",
            width=196,
            on_change=_on_subject,
            args=(name, uid),
        )
        criteria = _criteria_considered(draft, chosen)
        predicate = draft_rules.predicate_of(when)
        shown = "answered" if when.get("abstained") is False else predicate
        st.selectbox(
            "its verdict",
            _usable_predicates(criteria, shown),
            index=None if shown is None else 0,
            key=drafts.synced_key(name, shown, uid, "predicate"),
            format_func=PREDICATES.__getitem__,
            width=140,
            on_change=_on_predicate,
            args=(name, uid),
        )
        if predicate is not None and predicate != "abstained":
            _threshold_field(name, uid, predicate, when[predicate], criteria)
    return criteria


def _subject_captions(
    draft: RubricDraft, condition: Mapping[str, Any]
) -> tuple[dict[tuple[str, str], str], tuple[str, str] | None]:
    """Return the captions of what a gate can consider, and this gate's choice."""
    names = {(CRITERION, c["uid"]): one_line(c["name"], 60) or "Unnamed" for c in draft["criteria"]}
    for tag in dict.fromkeys(tag for c in draft["criteria"] for tag in c["tags"]):
        names[(TAG, tag)] = f"tagged “{one_line(tag, 40)}”"
    if condition.get("tag") is not None:
        chosen = (TAG, str(condition["tag"]))
        return names, chosen if chosen in names else None
    uids = [c["uid"] for c in draft["criteria"] if c["name"] == condition.get("criterion")]
    return names, (CRITERION, uids[0]) if uids else None


def _criteria_considered(
    draft: RubricDraft, chosen: tuple[str, str] | None
) -> list[CriterionDraft]:
    if chosen is None:
        return []
    kind, value = chosen
    if kind == TAG:
        return draft_rules.gate_subjects(draft, tag=value)
    return draft_rules.gate_subjects(draft, criterion=value)


def _usable_predicates(criteria: Sequence[CriterionDraft], shown: str | None) -> list[str]:
    """Return the predicates that apply to these criteria, always including the one in use."""
    simple = bool(criteria) and all(c["scale"] == "binary" for c in criteria)
    return [
        predicate
        for predicate in PREDICATES
        if not simple or predicate not in (*COMPARES, "in") or predicate == shown
    ]


def _option_captions(criteria: Sequence[CriterionDraft], predicate: str) -> dict[str, str]:
    """Return the captions of the options that can follow a predicate, by label."""
    captions: dict[str, str] = {}
    for option in (option_draft for c in criteria for option_draft in c["options"]):
        if not (option["na"] and predicate in COMPARES):
            value = "" if option["na"] or predicate not in COMPARES else option["value"]
            shown = f" · {fmt.score(value)}" if isinstance(value, float | int) else ""
            captions.setdefault(option["label"], one_line(option["label"], 60) + shown)
    return captions


def _threshold_field(
    name: str, uid: str, predicate: str, value: Any, criteria: Sequence[CriterionDraft]
) -> None:
    labels = _option_captions(criteria, predicate)
    if predicate == "in":
        chosen = [_as_written(label, labels) for label in value]
        st.multiselect(
            "of these",
            list(dict.fromkeys([*labels, *chosen])),
            key=drafts.synced_key(name, chosen, uid, "in"),
            format_func=lambda label: labels.get(label, label),
            width=280,
            on_change=_on_threshold,
            args=(name, uid, predicate, "in"),
        )
        return
    number = isinstance(value, float | int)
    current = NUMBER if number else _as_written(value, labels)
    more = [NUMBER] if predicate in COMPARES else []
    st.selectbox(
        "this option",
        list(dict.fromkeys([*labels, *([] if number else [current]), *more])),
        key=drafts.synced_key(name, current, uid, "threshold"),
        format_func=lambda label: labels.get(label, label),
        width=196,
        on_change=_on_threshold,
        args=(name, uid, predicate, "threshold"),
    )
    if number:
        st.number_input(
            "Value from 0 to 1",
            min_value=0.0,
            max_value=1.0,
            step=0.05,
            format="%.4g",
            key=drafts.synced_key(name, float(value), uid, "number"),
            width=130,
            on_change=_on_threshold,
            args=(name, uid, predicate, "number"),
        )


def _as_written(label: str, labels: Mapping[str, str]) -> str:
    """Return the label as its option writes it, or as the gate does if no option matches."""
    return next((candidate for candidate in labels if fold(candidate) == fold(label)), label)


def _on_subject(name: str, uid: str) -> None:
    with shown_errors():
        chosen = state.get(drafts.field_key(name, uid, "subject"))
        if chosen is None:
            return
        kind, value = chosen
        draft = drafts.draft(name)
        if kind == TAG:
            drafts.change_draft(name, draft_rules.set_subject(draft, uid, tag=value))
        else:
            drafts.change_draft(name, draft_rules.set_subject(draft, uid, criterion=value))


def _on_predicate(name: str, uid: str) -> None:
    with shown_errors():
        wanted = state.get(drafts.field_key(name, uid, "predicate"))
        if wanted is None:
            return
        draft = drafts.draft(name)
        when = draft_rules.current_gate_data(draft, uid)["when"]
        before = draft_rules.predicate_of(when)
        labels = _option_captions(
            _criteria_considered(draft, _subject_captions(draft, when)[1]), str(wanted)
        )
        value = _carried_operand(when.get(before) if before else None, str(wanted), list(labels))
        predicate = cast("draft_rules.Predicate", "abstained" if wanted == "answered" else wanted)
        drafts.change_draft(name, draft_rules.set_condition(draft, uid, predicate, value))


def _carried_operand(value: Any, predicate: str, labels: Sequence[str]) -> Any:
    """Return the old predicate's operand in the new one's form, or else the first option."""
    if predicate in ("abstained", "answered"):
        return predicate == "abstained"
    if isinstance(value, list):
        value = value[0] if value else None
    if (
        isinstance(value, bool)
        or value is None
        or (predicate not in COMPARES and value not in labels)
    ):
        value = labels[0] if labels else ("" if predicate not in COMPARES else 0.5)
    return [value] if predicate == "in" else value


def _on_threshold(name: str, uid: str, predicate: str, field: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, field))
        value = 0.5 if value in (NUMBER, None) else value
        chosen = cast("draft_rules.Predicate", predicate)
        drafts.change_draft(name, draft_rules.set_condition(drafts.draft(name), uid, chosen, value))


def _on_count(name: str, uid: str) -> None:
    with shown_errors():
        count = int(state.get(drafts.field_key(name, uid, "count")) or 1)
        drafts.change_draft(name, draft_rules.set_count(drafts.draft(name), uid, count))


EFFECTS: Mapping[str, str] = {
    "cap": "Cap the score",
    "multiply": "Multiply the score",
    "fail": "Fail the item",
    "review": "Send to a person",
    "flag": "Flag the item",
}
MISSING: Mapping[str, str] = {
    "review": "send it to a person",
    "skip": "ignore the gate",
    "fire": "apply the gate",
}


def show(name: str, uid: str) -> None:
    """Draw the whole gate, editable."""
    draft = drafts.draft(name)
    gate = draft_rules.current_gate_data(draft, uid)
    st.text_input(
        "Name",
        max_chars=200,
        **drafts.widget_arguments(name, gate.get("name", ""), uid, "name", _on_plain),
    )
    criteria = show_when(name, draft, uid, gate)
    _effect_fields(name, uid, gate["then"])
    st.selectbox(
        "If the condition cannot be decided",
        list(MISSING),
        format_func=MISSING.__getitem__,
        width=300,
        help="The criterion abstained, or has no verdict because its calls failed.",
        **drafts.widget_arguments(
            name, gate.get("on_missing", "review"), uid, "on_missing", _on_plain
        ),
    )
    needed = gate["when"].get("count_at_least") or 0
    if needed > len(criteria):
        caption = fmt.plural(len(criteria), "criterion has", "criteria have")
        st.warning(f"Only {caption} this tag, so this gate can never apply.")


def _effect_fields(name: str, uid: str, effect: Mapping[str, Any]) -> None:
    chosen = draft_rules.effects_of(effect)
    st.pills(
        "Then",
        list(EFFECTS),
        selection_mode="multi",
        key=drafts.synced_key(name, list(chosen), uid, "effects"),
        format_func=EFFECTS.__getitem__,
        on_change=_on_effects,
        args=(name, uid),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for part, caption in (("cap", "at most"), ("multiply", "multiplied by")):
            if part in chosen:
                st.number_input(
                    f"{caption} (0 to 1)",
                    min_value=0.0,
                    max_value=1.0,
                    step=0.05,
                    format="%.4g",
                    width=150,
                    **drafts.widget_arguments(name, float(effect[part]), uid, part, _on_effect),
                )
        if "flag" in chosen:
            st.text_input(
                "Flag",
                max_chars=100,
                width=160,
                **drafts.widget_arguments(name, effect["flag"], uid, "flag", _on_effect),
            )
        st.text_input(
            "because",
            max_chars=500,
            placeholder="Reason shown next to the score",
            width="stretch",
            **drafts.widget_arguments(name, effect.get("reason", ""), uid, "reason", _on_effect),
        )


def _on_plain(name: str, uid: str, field: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, field))
        drafts.change_draft(name, draft_rules.set_gate(drafts.draft(name), uid, field, value))


def _on_effects(name: str, uid: str) -> None:
    with shown_errors():
        effects = state.get(drafts.field_key(name, uid, "effects")) or []
        drafts.change_draft(name, draft_rules.set_effects(drafts.draft(name), uid, effects))


def _on_effect(name: str, uid: str, field: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, field))
        value = 0.0 if value is None else value
        drafts.change_draft(name, draft_rules.set_effect(drafts.draft(name), uid, field, value))
