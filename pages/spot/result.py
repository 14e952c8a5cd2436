"""One check: its progress while it runs, then score and verdicts, beside an earlier check."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from core.domain.panel import Judge
from core.errors import NotFound
from core.services.results import item_view
from core.services.results.item_view import ItemView
from core.services.runs import lifecycle
from core.services.runs.lifecycle import RunProgress
from core.services.spot import spot_check
from core.services.spot.spot_check import SpotComparison, SpotPair
from core.text import numbers as fmt
from core.text.names import visible
from pages.spot import form_data, votes
from pages.spot.form_data import SPOT_ACT
from pages.ui import routes, state
from pages.ui.items import headed, show_contexts, show_submission
from pages.ui.resources import store
from pages.ui.run_status import status_tag
from pages.ui.text import esc, label
from pages.ui.widgets import (
    LabelledFigure,
    figures,
    outcome_tags,
    partly_tags,
    row,
    shown_errors,
    table,
    tag,
)

SPOT_BESIDE = "spot_beside"


def beside_earlier(run_id: int) -> None:
    """The table of both verdicts, where there is an earlier check of the same submission."""
    rows = {r.id: r for r in spot_check.earlier(store(), run_id) if not r.active}
    if not rows:
        return
    key = state.key(SPOT_BESIDE, run_id)
    state.seed(key, next(iter(rows)))
    found = spot_check.compare(store(), state.get(key), run_id)
    changed = f"{found.changed or 'none'} of {fmt.plural(found.compared, 'verdict')} changed"
    words = f"Beside check {found.before.run.id}: {changed}"
    icon = ":material/difference:" if found.changed else ":material/equal:"
    with st.expander(words, icon=icon, key=state.key(SPOT_BESIDE, run_id, "open")):
        st.selectbox(
            "Earlier checks of this submission",
            list(rows),
            format_func=lambda i: (
                f"check {i} · {visible(rows[i].rubric_name)} · {fmt.ago(rows[i].created)}"
            ),
            key=key,
        )
        _comparison(found)


def _comparison(found: SpotComparison) -> None:
    different = ", ".join(found.setup) or "nothing: the same question, asked twice"
    st.html(f'<span class="rs-quiet">What was different: {esc(different)}.</span>')
    before, after = found.before, found.after
    score = ("Score", fmt.score(before.row.score), fmt.score(after.row.score))
    table(
        ["Criterion", f"Check {before.run.id}", f"Check {after.run.id}"],
        [*map(_pair, found.pairs), [f"<b>{esc(cell)}</b>" for cell in score]],
        name="Verdicts of both checks",
    )


def _pair(pair: SpotPair) -> list[str]:
    before, after = esc(pair.before or "no verdict"), esc(pair.after or "no verdict")
    return [esc(pair.criterion), before, f"<b>≠ {after}</b>" if pair.changed else after]


SPOT_REDRAW = "spot_redraw"

LOOK_EVERY = 0.4
#: Seconds in the queue after which something is wrong.
PATIENCE = 8.0


def show(run_id: int) -> None:
    """The check, looked up again and again while it is being worked off."""
    try:
        spot_check.item_of(store(), run_id)
        active = lifecycle.progress(store(), run_id).row.active
    except NotFound as error:
        st.warning(label(str(error)), icon=":material/search_off:")
        return
    st.fragment(_live, run_every=LOOK_EVERY if active else None)(run_id, active)


def _live(run_id: int, polled: bool) -> None:
    with shown_errors():
        look = lifecycle.progress(store(), run_id)
        if look.row.active != polled or _elsewhere(run_id):
            # Once over the whole page: polling starts or stops, and the rest learns of it.
            st.rerun()
        view = item_view.item_view(store(), run_id, spot_check.item_of(store(), run_id))
        _head(view, look)
        if look.row.active:
            _progress(view, look)
        if view.trace is not None:
            _score(view, look)
        _trouble(run_id, look)
        if not look.row.active:
            _acts(run_id)
            beside_earlier(run_id)
        votes.show(view, active=look.row.active)
        _judged(view)


def _elsewhere(run_id: int) -> bool:
    """Whether a button in here changed what stands outside: another check, or the form."""
    redraw = state.get(SPOT_REDRAW)
    state.drop(SPOT_REDRAW)
    return bool(redraw) or state.address_id(state.RUN) != run_id


def _head(view: ItemView, look: RunProgress) -> None:
    run = view.run
    st.subheader(label(run.rubric_name, 120), anchor=False)
    version = f"version {run.rubric_number}"
    seed = f"seed {run.plan.seed}"
    quiet = f"check {run.id} · {version} · {seed} · {fmt.ago(run.created)}"
    row([status_tag(look.row), f'<span class="rs-quiet">{esc(quiet)}</span>'])


def _progress(view: ItemView, look: RunProgress) -> None:
    planned = look.row.planned
    done = f"{look.settled} of {fmt.plural(planned, 'vote')}"
    st.progress(min(1.0, look.share), text=f"{done} · {_phase(view, look)}")
    st.button(
        "Cancel",
        key=state.key(SPOT_ACT, "cancel"),
        icon=":material/stop:",
        on_click=_on_cancel,
        args=(look.row.id,),
    )


def _phase(view: ItemView, look: RunProgress) -> str:
    """What is happening, in words."""
    learners = [judge for judge in view.run.panel.judges if judge.learns]
    if look.stalled:
        return "the process that asked is gone; another takes over in some seconds"
    if look.row.status == "queued":
        if _age(look.row.created) > PATIENCE:
            return "nobody has taken it up. Is RUBRIC_STUDIO_RUNNER set to none?"
        return "waiting to be taken up"
    if not look.settled and learners:
        items = len(view.run.plan.calibration.get("items", ()))
        learning = f"{_names(learners)} learning from {fmt.plural(items, 'labelled item')}"
        return f"{label(learning)}; this takes some seconds"
    return "asking the judges"


def _names(judges: list[Judge]) -> str:
    return f"{judges[0].name} is" if len(judges) == 1 else "the offline judges are"


def _age(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


def _on_cancel(run_id: int) -> None:
    with shown_errors():
        lifecycle.cancel(store(), run_id)


def _score(view: ItemView, look: RunProgress) -> None:
    trace, run = view.trace, look.row
    if trace is None:
        return
    shown = fmt.score if trace.normalized else fmt.number
    given = "no grade" if view.row.ungraded and not run.active else shown(view.row.score)
    values = [LabelledFigure("Score so far" if run.active else "Score", given)]
    if trace.low is not None and trace.high is not None and trace.low < trace.high:
        values.append(LabelledFigure("Between", f"{shown(trace.low)} and {shown(trace.high)}"))
    figures(values, columns=len(values))
    price = fmt.cost(None if run.cost_unknown else run.cost)
    parts = [
        f"{run.votes} of {fmt.plural(run.planned, 'vote')}",
        f"cost {price} for {fmt.plural(run.calls, 'call')}" if run.calls else "no calls, no cost",
    ]
    parts += [f"{fmt.plural(run.cached, 'answer')} known already"] if run.cached else []
    parts += [] if run.active else [fmt.seconds(run.seconds)]
    st.html(f'<span class="rs-quiet rs-num">{esc(" · ".join(parts))}</span>')
    marks = outcome_tags(trace)
    marks += [] if run.active else partly_tags(trace)
    if marks:
        row(marks)
    if not run.active:
        items = "".join(f"<li>{esc(line)}</li>" for line in view.sentences)
        st.html(f'<ul class="rs-list">{items}</ul>')


def _trouble(run_id: int, look: RunProgress) -> None:
    if look.row.message:
        st.error(label(look.row.message), icon=":material/error:")
    if not look.failures or look.row.active:
        return
    total = sum(kind.times for kind in look.failures)
    with st.container(border=True):
        words = [tag(f"✕ {fmt.plural(total, 'vote')} missing", "bad")]
        row([*words, '<span class="rs-quiet">A failed call is never counted as an answer.</span>'])
        lines = "".join(f"<li>{votes.failure_line(*kind)}</li>" for kind in look.failures)
        st.html(f'<ul class="rs-list">{lines}</ul>')
        with st.container(horizontal=True):
            st.button(
                "Ask these again",
                key=state.key(SPOT_ACT, "retry"),
                icon=":material/refresh:",
                on_click=_on_retry,
                args=(run_id,),
            )
            routes.link(routes.JUDGES, "Judges")


def _on_retry(run_id: int) -> None:
    with shown_errors():
        lifecycle.retry(store(), run_id)


def _acts(run_id: int) -> None:
    unfinished = lifecycle.progress(store(), run_id).row.status in ("cancelled", "interrupted")
    with st.container(horizontal=True):
        if unfinished:
            st.button(
                "Go on",
                key=state.key(SPOT_ACT, "resume"),
                icon=":material/play_arrow:",
                on_click=_on_resume,
                args=(run_id,),
                help="Asks what has not been asked yet.",
            )
        st.button(
            "Ask again",
            key=state.key(SPOT_ACT, "again"),
            icon=":material/casino:",
            on_click=_on_again,
            args=(run_id,),
            help="The same question with another seed: other orders of the options. "
            "A verdict that changes was not sure.",
        )
        st.button(
            "Edit in the form",
            key=state.key(SPOT_ACT, "edit"),
            icon=":material/edit:",
            type="tertiary",
            on_click=_on_edit,
            args=(run_id,),
            help="Fills the form with this check. What stands there can be brought back.",
        )
        st.button(
            "Close",
            key=state.key(SPOT_ACT, "close"),
            icon=":material/close:",
            type="tertiary",
            on_click=state.set_address,
            kwargs={state.RUN: None},
        )


def _on_resume(run_id: int) -> None:
    with shown_errors():
        lifecycle.resume(store(), run_id)


def _on_again(run_id: int) -> None:
    with shown_errors():
        state.set_address(**{state.RUN: spot_check.ask_again(store(), run_id)})


def _on_edit(run_id: int) -> None:
    with shown_errors():
        form_data.take_over(run_id)
        state.put(SPOT_REDRAW, True)


def _judged(view: ItemView) -> None:
    item = view.item
    with st.expander("What was judged", icon=":material/article:"):
        if item.prompt:
            headed("Prompt", item.prompt)
        show_contexts(item.context)
        show_submission(item)
        if item.reference:
            headed("Reference", item.reference)
