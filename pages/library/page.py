"""Library: criteria by pack and whole rubrics (`?rubric=NAME` is the target)."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from core.domain.rubric import Rubric, Scale
from core.services.rubrics import criterion_packs, library
from core.services.rubrics.criterion_packs import Entry, Pack
from core.services.rubrics.drafts import draft_from
from core.text import numbers as fmt
from pages.library import adding
from pages.library.adding import criterion_tags
from pages.ui import state
from pages.ui.asking_words import SCALE_NAMES
from pages.ui.text import draw_prose, esc, label, one_line
from pages.ui.widgets import (
    choose_one,
    draw_row,
    draw_table,
    empty_state,
    page_header,
    search_box,
    show_flash,
    tag,
)

ANY = "any"


def criteria_by_pack() -> None:
    """Draw the choice and its target; the list on the left, the open entry on the right."""
    packs = _filtered_packs()
    first = packs[0][1][0] if packs else None
    looked = criterion_packs.entry_by_key(str(state.get(adding.LIBRARY_LOOK) or "")) or first
    adding.adding_bar(picked_criteria(), looked)
    left, right = st.columns([5, 4], gap="large")
    with left:
        if not packs:
            empty_state(
                "Nothing found", "No criterion of this pack and scale contains these words."
            )
        for pack, entries in packs:
            _show_pack(pack, entries)
    with right, st.container(key="rs_beside"):
        if looked is not None:
            adding.show_entry(looked)


def picked_criteria() -> list[str]:
    """Return the keys of the ticked criteria, in the library's order."""
    all_keys = [entry.key for pack in criterion_packs.all_packs() for entry in pack.entries]
    return [key for key in all_keys if state.get(state.key(adding.LIBRARY_PICK, key))]


def _filtered_packs() -> list[tuple[Pack, list[Entry]]]:
    titles = {pack.name: pack.title for pack in criterion_packs.all_packs()}
    with st.container(horizontal=True, vertical_alignment="center"):
        search = search_box(
            adding.LIBRARY_SEARCH, "Search in names, questions and anchors", width=300
        )
        pack = st.selectbox(
            "Pack",
            [ANY, *titles],
            key=adding.LIBRARY_PACK,
            format_func=lambda name: titles.get(name, "All packs"),
            label_visibility="collapsed",
            width=220,
        )
        state.seed(adding.LIBRARY_SCALE, ANY)
        scale = choose_one(
            "Answer",
            [ANY, *SCALE_NAMES],
            key=adding.LIBRARY_SCALE,
            format_func=lambda scale: SCALE_NAMES.get(scale, "Any answer"),
        )
    return criterion_packs.find_criteria(
        search,
        pack=None if pack == ANY else pack,
        scale=None if scale == ANY else cast("Scale", scale),
    )


def _show_pack(pack: Pack, entries: list[Entry]) -> None:
    st.html(
        f'<div class="rs-section">{esc(pack.title)}</div>'
        f'<div class="rs-quiet">{esc(pack.description)}</div>'
    )
    with st.container(gap="xxsmall"):
        for entry in entries:
            _entry_row(entry)


def _entry_row(entry: Entry) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.checkbox(
            label(f"Pick {entry.criterion.name}"),
            key=state.key(adding.LIBRARY_PICK, entry.key),
            label_visibility="collapsed",
            width=24,
            persist_state="page",
        )
        st.button(
            label(entry.criterion.name, 60),
            key=state.key(adding.LIBRARY_ACT, "look", entry.key),
            type="tertiary",
            on_click=state.put,
            args=(adding.LIBRARY_LOOK, entry.key),
        )
        st.html(
            f'<div class="rs-line">{adding.criterion_tags(entry.criterion)}'
            f'<span class="rs-cut rs-quiet">{esc(one_line(entry.criterion.requirement, 140))}'
            "</span></div>"
        )


def whole_rubrics() -> None:
    """Draw a card per rubric; its criteria and the worked example open below its description."""
    with st.grid(2, min_column_width=380):
        for file, rubric in library.all_samples().items():
            with st.container(border=True, height="stretch"):
                _sample_card(file, rubric)


def _sample_card(file: str, rubric: Rubric) -> None:
    st.html(f"<b>{esc(rubric.name)}</b>")
    st.html(f'<span class="rs-quiet">{esc(rubric.description)}</span>')
    parts = [tag(fmt.plural(len(rubric.criteria), "criterion", "criteria"))]
    parts += [tag(fmt.plural(len(rubric.gates), "gate"))] if rubric.gates else []
    draw_row(parts)
    with st.expander("Its criteria and a worked example"):
        example: dict[str, Any] = rubric.meta["example"]
        verdicts = example["verdicts"]
        draw_table(
            ["Criterion", "Weight and answer", "In the example"],
            [
                [
                    esc(c.name),
                    f'<span class="rs-row">{criterion_tags(c)}</span>',
                    esc(str(verdicts[c.name])),
                ]
                for c in rubric.criteria
            ],
            name=f"Criteria of {rubric.name}",
        )
        for caption, text in (
            ("Task", example.get("prompt", "")),
            ("Submission", example["submission"]),
            ("How it scores", example["working"]),
        ):
            if text:
                st.caption(caption)
                draw_prose(str(text))
    st.space("stretch")
    if st.button("Use this", key=state.key(adding.LIBRARY_ACT, "whole", file)):
        adding.start_draft(draft_from(rubric))


CRITERIA, WHOLES = "Criteria", "Whole rubrics"

page_header("Library", "Ready-made criteria with weights and anchors, to add to a rubric.")
show_flash()
state.seed(adding.LIBRARY_VIEW, CRITERIA)
_view = choose_one("Show", [CRITERIA, WHOLES], key=adding.LIBRARY_VIEW)
if _view == WHOLES:
    whole_rubrics()
else:
    criteria_by_pack()
