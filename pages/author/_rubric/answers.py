"""The options of the open criterion: labels, values and anchors."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.services import draft_options as options
from core.services import numbers as fmt
from core.services.draft_templates import TEMPLATE_WORDS, Template
from core.services.draft_types import CriterionDraft, OptionDraft
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT
from pages.author._rubric.work import RUBRIC_FIELD
from pages.ui import state
from pages.ui.text import esc
from pages.ui.widgets import shown_errors

#: What a template's menu says: each template without and with "Not applicable".
TEMPLATES: Mapping[str, tuple[Template, bool]] = {
    f"{words}{more}": (template, na)
    for template, words in TEMPLATE_WORDS.items()
    for more, na in (("", False), (", or not applicable", True))
}
#: The height, in pixels, of a field for a line or two.
SHORT = 68
UP, DOWN, COPY, REMOVE = "Move up", "Move down", "Duplicate", "Remove"
TO_NA, FROM_NA = "Make it an abstention", "Give it a value"


def show(name: str, criterion: CriterionDraft) -> None:
    """Every option, and what can be done to all of them."""
    hint = {
        "binary": "An anchor says what counts as met, and what does not.",
        "ordinal": "Lowest to highest. The anchor says what earns the level.",
        "nominal": "In any order. The value is what the category earns.",
    }[criterion["scale"]]
    st.html(f'<b>Options</b> <span class="rs-quiet">{esc(hint)}</span>')
    for option in criterion["options"]:
        if criterion["scale"] == "binary" and not option["na"]:
            _fixed(name, criterion, option)
        else:
            _editable(name, criterion, option)
    if not criterion["forced_choice"] and not any(o["na"] for o in criterion["options"]):
        added = 'Judges can also answer "Cannot assess"; it is added last and has no value.'
        st.html(f'<span class="rs-quiet">{esc(added)}</span>')
    _all(name, criterion)


def _fixed(name: str, criterion: CriterionDraft, option: OptionDraft) -> None:
    left, right = st.columns([1, 5], vertical_alignment="center")
    value = fmt.score(option["value"])
    left.html(f'<b>{esc(option["label"])}</b> <span class="rs-quiet">{value}</span>')
    with right:
        _anchor(name, criterion["uid"], option)


def _editable(name: str, criterion: CriterionDraft, option: OptionDraft) -> None:
    uid, ids = criterion["uid"], (criterion["uid"], option["uid"])
    words, value, menu = st.columns(
        [6, 2.6, 1.1], vertical_alignment="center", gap="xsmall", wrap=False
    )
    key = work.field(name, *ids, "label")
    state.seed(key, option["label"])
    words.text_input(
        "Label",
        key=key,
        max_chars=200,
        label_visibility="collapsed",
        placeholder="Label",
        on_change=work.on_field,
        args=(name, "option", ids, "label"),
    )
    with value:
        if option["na"]:
            st.html('<span class="rs-tag rs-neutral">abstention</span>')
        else:
            _value(name, ids, option)
    key = state.key(RUBRIC_ACT, name, "option", *ids)
    menu.menu_button(
        ":material/more_horiz:",
        [UP, DOWN, COPY, FROM_NA if option["na"] else TO_NA, REMOVE],
        key=key,
        help="Move, copy, remove, abstention",
        type="tertiary",
        on_click=_on_menu,
        args=(name, uid, option["uid"], key),
    )
    _anchor(name, uid, option)


def _value(name: str, ids: tuple[str, str], option: OptionDraft) -> None:
    key = work.field(name, *ids, "value")
    state.seed(key, option["value"])
    st.number_input(
        "Value from 0 to 1",
        min_value=0.0,
        max_value=1.0,
        step=0.05,
        format="%.4g",
        key=key,
        label_visibility="collapsed",
        on_change=work.on_field,
        args=(name, "option", ids, "value"),
    )


def _anchor(name: str, uid: str, option: OptionDraft) -> None:
    key = work.field(name, uid, option["uid"], "description")
    state.seed(key, option["description"])
    st.text_area(
        "Anchor",
        key=key,
        height=SHORT if len(option["description"]) < 100 else "content",
        max_chars=20_000,
        label_visibility="collapsed",
        placeholder="Anchor: what does a text look like that earns this option?",
        on_change=work.on_field,
        args=(name, "option", (uid, option["uid"]), "description"),
    )


def _on_menu(name: str, uid: str, option: str, key: str) -> None:
    with shown_errors():
        draft, chosen = work.draft(name), state.get(key)
        if chosen in (UP, DOWN):
            draft = options.move_option(draft, uid, option, -1 if chosen == UP else 1)
        elif chosen == COPY:
            draft = options.duplicate_option(draft, uid, option)
        elif chosen == REMOVE:
            draft = options.remove_option(draft, uid, option)
        elif chosen in (TO_NA, FROM_NA):
            draft = options.set_abstention(draft, uid, option, chosen == TO_NA)
        work.change(name, draft)


def _all(name: str, criterion: CriterionDraft) -> None:
    uid = criterion["uid"]
    free = criterion["scale"] != "binary"
    acts = [("option", "Add option", "add")] if free else []
    acts.append(("na", "Add abstention", "do_not_disturb_on"))
    acts += [("spread", "Spread values evenly", "linear_scale")] if free else []
    with st.container(horizontal=True, vertical_alignment="center"):
        for act, words, icon in acts:
            st.button(
                words,
                key=state.key(RUBRIC_ACT, name, act, uid),
                icon=f":material/{icon}:",
                on_click=_on_all,
                args=(name, act, uid),
            )
        key = state.key(RUBRIC_ACT, name, "template", uid)
        st.menu_button(
            "Use a template",
            list(TEMPLATES),
            key=key,
            icon=":material/view_list:",
            on_click=_on_template,
            args=(name, uid, key),
            help="Replaces the options; abstentions stay.",
        )


def _on_all(name: str, act: str, uid: str) -> None:
    with shown_errors():
        draft = work.draft(name)
        if act == "spread":
            work.change(name, options.spread_values(draft, uid))
            state.drop(RUBRIC_FIELD, name, uid)
        else:
            work.change(name, options.add_option(draft, uid, na=act == "na"))


def _on_template(name: str, uid: str, key: str) -> None:
    with shown_errors():
        template, na = TEMPLATES[str(state.get(key))]
        work.change(name, options.apply_template(work.draft(name), uid, template, na=na))
        state.drop(RUBRIC_FIELD, name, uid)
