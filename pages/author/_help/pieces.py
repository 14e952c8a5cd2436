"""Proposed changes, each beside the words it replaces, to be taken or left."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.services import improving
from core.services import numbers as fmt
from core.services.improving import Piece
from core.services.word_diff import word_diff
from pages.author._rubric import work
from pages.ui import help_keys as keys
from pages.ui import state
from pages.ui.text import esc, marked, one_line
from pages.ui.widgets import shown_errors, tag

PARTS = {
    "requirement": "Requirement",
    "option": "What the option says",
    "label": "Name of the option",
    "weight": "Weight",
    "guidelines": "Guidelines",
}


def show(name: str, found: Sequence[Piece], where: str) -> None:
    """All pieces with a button each, and one for all that are open."""
    if not found:
        st.caption("No change was proposed.")
        return
    draft = work.draft(name)
    # A label, a weight or a rule for all is a decision of its own; wording can go together.
    words = [piece for piece in found if piece.part in ("requirement", "option")]
    open_ = [piece for piece in words if improving.state_of(draft, piece) == "open"]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f"<b>{esc(fmt.plural(len(found), 'proposed change'))}</b>")
        if len(open_) > 1:
            st.button(
                f"Take all {len(open_)} wordings",
                key=state.key(keys.HELP_ACT, where, name, "all"),
                icon=":material/done_all:",
                on_click=_take,
                args=(name, tuple(open_)),
            )
    for number, piece in enumerate(found):
        _show(name, piece, f"{where}/{number}")


def _show(name: str, piece: Piece, where: str) -> None:
    state_now = improving.state_of(work.draft(name), piece)
    subject = piece.criterion or "The rubric"
    part = PARTS[piece.part] + (f" “{one_line(piece.option, 40)}”" if piece.option else "")
    with st.container(border=True, gap="xxsmall"):
        st.html(
            f'<div class="rs-row"><b>{esc(one_line(subject, 60))}</b>'
            f'<span class="rs-quiet">{esc(part)}</span></div>{_difference(piece)}'
            + (f'<div class="rs-quiet">{esc(piece.why)}</div>' if piece.why else "")
        )
        if state_now == "open":
            st.button(
                "Take",
                key=state.key(keys.HELP_ACT, where, name, "take"),
                type="tertiary",
                icon=":material/check:",
                on_click=_take,
                args=(name, (piece,)),
            )
        elif state_now == "taken":
            st.html(tag("✓ Taken", "good"))
        else:
            st.html(tag("These words have changed since", "neutral"))


def _difference(piece: Piece) -> str:
    found = word_diff(piece.before, piece.after)
    before = marked(piece.before, found.first) if piece.before else "<i>(empty)</i>"
    return (
        f'<div class="rs-prose rs-quiet"><b>Now</b> {before}</div>'
        f'<div class="rs-prose"><b>Then</b> {marked(piece.after, found.second)}</div>'
    )


def _take(name: str, chosen: tuple[Piece, ...]) -> None:
    with shown_errors():
        draft = work.draft(name)
        for piece in chosen:
            draft = improving.take(draft, piece)
        work.change(name, draft, redraw=True)
