"""The live counts of what a rule would queue, and the button that creates the queue."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import clock
from core.domain.review import Order, QueueRule, QueueSettings, Seat
from core.domain.runs import RunRow
from core.services.results import browsing
from core.services.review import queues, random_labels
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.places.work import REASONS
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import draw_row, draw_table, shown_errors

QUEUES_ACT = "queues_act"
QUEUE_FIELD = "queue_field"
QUEUE_ACT = "queue_act"
#: The tooltip of the cap.
CAP = (
    "The audit and the known labels are shares of this number. The rest goes to cells "
    "chosen by the reasons, from the start of the queue's order. The limit also holds "
    "when the queue is updated."
)
#: The URL parameters of a queue whose cells are given one by one.
NAMED: dict[str, None] = dict.fromkeys((state.SET, state.CRITERION, state.NAMED, state.RULE))


def drawn_label_count(run: RunRow) -> int:
    """Return how many randomly drawn cells of a run have a label; the count is cached."""
    cache_key = browsing.results_state(store(), run)
    return remembered(
        "labels drawn", cache_key, lambda: random_labels.number_drawn(store(), run.id)
    )


def show(
    seat: Seat, run: RunRow, rule: QueueRule, settings: QueueSettings | None, order: Order
) -> None:
    """Draw the counts, the queue's name, and the button that creates it."""
    seed = _form_seed()
    sort_order = order if rule.most is not None else "impact"
    cache_key = (*browsing.results_state(store(), run), rule.model_dump_json(), seed, sort_order)
    preview = remembered(
        "queue preview",
        cache_key,
        lambda: queues.preview_queue(store(), run.id, rule, order=sort_order, seed=seed),
    )
    st.html('<div class="rs-section">What it would queue</div>')
    with st.grid(2, min_column_width=120):
        st.metric("Cells", fmt.count(preview.cells))
        st.metric("Items", fmt.count(preview.items))
    caption = queues.queue_parts_text(
        preview.doubtful, preview.random, partial(drawn_label_count, run)
    )
    st.html(f"<div>{esc(caption)}</div>")
    _show_time(run, preview, settings or queues.USUAL)
    rows = [
        (esc(REASONS.get(reason, reason)), fmt.count(count))
        for reason, count in sorted(preview.by_reason.items(), key=lambda pair: -pair[1])
    ]
    draw_table(["Because", "Cells"], rows, name="Queued cells by reason", numbers=(1,))
    settled = f" {fmt.count(preview.settled)} are already settled." if preview.settled else ""
    draw_row(
        [f'<span class="rs-quiet">Of {fmt.count(preview.of)} cells with a verdict.{settled}</span>']
    )
    _show_capped(preview)
    named = state.address(state.NAMED)
    name_key = state.key(QUEUE_FIELD, "name", *([named] if named else []))
    state.seed(name_key, named or "Doubtful cells")
    st.text_input("Name of the queue", key=name_key, max_chars=200)
    if (
        st.button(
            "Make the queue",
            key=state.key(QUEUE_ACT, "make"),
            type="primary",
            disabled=not preview.cells or settings is None,
        )
        and settings is not None
    ):
        with shown_errors():
            queue = queues.make_queue(
                store(),
                seat,
                run.id,
                str(state.get(name_key) or ""),
                rule,
                settings,
                order=order,
                seed=seed,
            )
            state.drop(QUEUE_FIELD)
            state.set_address(**{**NAMED, state.NEW: None, state.QUEUE: queue.id, state.RUN: None})
            st.rerun()


def _show_time(run: RunRow, preview: queues.QueuePreview, settings: QueueSettings) -> None:
    """Show the expected time of reviewers, if their pace is known."""
    minutes = queues.expected_minutes(store(), run.id, preview.cells, settings)
    if minutes is not None:
        about = fmt.about_minutes(minutes).capitalize()
        st.caption(f"{about} of work, at the median pace of earlier reviews with this rubric.")


def _show_capped(preview: queues.QueuePreview) -> None:
    """Show how many cells the cap leaves out."""
    if preview.left_out:
        st.caption(
            f"{fmt.plural(preview.left_out, 'more cell')} also match and "
            f"{('is' if preview.left_out == 1 else 'are')} "
            "left out by the cap, from the end of the order."
        )


def _form_seed() -> int:
    """Return the seed of this form, so that the queue draws what the preview counted."""
    key = state.key(QUEUE_FIELD, "seed")
    if state.get(key) is None:
        state.put(key, clock.draw_seed())
    return int(state.get(key))
