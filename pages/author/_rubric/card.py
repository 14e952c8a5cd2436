"""A criterion in the form: one line while closed, all its widgets while open."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.files.visible import visible
from core.services import draft_edits as edits
from core.services import numbers as fmt
from core.services.draft_types import CriterionDraft, Draft
from core.services.mentions import Part, mentions
from pages.author._rubric import answers, checks, checks_after, hands, kind, work
from pages.author._rubric.going import RUBRIC_ACT
from pages.ui import state
from pages.ui.rule_words import SCALE_NAMES
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, row, shown_errors, tag

PARTS: dict[Part, tuple[str, Tone]] = {
    "task": ("the task", "info"),
    "context": ("the context", "info"),
    "reference": ("the reference", "good"),
    "submission": ("the submission", "neutral"),
    "placeholder": ("a placeholder, which judges see as it is written", "warn"),
}


def show_closed(name: str, criterion: CriterionDraft, mark: str) -> None:
    """One line that opens the card; `mark` is the HTML of what is to mend in it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.button(
            label(criterion["name"] or "Unnamed", 60),
            key=state.key(RUBRIC_ACT, name, "toggle", criterion["uid"]),
            type="tertiary",
            icon=":material/chevron_right:",
            on_click=work.toggle_card,
            args=(name, criterion["uid"]),
        )
        weight = fmt.weight(criterion["weight"] or 0.0)
        snippet = esc(one_line(criterion["requirement"], 160))
        # One piece of HTML: with thirty criteria every element counts.
        st.html(
            f'<div class="rs-line"><b class="rs-num">{weight}</b>{"".join(_tags(criterion))}{mark}'
            f'<span class="rs-cut rs-quiet">{snippet}</span></div>'
        )


def _tags(criterion: CriterionDraft) -> list[str]:
    weight = criterion["weight"] or 0.0
    scored = [o for o in criterion["options"] if not o["na"]]
    words = SCALE_NAMES[criterion["scale"]]
    shape = words if criterion["scale"] == "binary" else f"{len(scored)} {_noun(criterion)}"
    penalty = [tag("− Penalty", "bad")] if weight < 0 else []
    return [*penalty, tag(shape)]


def _noun(criterion: CriterionDraft) -> str:
    return "levels" if criterion["scale"] == "ordinal" else "categories"


def show_open(name: str, criterion: CriterionDraft, place: int, total: int) -> None:
    """The whole criterion, editable."""
    uid = criterion["uid"]
    with st.container(border=True, key=f"rubric_card_{name}_{uid}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                label(criterion["name"] or "Unnamed", 34),
                key=state.key(RUBRIC_ACT, name, "toggle", uid),
                type="tertiary",
                icon=":material/expand_more:",
                on_click=work.toggle_card,
                args=(name, uid),
            )
            st.space("stretch")
            with st.container(horizontal=True, width="content", gap="small", wrap=False):
                _actions(name, uid, place, total)
        _words(name, criterion, place, total)
        checks.show_beside(name, uid)
        checks_after.show_beside(name, uid)
        kind.show_kind(name, criterion)
        answers.show(name, criterion)
        kind.show_rules(name, criterion)


def _actions(name: str, uid: str, place: int, total: int) -> None:
    for act, icon, words, off in (
        ("up", "arrow_upward", "Up", place == 0),
        ("down", "arrow_downward", "Down", place == total - 1),
        ("copy", "content_copy", "Copy", False),
        ("remove", "delete", "Remove", False),
    ):
        st.button(
            words,
            key=state.key(RUBRIC_ACT, name, act, uid),
            type="tertiary",
            icon=f":material/{icon}:",
            disabled=off,
            on_click=_on_act,
            args=(name, act, uid),
        )


def _on_place(name: str, uid: str) -> None:
    with shown_errors():
        place = int(state.get(work.field(name, uid, "place")) or 1)
        work.change(name, edits.place_criterion(work.draft(name), uid, place - 1))


def _on_section(name: str, uid: str) -> None:
    with shown_errors():
        section = str(state.get(work.field(name, uid, "section")) or "").strip()[:200]
        work.set_value(name, "criterion", (uid,), "section", section)


def _on_act(name: str, act: str, uid: str) -> None:
    with shown_errors():
        draft = work.draft(name)
        if act == "copy":
            grown, twin = edits.duplicate_criterion(draft, uid)
            work.change(name, grown)
            work.keep_open(name, twin)
            hands.write_into(name, twin)
            return
        acts: dict[str, Callable[[Draft, str], Draft]] = {
            "up": lambda d, u: edits.move_criterion(d, u, -1),
            "down": lambda d, u: edits.move_criterion(d, u, 1),
            "remove": edits.remove_criterion,
        }
        work.change(name, acts[act](draft, uid))


def _words(name: str, criterion: CriterionDraft, place: int, total: int) -> None:
    uid = criterion["uid"]
    left, middle, right = st.columns([5, 4, 2], vertical_alignment="bottom")
    key = work.field(name, uid, "name")
    state.seed(key, criterion["name"])
    left.text_input(
        "Name",
        key=key,
        max_chars=200,
        on_change=work.on_field,
        args=(name, "criterion", (uid,), "name"),
    )
    sections = {c["section"]: None for c in work.draft(name)["criteria"] if c["section"]}
    middle.selectbox(
        "Section (optional)",
        list(sections),
        index=None,
        key=work.held(name, criterion["section"] or None, uid, "section"),
        format_func=visible,
        accept_new_options=True,
        placeholder="Choose or type",
        on_change=_on_section,
        args=(name, uid),
    )
    right.number_input(
        f"Place of {total}",
        min_value=1,
        max_value=max(1, total),
        key=work.held(name, place + 1, uid, "place"),
        help="Its place among all criteria.",
        on_change=_on_place,
        args=(name, uid),
    )
    key = work.field(name, uid, "requirement")
    state.seed(key, criterion["requirement"])
    st.text_area(
        "Requirement: what the judge must decide",
        key=key,
        height="content",
        max_chars=20_000,
        placeholder="e.g. The answer names density as the reason.",
        on_change=work.on_field,
        args=(name, "criterion", (uid,), "requirement"),
    )
    _speaks_of(criterion["requirement"])
    written = f"{criterion['name']}{criterion['requirement']}"
    if visible(written) != written:
        row([tag("Holds characters that cannot be seen or that turn text around", "warn")])


def _speaks_of(requirement: str) -> None:
    """Which parts of the prompt it names, as coloured chips."""
    words: dict[Part, str] = {}
    for one in mentions(requirement):
        words.setdefault(one.part, requirement[one.start : one.end])
    if words:
        chips = [tag(f"{said}: {PARTS[part][0]}", PARTS[part][1]) for part, said in words.items()]
        row(['<span class="rs-quiet">Speaks of</span>', *chips])
