"""Adaptive contests: the next round, with what it will take, once the last one is done."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services import contest_rounds, contests
from core.services import numbers as fmt
from core.services.contests import ContestRequest
from pages.grade._contests import outlook
from pages.grade._contests.chosen import Chosen
from pages.ui import contest_keys as keys
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.widgets import shown_errors

PER_ROUND = 20


def show(run: Run, chosen: Chosen) -> None:
    """The next round of an adaptive contest; nothing for any other."""
    design = chosen.contests.rounds[chosen.run_id].design
    if design.kind != "adaptive" or run.active:
        return
    with st.container(border=True), shown_errors():
        key = state.key(keys.CONTEST_FIELD, "per round", run.id)
        state.seed(key, PER_ROUND)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            size: int = st.number_input("Contests of the next round", 1, 10_000, key=key, width=220)
            request = remembered(
                "next round",
                (*chosen.about, size),
                lambda: contest_rounds.next_round(store(), chosen.runs, size),
            )
            found = None if request is None else outlook.outlook_of(request)
            st.button(
                "Hold it",
                key=state.key(keys.CONTEST_ACT, "round", run.id),
                type="primary",
                icon=":material/play_arrow:",
                disabled=found is None,
                on_click=_hold,
                args=(request,),
            )
        if request is None:
            st.caption(
                "Nothing is left to hold: the systems are told apart, or all bouts are held."
            )
        elif found is not None:
            calls, cost = fmt.plural(found.estimate.calls, "call"), found.estimate.cost
            st.caption(
                f"Round {len(chosen.runs) + 1}: the {fmt.plural(found.contests, 'contest')} that "
                f"would tell most, {calls}, {'cost unknown' if cost is None else fmt.cost(cost)}."
            )


def _hold(request: ContestRequest | None) -> None:
    if request is not None:
        with shown_errors():
            run_id = contests.start(store(), request)
            state.set_address(**{state.RUN: run_id})
