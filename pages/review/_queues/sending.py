"""Have cells that are resolved reviewed again: for adjudicators and leads."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services import numbers as fmt
from core.services import review_acts, settling
from pages.review._queues.settings_form import QUEUE_ACT, QUEUE_FIELD
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import shown_errors

#: The newest decisions; one looks for others by their timeline.
MOST = 300


def show(who: Seat, queue: QueueRow) -> None:
    """Choose decisions, say why, send them back."""
    known = settling.settled(store(), queue.run_id)
    newest = sorted((s for s in known.values() if s.state == "active"), key=lambda s: -s.event_id)[
        :MOST
    ]
    with st.expander("Send decided cells back"):
        if not newest:
            st.caption("Nothing is decided yet.")
            return
        cells = {(s.item_id, s.criterion): s for s in newest}
        chosen_key = state.key(QUEUE_FIELD, "send back", queue.id)
        st.multiselect(
            "Decisions, newest first",
            list(cells),
            key=chosen_key,
            format_func=lambda cell: (
                f"{one_line(cell[0], 40)} · {one_line(cell[1], 60)}: "
                f"{one_line(cells[cell].label or 'uncertain', 40)}"
            ),
        )
        why_key = state.key(QUEUE_FIELD, "send back why", queue.id)
        st.text_input("Why? Whoever reviews them again reads it.", key=why_key, max_chars=2000)
        st.button(
            "Send back",
            key=state.key(QUEUE_ACT, "send back"),
            on_click=_send,
            args=(who, queue.id, chosen_key, why_key),
        )


def _send(who: Seat, queue_id: int, chosen_key: str, why_key: str) -> None:
    chosen = [tuple(cell) for cell in state.get(chosen_key) or []]
    with shown_errors():
        review_acts.send_back(store(), who, queue_id, chosen, str(state.get(why_key) or ""))
        state.flash(f"{fmt.plural(len(chosen), 'cell')} sent back.")
        state.put(chosen_key, [])
        state.put(why_key, "")
