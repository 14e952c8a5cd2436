"""The rubric as a form: what it is, how it scores, a card per criterion, and the rules."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import streamlit as st

from core.domain.rules import ABSTENTIONS
from core.services import draft_edits as edits
from core.services import numbers as fmt
from core.services.draft_templates import TEMPLATE_WORDS, Template
from core.services.draft_types import CriterionDraft
from pages.author._rubric import card, checks, hands, pasting, rules, work
from pages.author._rubric.going import RUBRIC_ACT
from pages.ui import editing_keys, routes, state
from pages.ui.text import esc
from pages.ui.widgets import empty_state, shown_errors

STRATEGIES: Mapping[str, tuple[str, str]] = {
    "skip": ("Skip", "The criterion is left out, as if it had not been asked."),
    "zero": ("Zero", "It gives no points, but its weight still counts."),
    "partial": ("Partial credit", "It gives a share of its weight; a penalty takes nothing."),
    "fail": ("Fail", "It counts as its worst option; a penalty is taken in full."),
}


def show(name: str) -> None:
    """The form of the draft: only the open card has widgets, so that long rubrics stay quick."""
    draft = work.draft(name)
    _about(name)
    total, place = len(draft["criteria"]), 0
    placed = checks.found(name)
    if draft["criteria"]:
        st.html(f'<span class="rs-quiet">{_size(draft["criteria"])}</span>')
    for section, named in itertools.groupby(draft["criteria"], lambda c: c["section"]):
        group = list(named)
        if section or place:
            words = esc(section or "Without a section")
            size = f'<span class="rs-quiet">{_size(group)}</span>'
            st.html(f'<div class="rs-section">{words} {size}</div>')
        with st.container(gap="xxsmall"):
            for criterion in group:
                if work.open_card(name) == criterion["uid"]:
                    card.show_open(name, criterion, place, total)
                else:
                    card.show_closed(name, criterion, checks.mark(placed, criterion["uid"]))
                place += 1
    if not draft["criteria"]:
        empty_state("No criteria yet", "A criterion is one question with options. Add the first:")
    _add(name)
    hands.show_help()
    pasting.show(name)
    rules.show(name)


def _size(criteria: list[CriterionDraft]) -> str:
    """How many criteria, and what can be won and lost by them."""
    weights = [c["weight"] or 0.0 for c in criteria]
    won, lost = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
    parts = [fmt.plural(len(criteria), "criterion", "criteria"), f"{fmt.number(won)} points"]
    return " · ".join([*parts, f"{fmt.weight(lost)} by penalties"] if lost else parts)


def _add(name: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Add a criterion", width="content")
        st.toggle(
            "with “Not applicable”",
            key=state.key(RUBRIC_ACT, name, "with_na"),
            help="The new criterion gets one more answer, for texts that it does not concern.",
        )
    with st.container(horizontal=True):
        for template, words in TEMPLATE_WORDS.items():
            st.button(
                words,
                key=state.key(RUBRIC_ACT, name, "add", template),
                icon=":material/add:",
                on_click=_on_add,
                args=(name, template),
            )
        if st.button(
            "From the library",
            key=state.key(RUBRIC_ACT, name, "library"),
            type="tertiary",
            icon=":material/local_library:",
        ):
            routes.go(routes.LIBRARY, {state.RUBRIC: name})


def _on_add(name: str, template: Template) -> None:
    with shown_errors():
        na = bool(state.get(state.key(RUBRIC_ACT, name, "with_na")))
        grown, uid = edits.add_criterion(work.draft(name), template, na=na)
        work.change(name, grown)
        work.keep_open(name, uid)
        state.put(state.key(editing_keys.TEMPLATE, name), template)
        hands.write_into(name, uid)


def _about(name: str) -> None:
    is_open = work.open_card(name) == work.ABOUT
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "About, guidelines and scoring",
                key=state.key(RUBRIC_ACT, name, "toggle", work.ABOUT),
                type="tertiary",
                icon=":material/expand_more:" if is_open else ":material/chevron_right:",
                on_click=work.toggle_card,
                args=(name, work.ABOUT),
            )
            if not is_open:
                st.html(f'<span class="rs-quiet">{esc(_summary(name))}</span>')
        if is_open:
            _texts(name)
            _scoring(name)


def _summary(name: str) -> str:
    scoring = work.draft(name)["scoring"]
    parts = [f"abstentions: {STRATEGIES[scoring['abstention']][0].lower()}"]
    parts.append("score from 0 to 1" if scoring["normalize"] else "raw points")
    return " · ".join(parts)


def _texts(name: str) -> None:
    draft = work.draft(name)
    key = work.field(name, "name")
    state.seed(key, draft["name"])
    st.text_input(
        "Name",
        key=key,
        max_chars=200,
        placeholder="e.g. Short science answers",
        on_change=work.on_field,
        args=(name, "draft", (), "name"),
    )
    for what, words, help_text in (
        ("description", "Description", "For people: what is graded and why. Judges do not see it."),
        ("guidelines", "Guidelines", "For judges: sent with every question."),
    ):
        key = work.field(name, what)
        state.seed(key, draft["description"] if what == "description" else draft["guidelines"])
        st.text_area(
            words,
            key=key,
            height="content",
            max_chars=20_000,
            help=help_text,
            on_change=work.on_field,
            args=(name, "draft", (), what),
        )


def _scoring(name: str) -> None:
    scoring = work.draft(name)["scoring"]
    key = work.field(name, "abstention")
    state.seed(key, scoring["abstention"])
    strategy = st.radio(
        "When a criterion cannot be assessed",
        ABSTENTIONS,
        key=key,
        format_func=lambda one: STRATEGIES[one][0],
        captions=[STRATEGIES[one][1] for one in ABSTENTIONS],
        on_change=work.on_field,
        args=(name, "scoring", (), "abstention"),
    )
    if strategy == "partial":
        key = work.field(name, "partial_credit")
        state.seed(key, scoring["partial_credit"])
        st.slider(
            "Share of the weight",
            0.0,
            1.0,
            step=0.05,
            key=key,
            on_change=work.on_field,
            args=(name, "scoring", (), "partial_credit"),
        )
    key = work.field(name, "normalize")
    state.seed(key, scoring["normalize"])
    st.toggle(
        "Score from 0 to 1",
        key=key,
        help="Off: the score is the plain sum of points, and can be negative.",
        on_change=work.on_field,
        args=(name, "scoring", (), "normalize"),
    )
