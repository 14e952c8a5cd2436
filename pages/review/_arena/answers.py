"""The two answers: without names and with keys to vote, then with names and what others said."""

from __future__ import annotations

import streamlit as st

from core.services.contest_arena import Blind, Revealed
from core.services.contest_questions import Choice
from pages.review._arena import desk as desks
from pages.review._arena.desk import ARENA_ACT, Desk
from pages.ui import state
from pages.ui.item_view import context_words
from pages.ui.text import esc
from pages.ui.two_texts import folded, side_by_side
from pages.ui.widgets import Tone, row, tag

#: The key of each choice and the words on its button, in the order to show them.
CHOICES: dict[Choice, tuple[str, str]] = {
    "A": ("1", "A is better"),
    "B": ("2", "B is better"),
    "tie": ("3", "Tie"),
    "both_bad": ("4", "Both bad"),
    "none": ("0", "Cannot say"),
}
GOOD: Tone = "good"
WARN: Tone = "warn"
CHOSE: dict[Choice, str] = {
    "A": "A",
    "B": "B",
    "tie": "a tie",
    "both_bad": "both bad",
    "none": "no answer",
}


def blind(at: Desk, contest: Blind) -> None:
    """Two answers, and what can be said of them."""
    _task(contest)
    key = state.key(ARENA_ACT, "mark")
    mark = st.toggle("Mark what differs", key=key)
    side_by_side(("<b>A</b>", "<b>B</b>"), (contest.a, contest.b), mark=bool(mark))
    offered = [choice for choice, _ in contest.choices]
    with st.container(horizontal=True, horizontal_alignment="center", gap="small"):
        for choice, (shortcut, words) in CHOICES.items():
            if choice in offered:
                st.button(
                    words,
                    key=state.key(ARENA_ACT, "vote", choice),
                    shortcut=shortcut,
                    type="primary" if choice in ("A", "B") else "secondary",
                    on_click=desks.vote,
                    args=(at, at.number, choice),
                )


def told(at: Desk, contest: Blind, found: Revealed) -> None:
    """Who wrote what, and what everybody said; then on to the next contest."""
    chosen = at.chosen or "none"
    _said(chosen, found)
    st.button(
        "Next",
        key=state.key(ARENA_ACT, "next"),
        type="primary",
        icon=":material/arrow_forward:",
        shortcut="Enter",
        on_click=desks.go_on,
        args=(at, at.number),
    )
    _task(contest)
    heads = [
        f'<div class="rs-row"><b>{side}: {esc(name)}</b>'
        f"{tag('✓ your choice', 'good') if chosen == side else ''}</div>"
        for side, name in (("A", found.a), ("B", found.b))
    ]
    side_by_side((heads[0], heads[1]), (contest.a, contest.b), mark=False)


def _task(contest: Blind) -> None:
    st.html(
        f'<div class="rs-prose"><b>{esc(contest.question)}</b><br>{esc(contest.requirement)}</div>'
    )
    folded("Task", contest.prompt, opened=len(contest.prompt) < 500)
    for name, text in contest.context.items():
        folded(context_words(name), text)
    folded("Reference", contest.reference)


def _said(chosen: Choice, found: Revealed) -> None:
    parts = [f"<span>You chose <b>{esc(_named(chosen, found))}</b>.</span>"]
    panel = found.panel or "no winner"
    parts.append(f"<span>The judges: <b>{esc(panel)}</b></span>")
    if chosen != "none":
        same = found.panel == found.chosen
        parts.append(tag("✓ the same" if same else "not the same", GOOD if same else WARN))
    if len(found.judges) > 1:
        parts += [tag(f"{name}: {who or 'no winner'}") for name, who in found.judges.items()]
    st.html('<div class="rs-row" role="status">' + " ".join(parts) + "</div>")
    row([tag(f"A was {found.a}", "info"), tag(f"B was {found.b}", "info")])


def _named(chosen: Choice, found: Revealed) -> str:
    return {"A": found.a, "B": found.b}.get(chosen, CHOSE[chosen])
