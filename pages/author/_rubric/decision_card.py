"""The decision in the form: from which score on an item passes, and when a person decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.services import draft_rules as rules
from core.services import numbers as fmt
from pages.author._rubric import work
from pages.ui import state
from pages.ui.text import esc
from pages.ui.widgets import shown_errors


def show(name: str, uid: str) -> None:
    """The thresholds, in units of the score, and a picture of them."""
    draft = work.draft(name)
    decision = draft["decision"] or {}
    normalized = draft["scoring"]["normalize"]
    unit: dict[str, Any] = {"min_value": 0.0, "max_value": 1.0} if normalized else {}
    passing = decision.get("pass_at")
    floor = decision.get("fail_below")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for what, words, value, help_text in (
            ("pass_at", "Passes from", passing, "A score on the threshold passes."),
            (
                "fail_below",
                "Fails below",
                passing if floor is None else floor,
                "Lower it below the first, and a person decides on the scores between the two.",
            ),
        ):
            st.number_input(
                words,
                step=0.05 if normalized else 1.0,
                format="%.4g",
                key=work.held(name, _in(value, normalized), uid, what),
                help=help_text,
                width=150,
                on_change=_on_threshold,
                args=(name, uid, what),
                **unit,
            )
        st.number_input(
            "Review within",
            step=0.01 if normalized else 1.0,
            format="%.4g",
            key=work.held(name, _in(decision.get("review_within", 0.0), normalized), uid, "within"),
            help="So near to a threshold, on either side, a person decides. 0: never.",
            width=150,
            on_change=_on_within,
            args=(name, uid),
            **{**unit, "min_value": 0.0},
        )
    if normalized and passing is not None:
        st.html(_bar(decision))
    st.caption(
        "Gates and pre-checks come first: what they fail fails, what they send to a person goes to "
        "one. So does an item with a missing verdict, or with a gate that cannot be decided."
    )


def _in(value: Any, normalized: bool) -> float | None:
    if value is None:
        return None
    return min(1.0, max(0.0, float(value))) if normalized else float(value)


def _bar(decision: Mapping[str, Any]) -> str:
    """The scores from 0 to 1, parted into what fails, what a person decides and what passes."""
    within = float(decision.get("review_within") or 0.0)
    high = float(decision["pass_at"])
    low = float(decision.get("fail_below", high))
    low, high = max(0.0, low - within), min(1.0, high + within)
    parts = (
        ("✕ fails", "bad", low, f"below {fmt.score(low)}"),
        ("a person", "warn", high - low, f"{fmt.score(low)} to {fmt.score(high)}"),
        ("✓ passes", "good", 1.0 - high, f"from {fmt.score(high)}"),
    )
    cells = "".join(
        f'<div class="rs-{tone} rs-cut" style="flex:{size:.4f} 1 0;min-width:0;padding:.15rem .5rem'
        f'" title="{esc(words)}: {where}">{esc(words)} <small class="rs-num">{where}</small></div>'
        for words, tone, size, where in parts
        if size > 1e-9
    )
    return (
        '<div role="img" aria-label="The scores that fail, go to a person, and pass" '
        f'style="display:flex;gap:2px;border-radius:.45rem;overflow:hidden">{cells}</div>'
    )


def _on_threshold(name: str, uid: str, what: str) -> None:
    with shown_errors():
        value = state.get(work.field(name, uid, what))
        draft = work.draft(name)
        now = draft["decision"] or {}
        if value is None:
            return
        if what == "fail_below" and value == now.get("pass_at"):
            value = None
        work.change(name, rules.set_decision(draft, **{what: value}))


def _on_within(name: str, uid: str) -> None:
    with shown_errors():
        value = state.get(work.field(name, uid, "within")) or None
        work.change(name, rules.set_decision(work.draft(name), review_within=value))
