"""A pre-check in the form: its phrases, its exceptions, its effect, and a text to try it on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.domain.gates import FAMILIES
from core.errors import InputError
from core.scoring import FAMILY_WORDS
from core.services.rubrics import draft_rules, prompt_preview
from core.text import numbers as fmt
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_TRY
from pages.ui.text import esc, label, marked
from pages.ui.widgets import draw_row, shown_errors, tag

ACTIONS: Mapping[str, str] = {
    "flag": "Send to a person",
    "cap": "… and cap the score",
    "fail": "… and fail the item",
}
SENTENCE, CHARACTERS = "In the same sentence", "Within characters"
#: The initial distance, in characters, when the person chooses to set one.
FIRST_DISTANCE = 60
PHRASES = (
    "One phrase per line. * ends or begins a word, <number> is a number, ... up to eight words."
)


def show(name: str, uid: str) -> None:
    """Draw the whole pre-check, editable, with a text to try it on."""
    check = next((c["check"] for c in drafts.draft(name)["prechecks"] if c["uid"] == uid), {})
    st.text_input(
        "Name",
        max_chars=200,
        **drafts.widget_arguments(name, check.get("name", ""), uid, "name", _on_field),
    )
    st.pills(
        "Look for",
        FAMILIES,
        selection_mode="multi",
        format_func=lambda family: FAMILY_WORDS[family],
        help=(
            "Ready-made English patterns for texts in which a person explains how. A match "
            "does not count if the same sentence refuses the same thing."
        ),
        **drafts.widget_arguments(
            name, list(check.get("families", ())), uid, "families", _on_field
        ),
    )
    st.text_area(
        "Your own phrases",
        height=92,
        placeholder=PHRASES,
        help=PHRASES,
        **drafts.widget_arguments(
            name, "\n".join(check.get("patterns", ())), uid, "patterns", _on_lines
        ),
    )
    _near_field(name, uid, check.get("unless_near") or {})
    _action_field(name, uid, check)
    _trial_field(name, uid, check)


def _near_field(name: str, uid: str, near: Mapping[str, Any]) -> None:
    st.text_area(
        "Unless one of these phrases is nearby",
        height=68,
        placeholder="One phrase per line, e.g. quoted from",
        **drafts.widget_arguments(name, "\n".join(near.get("terms", ())), uid, "terms", _on_near),
    )
    chars = near.get("chars")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Near is",
            [SENTENCE, CHARACTERS],
            required=True,
            disabled=not near,
            **drafts.widget_arguments(
                name, SENTENCE if chars is None else CHARACTERS, uid, "window", _on_near
            ),
        )
        if chars is not None:
            st.number_input(
                "Characters before or after",
                min_value=0,
                max_value=10_000,
                step=10,
                width=190,
                **drafts.widget_arguments(name, int(chars), uid, "chars", _on_near),
            )


def _action_field(name: str, uid: str, check: Mapping[str, Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "When a phrase is found",
            list(ACTIONS),
            required=True,
            format_func=ACTIONS.__getitem__,
            **drafts.widget_arguments(name, check.get("action", "flag"), uid, "action", _on_field),
        )
        if check.get("action") == "cap":
            st.number_input(
                "at most (0 to 1)",
                min_value=0.0,
                max_value=1.0,
                step=0.05,
                format="%.4g",
                width=150,
                **drafts.widget_arguments(
                    name, float(check.get("cap") or 0.0), uid, "cap", _on_field
                ),
            )


def _trial_field(name: str, uid: str, check: Mapping[str, Any]) -> None:
    key = state.key(RUBRIC_TRY, name, "check", uid)
    text = st.text_area(
        "Try the pre-check on a text",
        key=key,
        height=92,
        persist_state="session",
        placeholder="Paste a text; what the pre-check finds is marked.",
    )
    if not text.strip():
        return
    try:
        matches = prompt_preview.pre_check_matches(check, text)
    except InputError as error:
        st.caption(label(error.problems[0].message if error.problems else str(error.message)))
        return
    hits = [match for match, excuse in matches if not excuse]
    spans = [(match.start, match.end) for match in hits]
    st.html(f'<div class="rs-card rs-prose">{marked(text, spans)}</div>')
    tags = [tag(f"Found {fmt.count(len(hits))}", "warn") if hits else tag("✓ Clear", "good")]
    tags += [
        f"<span>{esc(match.text)}</span>{tag(f'excused by “{excuse}”')}"
        for match, excuse in matches
        if excuse
    ]
    draw_row(tags)


def _on_field(name: str, uid: str, field: str) -> None:
    with shown_errors():
        value = state.get(drafts.field_key(name, uid, field))
        value = 0.0 if field == "cap" and value is None else value
        drafts.change_draft(name, draft_rules.set_check(drafts.draft(name), uid, field, value))


def _on_lines(name: str, uid: str, field: str) -> None:
    with shown_errors():
        drafts.change_draft(
            name,
            draft_rules.set_check(drafts.draft(name), uid, field, _typed_lines(name, uid, field)),
        )


def _on_near(name: str, uid: str, _what: str) -> None:
    with shown_errors():
        terms = _typed_lines(name, uid, "terms")
        near: dict[str, Any] | None = {"terms": terms} if terms else None
        if near is not None and state.get(drafts.field_key(name, uid, "window")) == CHARACTERS:
            chars = state.get(drafts.field_key(name, uid, "chars"))
            near["chars"] = FIRST_DISTANCE if chars is None else int(chars)
        drafts.change_draft(
            name, draft_rules.set_check(drafts.draft(name), uid, "unless_near", near)
        )


def _typed_lines(name: str, uid: str, field: str) -> list[str]:
    typed = str(state.get(drafts.field_key(name, uid, field)) or "")
    return [line.strip() for line in typed.splitlines() if line.strip()]
