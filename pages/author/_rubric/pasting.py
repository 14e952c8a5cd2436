"""Many criteria at once: pasted lines, shown as what they are read as, then added together."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services.draft_templates import TEMPLATE_WORDS, Template
from core.services.pasting import Line, added, read_lines
from pages.author._rubric import work
from pages.ui import format as fmt
from pages.ui import paste_keys as keys
from pages.ui import state
from pages.ui.text import esc, one_line
from pages.ui.widgets import shown_errors, table, tag

EXAMPLE = "Cites a source (10 points)\n[-5] Invents facts\n# Style\nTone: The reply is warm."
SHOWN = 60


def show(name: str) -> None:
    """The field, what its lines are read as, and one button for all of them."""
    with st.expander("Paste many", icon=":material/content_paste:"):
        text = st.text_area(
            "One requirement per line",
            key=state.key(keys.PASTE_TEXT, name),
            placeholder=EXAMPLE,
            height=140,
            max_chars=200_000,
            help="Bullets, numbers, points in brackets, headings as sections, and columns from a "
            "spreadsheet (name, requirement, weight) are understood.",
        )
        lines = read_lines(text or "")
        if lines:
            _preview(lines)
        words = f"Add {fmt.plural(len(lines), 'criterion', 'criteria')}"
        with st.container(horizontal=True, vertical_alignment="bottom"):
            kind: Template = st.selectbox(
                "Answers of each",
                list(TEMPLATE_WORDS),
                key=state.key(keys.PASTE_KIND, name),
                format_func=TEMPLATE_WORDS.__getitem__,
                width=180,
            )
            st.button(
                words if lines else "Add criteria",
                key=state.key(keys.PASTE_ACT, name, "add"),
                type="primary",
                icon=":material/playlist_add:",
                on_click=_on_add,
                args=(name, kind),
            )


def _preview(lines: tuple[Line, ...]) -> None:
    table(
        ("Name", "Requirement", "Weight", "Section"),
        (
            [
                esc(one_line(one.name, 60)),
                esc(one_line(one.requirement, 120)),
                _weight(one),
                esc(one_line(one.section, 40)),
            ]
            for one in lines[:SHOWN]
        ),
        name="What the lines are read as",
        numbers=(2,),
    )
    if len(lines) > SHOWN:
        st.caption(f"And {fmt.count(len(lines) - SHOWN)} more.")


def _weight(one: Line) -> str:
    said = esc(fmt.weight(one.weight))
    if one.weight < 0:
        return tag(f"{fmt.weight(one.weight)} penalty", "bad")
    return said if one.stated else f'<span class="rs-quiet">{said}</span>'


def _on_add(name: str, kind: Template) -> None:
    with shown_errors():
        lines = read_lines(str(state.get(state.key(keys.PASTE_TEXT, name)) or ""))
        if not lines:
            raise InputError("Paste or write lines first, one requirement each.")
        work.change(name, added(work.draft(name), lines, kind))
        state.put(state.key(keys.PASTE_TEXT, name), "")
        state.flash(f"Added {fmt.plural(len(lines), 'criterion', 'criteria')}.")
