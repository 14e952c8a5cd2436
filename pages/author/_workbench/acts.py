"""What can be done with one row."""

from __future__ import annotations

import streamlit as st

from core.services import workbench
from core.services.workbench_standing import Standing
from core.services.workbench_types import BenchRow
from pages.author._workbench import asking
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.widgets import shown_errors

EXAMPLE, COPY, REMOVE = "Make it an example", "Duplicate", "Remove"
ICONS = {EXAMPLE: "school", COPY: "content_copy", REMOVE: "delete"}


def show(name: str, now: Standing, row: BenchRow, criterion: str | None, askable: bool) -> None:
    """The buttons of a test row."""
    uid = row["uid"]
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Ask",
            key=state.key(keys.WORKBENCH_ACT, name, "row", uid),
            icon=":material/play_arrow:",
            type="tertiary",
            disabled=not askable or now.active or not now.judges,
            on_click=asking.on_ask,
            args=(name, "open", uid, criterion),
            help="Asks what is open in this row; where nothing is, it is asked anew.",
        )
        opened = state.get(state.key(keys.WORKBENCH_OPEN, name)) == uid
        st.button(
            "Hide" if opened else "Details",
            key=state.key(keys.WORKBENCH_ACT, name, "open", uid),
            icon=":material/unfold_less:" if opened else ":material/unfold_more:",
            type="tertiary",
            on_click=_on_open,
            args=(name, None if opened else uid),
        )
        st.button(
            EXAMPLE,
            key=state.key(keys.WORKBENCH_ACT, name, "example", uid),
            icon=":material/school:",
            type="tertiary",
            disabled=not row["expected"],
            on_click=_on_example,
            args=(name, uid, True),
            help="Models are shown it with its expected option, and it is no test any more. "
            "Say first what is expected.",
        )
        st.menu_button(
            "More",
            [COPY, REMOVE],
            key=state.key(keys.WORKBENCH_ACT, name, "more", uid),
            type="tertiary",
            format_func=lambda one: f":material/{ICONS[one]}: {one}",
            on_click=_on_more,
            args=(name, uid),
        )


def _on_open(name: str, uid: str | None) -> None:
    state.put(state.key(keys.WORKBENCH_OPEN, name), uid)


def _on_example(name: str, uid: str, example: bool) -> None:
    with shown_errors():
        workbench.set_row(store(), name, uid, example=example)


def back_to_tests(name: str, uid: str) -> None:
    """The button that makes an example a test again."""
    st.button(
        "Back to the tests",
        key=state.key(keys.WORKBENCH_ACT, name, "test", uid),
        icon=":material/undo:",
        type="tertiary",
        on_click=_on_example,
        args=(name, uid, False),
    )


def _on_more(name: str, uid: str) -> None:
    with shown_errors():
        chosen = state.get(state.key(keys.WORKBENCH_ACT, name, "more", uid))
        if chosen == COPY:
            workbench.duplicate_row(store(), name, uid)
        elif chosen == REMOVE:
            gone = workbench.remove_row(store(), name, uid)
            state.put(state.key(keys.WORKBENCH_GONE, name), gone)


def put_back(name: str) -> None:
    """A way back for the row that was removed last."""
    if state.get(state.key(keys.WORKBENCH_GONE, name)) is not None:
        st.button(
            "Put back the removed row",
            key=state.key(keys.WORKBENCH_ACT, name, "back"),
            icon=":material/undo:",
            type="tertiary",
            on_click=_on_put_back,
            args=(name,),
        )


def _on_put_back(name: str) -> None:
    with shown_errors():
        workbench.add_rows(store(), name, [state.get(state.key(keys.WORKBENCH_GONE, name))])
        state.drop(keys.WORKBENCH_GONE, name)
