"""The scoring policy as fields: abstentions, coverage, the scale."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.domain.gates import ABSTENTIONS
from pages.ui import drafts

STRATEGIES: Mapping[str, tuple[str, str]] = {
    "skip": ("Skip", "The criterion is left out, as if judges had not been asked."),
    "zero": ("Zero", "The criterion earns no points, but its weight still counts."),
    "partial": (
        "Partial credit",
        "The criterion earns a share of its weight; a penalty deducts nothing.",
    ),
    "fail": ("Fail", "The criterion counts as its worst option; a penalty is deducted in full."),
}


def show(name: str) -> None:
    """Draw the fields of the scoring policy."""
    strategy = st.radio(
        "When a criterion cannot be assessed",
        ABSTENTIONS,
        format_func=lambda abstention: STRATEGIES[abstention][0],
        captions=[STRATEGIES[abstention][1] for abstention in ABSTENTIONS],
        **drafts.bound_field(name, "scoring", (), "abstention"),
    )
    if strategy == "partial":
        st.slider(
            "Share of the weight",
            0.0,
            1.0,
            step=0.05,
            **drafts.bound_field(name, "scoring", (), "partial_credit"),
        )
    st.slider(
        "Coverage for a grade",
        0.0,
        1.0,
        step=0.05,
        help="The share of the weight that must be assessed. With less, an item has no grade "
        "and no rank, and a person must review it.",
        **drafts.bound_field(name, "scoring", (), "min_coverage"),
    )
    st.toggle(
        "Score from 0 to 1",
        help="Off: the score is the plain sum of points, and can be negative.",
        **drafts.bound_field(name, "scoring", (), "normalize"),
    )
