"""Many criteria at once: pasted lines, shown as what they are read as, then added together."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Criterion
from core.errors import InputError
from core.services import numbers as fmt
from core.services.draft_templates import TEMPLATE_WORDS, Template
from core.services.pasting import Line, Pasted, added, added_whole, read_paste
from pages.author._rubric import work
from pages.ui import state
from pages.ui.text import esc, one_line
from pages.ui.widgets import problem_list, shown_errors, table, tag

PASTE_TEXT = "paste_text"
PASTE_KIND = "paste_kind"
PASTE_ACT = "paste_act"

EXAMPLE = "Cites a source (10 points)\n[-5] Invents facts\n# Style\nTone: The reply is warm."
SHOWN = 60


def show(name: str) -> None:
    """The field, what its lines are read as, and one button for all of them."""
    with st.expander("Paste many", icon=":material/content_paste:"):
        text = st.text_area(
            "One requirement per line, or a table",
            key=state.key(PASTE_TEXT, name),
            placeholder=EXAMPLE,
            height=140,
            max_chars=200_000,
            help="Bullets, numbers, points in brackets, headings as sections, and columns from a "
            "spreadsheet (name, requirement, weight) are understood, and so is a table with a "
            "column for each level, its headings with it.",
        )
        found = Pasted((), (), ())
        with shown_errors():
            found = read_paste(text or "")
        lines, count = found.lines, len(found.lines) + len(found.criteria)
        if lines:
            _preview(lines)
        if found.criteria:
            _preview_grid(found.criteria)
        if found.notices:
            problem_list(found.notices)
        words = f"Add {fmt.plural(count, 'criterion', 'criteria')}"
        with st.container(horizontal=True, vertical_alignment="bottom"):
            kind: Template = st.selectbox(
                "Answers of each",
                list(TEMPLATE_WORDS),
                key=state.key(PASTE_KIND, name),
                format_func=TEMPLATE_WORDS.__getitem__,
                width=180,
                disabled=bool(found.criteria),
                help="A table with levels brings its own answers.",
            )
            st.button(
                words if count else "Add criteria",
                key=state.key(PASTE_ACT, name, "add"),
                type="primary",
                icon=":material/playlist_add:",
                on_click=_on_add,
                args=(name, kind),
            )


def _preview_grid(criteria: tuple[Criterion, ...]) -> None:
    table(
        ("Name", "Levels, lowest first", "Weight", "Section"),
        (
            [
                esc(one_line(one.name, 60)),
                "<br>".join(
                    f"<b>{esc(one_line(o.label, 40))}</b> ({fmt.number(o.value or 0, 2)}) "
                    f"{esc(one_line(o.description, 90))}"
                    for o in one.options
                ),
                esc(fmt.weight(one.weight)),
                esc(one_line(one.section or "", 40)),
            ]
            for one in criteria[:SHOWN]
        ),
        name="What the table is read as",
        numbers=(2,),
    )
    if len(criteria) > SHOWN:
        st.caption(f"And {fmt.count(len(criteria) - SHOWN)} more.")


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
        found = read_paste(str(state.get(state.key(PASTE_TEXT, name)) or ""))
        count = len(found.lines) + len(found.criteria)
        if not count:
            raise InputError("Paste or write lines first, one requirement each.")
        draft = added_whole(work.draft(name), found.criteria)
        work.change(name, added(draft, found.lines, kind))
        state.put(state.key(PASTE_TEXT, name), "")
        state.flash(f"Added {fmt.plural(count, 'criterion', 'criteria')}.")
