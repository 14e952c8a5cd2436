"""The arena: a person votes for the better of two answers, blind (`?run=ID`: a contest run).

Before a vote the browser gets no name of a system: no run's name (it contains them), no item's id
(it contains their positions), no judge's name (it may also be a system).
"""

from __future__ import annotations

from itertools import starmap

import streamlit as st

from core.domain.review import Seat
from core.services.pairwise import arena_people, blind_arena, contests
from core.services.pairwise.arena_people import RaterAgreement
from core.services.results import item_view
from core.text import numbers as fmt
from pages.arena import answers
from pages.arena.answers import ARENA_ACT, OpenPair
from pages.ui import identity, routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import draw_table, empty_state, figure_cell, page_header, shown_errors


def agreement_line(pair: OpenPair) -> str:
    """Return the agreement in words, without any name."""
    same = _judge_agreement(pair)[""][0]
    if same.value is None:
        return "no contest yet has been decided by both you and the judges"
    return (
        f"you and the judges agree on {fmt.count(same.hits)} of {fmt.count(same.n)} "
        f"({fmt.percent(same.value)})"
    )


def show_agreement(pair: OpenPair) -> None:
    """Draw a row for the panel and for each judge."""
    draw_table(
        ("You and", "Contests", "Same", "95%", "Kappa"),
        starmap(_agreement_row, _judge_agreement(pair).items()),
        name="Your agreement with the judges",
        numbers=(1, 2),
    )


def show_finished(pair: OpenPair, run_id: int) -> None:
    """Show that every contest has this person's vote."""
    empty_state(
        "You have voted on every contest", "Thank you. Below is your agreement with the judges."
    )
    show_agreement(pair)
    routes.draw_link(
        routes.CONTESTS,
        "Show people and judges in one matrix",
        {state.RUN: run_id, "view": "people"},
    )


def _agreement_row(judge: str, agreement: RaterAgreement) -> list[str]:
    same, kappa = agreement
    share, ends, _ = same.words(fmt.percent)
    return [
        f"<b>{esc(judge)}</b>" if judge else "<b>the judges together</b>",
        fmt.count(same.n),
        f"{fmt.count(same.hits)} ({share})" if same.n else share,
        ends or fmt.DASH,
        figure_cell(kappa, interval=False),
    ]


def _judge_agreement(pair: OpenPair) -> dict[str, RaterAgreement]:
    cache_key = (pair.arena, *arena_people.votes_so_far(store(), pair.arena))
    return remembered(
        "accords", cache_key, lambda: blind_arena.people_judge_agreement(store(), [pair.arena])
    )


HEADER = identity.Header(
    "Arena", "Which answer is better? The names appear after your vote.", "Who votes?"
)
SAYS = (
    "You see the same two answers as the judges did, without names, in an order drawn for you. "
    "Choose the better one; then you see who wrote them and what the judges said. A vote cannot "
    "be changed afterwards, only withdrawn."
)


def show(run_id: int | None) -> None:
    """Draw the whole page."""
    seat = identity.current_seat(HEADER)
    if seat is None:
        return
    page_header(HEADER.title, HEADER.tells)
    if run_id is None:
        _contest_list(seat)
        return
    item_view.require_run(store(), run_id)
    at = answers.open_pair(run_id, seat.name)
    if at is None:
        _show_entrance(run_id, seat)
    else:
        _contest_table(at, run_id)


def _contest_list(seat: Seat) -> None:
    identity.show_seat(seat)
    rows = contests.contest_runs(store())
    if not rows:
        empty_state(
            "No contest yet",
            "The arena shows the pairs of a contest that judges were asked about.",
            lambda: routes.draw_link(routes.CONTESTS, "Compare systems"),
        )
        return
    for row in rows:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            routes.draw_link(routes.ARENA, f"Contest {row.id}", {state.RUN: row.id})
            st.caption(f"held {fmt.time_ago(row.created)} · {_own_vote_count(row.id, seat.name)}")


def _own_vote_count(run_id: int, person: str) -> str:
    arenas = [a for a in arena_people.arenas_of(store(), [run_id]) if a.person == person]
    if not arenas:
        return "you have not voted"
    return f"your votes: {fmt.count(arenas[0].votes)} of {fmt.count(arenas[0].planned)}"


def _show_entrance(run_id: int, seat: Seat) -> None:
    routes.draw_back_link(routes.ARENA, "All contests")
    identity.show_seat(seat)
    if not contests.is_contest(store(), run_id):
        st.error(f"Run {run_id} is not a contest: it graded answers one by one.")
        return
    with st.container(border=True):
        st.html(f'<div class="rs-section">Contest {run_id}</div><div>{SAYS}</div>')
        st.caption(_own_vote_count(run_id, seat.name))
        st.button(
            "Start",
            key=state.key(ARENA_ACT, "start"),
            type="primary",
            icon=":material/play_arrow:",
            shortcut="Enter",
            on_click=_start_contests,
            args=(run_id, seat.name),
        )


def _start_contests(run_id: int, person: str) -> None:
    with shown_errors():
        answers.start_or_continue(run_id, person)


@st.fragment
def _contest_table(pair: OpenPair, run_id: int) -> None:
    if answers.open_pair(run_id, pair.person) is None:
        st.rerun()  # The person has left; the entry screen is outside of this fragment.
    with shown_errors():
        _contest_bar(pair, run_id)
        if pair.refused:
            st.error(label(pair.refused), icon=":material/error:")
        if pair.said:
            st.caption(label(pair.said))
        if pair.blind is None:
            show_finished(pair, run_id)
        elif pair.told is None:
            answers.show_blind_pair(pair, pair.blind)
        else:
            answers.show_systems_and_votes(pair, pair.blind, pair.told)
            show_agreement(pair)


def _contest_bar(pair: OpenPair, run_id: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Leave",
            key=state.key(ARENA_ACT, "leave"),
            icon=":material/arrow_back:",
            on_click=answers.leave_arena,
            args=(run_id,),
        )
        st.button(
            "Undo",
            key=state.key(ARENA_ACT, "undo"),
            shortcut="U",
            disabled=not pair.given,
            on_click=answers.undo_vote,
            args=(pair,),
        )
        st.html(
            f'<span class="rs-num" role="status">{_progress_words(pair)}</span>', width="content"
        )
    if pair.blind is not None:
        st.progress(pair.blind.done / pair.blind.total)


def _progress_words(pair: OpenPair) -> str:
    if pair.blind is None:
        return "<b>All done</b>"
    line = agreement_line(pair)
    position = f"<b>{fmt.count(pair.blind.done + 1)}</b> of {fmt.count(pair.blind.total)}"
    return f'{position} <span class="rs-quiet">{line}</span>'


show(state.address_id(state.RUN))
