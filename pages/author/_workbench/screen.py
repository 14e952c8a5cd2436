"""The workbench, top to bottom: the criterion, who is asked, what came of it, the rows."""

from __future__ import annotations

import streamlit as st

from core.services import workbench
from core.services.workbench_standing import Standing, standing
from pages.author._rubric import work
from pages.author._workbench import (
    adding,
    asking,
    examples,
    judges,
    outcome,
    saving,
    subject,
    table,
)
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.widgets import empty_state, shown_errors

LOOK_EVERY = 0.7


def show(name: str) -> None:
    """The whole workbench of a rubric or a draft."""
    if state.arriving():
        state.drop(keys.WORKBENCH_FIELD)
    state.arrived()
    with shown_errors():
        if not work.draft(name)["criteria"]:
            empty_state("No criteria yet", "Add one in the form; its test rows stand here then.")
            return
        now = _now(name)
        criterion = subject.show(name, now)
        judges.show(name, now)
        adding.show(name, now)
        st.fragment(_live, run_every=LOOK_EVERY if now.active else None)(
            name, criterion, now.active
        )


def _now(name: str) -> Standing:
    draft = work.draft(name)
    return standing(store(), workbench.followed(store(), name, draft), draft)


def _live(name: str, criterion: str | None, polled: bool) -> None:
    """What changes while judges are asked; reruns alone."""
    with shown_errors():
        now = _now(name)
        if now.active != polled:
            # Once over the whole page: polling starts or stops.
            st.rerun()
        if not now.bench["rows"]:
            empty_state(
                "No test rows yet",
                "Put in a few texts, say what is right for each, and see whether judges agree "
                "while you word the criterion.",
            )
            return
        outcome.show(now, criterion)
        asking.show(name, now, criterion)
        table.show(name, now, criterion)
        examples.show(name, now)
        saving.show(name, now)
