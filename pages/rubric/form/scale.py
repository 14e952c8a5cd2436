"""A criterion's kind of question, weight, voting rule and options."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.domain.rubric import RULES, Scale
from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import TEMPLATE_WORDS, CriterionDraft, OptionDraft, Template
from core.text import numbers as fmt
from core.text.quotes import share_of, weight_of
from pages.ui import drafts, state
from pages.ui.asking_words import SCALE_NAMES
from pages.ui.drafts import RUBRIC_ACT, RUBRIC_FIELD
from pages.ui.text import esc, label
from pages.ui.widgets import draw_row, shown_errors, tag

#: The menu of templates: each without and with "Not applicable".
TEMPLATES: Mapping[str, tuple[Template, bool]] = {
    f"{caption}{more}": (template, na)
    for template, caption in TEMPLATE_WORDS.items()
    for more, na in (("", False), (", or not applicable", True))
}
#: The heights of an anchor in pixels: for two options in a row, and for more.
SHORT, TALL = 68, 96
#: The most options side by side.
BESIDE = 4
UP, DOWN, COPY, REMOVE = "Move up", "Move down", "Duplicate", "Remove"
TO_NA, FROM_NA = "Make it an abstention", "Give it a value"


def show(name: str, criterion: CriterionDraft) -> None:
    """Draw every option, side by side."""
    uid, options = criterion["uid"], criterion["options"]
    for first in range(0, len(options), BESIDE):
        group = options[first : first + BESIDE]
        places = st.columns(max(2, min(len(options), BESIDE)), gap="xsmall")
        for place, option in zip(places, group, strict=False):
            with place, st.container(gap="xxsmall"):
                if criterion["scale"] == "binary" and not option["na"]:
                    _fixed_option(name, criterion, option)
                else:
                    _editable_option(name, criterion, option)
    if criterion["scale"] != "binary":
        with st.container(horizontal=True, gap="small"):
            _option_button(name, uid, "option", "Add option", "add")
            _option_button(name, uid, "na", "Add abstention", "do_not_disturb_on")


def _fixed_option(name: str, criterion: CriterionDraft, option: OptionDraft) -> None:
    value = fmt.score(option["value"])
    st.html(f'<b>{esc(option["label"])}</b> <span class="rs-quiet">{value}</span>')
    _anchor_field(name, criterion, option)


def _editable_option(name: str, criterion: CriterionDraft, option: OptionDraft) -> None:
    uid, ids = criterion["uid"], (criterion["uid"], option["uid"])
    st.text_input(
        "Label",
        max_chars=200,
        label_visibility="collapsed",
        placeholder="Label",
        **drafts.bound_field(name, "option", ids, "label"),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", wrap=False):
        if option["na"]:
            st.html('<span class="rs-tag rs-neutral">abstention</span>')
        else:
            _value_field(name, ids, option)
        key = state.key(RUBRIC_ACT, name, "option", *ids)
        st.menu_button(
            ":material/more_horiz:",
            [UP, DOWN, COPY, FROM_NA if option["na"] else TO_NA, REMOVE],
            key=key,
            help="Move, copy, remove, abstention",
            type="tertiary",
            on_click=_on_menu,
            args=(name, uid, option["uid"], key),
        )
    _anchor_field(name, criterion, option)


def _value_field(name: str, ids: tuple[str, str], option: OptionDraft) -> None:
    st.number_input(
        "Value from 0 to 1",
        min_value=0.0,
        max_value=1.0,
        step=0.05,
        format="%.4g",
        label_visibility="collapsed",
        **drafts.bound_field(name, "option", ids, "value"),
    )


def _anchor_field(name: str, criterion: CriterionDraft, option: OptionDraft) -> None:
    uid = criterion["uid"]
    st.text_area(
        "Anchor",
        height=SHORT if len(criterion["options"]) < 3 else TALL,
        max_chars=20_000,
        label_visibility="collapsed",
        placeholder="Anchor: what earns this option?",
        **drafts.bound_field(name, "option", (uid, option["uid"]), "description"),
    )


def _on_menu(name: str, uid: str, option: str, key: str) -> None:
    with shown_errors():
        draft, chosen = drafts.draft(name), state.get(key)
        if chosen in (UP, DOWN):
            draft = draft_criteria.move_option(draft, uid, option, -1 if chosen == UP else 1)
        elif chosen == COPY:
            draft = draft_criteria.duplicate_option(draft, uid, option)
        elif chosen == REMOVE:
            draft = draft_criteria.remove_option(draft, uid, option)
        elif chosen in (TO_NA, FROM_NA):
            draft = draft_criteria.set_abstention(draft, uid, option, chosen == TO_NA)
        drafts.change_draft(name, draft)


def _buttons_for_all(name: str, criterion: CriterionDraft) -> None:
    """Draw the buttons that act on all options at once."""
    uid = criterion["uid"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if criterion["scale"] == "binary":
            _option_button(name, uid, "na", "Add abstention", "do_not_disturb_on")
        else:
            _option_button(name, uid, "spread", "Spread values evenly", "linear_scale")
        key = state.key(RUBRIC_ACT, name, "template", uid)
        st.menu_button(
            "Use a template",
            list(TEMPLATES),
            key=key,
            type="tertiary",
            icon=":material/view_list:",
            on_click=_on_template,
            args=(name, uid, key),
            help="Replaces the options; abstentions stay.",
        )


def _option_button(name: str, uid: str, act: str, caption: str, icon: str) -> None:
    st.button(
        caption,
        key=state.key(RUBRIC_ACT, name, act, uid),
        type="tertiary",
        icon=f":material/{icon}:",
        on_click=_on_all,
        args=(name, act, uid),
    )


def _on_all(name: str, act: str, uid: str) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        if act == "spread":
            drafts.change_draft(name, draft_criteria.spread_values(draft, uid))
            state.drop(RUBRIC_FIELD, name, uid)
        else:
            drafts.change_draft(name, draft_criteria.add_option(draft, uid, na=act == "na"))


def _on_template(name: str, uid: str, key: str) -> None:
    with shown_errors():
        template, na = TEMPLATES[str(state.get(key))]
        drafts.change_draft(
            name, draft_criteria.apply_template(drafts.draft(name), uid, template, na=na)
        )
        state.drop(RUBRIC_FIELD, name, uid)


REWARD, PENALTY = "Reward", "Penalty"
#: The choice for criteria without their own voting rule.
PANELS = ""
RULE_WORDS: Mapping[str, str] = {
    PANELS: "the panel's rule",
    "majority": "majority of heads",
    "weighted": "majority of judges' weights",
    "unanimous": "unanimous",
    "any": "any judge is enough",
    "mean": "mean, then the nearest level",
    "median": "median, then the nearest level",
    "weighted_mean": "mean by judges' weights",
    "mode": "most votes",
    "min": "lowest level voted",
    "max": "highest level voted",
    "soft_mean": "mean of the levels' probabilities",
    "weighted_mode": "most votes by judges' weights",
}


def show_kind(name: str, criterion: CriterionDraft) -> None:
    """Draw the scale, reward or penalty, and the weight."""
    uid = criterion["uid"]
    weight = criterion["weight"] or 0.0
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        key = drafts.field_key(name, uid, "scale")
        state.seed(key, criterion["scale"])
        st.segmented_control(
            "Answer",
            list(SCALE_NAMES),
            key=key,
            required=True,
            format_func=lambda scale: SCALE_NAMES[scale],
            on_change=_on_scale,
            args=(name, uid),
        )
        key = drafts.field_key(name, uid, "effect")
        state.seed(key, PENALTY if weight < 0 else REWARD)
        st.segmented_control(
            "Effect",
            [REWARD, PENALTY],
            key=key,
            required=True,
            on_change=_on_weight,
            args=(name, uid),
        )
        _weight_field(name, uid, weight)
    if weight < 0:
        caption = esc(_penalty_words(criterion, weight))
        draw_row([tag("− Penalty", "bad"), f"<span>{caption}</span>"], width="content")


def _weight_field(name: str, uid: str, weight: float) -> None:
    key = drafts.field_key(name, uid, "points")
    state.seed(key, abs(weight))
    st.number_input(
        "Weight",
        min_value=0.0,
        key=key,
        step=1.0,
        format="%.6g",
        width=96,
        on_change=_on_weight,
        args=(name, uid),
    )


def show_weight(name: str, criterion: CriterionDraft) -> None:
    """Draw the weight's field among all other weights; a penalty's weight is negative."""
    uid = criterion["uid"]
    st.number_input(
        f"Weight of {label(criterion['name'] or 'Unnamed', 60)}",
        key=drafts.synced_key(name, float(criterion["weight"] or 0.0), uid, "weight"),
        step=1.0,
        format="%.6g",
        width=76,
        label_visibility="collapsed",
        on_change=_on_closed_weight,
        args=(name, uid),
    )


def _on_closed_weight(name: str, uid: str) -> None:
    with shown_errors():
        weight = float(state.get(drafts.field_key(name, uid, "weight")) or 0.0)
        drafts.set_value(name, "criterion", (uid,), "weight", weight)


def _share_field(name: str, uid: str, weight: float) -> None:
    """Draw the weight as a share of all points, to read or set."""
    other_points = _other_weights(name, uid)
    share = share_of(weight, other_points)
    if share is None or not other_points:
        return
    st.number_input(
        "% of points",
        min_value=0.0,
        max_value=99.0,
        key=drafts.synced_key(name, round(100 * share, 2), uid, "share"),
        step=1.0,
        format="%.4g",
        width=120,
        help="Sets the weight to this share of all possible points.",
        on_change=_on_share,
        args=(name, uid),
    )


def _other_weights(name: str, uid: str) -> float:
    criteria = drafts.draft(name)["criteria"]
    return sum(max(0.0, c["weight"] or 0.0) for c in criteria if c["uid"] != uid)


def _on_share(name: str, uid: str) -> None:
    with shown_errors():
        share = float(state.get(drafts.field_key(name, uid, "share")) or 0.0) / 100
        weight = weight_of(share, _other_weights(name, uid))
        if weight is not None:
            drafts.set_value(name, "criterion", (uid,), "weight", weight)
            state.put(drafts.field_key(name, uid, "points"), weight)


def _penalty_words(criterion: CriterionDraft, weight: float) -> str:
    points = fmt.plural(1, "point") if abs(weight) == 1 else f"{fmt.number(abs(weight))} points"
    if criterion["scale"] == "binary":
        return f"MET is bad: it deducts {points}."
    return f"The higher the option's value, the worse: value 1 deducts {points}."


def _on_scale(name: str, uid: str) -> None:
    with shown_errors():
        scale = str(state.get(drafts.field_key(name, uid, "scale")))
        drafts.change_draft(name, draft_criteria.change_scale(drafts.draft(name), uid, scale))


def _on_weight(name: str, uid: str) -> None:
    with shown_errors():
        size = float(state.get(drafts.field_key(name, uid, "points")) or 0.0)
        penalises = state.get(drafts.field_key(name, uid, "effect")) == PENALTY
        drafts.set_value(name, "criterion", (uid,), "weight", -size if penalises and size else size)


def _on_rule(name: str, uid: str) -> None:
    with shown_errors():
        rule = state.get(drafts.field_key(name, uid, "aggregation")) or None
        drafts.set_value(name, "criterion", (uid,), "aggregation", rule)


def show_rules(name: str, criterion: CriterionDraft) -> None:
    """Draw the voting rule, the tags, and whether a choice is forced."""
    uid = criterion["uid"]
    scale: Scale = criterion["scale"]  # type: ignore[assignment]
    _buttons_for_all(name, criterion)
    _share_field(name, uid, criterion["weight"] or 0.0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = drafts.field_key(name, uid, "aggregation")
        state.seed(key, criterion["aggregation"] or PANELS)
        st.selectbox(
            "When judges disagree",
            [PANELS, *RULES[scale]],
            key=key,
            format_func=lambda rule: RULE_WORDS[rule],
            width=270,
            on_change=_on_rule,
            args=(name, uid),
        )
        tags = {t: None for c in drafts.draft(name)["criteria"] for t in c["tags"]}
        st.multiselect(
            "Tags",
            list(tags),
            accept_new_options=True,
            placeholder="Type a tag and press Enter",
            width=240,
            **drafts.bound_field(name, "criterion", (uid,), "tags"),
        )
        st.toggle(
            "Forced choice",
            help='Removes the added answer "Cannot assess".',
            disabled=any(option["na"] for option in criterion["options"]),
            **drafts.bound_field(name, "criterion", (uid,), "forced_choice"),
        )
