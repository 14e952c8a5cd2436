"""The rubric as a form: its header, its scoring, a card per criterion, and the rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import streamlit as st

from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import TEMPLATE_WORDS, CriterionDraft, RubricDraft, Template
from core.text import numbers as fmt
from core.text.names import visible
from core.text.quotes import Part, mentioned_parts
from pages.rubric import checks, files
from pages.rubric.form import keyboard, rules, scale, scoring_policy
from pages.rubric.workbench import under_card
from pages.ui import drafts, routes, state
from pages.ui.asking_words import SCALE_NAMES
from pages.ui.drafts import RUBRIC_ACT
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, draw_row, empty_state, shown_errors, tag

PARTS: dict[Part, tuple[str, Tone]] = {
    "task": ("the task", "info"),
    "context": ("the context", "info"),
    "reference": ("the reference", "good"),
    "submission": ("the submission", "neutral"),
    "placeholder": ("a placeholder, which judges see literally", "warn"),
}


#: With at most this many criteria, each closed line has a field for its weight.
FEW = 12


def show_closed(name: str, criterion: CriterionDraft, mark: str) -> None:
    """Draw one line that opens the card; `mark` is the HTML of its findings."""
    few = len(drafts.draft(name)["criteria"]) <= FEW
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        if few:
            scale.show_weight(name, criterion)
        st.button(
            label(criterion["name"] or "Unnamed", 60),
            key=state.key(RUBRIC_ACT, name, "toggle", criterion["uid"]),
            type="tertiary",
            icon=":material/chevron_right:",
            on_click=drafts.toggle_card,
            args=(name, criterion["uid"]),
        )
        weight = "" if few else f'<b class="rs-num">{fmt.weight(criterion["weight"] or 0.0)}</b>'
        snippet = esc(one_line(criterion["requirement"], 160))
        # Drawn as one piece of HTML, because with thirty criteria the number of elements matters.
        st.html(
            f'<div class="rs-line">{weight}{"".join(_criterion_tags(criterion))}{mark}'
            f'<span class="rs-cut rs-quiet">{snippet}</span></div>'
        )


def _criterion_tags(criterion: CriterionDraft) -> list[str]:
    weight = criterion["weight"] or 0.0
    scored = [option for option in criterion["options"] if not option["na"]]
    caption = SCALE_NAMES[criterion["scale"]]
    shape = (
        caption if criterion["scale"] == "binary" else f"{len(scored)} {_criterion_noun(criterion)}"
    )
    penalty = [tag("− Penalty", "bad")] if weight < 0 else []
    return [*penalty, tag(shape)]


def _criterion_noun(criterion: CriterionDraft) -> str:
    return "levels" if criterion["scale"] == "ordinal" else "categories"


def show_open(name: str, criterion: CriterionDraft, place: int, total: int) -> None:
    """Draw the whole criterion, editable."""
    uid = criterion["uid"]
    with st.container(border=True, gap="xsmall", key=f"rubric_card_{name}_{uid}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                ":material/expand_more:",
                key=state.key(RUBRIC_ACT, name, "toggle", uid),
                type="tertiary",
                help="Close",
                on_click=drafts.toggle_card,
                args=(name, uid),
            )
            _name_field(name, criterion)
            with st.container(horizontal=True, width="content", gap="small", wrap=False):
                _card_actions(name, uid, place, total)
        _requirement_field(name, criterion)
        checks.show_findings_of_card(name, uid)
        checks.show_run_findings_of_card(name, uid)
        scale.show_kind(name, criterion)
        scale.show(name, criterion)
        with st.expander("More", type="compact", key=f"rubric_more_{name}_{uid}"):
            _place_fields(name, criterion, place, total)
            scale.show_rules(name, criterion)
    under_card.show(name, criterion)


def _card_actions(name: str, uid: str, place: int, total: int) -> None:
    for act, icon, caption, disabled in (
        ("up", "arrow_upward", "Up", place == 0),
        ("down", "arrow_downward", "Down", place == total - 1),
        ("copy", "content_copy", "Copy", False),
        ("remove", "delete", "Remove", False),
    ):
        st.button(
            caption,
            key=state.key(RUBRIC_ACT, name, act, uid),
            type="tertiary",
            icon=f":material/{icon}:",
            disabled=disabled,
            on_click=_on_act,
            args=(name, act, uid),
        )


def _on_place(name: str, uid: str, shown: int) -> None:
    # While a card moves, it is on the page twice for a moment, and the browser may send its old
    # position. Each field is therefore named after the position it shows, and the value of an older
    # field changes nothing.
    with shown_errors():
        place = int(state.get(drafts.field_key(name, uid, "place", str(shown))) or 1)
        if place != shown:
            drafts.change_draft(
                name, draft_criteria.place_criterion(drafts.draft(name), uid, place - 1)
            )


def _on_section(name: str, uid: str, shown: str) -> None:
    with shown_errors():
        section = str(state.get(drafts.field_key(name, uid, "section", shown)) or "").strip()[:200]
        if section != shown:
            drafts.set_value(name, "criterion", (uid,), "section", section)


def _on_act(name: str, act: str, uid: str) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        if act == "copy":
            changed, copy = draft_criteria.duplicate_criterion(draft, uid)
            drafts.change_draft(name, changed)
            drafts.set_open_card(name, copy)
            keyboard.focus_requirement(name, copy)
            return
        acts: dict[str, Callable[[RubricDraft, str], RubricDraft]] = {
            "up": lambda d, u: draft_criteria.move_criterion(d, u, -1),
            "down": lambda d, u: draft_criteria.move_criterion(d, u, 1),
            "remove": draft_criteria.remove_criterion,
        }
        drafts.change_draft(name, acts[act](draft, uid))


def _name_field(name: str, criterion: CriterionDraft) -> None:
    uid = criterion["uid"]
    st.text_input(
        "Name",
        max_chars=200,
        label_visibility="collapsed",
        placeholder="Name",
        **drafts.bound_field(name, "criterion", (uid,), "name"),
    )


def _place_fields(name: str, criterion: CriterionDraft, place: int, total: int) -> None:
    """Draw its section and its position among all criteria."""
    uid, section = criterion["uid"], criterion["section"]
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    sections = {c["section"]: None for c in drafts.draft(name)["criteria"] if c["section"]}
    left.selectbox(
        "Section (optional)",
        list(sections),
        index=None,
        key=drafts.synced_key(name, section or None, uid, "section", section),
        format_func=visible,
        accept_new_options=True,
        placeholder="Choose or type",
        on_change=_on_section,
        args=(name, uid, section),
    )
    right.number_input(
        f"Place of {total}",
        min_value=1,
        max_value=max(1, total),
        key=drafts.synced_key(name, place + 1, uid, "place", str(place + 1)),
        help="The criterion's position in the rubric.",
        on_change=_on_place,
        args=(name, uid, place + 1),
    )


def _requirement_field(name: str, criterion: CriterionDraft) -> None:
    uid = criterion["uid"]
    st.text_area(
        "Requirement: what the judge must decide",
        height="content",
        max_chars=20_000,
        label_visibility="collapsed",
        placeholder="Requirement: what the judge must decide, e.g. The answer names density.",
        **drafts.bound_field(name, "criterion", (uid,), "requirement"),
    )
    files.offer_parting(name, uid, criterion["requirement"])
    _mentioned_parts(criterion["requirement"])
    written = f"{criterion['name']}{criterion['requirement']}"
    if visible(written) != written:
        draw_row(
            [tag("Contains invisible characters, or characters that reverse the text", "warn")]
        )


def _mentioned_parts(requirement: str) -> None:
    """Show which parts of the prompt the requirement mentions, as coloured chips."""
    phrases: dict[Part, str] = {}
    for part, phrase in mentioned_parts(requirement):
        phrases.setdefault(part, phrase)
    if phrases:
        chips = [
            tag(f"{phrase}: {PARTS[part][0]}", PARTS[part][1]) for part, phrase in phrases.items()
        ]
        draw_row(['<span class="rs-quiet">Speaks of</span>', *chips])


def show(name: str) -> None:
    """Draw the form of the draft; only the open card has widgets, so long rubrics stay fast."""
    draft = drafts.draft(name)
    _about_fields(name)
    total, place = len(draft["criteria"]), 0
    placed = checks.findings_on(name)
    if draft["criteria"]:
        st.html(f'<span class="rs-quiet">{_rubric_size(draft["criteria"])}</span>')
        if len(draft["criteria"]) <= FEW:
            st.html('<div class="rs-quiet rs-weights"><span>Weight</span>Criterion</div>')
    for section, named in itertools.groupby(draft["criteria"], lambda c: c["section"]):
        group = list(named)
        if section or place:
            caption = esc(section or "Without a section")
            size = f'<span class="rs-quiet">{_rubric_size(group)}</span>'
            st.html(f'<div class="rs-section">{caption} {size}</div>')
        with st.container(gap="xsmall"):
            for criterion in group:
                if drafts.open_card(name) == criterion["uid"]:
                    show_open(name, criterion, place, total)
                else:
                    show_closed(name, criterion, checks.finding_tag(placed, criterion["uid"]))
                place += 1
    if not draft["criteria"]:
        empty_state("No criteria yet", "A criterion is one question with options. Add the first:")
    _add_buttons(name)
    keyboard.show_help()
    files.show(name)
    rules.show(name)


def _rubric_size(criteria: list[CriterionDraft]) -> str:
    """Return the number of criteria and their total points, won and lost."""
    weights = [c["weight"] or 0.0 for c in criteria]
    won, lost_weight = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
    parts = [fmt.plural(len(criteria), "criterion", "criteria"), f"{fmt.number(won)} points"]
    return " · ".join([*parts, f"{fmt.weight(lost_weight)} by penalties"] if lost_weight else parts)


def _add_buttons(name: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Add a criterion", width="content")
        st.toggle(
            "with “Not applicable”",
            key=state.key(RUBRIC_ACT, name, "with_na"),
            help="The new criterion gets an extra answer for texts to which it does not apply.",
        )
    with st.container(horizontal=True):
        for template, caption in TEMPLATE_WORDS.items():
            st.button(
                caption,
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
            routes.go_to(routes.LIBRARY, {state.RUBRIC: name})


def _on_add(name: str, template: Template) -> None:
    with shown_errors():
        na = bool(state.get(state.key(RUBRIC_ACT, name, "with_na")))
        changed, uid = draft_criteria.add_criterion(drafts.draft(name), template, na=na)
        drafts.change_draft(name, changed)
        drafts.set_open_card(name, uid)
        state.put(state.key(keyboard.TEMPLATE, name), template)
        keyboard.focus_requirement(name, uid)


def _about_fields(name: str) -> None:
    is_open = drafts.open_card(name) == drafts.ABOUT
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "About, guidelines and scoring",
                key=state.key(RUBRIC_ACT, name, "toggle", drafts.ABOUT),
                type="tertiary",
                icon=":material/expand_more:" if is_open else ":material/chevron_right:",
                on_click=drafts.toggle_card,
                args=(name, drafts.ABOUT),
            )
            if not is_open:
                st.html(f'<span class="rs-quiet">{esc(_about_summary(name))}</span>')
        if not is_open and not drafts.draft(name)["parent"]:
            _rubric_name(name)
        if is_open:
            _rubric_texts(name)
            scoring_policy.show(name)


def _about_summary(name: str) -> str:
    scoring = drafts.draft(name)["scoring"]
    parts = [f"abstentions: {scoring_policy.STRATEGIES[scoring['abstention']][0].lower()}"]
    parts.append("score from 0 to 1" if scoring["normalize"] else "raw points")
    parts.append(f"grade from {fmt.percent(scoring['min_coverage'])} coverage on")
    return " · ".join(parts)


def _rubric_name(name: str) -> None:
    st.text_input(
        "Name of the rubric",
        max_chars=200,
        placeholder="e.g. Short science answers",
        **drafts.bound_field(name, "draft", (), "name"),
    )


def _rubric_texts(name: str) -> None:
    _rubric_name(name)
    for field, caption, help_text in (
        ("description", "Description", "For people: what is graded and why. Judges do not see it."),
        ("guidelines", "Guidelines", "For judges: sent with every question."),
    ):
        st.text_area(
            caption,
            height="content",
            max_chars=20_000,
            help=help_text,
            **drafts.bound_field(name, "draft", (), field),
        )
