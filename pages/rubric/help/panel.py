"""A model's help next to the form: proposals, the check by judges, the loop."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError
from core.services.assist import meta_check, proposals
from core.services.assist.meta_check import MetaCheck, MetaFinding, MetaRequest
from core.services.runs import lifecycle
from core.text import numbers as fmt
from pages.rubric.help import improvement, loop
from pages.ui import drafts, model_help, routes, state
from pages.ui.resources import store
from pages.ui.run_status import status_tag
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, choose_one, draw_row, shown_errors, tag

#: The least meta-rubric weight of a serious finding.
SERIOUS = 8


def check_by_judges(name: str, rubric: Rubric) -> None:
    """Draw the choice of judges and task; then the newest check."""
    if not meta_check.is_available():
        st.info("The files of the meta-rubric (sample_rubrics/meta) are not installed here.")
        return
    st.caption(
        "Judges answer a rubric about your rubric: 17 questions for each criterion and 5 about "
        "the whole. If you describe the task, they answer 3 and 5 more."
    )
    panel = model_help.chosen_panel("Who checks", name, "check")
    if panel is None:
        return
    task = st.text_area(
        "The task that is graded (optional)",
        key=state.key(model_help.HELP_FIELD, name, "task"),
        height=90,
        persist_state="session",
        placeholder="The task that the submissions answer, word for word if possible.",
    )
    request = MetaRequest(
        rubric, panel, f"rubric/{name}", task or "", model_help.chosen_budget(name, "check")
    )
    model_help.cost_line(meta_check.estimate(store(), request))
    run_id = meta_check.latest_check(store(), request.subject)
    active = run_id is not None and lifecycle.run_progress(store(), run_id).row.active
    if st.button(
        "Check by judges",
        key=state.key(model_help.HELP_ACT, name, "check"),
        type="primary",
        icon=":material/rule:",
        disabled=active,
    ):
        meta_check.start(store(), request)
        st.rerun()
    if run_id is not None:
        live = st.fragment(_live_run, run_every=model_help.POLL_SECONDS if active else None)
        live(run_id, active)
        _show_check_result(name, meta_check.check_result(store(), run_id, rubric))


def _live_run(run_id: int, was_active: bool) -> None:
    with shown_errors():
        look = lifecycle.run_progress(store(), run_id)
        run = look.row
        if run.active != was_active:
            st.rerun()
        facts = f"{fmt.count(look.settled)} of {fmt.plural(run.planned, 'answer')}"
        cost = f" · cost {fmt.cost(None if run.cost_unknown else run.cost)}" if run.calls else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_row([status_tag(run), f'<span class="rs-quiet rs-num">{esc(facts + cost)}</span>'])
            if run.active:
                st.button(
                    "Cancel",
                    key=state.key(model_help.HELP_ACT, "check", run_id, "cancel"),
                    icon=":material/stop_circle:",
                    on_click=_on_cancel,
                    args=(run_id,),
                )
            elif look.failures or look.settled < run.planned:
                st.button(
                    "Ask the missing questions",
                    key=state.key(model_help.HELP_ACT, "check", run_id, "retry"),
                    icon=":material/refresh:",
                    on_click=_on_retry,
                    args=(run_id,),
                )
        if run.active:
            st.progress(min(1.0, look.share))


def _on_cancel(run_id: int) -> None:
    with shown_errors():
        lifecycle.cancel(store(), run_id)


def _on_retry(run_id: int) -> None:
    with shown_errors():
        if not lifecycle.retry(store(), run_id):
            lifecycle.resume(store(), run_id)


def _show_check_result(name: str, check: MetaCheck) -> None:
    run = check.row
    if check.asked and not check.findings and not run.active:
        st.success("Nothing was found.", icon=":material/check:")
    if check.open and not run.active:
        st.caption(
            f"{fmt.plural(check.open, 'question')} without an answer, and therefore not checked."
        )
    for number, finding in enumerate(check.findings):
        _finding_card(name, finding, number)
    if check.asked:
        routes.draw_link(routes.RUN, "Every answer of this check", {state.RUN: run.id})


def _finding_card(name: str, finding: MetaFinding, number: int) -> None:
    names = (
        ", ".join(one_line(criterion, 50) for criterion in finding.criteria) or "the whole rubric"
    )
    serious = finding.weight >= SERIOUS
    agreed = (
        ""
        if finding.agreement is None
        else f"{fmt.percent(finding.agreement)} of the votes agree with this finding."
    )
    changed = tag("words changed since", "neutral") if finding.stale else ""
    quotes = "".join(f'<div class="rs-quote">{esc(quote)}</div>' for quote in finding.quotes)
    with st.container(border=True, gap="xxsmall"):
        st.html(
            f'<div class="rs-row">{tag("serious" if serious else "slight", _finding_tone(serious))}'
            f"<b>{esc(finding.question)}</b>"
            f"<span class='rs-quiet'>{esc(names)}</span>{changed}</div>"
            f"<div>{esc(finding.option)}</div>"
            f'<div class="rs-quiet">{esc(finding.reason)} {esc(agreed)}</div>'
            f"<details class='rs-quiet'><summary>What was quoted</summary>{quotes}</details>"
        )
        with st.container(horizontal=True, gap="small"):
            _open_buttons(name, finding, number)


def _open_buttons(name: str, finding: MetaFinding, number: int) -> None:
    uids = {c["name"]: c["uid"] for c in drafts.draft(name)["criteria"]}
    for criterion in finding.criteria[:3]:
        if criterion in uids and uids[criterion] != drafts.open_card(name):
            st.button(
                label(f"Open {criterion}", 40),
                key=state.key(model_help.HELP_ACT, name, "finding", number, uids[criterion]),
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=drafts.set_open_card,
                args=(name, uids[criterion]),
            )


def _finding_tone(serious: bool) -> Tone:
    return "warn" if serious else "neutral"


IMPROVE, CHECK, LOOP = "Improve", "Check", "Rounds"


def show(name: str) -> None:
    """Draw the whole panel, or what is missing before a model can be called."""
    st.html('<div class="rs-section">Help from a model</div>')
    if not model_help.model_ready():
        return
    rubric = _draft_rubric(name)
    if rubric is None:
        return
    key = state.key(model_help.HELP_VIEW, name)
    state.seed(key, IMPROVE)
    view = choose_one("Kind of help", [IMPROVE, CHECK, LOOP], key=key)
    with shown_errors():
        if view == IMPROVE:
            improvement.show(name, rubric)
        elif view == CHECK:
            check_by_judges(name, rubric)
        else:
            loop.show(name, rubric)
    routes.draw_link(routes.TEST_DATA, "Write test data for a criterion", {state.RUBRIC: name})


def _draft_rubric(name: str) -> Rubric | None:
    try:
        return proposals.rubric_of(drafts.draft(name))
    except InputError as error:
        first = f"{error.problems[0]}" if error.problems else error.message
        st.caption(label(f"First fix the problem that makes this rubric invalid: {first}"))
        return None
