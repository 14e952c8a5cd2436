"""A second look: an item that one has decided, blind once more. It changes nothing."""

from __future__ import annotations

import time

import streamlit as st

from core.domain.dataset import Item
from core.domain.review import WHYS, Given, Seat
from core.domain.review_records import QueueRow
from core.domain.rubric import Criterion
from core.services import repeating
from core.services.repeating import SecondLook
from pages.review._record.words import RECORD_ACT, said
from pages.ui import item_view, state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, shown_errors

AGAIN = "record_again"

CANNOT = -1


def show(who: Seat, queue: QueueRow) -> None:
    """The next item, or that there is none."""
    st.button(
        "Back to the findings",
        key=state.key(RECORD_ACT, "back"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=_back,
    )
    look = repeating.second_look(store(), who, queue.id)
    if look is None:
        state.drop(AGAIN)
        empty_state("No item waits for a second look", "They come back as you go on reviewing.")
        return
    said(
        "You have decided this item before. Decide it once more, without looking it up: it shows "
        "how far you repeat yourself, and changes nothing."
    )
    _begin(look)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _texts(look)
    with right:
        for criterion in look.criteria:
            _cell(look, criterion)
        st.button(
            "Done",
            key=state.key(RECORD_ACT, "again", look.number),
            type="primary",
            on_click=_say,
            args=(who, look),
        )


def _begin(look: SecondLook) -> None:
    """Remember when the item was first shown."""
    key = state.key(AGAIN, "since", look.queue_id, look.number)
    if state.get(key) is None:
        state.put(key, time.monotonic())


def _texts(look: SecondLook) -> None:
    for words, text in (("Guidelines", look.guidelines), ("Prompt", look.prompt)):
        if text:
            item_view.headed(words, text)
    item_view.show_contexts(look.context)
    st.html('<div class="rs-section">Submission</div>')
    item_view.show_submission(Item(id="shown", submission=look.submission))
    if look.reference:
        item_view.headed("Reference", look.reference)


def _field(look: SecondLook, criterion: Criterion, what: str) -> str:
    return state.key(AGAIN, what, look.queue_id, look.number, criterion.name)


def _cell(look: SecondLook, criterion: Criterion) -> None:
    with st.container(border=True):
        st.html(
            f'<b>{esc(criterion.name)}</b><div class="rs-prose">{esc(criterion.requirement)}</div>'
        )
        options = [*range(len(criterion.options)), CANNOT]
        chosen = st.radio(
            f"Verdict on {label(criterion.name)}",
            options,
            index=None,
            key=_field(look, criterion, "option"),
            format_func=lambda at: (
                "Cannot assess" if at == CANNOT else label(criterion.options[at].label)
            ),
            captions=[label(o.description) for o in criterion.options] + [""],
            label_visibility="collapsed",
        )
        if chosen == CANNOT:
            st.selectbox(
                "Why",
                list(WHYS),
                key=_field(look, criterion, "why"),
                format_func=lambda why: WHYS[why],
            )


def _back() -> None:
    state.set_address(**{state.VIEW: "people"})


def _say(who: Seat, look: SecondLook) -> None:
    with shown_errors():
        given = {}
        for criterion in look.criteria:
            option = state.get(_field(look, criterion, "option"))
            if option is None:
                st.error("Give a verdict on every criterion first.", icon=":material/error:")
                return
            why = state.get(_field(look, criterion, "why"))
            given[criterion.name] = Given(None, why) if option == CANNOT else Given(option)
        began = state.get(state.key(AGAIN, "since", look.queue_id, look.number))
        spent = None if began is None else round(1000 * (time.monotonic() - began) / len(given))
        repeating.say_again(store(), who, look, given, ms_active=spent)
        state.drop(AGAIN)
        state.flash("Kept. Thank you for looking twice.")
