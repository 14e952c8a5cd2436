"""Whole rubrics that come with the program, each with its worked example."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.services import authoring
from core.services import numbers as fmt
from core.services.authoring import Sample
from core.services.drafts import draft_from
from pages.author._library import adding
from pages.author._library.one import tags
from pages.ui import library_keys as keys
from pages.ui import state
from pages.ui.text import esc, prose
from pages.ui.widgets import row, table, tag


def show() -> None:
    """A card per rubric; the criteria and the worked example open below its words."""
    with st.grid(2, min_column_width=380):
        for sample in authoring.samples():
            with st.container(border=True, height="stretch"):
                _sample(sample)


def _sample(sample: Sample) -> None:
    rubric = sample.rubric
    st.html(f"<b>{esc(rubric.name)}</b>")
    st.html(f'<span class="rs-quiet">{esc(rubric.description)}</span>')
    parts = [tag(fmt.plural(len(rubric.criteria), "criterion", "criteria"))]
    parts += [tag(fmt.plural(len(rubric.gates), "gate"))] if rubric.gates else []
    row(parts)
    with st.expander("Its criteria and a worked example"):
        example: dict[str, Any] = rubric.meta["example"]
        verdicts = example["verdicts"]
        table(
            ["Criterion", "Weight and answer", "In the example"],
            [
                [
                    esc(c.name),
                    f'<span class="rs-row">{tags(c)}</span>',
                    esc(str(verdicts[c.name])),
                ]
                for c in rubric.criteria
            ],
            name=f"Criteria of {rubric.name}",
        )
        for words, text in (
            ("Task", example.get("prompt", "")),
            ("Submission", example["submission"]),
            ("How it scores", example["working"]),
        ):
            if text:
                st.caption(words)
                prose(str(text))
    st.space("stretch")
    if st.button("Use this", key=state.key(keys.LIBRARY_ACT, "whole", sample.file)):
        adding.start(draft_from(rubric))
