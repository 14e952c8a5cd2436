"""The length penalty in the form, with what it takes at some lengths."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.services import draft_rules as rules
from core.services import numbers as fmt
from core.services.rehearsing import penalty_examples
from pages.author._rubric import work
from pages.ui import state
from pages.ui.text import esc
from pages.ui.widgets import row, shown_errors, table

TEXTS = {"all": "all of it", "output": "the output only", "thinking": "the thinking only"}


def show(name: str, uid: str) -> None:
    """What is counted, from where on it costs, and how much."""
    penalty = work.draft(name)["scoring"]["length_penalty"] or {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Count",
            ["words", "tokens"],
            key=work.held(name, penalty.get("count"), uid, "count"),
            width=125,
            on_change=_on_field,
            args=(name, uid, "count"),
        )
        st.selectbox(
            "of",
            list(TEXTS),
            key=work.held(name, penalty.get("of"), uid, "of"),
            format_func=TEXTS.__getitem__,
            width=180,
            on_change=_on_field,
            args=(name, uid, "of"),
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for what, words, least in (("free_budget", "Free up to", 0), ("max_cap", "Full from", 1)):
            st.number_input(
                words,
                min_value=least,
                step=100,
                key=work.held(name, penalty.get(what), uid, what),
                width=125,
                on_change=_on_field,
                args=(name, uid, what),
            )
        for what, words, step in (
            ("penalty_at_cap", "Full penalty", 0.05),
            ("exponent", "Exponent", 0.1),
        ):
            st.number_input(
                words,
                min_value=0.0,
                step=step,
                format="%.4g",
                key=work.held(name, penalty.get(what), uid, what),
                width=125,
                help="1 rises evenly; more starts gently and then rises fast."
                if what == "exponent"
                else "Taken from the score, in its units.",
                on_change=_on_field,
                args=(name, uid, what),
            )
    _examples(penalty)


def _examples(penalty: dict[str, Any]) -> None:
    found = penalty_examples(penalty)
    if not found:
        return
    row([f'<span class="rs-quiet">What is taken, by {esc(str(penalty["count"]))}:</span>'])
    table(
        [fmt.count(n) for n, _ in found],
        [[fmt.score(taken) for _, taken in found]],
        name="What the length penalty takes",
        numbers=range(len(found)),
    )


def _on_field(name: str, uid: str, what: str) -> None:
    with shown_errors():
        value = state.get(work.field(name, uid, what))
        if value is not None:
            work.change(name, rules.set_penalty(work.draft(name), **{what: value}))
