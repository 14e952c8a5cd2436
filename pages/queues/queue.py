"""One queue: its progress, starting to review, open items, and cells sent back."""

from __future__ import annotations

import streamlit as st

from core.domain.review import CellState, Seat
from core.domain.review_records import EventRow, QueueFilter, QueueRow, TurnStatus
from core.services.results import item_view
from core.services.review import adjudication, claims, other_acts, queues
from core.services.review.claims import QueueStanding
from core.services.rubrics import library
from core.text import numbers as fmt
from pages.queues import making, people
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD, drawn_label_count
from pages.ui import identity, routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    draw_row,
    draw_table,
    page_header,
    show_figures,
    show_flash,
    shown_errors,
    tag,
)


def start_reviewing(seat: Seat, queue: QueueRow, queue_state: QueueStanding) -> None:
    """Draw the button that opens the reviewing screen, its filter, and the link to the run."""
    where = _draw_filter(seat, queue)
    if where != QueueFilter():
        queue_state = claims.queue_for_person(store(), seat, queue.id, where)
    is_mine = any(h.reviewer == seat.name for h in queue_state.held)
    with st.container(horizontal=True, vertical_alignment="center"):
        if queue.archived is None and (queue_state.available or is_mine):
            caption = "Go on reviewing" if is_mine else "Start reviewing"
            suffix = (
                f" ({fmt.plural(queue_state.available, 'item')})" if queue_state.available else ""
            )
            if st.button(
                caption + suffix,
                key=state.key(QUEUE_ACT, "start"),
                type="primary",
                icon=":material/play_arrow:",
                shortcut="Enter",
            ):
                routes.go_to(routes.REVIEW_ITEM, _filter_address(queue, where))
        routes.draw_link(routes.RUN, "The run", {state.RUN: queue.run_id})
    if queue.archived is None and queue_state.why:
        st.info(label(queue_state.why), icon=":material/inbox:")


def _draw_filter(seat: Seat, queue: QueueRow) -> QueueFilter:
    run = item_view.require_run(store(), queue.run_id)
    rubric = library.version_by_id(store(), run.rubric_version_id).rubric
    queued = [c.name for c in rubric.criteria if queue.rule.criteria in (None, ())] or [
        c.name for c in rubric.criteria if c.name in (queue.rule.criteria or ())
    ]
    if len(queued) < 2 and not seat.resolves:
        return QueueFilter()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        criterion = st.selectbox(
            "Review",
            # Streamlit draws an option of None as if nothing were chosen.
            ["", *queued],
            key=state.key(QUEUE_FIELD, "criterion", queue.id),
            format_func=lambda name: one_line(name, 80) or "All criteria",
            width=320,
        )
        flagged = seat.resolves and st.toggle(
            "Only flagged cells", key=state.key(QUEUE_FIELD, "flagged", queue.id)
        )
    return QueueFilter(criterion=criterion or None, flagged=bool(flagged))


def _filter_address(queue: QueueRow, where: QueueFilter) -> dict[str, str]:
    parts = {state.QUEUE: str(queue.id)}
    if where.criterion is not None:
        parts[state.CRITERION] = where.criterion
    if where.flagged:
        parts[state.FLAGGED] = "yes"
    return parts


#: The most decisions listed, newest first; the timeline has older ones.
MOST = 300


def send_back(seat: Seat, queue: QueueRow) -> None:
    """Draw the form that sends decisions back with a reason."""
    settled = adjudication.settled_cells(store(), queue.run_id)
    newest = sorted(
        (s for s in settled.values() if s.state == "active"), key=lambda s: -s.event_id
    )[:MOST]
    flagged = other_acts.flagged_decisions(store(), queue.id)
    many = f" ({fmt.count(len(flagged))} flagged)" if flagged else ""
    with st.expander(f"Send decided cells back{many}", expanded=bool(flagged)):
        if not newest:
            st.caption("Nothing is decided yet.")
            return
        _show_flagged(flagged)
        first = [
            settled[decision.item_id, decision.criterion]
            for decision in flagged
            if (decision.item_id, decision.criterion) in settled
        ]
        cells = {(s.item_id, s.criterion): s for s in [*first, *newest]}
        chosen_key = state.key(QUEUE_FIELD, "send back", queue.id)
        st.multiselect(
            "Decisions, flagged first, then newest",
            list(cells),
            key=chosen_key,
            format_func=lambda cell: (
                f"{one_line(cell[0], 40)} · {one_line(cell[1], 60)}: "
                f"{one_line(cells[cell].label or 'uncertain', 40)}"
            ),
        )
        why_key = state.key(QUEUE_FIELD, "send back why", queue.id)
        st.text_input("Reason, shown to the next reviewers", key=why_key, max_chars=2000)
        st.button(
            "Send back",
            key=state.key(QUEUE_ACT, "send back"),
            on_click=_send_back,
            args=(seat, queue.id, chosen_key, why_key),
        )


def _show_flagged(flagged: list[EventRow]) -> None:
    """Show the decisions that reviewers flagged for a lead, with their notes."""
    if flagged:
        draw_table(
            ["Item", "Criterion", "From", "Note"],
            (
                [
                    esc(one_line(decision.item_id, 40)),
                    esc(one_line(decision.criterion, 60)),
                    esc(one_line(decision.actor, 60)),
                    f'<div class="rs-prose">{esc(decision.reason)}</div>',
                ]
                for decision in flagged
            ),
            name="Decisions flagged by reviewers",
        )


def _send_back(seat: Seat, queue_id: int, chosen_key: str, why_key: str) -> None:
    chosen = [tuple(cell) for cell in state.get(chosen_key) or []]
    with shown_errors():
        other_acts.send_back(store(), seat, queue_id, chosen, str(state.get(why_key) or ""))
        state.flash(f"{fmt.plural(len(chosen), 'cell')} sent back.")
        state.put(chosen_key, [])
        state.put(why_key, "")


STATES: dict[CellState, str] = {
    "needs_review": "Needs a review",
    "needs_others": "Needs other reviewers",
    "disagreement": "Reviewers disagree",
    "resolved": "Resolved",
}
STATUSES: dict[TurnStatus, str] = {
    "available": "available to you",
    "locked": "open elsewhere",
    "assigned": "assigned to others, or written by you",
    "mine_done": "waiting for other reviewers",
    "waiting": "waiting for an adjudicator, or flagged",
    "filtered": "left out by a filter",
    "done": "done",
}


def show(seat: Seat, queue_id: int) -> None:
    """Draw the screen of a queue."""
    queue = queues.queue_by_id(store(), queue_id)
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_all_items)
    page_header(queue.name, own_words=False)
    show_flash()
    run = item_view.require_run(store(), queue.run_id)
    draw_row(
        [
            f'<span class="rs-quiet">{esc(one_line(run.name, 80))} · run {run.id} · made by '
            f"{esc(queue.author)}</span>",
            *([tag("archived")] if queue.archived else []),
        ]
    )
    identity.show_seat(seat)
    queue_state = claims.queue_for_person(store(), seat, queue.id)
    start_reviewing(seat, queue, queue_state)
    _show_progress(queue)
    people.show(seat, queue)
    routes.draw_link(routes.RECORD, "Findings of this queue", {state.QUEUE: queue.id})
    left, right = st.columns(2, gap="large")
    with left:
        _draw_standing(queue_state)
    with right:
        people.open_items(seat, queue, queue_state.held)
    _show_about(queue)
    if seat.resolves:
        send_back(seat, queue)
    if seat.role == "lead":
        _show_tools_for_leads(seat, queue)


def _all_items() -> None:
    state.set_address(**{state.QUEUE: None})


def _show_progress(queue: QueueRow) -> None:
    progress = queues.queue_progress(store(), queue.id)
    random = progress.random
    st.progress(progress.resolved / progress.total if progress.total else 0.0)
    # In a finished queue, its own labels are among the drawn ones.
    own_labels = random if progress.resolved == progress.total else 0
    caption = queues.queue_parts_text(
        progress.total - random,
        random,
        lambda: drawn_label_count(store().runs.row(queue.run_id)) - own_labels,
    )
    st.html(f"<div>{esc(caption)}</div>")
    show_figures(
        [
            LabelledFigure("Cells", fmt.count(progress.total)),
            LabelledFigure("Resolved", fmt.count(progress.resolved)),
            LabelledFigure(
                "Outcomes likely to change",
                _rounded_count(progress.flips),
                "Reviewing the open cells is expected to change this many outcomes (without pass "
                "marks: verdicts).",
            ),
            LabelledFigure(
                "Change of scores",
                fmt.score(progress.change),
                "The sum of the absolute score changes expected from reviewing the open cells.",
            ),
        ]
    )
    states = [(esc(STATES[s]), fmt.count(progress.cells.get(s, 0))) for s in STATES]
    with st.expander("Cells by state"):
        draw_table(["State", "Cells"], states, name="Cells by state", numbers=(1,))


def _rounded_count(expected: float) -> str:
    """Return an expected count as a rounded text.

    >>> _rounded_count(31.7), _rounded_count(0.2), _rounded_count(0.0)
    ('about 32', 'fewer than 1', '0')
    """
    if expected < 0.5:
        return "fewer than 1" if expected else "0"
    return f"about {fmt.count(round(expected))}"


def _draw_standing(queue_state: claims.QueueStanding) -> None:
    st.html('<div class="rs-section">The state of the items for you</div>')
    rows = [
        (esc(caption), fmt.count(queue_state.counts.get(status, 0)))
        for status, caption in STATUSES.items()
        if queue_state.counts.get(status, 0)
    ]
    draw_table(["Items", "How many"], rows, name="Items by status", numbers=(1,))


def _show_about(queue: QueueRow) -> None:
    name, formula = queues.QUEUE_ORDERS[queue.order]
    settings = queue.settings
    with st.expander("How this queue works"):
        draw_table(
            ["", ""],
            [
                ("Order", f"<b>{esc(name)}</b>: {esc(formula)}"),
                ("Judges' votes", esc(making.MODES[settings.mode])),
                (
                    "If the panel agrees",
                    "a verdict is confirmed automatically"
                    if settings.confirm_same
                    else "a second press confirms it",
                ),
                ("Reviewers per item", fmt.count(settings.reviewers)),
                ("A cell is settled when", esc(making.POLICIES[settings.policy])),
                ("Who reviews", esc(", ".join(settings.assignees) or "any free reviewer")),
                ("Audit", _audit_words(queue)),
                ("At most", _cap_words(queue)),
                ("Seed", str(queue.seed)),
            ],
            name="How this queue works",
        )


def _audit_words(queue: QueueRow) -> str:
    share = fmt.percent(queue.rule.audit_share)
    rest = "the cells left out" if queue.rule.most is None else "the cap, mixed into the order"
    return f"{share} of {rest}"


def _cap_words(queue: QueueRow) -> str:
    most = queue.rule.most
    return "all cells that fit" if most is None else fmt.plural(most, "cell")


def _show_tools_for_leads(seat: Seat, queue: QueueRow) -> None:
    with st.expander("Change the queue (leads only)"):
        settings, order = making.settings_form(f"queue {queue.id}", queue.settings, queue.order)
        if st.button("Save", key=state.key(QUEUE_ACT, "save"), disabled=settings is None):
            with shown_errors():
                queues.change(store(), seat, queue.id, order=order, settings=settings)
                state.drop(QUEUE_FIELD)
                state.flash("Saved. Resolved cells stay resolved.")
                st.rerun()
    with st.expander("Lead: people"):
        people.show_roles(seat)
        people.draw_assignment_form(seat, queue)
    with st.container(horizontal=True):
        st.button(
            "Queue cells that match now",
            key=state.key(QUEUE_ACT, "refresh"),
            help="Use this after the run has continued. It adds cells up to the cap and removes "
            "none.",
            on_click=_refresh_queue,
            args=(seat, queue.id),
        )
        st.button(
            "Restore" if queue.archived else "Archive",
            key=state.key(QUEUE_ACT, "archive"),
            on_click=_archive_queue,
            args=(seat, queue.id, queue.archived is not None),
        )


def _refresh_queue(seat: Seat, queue_id: int) -> None:
    with shown_errors():
        added = queues.refresh(store(), seat, queue_id)
        state.flash(f"{fmt.plural(added, 'cell')} added.")


def _archive_queue(seat: Seat, queue_id: int, restore: bool) -> None:
    with shown_errors():
        queues.archive(store(), seat, queue_id, restore=restore)
