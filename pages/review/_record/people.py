"""How people review: about oneself, and to a lead about everybody. Nobody is ranked."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services import numbers as fmt
from core.services import queueing, repeating, review_quality
from core.services.review_quality import Quality
from pages.review._record.keeping import kept
from pages.review._record.words import RECORD_FIELD, minutes, quiet, said, section, share
from pages.ui import identity, routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors, table


def show(who: Seat, queue: QueueRow) -> None:
    """The view."""
    identity.show_seat(who)
    told = kept(
        "people",
        queue,
        lambda: review_quality.quality(store(), who, queue.id),
        who.name,
        who.role,
    )
    found = {one.name: one for one in told}
    section("How you review")
    mine = found.pop(who.name, None)
    if mine is None:
        said("You have given no verdict in this queue yet.")
    else:
        _one(mine)
    _again(who, queue)
    if who.role == "lead":
        _lead(who, queue, list(found.values()))
    st.caption(
        "Only you and the leads see this, and nobody is ranked. Whoever got the hard items is "
        "slower and differs more often; some figures rest on few cells. Shares have 95 % "
        "intervals (Wilson 1927)."
    )


def _one(found: Quality) -> None:
    pace = "–" if found.each_seconds is None else fmt.seconds(found.each_seconds)
    table(
        ("Figure", "Value", "Of what"),
        [
            ["Verdicts", fmt.count(found.verdicts), _cannot(found)],
            ["Usual time of one", pace, quiet(_quick(found))],
            ["As labelled", share(found.gold), quiet("cells whose label the dataset knows")],
            ["The same on a second look", share(found.same), quiet("cells seen twice, blind")],
            [
                "As settled in the end",
                share(found.shared),
                quiet("first verdicts, on cells that others saw, too"),
            ],
            *_left(found),
        ],
        name=f"How {found.name} reviews",
        numbers=(1,),
    )
    if len(found.weeks) > 1:
        table(
            ("Week of", "Verdicts", "Usual time", "As labelled"),
            (
                [
                    one.monday,
                    fmt.count(one.verdicts),
                    fmt.DASH if one.each_seconds is None else fmt.seconds(one.each_seconds),
                    share(one.gold),
                ]
                for one in found.weeks
            ),
            name=f"{found.name} by week",
            numbers=(1, 2, 3),
        )


def _cannot(found: Quality) -> str:
    return quiet(f"{fmt.count(found.cannot)} of them: cannot assess")


def _quick(found: Quality) -> str:
    if not found.timed:
        return "no time is known"
    return f"{fmt.count(found.quick)} of {fmt.count(found.timed)} in less than a quarter of it"


def _left(found: Quality) -> list[list[str]]:
    if not found.left:
        return []
    pace = "" if found.left_minutes is None else f"about {minutes(found.left_minutes)}"
    return [["Items assigned and open", fmt.count(found.left), quiet(pace)]]


def _again(who: Seat, queue: QueueRow) -> None:
    waiting = len(repeating.waiting(store(), who, queue.id))
    if waiting:
        routes.link(
            routes.RECORD,
            f"Take a second look at {fmt.plural(waiting, 'item')}",
            {state.QUEUE: queue.id, state.VIEW: "again"},
            icon="replay",
        )


def _lead(who: Seat, queue: QueueRow, others: list[Quality]) -> None:
    section("For leads")
    key = state.key(RECORD_FIELD, "repeat", queue.id)
    state.seed(key, round(100 * queue.settings.repeat_share))
    st.slider(
        "Second looks: share of a person's items that come back later, blind, in %",
        0,
        100,
        key=key,
        width=620,
        help="What is said then changes nothing; it shows how far a person repeats an own verdict.",
        on_change=_set_repeat,
        args=(who, queue.id, key),
    )
    if not others:
        return
    if st.toggle("Show what others were told", key=state.key(RECORD_FIELD, "others")):
        for one in others:
            st.html(f"<b>{esc(one.name)}</b>")
            _one(one)
    names = ", ".join(label(one.name, 60) for one in others)
    st.caption(f"Others who reviewed or were assigned: {names}.")


def _set_repeat(who: Seat, queue_id: int, key: str) -> None:
    with shown_errors():
        queue = queueing.queue(store(), queue_id)
        settings = queue.settings.model_copy(update={"repeat_share": state.get(key) / 100})
        queueing.change(store(), who, queue_id, settings=settings)
