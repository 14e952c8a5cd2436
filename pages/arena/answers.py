"""The two answers shown to a person: without names and with voting keys, then with names.

A rejected act shows the reason and loses nothing. A key can arrive after the screen moved on, so an
act names its contest and is ignored for any other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import streamlit as st

from core.errors import RubricStudioError
from core.services.pairwise import arena_people, blind_arena
from core.services.pairwise.blind_arena import BlindContest, RevealedContest
from core.services.pairwise.design import Choice
from pages.ui import state
from pages.ui.items import context_words, show_folded, side_by_side
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import Tone, draw_row, tag

ARENA = "arena"
ARENA_ACT = "arena_act"


@dataclass
class OpenPair:
    """The pair that this tab shows. ``blind`` is the open contest, or ``None`` if all contests have
    a vote; ``told`` is what the vote revealed. ``given`` are this tab's votes, the latest last.
    """

    arena: int
    person: str
    blind: BlindContest | None = None
    told: RevealedContest | None = None
    chosen: Choice | None = None
    number: int = 0
    began: float = 0.0
    given: list[tuple[str, str]] = field(default_factory=list)
    said: str = ""
    refused: str = ""


def open_pair(run_id: int, person: str) -> OpenPair | None:
    """Return this tab's open pair, or ``None`` before a person has started."""
    pair = state.get(_pair_key(run_id))
    return pair if isinstance(pair, OpenPair) and pair.person == person else None


def start_or_continue(run_id: int, person: str) -> None:
    """Start, or continue where this person stopped."""
    at = OpenPair(blind_arena.start(store(), run_id, person), person)
    state.put(_pair_key(run_id), at)
    show_next_unvoted(at)


def leave_arena(run_id: int) -> None:
    """Leave the arena; every vote is kept."""
    state.drop(ARENA, run_id)


def show_next_unvoted(pair: OpenPair) -> None:
    """Show this person the next contest without their vote."""
    pair.blind = blind_arena.next_blind(store(), pair.arena)
    pair.told, pair.chosen, pair.said = None, None, ""
    pair.number += 1
    pair.began = time.monotonic()


def show_next_contest(pair: OpenPair, number: int) -> None:
    """Show the next contest; the key after a vote."""
    if pair.number == number and pair.told is not None:
        pair.refused = ""
        show_next_unvoted(pair)


def record_vote(pair: OpenPair, number: int, choice: Choice) -> None:
    """Record the person's vote; from now on the names are shown."""
    if pair.blind is None or pair.told is not None or pair.number != number:
        return
    pair.refused = pair.said = ""
    ms = round(1000 * (time.monotonic() - pair.began))
    try:
        pair.told = blind_arena.vote(
            store(), pair.arena, pair.blind.item, pair.blind.question, choice, ms=ms
        )
    except RubricStudioError as error:
        # This person has probably voted in another window since.
        pair.refused = str(error)
        show_next_unvoted(pair)
        return
    pair.chosen = choice
    pair.given.append((pair.blind.item, pair.blind.question))


def undo_vote(pair: OpenPair) -> None:
    """Undo this tab's last vote."""
    if not pair.given:
        pair.refused = "You have not voted in this visit."
        return
    pair.refused = ""
    item, question = pair.given.pop()
    arena_people.withdraw(store(), pair.arena, item, question)
    if pair.told is not None:
        show_next_unvoted(pair)
    pair.said = (
        "Your last vote is withdrawn: it is kept, but no longer counts. The contest does not "
        "return, because you have seen the names."
    )


def _pair_key(run_id: int) -> str:
    return state.key(ARENA, run_id)


#: The key and the button's text of each choice, in display order.
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


def show_blind_pair(pair: OpenPair, contest: BlindContest) -> None:
    """Draw two answers, and the possible votes."""
    _show_task(contest)
    key = state.key(ARENA_ACT, "mark")
    mark = st.toggle("Mark what differs", key=key)
    side_by_side(("<b>A</b>", "<b>B</b>"), (contest.a, contest.b), mark=bool(mark))
    offered = [choice for choice, _ in contest.choices]
    with st.container(horizontal=True, horizontal_alignment="center", gap="small"):
        for choice, (shortcut, caption) in CHOICES.items():
            if choice in offered:
                st.button(
                    caption,
                    key=state.key(ARENA_ACT, "vote", choice),
                    shortcut=shortcut,
                    type="primary" if choice in ("A", "B") else "secondary",
                    on_click=record_vote,
                    args=(pair, pair.number, choice),
                )


def show_systems_and_votes(
    pair: OpenPair, contest: BlindContest, revealed: RevealedContest
) -> None:
    """Show the systems and everyone's votes; then offer the next contest."""
    chosen = pair.chosen or "none"
    _draw_votes(chosen, revealed)
    st.button(
        "Next",
        key=state.key(ARENA_ACT, "next"),
        type="primary",
        icon=":material/arrow_forward:",
        shortcut="Enter",
        on_click=show_next_contest,
        args=(pair, pair.number),
    )
    _show_task(contest)
    headings = [
        f'<div class="rs-row"><b>{side}: {esc(name)}</b>'
        f"{tag('✓ your choice', 'good') if chosen == side else ''}</div>"
        for side, name in (("A", revealed.a), ("B", revealed.b))
    ]
    side_by_side((headings[0], headings[1]), (contest.a, contest.b), mark=False)


def _show_task(contest: BlindContest) -> None:
    st.html(
        f'<div class="rs-prose"><b>{esc(contest.question)}</b><br>{esc(contest.requirement)}</div>'
    )
    show_folded("Task", contest.prompt, opened=len(contest.prompt) < 500)
    for name, text in contest.context.items():
        show_folded(context_words(name), text)
    show_folded("Reference", contest.reference)


def _draw_votes(chosen: Choice, revealed: RevealedContest) -> None:
    parts = [f"<span>You chose <b>{esc(_choice_words(chosen, revealed))}</b>.</span>"]
    panel = revealed.panel or "no winner"
    parts.append(f"<span>The judges: <b>{esc(panel)}</b></span>")
    if chosen != "none":
        same = revealed.panel == revealed.chosen
        parts.append(tag("✓ the same" if same else "not the same", GOOD if same else WARN))
    if len(revealed.judges) > 1:
        parts += [
            tag(f"{name}: {winner or 'no winner'}") for name, winner in revealed.judges.items()
        ]
    st.html('<div class="rs-row" role="status">' + " ".join(parts) + "</div>")
    draw_row([tag(f"A was {revealed.a}", "info"), tag(f"B was {revealed.b}", "info")])


def _choice_words(chosen: Choice, revealed: RevealedContest) -> str:
    return {"A": revealed.a, "B": revealed.b}.get(chosen, CHOSE[chosen])
