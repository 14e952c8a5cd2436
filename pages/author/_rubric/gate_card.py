"""A gate in the form, as a sentence of choices: when, then, because, and if that is not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.services import draft_gates as gates
from core.services import numbers as fmt
from pages.author._rubric import work
from pages.author._rubric.gate_when import show_when
from pages.ui import state
from pages.ui.widgets import shown_errors

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
    """The whole gate, editable."""
    draft = work.draft(name)
    gate = gates.gate_now(draft, uid)
    st.text_input(
        "Name",
        key=work.held(name, gate.get("name", ""), uid, "name"),
        max_chars=200,
        on_change=_on_plain,
        args=(name, uid, "name"),
    )
    over = show_when(name, draft, uid, gate)
    _then(name, uid, gate["then"])
    st.selectbox(
        "If that cannot be decided",
        list(MISSING),
        key=work.held(name, gate.get("on_missing", "review"), uid, "on_missing"),
        format_func=MISSING.__getitem__,
        width=300,
        help="The criterion abstained, or has no verdict because its calls failed.",
        on_change=_on_plain,
        args=(name, uid, "on_missing"),
    )
    needed = gate["when"].get("count_at_least") or 0
    if needed > len(over):
        words = fmt.plural(len(over), "criterion has", "criteria have")
        st.warning(f"Only {words} this tag, so this gate can never apply.")


def _then(name: str, uid: str, then: Mapping[str, Any]) -> None:
    chosen = gates.effects_of(then)
    st.pills(
        "Then",
        list(EFFECTS),
        selection_mode="multi",
        key=work.held(name, list(chosen), uid, "effects"),
        format_func=EFFECTS.__getitem__,
        on_change=_on_effects,
        args=(name, uid),
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for what, words in (("cap", "at most"), ("multiply", "multiplied by")):
            if what in chosen:
                st.number_input(
                    f"{words} (0 to 1)",
                    min_value=0.0,
                    max_value=1.0,
                    step=0.05,
                    format="%.4g",
                    key=work.held(name, float(then[what]), uid, what),
                    width=150,
                    on_change=_on_effect,
                    args=(name, uid, what),
                )
        if "flag" in chosen:
            st.text_input(
                "Flag",
                key=work.held(name, then["flag"], uid, "flag"),
                max_chars=100,
                width=160,
                on_change=_on_effect,
                args=(name, uid, "flag"),
            )
        st.text_input(
            "because",
            key=work.held(name, then.get("reason", ""), uid, "reason"),
            max_chars=500,
            placeholder="What people read beside the score",
            width="stretch",
            on_change=_on_effect,
            args=(name, uid, "reason"),
        )


def _on_plain(name: str, uid: str, what: str) -> None:
    with shown_errors():
        value = state.get(work.field(name, uid, what))
        work.change(name, gates.set_gate(work.draft(name), uid, what, value))


def _on_effects(name: str, uid: str) -> None:
    with shown_errors():
        wanted = state.get(work.field(name, uid, "effects")) or []
        work.change(name, gates.set_effects(work.draft(name), uid, wanted))


def _on_effect(name: str, uid: str, what: str) -> None:
    with shown_errors():
        value = state.get(work.field(name, uid, what))
        value = 0.0 if value is None else value
        work.change(name, gates.set_effect(work.draft(name), uid, what, value))
