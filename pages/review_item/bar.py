"""Above the item: the position in the queue, the last change or error, and acts on the item."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.review import CellState
from core.services.review import other_acts, queues, reviewers
from core.services.review.audit_trail import CellEffect, DecisionEffect
from core.services.review.other_acts import VerdictsCompared
from core.services.review.reviewer_quality import ReviewerPace
from core.text import numbers as fmt
from pages.review_item import keyboard, opened
from pages.review_item.opened import REVIEW_ACT, REVIEW_NOTE, OpenItem
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, problem_list, shown_errors

REVIEW_HELP = "review_help"
REVIEW_LEAD = "review_lead"


#: Every key and its effect; H shows this list.
KEYS = (
    (
        "0 to 9",
        "in the active cell, choose the option with this digit or, if none has it, at this "
        "position",
    ),
    ("0 or X", "cannot assess (X where 0 is an option); then a digit says why"),
    ("↑ ↓", "go to the previous or next cell"),
    ("Enter", "commit your verdicts; after the reveal, confirm them"),
    ("N", "write a note; Ctrl+Enter goes on with it as Enter does, Esc only leaves the field"),
    ("E", "mark sentences as evidence: Tab to their numbers, Space"),
    ("F", "flag the active cell for another reviewer, or send it back"),
    ("S", "skip the item to the end of your queue; give the reason in a note"),
    (
        "U",
        "undo your last act, repeatedly if needed; a final verdict can be flagged for a lead",
    ),
    ("← →", "look at the previous or next item without deciding"),
    ("H", "show or hide this list"),
)


def show(review: OpenItem, queue_name: str) -> None:
    """Draw the whole bar."""
    with st.container(key="rs_where", gap="xsmall"):
        _place_words(review, queue_name)
        _draw_last_act(review)
    if isinstance(review.stands, VerdictsCompared):
        _ask_lead(review, review.stands)
    if state.get(REVIEW_HELP):
        draw_table(
            ["Key", "What it does"], [(f"<b>{esc(k)}</b>", esc(w)) for k, w in KEYS], name="Keys"
        )


def _place_words(review: OpenItem, queue_name: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("Queue", key=state.key(REVIEW_ACT, "back"), icon=":material/arrow_back:"):
            _close_item(review)
        progress = review.progress
        resolved = f"{fmt.count(progress.resolved)} of {fmt.count(progress.total)} cells resolved"
        position = f"Item {review.number}" if review.item is not None else "Reviewing"
        narrowed = (
            f" · only {one_line(review.where.criterion, 40)}" if review.where.criterion else ""
        )
        narrowed += " · only flagged cells" if review.where.flagged else ""
        st.html(
            f'<div class="rs-row rs-num"><h1 class="rs-cell">{position}</h1><span class="rs-quiet">'
            f"{esc(one_line(queue_name, 44) + narrowed)} · {_own_pace(review.pace)}"
            f" · {resolved}</span></div>",
            width="content",
        )
        st.space("stretch")
        if review.item is not None:
            _press_button(
                "",
                "previous",
                "Left",
                keyboard.step_by_key,
                (review, review.number, -1),
                "chevron_left",
            )
            _press_button(
                "",
                "following",
                "Right",
                keyboard.step_by_key,
                (review, review.number, 1),
                "chevron_right",
            )
            _press_button("Skip", "skip", "S", keyboard.skip_by_key, (review, review.number))
        _press_button("Undo", "undo", "U", keyboard.undo_by_key, (review,))
        _press_button("Keys", "help", "H", _toggle_help, ())
        _settle_at_sight(review)
        if review.item is not None and review.seat.resolves:
            _draw_more_acts(review)


def _settle_at_sight(review: OpenItem) -> None:
    key = state.key(REVIEW_ACT, "at once")
    state.put(key, reviewers.commits_at_once(store(), review.seat))
    st.toggle(
        "Commit at once",
        key=key,
        help="Your last answer on an item commits it, without Enter. The answer is final unless "
        "all judges chose another option. U undoes it.",
        on_change=_on_commit_at_once,
        args=(review, key),
    )


def _on_commit_at_once(review: OpenItem, key: str) -> None:
    is_on = bool(state.get(key))
    keyboard.perform_guarded(review, lambda now: reviewers.commit_at_once(store(), now.seat, is_on))


def _own_pace(pace: ReviewerPace) -> str:
    """Return my progress and the expected time for my remaining items.

    >>> _own_pace(ReviewerPace(14, 43, 35.0))
    '14 of 57 items by you, about 25 min'
    >>> _own_pace(ReviewerPace(2, 5, None)), _own_pace(ReviewerPace(7, 0, 35.0))
    ('2 of 7 items by you', '7 of 7 items by you')
    >>> _own_pace(ReviewerPace(3, 150, 30.0)), _own_pace(ReviewerPace(3, 1, 20.0))
    ('3 of 153 items by you, about 1 h 15 min', '3 of 4 items by you, under a minute')
    """
    progress = f"{fmt.count(pace.done)} of {fmt.plural(pace.total, 'item')} by you"
    if not pace.left or pace.left_minutes is None:
        return progress
    return f"{progress}, {fmt.about_minutes(pace.left_minutes)}"


def _press_button(
    caption: str,
    what: str,
    shortcut: str,
    action: Callable[..., None],
    args: tuple[object, ...],
    icon: str = "",
) -> None:
    st.button(
        caption,
        key=state.key(REVIEW_ACT, what),
        icon=f":material/{icon}:" if icon else None,
        shortcut=shortcut,
        help=None if caption else label(f"The {what} item"),
        on_click=action,
        args=args,
    )


def _close_item(review: OpenItem) -> None:
    """Return to the queue; the item is released and its verdicts stay drafts."""
    keyboard.perform_guarded(review, opened.leave_item)
    review.effect, review.undone, review.same = None, (), ()
    routes.go_to(routes.QUEUES, {state.QUEUE: review.queue_id})


def _toggle_help() -> None:
    state.put(REVIEW_HELP, not state.get(REVIEW_HELP))


def _draw_last_act(review: OpenItem) -> None:
    """Show what the last act changed or why it was rejected; always one line, so the page does not
    jump.
    """
    refused = keyboard.pending_refusal()
    if refused is not None:
        place_words = f"{refused.where}: " if refused.where else ""
        parts = [f'<span class="rs-tag rs-bad">✕ {esc(place_words + refused.message)}</span>']
    elif review.told:
        parts = [f'<span class="rs-quiet">{esc(review.told)}</span>']
    elif review.effect is not None or review.undone or review.same:
        parts = [effect_line(review.effect, review.undone, review.same)]
    else:
        parts = ['<span class="rs-quiet">&nbsp;</span>']
    st.html(f'<div class="rs-row" role="status">{"".join(parts)}</div>')
    if refused is not None:
        problem_list(refused.problems)


def _ask_lead(review: OpenItem, compared: VerdictsCompared) -> None:
    """Show the final verdicts, and the note that asks a lead to send them back."""
    number = queues.item_number(store(), review.queue_id, compared.item_id)
    names = " and ".join(f"“{one_line(name, 60)}”" for name in compared.criteria)
    key = state.key(REVIEW_LEAD, compared.step)
    state.seed(key, f"I want to change my verdict on {names}: ")
    with st.container(border=True, key="rs_ask_lead", gap="small"):
        st.html(
            f'<div class="rs-prose" role="status">Item {number}: your verdict on {esc(names)} was '
            "already compared with another reviewer's, so it stands. A lead can send the item "
            "back; then everybody reviews it again. Press U again to take back what you did before."
            "</div>"
        )
        st.text_area("Note for the lead", key=key, height=80, max_chars=2000)
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Flag for a lead",
                key=state.key(REVIEW_ACT, "ask lead"),
                type="primary",
                icon=":material/flag:",
                on_click=keyboard.flag_met,
                args=(review, compared, key),
            )
            st.button(
                "Leave it",
                key=state.key(REVIEW_ACT, "leave it"),
                type="tertiary",
                on_click=keyboard.perform_guarded,
                args=(review, lambda _: None),
            )


OUTCOMES = {"pass": "pass", "fail": "fail", "review": "for review", None: "not for review"}
OPEN: dict[CellState, str] = {
    "needs_review": "open again",
    "needs_others": "recorded, waiting for other reviewers",
    "disagreement": "reviewers disagree; an adjudicator decides",
}
ACTS = {
    "verdict": "your verdict",
    "final": "your confirmation",
    "skip": "the skip",
    "flag": "the flag",
    "unflag": "the removal of the flag",
    "send_back": "the return to reviewers",
}


def effect_line(
    effect: DecisionEffect | None, undone: Sequence[str] = (), same: Sequence[str] = ()
) -> str:
    """Return one line of HTML: what a decision, or undoing acts, changed.

    `same` are the criteria whose verdict was confirmed automatically.
    """
    acts = " and ".join(ACTS.get(act, act) for act in undone)
    head = f"Taken back: {acts}." if undone else "Last decision:"
    changes = "" if effect is None else " · ".join([*_item_effect(effect), *_cell_effects(effect)])
    if same:
        names = esc(one_line(", ".join(same), 80))
        # The text says "the panel", because the judges themselves may disagree.
        changes = f"{names}: confirmed, because the panel agrees" + (
            f" · {changes}" if changes else ""
        )
    if not changes and not undone:
        changes = "your verdicts stand; nothing changed"
    return f'<span><span class="rs-quiet">{esc(head)}</span> {changes}</span>'


def _item_effect(effect: DecisionEffect) -> list[str]:
    parts = []
    if effect.score_before != effect.score_after:
        before, after = fmt.score(effect.score_before), fmt.score(effect.score_after)
        parts.append(f"score {before} → <b>{after}</b>")
    if effect.outcome_before != effect.outcome_after:
        before, after = OUTCOMES[effect.outcome_before], OUTCOMES[effect.outcome_after]
        parts.append(f"{before} → <b>{after}</b>")
    return parts


def _cell_effects(effect: DecisionEffect) -> list[str]:
    return [
        f"{esc(c.criterion)}: {change}" for c in effect.cells if (change := _cell_effect(c, effect))
    ]


def _cell_effect(cell: CellEffect, effect: DecisionEffect) -> str:
    """Return a cell's new state, and how often the panel was right on such cells so far."""
    if cell.state != "resolved":
        return OPEN[cell.state]
    now = esc(cell.after or "uncertain")
    if effect.blind:
        return f"settled as <b>{now}</b>"
    hits, settled = cell.hits_after
    right = f"panel right on {hits} of {settled} settled" if settled else ""
    if cell.before == cell.after:
        return f"stays {now}, {right}" if right and cell.hits_after != cell.hits_before else ""
    changed = f"{esc(cell.before or 'no verdict')} → <b>{now}</b>"
    return f"{changed}, {right}" if right else changed


def _draw_more_acts(review: OpenItem) -> None:
    with st.popover("", icon=":material/more_horiz:", help="Unmask"):
        st.caption("Who made this submission is hidden. Looking is recorded with your reason.")
        reason = state.key(REVIEW_NOTE, "unmask", review.number)
        st.text_input("Reason for unmasking", key=reason)
        if st.button("Show the system", key=state.key(REVIEW_ACT, "unmask")):
            with shown_errors():
                assert review.ticket is not None, "only an open item can be unmasked"
                name = other_acts.unmask(store(), review.ticket, str(state.get(reason) or ""))
                st.html(f"<b>{esc(name) if name else 'No system is named.'}</b>")
