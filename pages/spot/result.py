"""One check: its progress, then score and verdicts, next to an earlier check."""

from __future__ import annotations

from itertools import starmap

import streamlit as st

from core.errors import NotFound
from core.services.results import item_view
from core.services.results.item_view import ItemView
from core.services.runs import lifecycle
from core.services.spot import spot_check
from core.services.spot.spot_check import SpotComparison
from core.text import numbers as fmt
from core.text.names import visible
from pages.spot import form_data
from pages.spot.form_data import SPOT_ACT
from pages.ui import run_status, state
from pages.ui.items import show_contexts, show_headed, show_submission
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.trial import votes
from pages.ui.widgets import (
    draw_table,
    shown_errors,
)

SPOT_BESIDE = "spot_beside"


def show_beside_earlier(run_id: int) -> None:
    """Draw both checks' verdicts, if there is an earlier check of the same submission."""
    rows = {r.id: r for r in spot_check.earlier_checks(store(), run_id) if not r.active}
    if not rows:
        return
    key = state.key(SPOT_BESIDE, run_id)
    state.seed(key, next(iter(rows)))
    comparison = spot_check.compare_checks(store(), state.get(key), run_id)
    changed = (
        f"{comparison.changed or 'none'} of {fmt.plural(comparison.compared, 'verdict')} changed"
    )
    caption = f"Compared with check {comparison.before.run.id}: {changed}"
    icon = ":material/difference:" if comparison.changed else ":material/equal:"
    with st.expander(caption, icon=icon, key=state.key(SPOT_BESIDE, run_id, "open")):
        st.selectbox(
            "Earlier checks of this submission",
            list(rows),
            format_func=lambda i: (
                f"check {i} · {visible(rows[i].rubric_name)} · {fmt.time_ago(rows[i].created)}"
            ),
            key=key,
        )
        _show_comparison(comparison)


def _show_comparison(comparison: SpotComparison) -> None:
    different = ", ".join(comparison.setup) or "nothing: the same question was asked twice"
    st.html(f'<span class="rs-quiet">What was different: {esc(different)}.</span>')
    before, after = comparison.before, comparison.after
    score = ("Score", fmt.score(before.row.score), fmt.score(after.row.score))
    draw_table(
        ["Criterion", f"Check {before.run.id}", f"Check {after.run.id}"],
        [*starmap(_pair_row, comparison.pairs), [f"<b>{esc(cell)}</b>" for cell in score]],
        name="Verdicts of both checks",
    )


def _pair_row(criterion: str, before: str | None, after: str | None) -> list[str]:
    changed = None not in (before, after) and before != after
    label = esc(after or "no verdict")
    return [esc(criterion), esc(before or "no verdict"), f"<b>≠ {label}</b>" if changed else label]


SPOT_REDRAW = "spot_redraw"

LOOK_EVERY = 0.4


def show(run_id: int) -> None:
    """Draw the check; refresh it while it runs."""
    try:
        spot_check.item_of(store(), run_id)
        active = lifecycle.run_progress(store(), run_id).row.active
    except NotFound as error:
        st.warning(label(str(error)), icon=":material/search_off:")
        return
    st.fragment(_draw_check, run_every=LOOK_EVERY if active else None)(run_id, active)


def _draw_check(run_id: int, was_active: bool) -> None:
    with shown_errors():
        progress = lifecycle.run_progress(store(), run_id)
        if progress.row.active != was_active or _changed_elsewhere(run_id):
            # Rerun the whole page once, so that polling starts or stops and other parts notice.
            st.rerun()
        view = item_view.item_view(store(), run_id, spot_check.item_of(store(), run_id))
        _show_head(view)
        run_status.draw_status(progress, pace=False)
        if view.trace is not None:
            ungraded = view.row.ungraded and not progress.row.active
            votes.show_score(
                view.trace,
                "no grade" if ungraded else view.row.score,
                [] if progress.row.active else view.sentences,
            )
        if not progress.row.active:
            _act_buttons(run_id)
            show_beside_earlier(run_id)
        votes.show_votes(view, active=progress.row.active)
        _show_verdicts(view)


def _changed_elsewhere(run_id: int) -> bool:
    """Return whether a button here changed something outside: another check, or the form."""
    redraw = state.get(SPOT_REDRAW)
    state.drop(SPOT_REDRAW)
    return bool(redraw) or state.address_id(state.RUN) != run_id


def _show_head(view: ItemView) -> None:
    run = view.run
    st.subheader(label(run.rubric_name, 120), anchor=False)
    st.caption(
        label(
            f"check {run.id} · version {run.rubric_number} · seed {run.plan.seed} · "
            f"{fmt.time_ago(run.created)}"
        )
    )


def _act_buttons(run_id: int) -> None:
    with st.container(horizontal=True):
        st.button(
            "Ask again",
            key=state.key(SPOT_ACT, "again"),
            icon=":material/casino:",
            on_click=_on_again,
            args=(run_id,),
            help="The same question with another seed, and so with other orders of the options. A "
            "verdict that changes was uncertain.",
        )
        st.button(
            "Edit in the form",
            key=state.key(SPOT_ACT, "edit"),
            icon=":material/edit:",
            type="tertiary",
            on_click=_on_edit,
            args=(run_id,),
            help="Fills the form with this check. You can restore what it replaces.",
        )
        st.button(
            "Close",
            key=state.key(SPOT_ACT, "close"),
            icon=":material/close:",
            type="tertiary",
            on_click=state.set_address,
            kwargs={state.RUN: None},
        )


def _on_again(run_id: int) -> None:
    with shown_errors():
        state.set_address(**{state.RUN: spot_check.ask_again(store(), run_id)})


def _on_edit(run_id: int) -> None:
    with shown_errors():
        form_data.take_over_check(run_id)
        state.put(SPOT_REDRAW, True)


def _show_verdicts(view: ItemView) -> None:
    item = view.item
    with st.expander("What was judged", icon=":material/article:"):
        if item.prompt:
            show_headed("Prompt", item.prompt)
        show_contexts(item.context)
        show_submission(item)
        if item.reference:
            show_headed("Reference", item.reference)
