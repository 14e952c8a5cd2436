"""How people review: one's own figures, a lead's view of all, and the second look."""

from __future__ import annotations

import time

import streamlit as st

from core.domain.dataset import Item
from core.domain.review import WHYS, ReviewerAnswer, Seat
from core.domain.review_records import QueueRow
from core.domain.rubric import Criterion
from core.services.review import queues, reviewer_quality, second_looks
from core.services.review.reviewer_quality import ReviewerQuality
from core.services.review.second_looks import SecondLook
from core.text import numbers as fmt
from pages.review_findings.words import (
    RECORD_ACT,
    RECORD_FIELD,
    cached_figure,
    minutes_text,
    quiet_html,
    share_html,
    show_section,
    show_sentences,
)
from pages.ui import identity, items, routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import draw_table, empty_state, shown_errors


def show(seat: Seat, queue: QueueRow) -> None:
    """Draw the view."""
    identity.show_seat(seat)
    figures = cached_figure(
        "people",
        queue,
        lambda: reviewer_quality.reviewer_quality(store(), seat, queue.id),
        seat.name,
        seat.role,
    )
    people = {person.name: person for person in figures}
    show_section("How you review")
    own_figures = people.pop(seat.name, None)
    if own_figures is None:
        show_sentences("You have given no verdict in this queue yet.")
    else:
        _show_own_quality(own_figures)
    _second_looks(seat, queue)
    if seat.role == "lead":
        _lead_view(seat, queue, list(people.values()))
    st.caption(
        "Only you and the leads see this; it is not a ranking. On hard items people are slower "
        "and differ more often; some figures rest on few cells. Shares have 95% intervals (Wilson "
        "1927)."
    )


def _show_own_quality(quality: ReviewerQuality) -> None:
    pace = "–" if quality.each_seconds is None else fmt.seconds(quality.each_seconds)
    draw_table(
        ("Figure", "Value", "Of what"),
        [
            [
                "Verdicts",
                fmt.count(quality.verdicts),
                quiet_html(f"{fmt.count(quality.cannot)} of these could not be assessed"),
            ],
            ["Median time per verdict", pace, quiet_html(_quick_words(quality))],
            [
                "As labelled",
                share_html(quality.gold),
                quiet_html("cells with a label in the dataset"),
            ],
            [
                "Same verdict on a second look",
                share_html(quality.same),
                quiet_html("cells seen twice, blind"),
            ],
            [
                "Same as the final verdict",
                share_html(quality.shared),
                quiet_html("first verdicts, on cells that others reviewed, too"),
            ],
            *_remaining_rows(quality),
        ],
        name=f"How {quality.name} reviews",
        numbers=(1,),
    )
    if len(quality.weeks) > 1:
        draw_table(
            ("Week of", "Verdicts", "Usual time", "As labelled"),
            (
                [
                    week.monday,
                    fmt.count(week.verdicts),
                    fmt.DASH if week.each_seconds is None else fmt.seconds(week.each_seconds),
                    share_html(week.gold),
                ]
                for week in quality.weeks
            ),
            name=f"{quality.name} by week",
            numbers=(1, 2, 3),
        )


def _quick_words(quality: ReviewerQuality) -> str:
    if not quality.timed:
        return "time unknown"
    return (
        f"{fmt.count(quality.quick)} of {fmt.count(quality.timed)} in less than a quarter of that"
    )


def _remaining_rows(quality: ReviewerQuality) -> list[list[str]]:
    if not quality.left:
        return []
    pace = "" if quality.left_minutes is None else f"about {minutes_text(quality.left_minutes)}"
    return [["Items assigned and open", fmt.count(quality.left), quiet_html(pace)]]


def _second_looks(seat: Seat, queue: QueueRow) -> None:
    waiting = len(second_looks.items_to_repeat(store(), seat, queue.id))
    if waiting:
        routes.draw_link(
            routes.RECORD,
            f"Take a second look at {fmt.plural(waiting, 'item')}",
            {state.QUEUE: queue.id, state.VIEW: "again"},
            icon="replay",
        )


def _lead_view(seat: Seat, queue: QueueRow, qualities: list[ReviewerQuality]) -> None:
    show_section("For leads")
    key = state.key(RECORD_FIELD, "repeat", queue.id)
    state.seed(key, round(100 * queue.settings.repeat_share))
    st.slider(
        "Second looks: share of a person's items that come back later, blind, in %",
        0,
        100,
        key=key,
        width=620,
        help="The second verdict changes nothing; it shows how consistently a person decides.",
        on_change=_set_repeat,
        args=(seat, queue.id, key),
    )
    if not qualities:
        return
    if st.toggle("Show the view of other members", key=state.key(RECORD_FIELD, "others")):
        for person in qualities:
            st.html(f"<b>{esc(person.name)}</b>")
            _show_own_quality(person)
    names = ", ".join(label(person.name, 60) for person in qualities)
    st.caption(f"Others who reviewed or were assigned: {names}.")


def _set_repeat(seat: Seat, queue_id: int, key: str) -> None:
    with shown_errors():
        queue = queues.queue_by_id(store(), queue_id)
        settings = queue.settings.model_copy(update={"repeat_share": state.get(key) / 100})
        queues.change(store(), seat, queue_id, settings=settings)


AGAIN = "record_again"

CANNOT = -1


def second_look(seat: Seat, queue: QueueRow) -> None:
    """Draw the next item, or a sentence if there is none."""
    st.button(
        "Back to the findings",
        key=state.key(RECORD_ACT, "back"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=state.set_address,
        kwargs={state.VIEW: "people"},
    )
    look = second_looks.second_look(store(), seat, queue.id)
    if look is None:
        state.drop(AGAIN)
        empty_state(
            "No item is due for a second look", "Some items come back as you continue reviewing."
        )
        return
    show_sentences(
        "You have decided this item before. Decide again, without looking up your first "
        "verdict. This measures your consistency and changes nothing."
    )
    _begin_look(look)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_texts(look)
    with right:
        for criterion in look.criteria:
            _show_cell(look, criterion)
        st.button(
            "Done",
            key=state.key(RECORD_ACT, "again", look.number),
            type="primary",
            on_click=_say_verdict,
            args=(seat, look),
        )


def _begin_look(look: SecondLook) -> None:
    """Store when the item was first shown."""
    key = state.key(AGAIN, "since", look.queue_id, look.number)
    if state.get(key) is None:
        state.put(key, time.monotonic())


def _show_texts(look: SecondLook) -> None:
    for title, text in (("Guidelines", look.guidelines), ("Prompt", look.prompt)):
        if text:
            items.show_headed(title, text)
    items.show_contexts(look.context)
    st.html('<div class="rs-section">Submission</div>')
    items.show_submission(Item(id="shown", submission=look.submission))
    if look.reference:
        items.show_headed("Reference", look.reference)


def _field_key(look: SecondLook, criterion: Criterion, field: str) -> str:
    return state.key(AGAIN, field, look.queue_id, look.number, criterion.name)


def _show_cell(look: SecondLook, criterion: Criterion) -> None:
    with st.container(border=True):
        st.html(
            f'<b>{esc(criterion.name)}</b><div class="rs-prose">{esc(criterion.requirement)}</div>'
        )
        options = [*range(len(criterion.options)), CANNOT]
        chosen = st.radio(
            f"Verdict on {label(criterion.name)}",
            options,
            index=None,
            key=_field_key(look, criterion, "option"),
            format_func=lambda at: (
                "Cannot assess" if at == CANNOT else label(criterion.options[at].label)
            ),
            captions=[label(option.description) for option in criterion.options] + [""],
            label_visibility="collapsed",
        )
        if chosen == CANNOT:
            st.selectbox(
                "Why",
                list(WHYS),
                key=_field_key(look, criterion, "why"),
                format_func=lambda reason: WHYS[reason],
            )


def _say_verdict(seat: Seat, look: SecondLook) -> None:
    with shown_errors():
        verdict = {}
        for criterion in look.criteria:
            option = state.get(_field_key(look, criterion, "option"))
            if option is None:
                st.error("Give a verdict on every criterion first.", icon=":material/error:")
                return
            reason = state.get(_field_key(look, criterion, "why"))
            verdict[criterion.name] = (
                ReviewerAnswer(None, reason) if option == CANNOT else ReviewerAnswer(option)
            )
        began = state.get(state.key(AGAIN, "since", look.queue_id, look.number))
        spent = None if began is None else round(1000 * (time.monotonic() - began) / len(verdict))
        second_looks.say_again(store(), seat, look, verdict, ms_active=spent)
        state.drop(AGAIN)
        state.flash("Saved. Thank you for the second look.")
