"""The worked example: its progress, or its figures, including the unflattering ones."""

from __future__ import annotations

import streamlit as st

from core.services.agreement.blocks.criteria import criteria_table
from core.services.agreement.blocks.headline import headline
from core.services.reports import worked_example
from core.services.runs import lifecycle
from core.services.runs.lifecycle import RunProgress
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.blocks import drawn
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors

LOOK_EVERY = 0.7


def show() -> None:
    """Draw the example; it refreshes while it is being graded."""
    run_id = worked_example.example_run(store())
    if run_id is None:
        return
    active = lifecycle.run_progress(store(), run_id).row.active
    with st.container(border=True):
        st.fragment(_live_example, run_every=LOOK_EVERY if active else None)(run_id, active)


def _live_example(run_id: int, polled: bool) -> None:
    with shown_errors():
        look = lifecycle.run_progress(store(), run_id)
        if polled and not look.row.active:
            st.rerun()
        st.subheader("A worked example with real grades", anchor=False)
        if look.row.active:
            _show_running(look)
        elif look.row.votes:
            _show_figures(look)
        else:
            message = look.row.message or f"The example is {look.row.status} and has no votes."
            st.warning(label(f"The example has not been graded. {message}"))
        _show_links(run_id, look)


def _show_running(look: RunProgress) -> None:
    st.html(
        '<div class="rs-prose">Two judges that need no model and no key are learning from short '
        "science answers with labels, and then grade others. It takes some seconds."
        "</div>"
    )
    done = f"{fmt.count(look.settled)} of {fmt.plural(look.row.planned, 'vote')}"
    phase = "waiting to start" if look.row.status == "queued" else "learning and grading"
    st.progress(min(1.0, look.share), text=f"{done} · {phase}")


def _show_figures(look: RunProgress) -> None:
    run_id = look.row.id
    answer = worked_example.label_conclusion(store(), run_id)
    learned = worked_example.learned_item_count(store(), run_id)
    st.html(
        f'<div class="rs-prose">{esc(_progress_words(look, learned))} {esc(headline(answer))}</div>'
    )
    with st.expander("Criterion by criterion", icon=":material/table_rows:"):
        drawn.show_block(run_id, criteria_table(answer.criteria, answer), "example", titled=True)


def _progress_words(look: RunProgress, learned: int) -> str:
    return (
        f"Two offline judges learned from {learned} labelled short science answers "
        f"and graded {look.row.items} others in {fmt.seconds(look.row.seconds)}: no model, no key."
    )


def _show_links(run_id: int, look: RunProgress) -> None:
    if not look.row.votes:
        return
    with st.container(horizontal=True):
        routes.draw_link(routes.RUN, "Open the run", {state.RUN: run_id})
        telling = None if look.row.active else worked_example.telling_item(store(), run_id)
        if telling is not None:
            item_id, wrong, labelled = telling
            routes.draw_link(
                routes.RUN,
                f"See an answer that the judges got wrong on {wrong} of {labelled} criteria",
                {state.RUN: run_id, state.ITEM: item_id},
                icon="search",
            )
        if not look.row.active:
            work.link_to_settling(run_id)
