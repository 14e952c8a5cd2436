"""Above the item: where one is, what just changed, what was refused, and the acts on an item."""

from __future__ import annotations

import streamlit as st

from core.services import queueing, review_acts
from core.services.reviewing import Effect
from pages.review._item import desk as desks
from pages.review._item import hands
from pages.review._item.desk import Desk
from pages.ui import format as fmt
from pages.ui import review_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import problem_list, shown_errors, table

#: Every key with what it does; the same list is shown by H.
KEYS = (
    ("1 to 9", "choose that option of the active cell"),
    ("0", "cannot assess; then a digit says why"),
    ("↑ ↓", "the cell before, the next cell"),
    ("Enter", "commit your verdicts; after the reveal, confirm them"),
    ("N", "write a note (Esc leaves the field)"),
    ("E", "mark sentences as evidence"),
    ("F", "flag the active cell for somebody else"),
    ("S", "skip the item: it comes last in your queue"),
    ("U", "undo what you did last, as often as you like"),
    ("← →", "look at the previous or next item without deciding"),
    ("H", "show or hide this list"),
)


def show(at: Desk, queue_name: str) -> None:
    """The whole bar."""
    _where(at, queue_name)
    _said(at)
    if state.get(keys.REVIEW_HELP):
        table(["Key", "What it does"], [(f"<b>{esc(k)}</b>", esc(w)) for k, w in KEYS], name="Keys")


def _where(at: Desk, queue_name: str) -> None:
    progress = queueing.progress(store(), at.queue_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _button(at, "Queues", "back", icon="arrow_back", act=_close)
        resolved = f"{fmt.count(progress.resolved)} of {fmt.count(progress.total)} cells resolved"
        here = f"<b>Item {at.number}</b> · " if at.item is not None else ""
        st.html(
            f'<span class="rs-num">{here}<span class="rs-quiet">{esc(queue_name[:80])} · '
            f"{resolved}</span></span>"
        )
        st.space("stretch")
        if at.item is not None:
            _button(
                at,
                "",
                "previous",
                icon="chevron_left",
                key="Left",
                act=_step,
                args=(-1,),
                help="Previous item",
            )
            _button(
                at,
                "",
                "following",
                icon="chevron_right",
                key="Right",
                act=_step,
                args=(1,),
                help="Next item",
            )
            st.button(
                "Skip",
                key=state.key(keys.REVIEW_ACT, "skip"),
                shortcut="S",
                on_click=hands.skip,
                args=(at, at.number, ""),
            )
        _button(at, "Undo", "undo", key="U", act=None)
        st.button(
            "Keys",
            key=state.key(keys.REVIEW_ACT, "help"),
            shortcut="H",
            on_click=_toggle_help,
        )
        if at.item is not None and at.seat.resolves:
            _more(at)


def _button(
    at: Desk,
    words: str,
    what: str,
    *,
    icon: str = "",
    key: str | None = None,
    act: object = None,
    args: tuple[object, ...] = (),
    help: str | None = None,
) -> None:
    st.button(
        words,
        key=state.key(keys.REVIEW_ACT, what),
        icon=f":material/{icon}:" if icon else None,
        shortcut=key,
        help=help,
        on_click=hands.undo if act is None else act,  # type: ignore[arg-type]
        args=(at, *args),
    )


def _close(at: Desk) -> None:
    hands.guarded(at, desks.leave)
    at.effect = None
    state.put(keys.REVIEW_LEAVING, True)


def _step(at: Desk, by: int) -> None:
    hands.guarded(at, lambda desk: desks.step(desk, by))


def _toggle_help() -> None:
    state.put(keys.REVIEW_HELP, not state.get(keys.REVIEW_HELP))


def _said(at: Desk) -> None:
    """What the last act changed, and what was refused."""
    if at.effect is not None:
        st.html(f'<div class="rs-row" role="status">{effect_line(at.effect)}</div>')
    refused = hands.refusal()
    if refused is not None:
        st.error(label(refused.message), icon=":material/error:")
        problem_list(refused.problems)


def effect_line(effect: Effect) -> str:
    """The HTML of what a decision changed, in one line."""
    parts = []
    if effect.changed:
        before, after = fmt.score(effect.score_before), fmt.score(effect.score_after)
        parts.append(f"score {before} → <b>{after}</b>")
    if effect.outcome_before != effect.outcome_after:
        parts.append(f"{effect.outcome_before or 'open'} → <b>{effect.outcome_after or 'open'}</b>")
    for cell in effect.cells:
        if cell.state == "disagreement":
            parts.append(f"{esc(cell.criterion)}: reviewers disagree, an adjudicator decides")
        elif cell.state != "resolved":
            parts.append(f"{esc(cell.criterion)}: waits for others")
        elif cell.before != cell.after:
            was, now = esc(cell.before or "no verdict"), esc(cell.after or "uncertain")
            parts.append(f"{esc(cell.criterion)}: {was} → <b>{now}</b>")
    said = " · ".join(parts) if parts else "your verdicts stand; nothing changed"
    return f'<span class="rs-quiet">Last decision:</span> <span>{said}</span>'


def _more(at: Desk) -> None:
    with st.popover("", icon=":material/more_horiz:", help="Unmask"):
        st.caption("Who made this submission is hidden. Looking is recorded with your reason.")
        reason = state.key(keys.REVIEW_NOTE, "unmask", at.number)
        st.text_input("Why do you need to know?", key=reason)
        if st.button("Show the system", key=state.key(keys.REVIEW_ACT, "unmask")):
            with shown_errors():
                assert at.ticket is not None, "only an open item is unmasked"
                name = review_acts.unmask(store(), at.ticket, str(state.get(reason) or ""))
                st.html(f"<b>{esc(name) if name else 'No system is named.'}</b>")
