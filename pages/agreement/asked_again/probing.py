"""Probes ask about answers again, unchanged and as edited copies: the form, and the findings."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.domain.runs import HelpTask
from core.services.assist import help_tasks, written_twins
from core.services.diagnostics import probe_results, probes
from core.services.diagnostics.probe_edits import BY_RULE, EDITS
from core.services.diagnostics.probes import ANSWERS, MOST, ProbeRequest
from core.text import numbers as fmt
from pages.agreement import selection as keys
from pages.agreement.asked_again import found
from pages.agreement.selection import RatedSelection
from pages.ui import model_help, run_status, state
from pages.ui.items import side_by_side
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import empty_state, shown_errors

PROBES_SAY = (
    "Some of the run's answers are drawn at random. Judges see each twice unchanged "
    "and once under each edit. No edit changes what a text says, so a judge should "
    "give the same answer. These votes are kept apart and never enter the run's "
    "verdicts, scores or figures."
)


def show(chosen: RatedSelection) -> None:
    """Draw the findings of the newest probe, and the form for another."""
    judges, answers = remembered(
        "probe subjects", (chosen.run_id,), lambda: probes.subjects(store(), chosen.run_id)
    )
    newest = probes.of_run(store(), chosen.run_id)
    st.html(f'<div class="rs-prose">{esc(PROBES_SAY)}</div>')
    if newest:
        run = newest[0]
        run_status.show_status(run.id)
        if run.votes:
            cache_key = (run.id, run.votes, run.failures_open)
            result = remembered("probe", cache_key, lambda: probe_results.result(store(), run.id))
            found.show(result)
    if not judges or not answers:
        empty_state(
            "Nothing to probe",
            "Probes edit one text at a time and ask models or offline judges again. This run's "
            f"raters answered elsewhere, or it compares pairs: {probes.PAIRS}",
        )
        return
    with st.expander("Probe these judges", expanded=not newest, icon=":material/science:"):
        names = [judge.name for judge in judges]
        _probe_form(chosen.run_id, names, answers, busy=bool(newest) and newest[0].active)


def _probe_form(run_id: int, names: list[str], editable: int, *, busy: bool) -> None:
    """Draw the form: which edits, of how many answers, at what cost."""
    edits: list[str] = st.multiselect(
        "Edits",
        list(EDITS),
        default=list(BY_RULE),
        key=_field_key(run_id, "edits"),
        format_func=lambda one: EDITS[one].title,
    )
    judges: list[str] = st.multiselect(
        "Judges",
        names,
        default=names,
        key=_field_key(run_id, "judges"),
        format_func=lambda one: one_line(one, 60),
    )
    most = min(editable, MOST)
    answers: int = st.number_input(
        "Answers, drawn at random",
        1,
        most,
        min(ANSWERS, most),
        key=_field_key(run_id, "answers"),
        help=f"Of {fmt.count(editable)}. In simulations, a shift by a tenth of the best "
        "value was found in three of four probes of 100 answers, and in nearly all of 200.",
    )
    if not edits or not judges:
        st.caption("Choose an edit and a judge.")
        return
    earns = _rewarded_edits(run_id, edits)
    request = ProbeRequest(run_id, tuple(edits), answers, tuple(judges), earns=earns)
    with shown_errors():
        written = True
        if any(EDITS[name].written for name in edits):
            request, written = _with_written_texts(request)
        request = replace(request, budget=model_help.chosen_budget("probe", str(run_id)))
        model_help.cost_line(probes.estimate(store(), request))
        if st.button(
            "Ask them",
            key=_field_key(run_id, "ask"),
            type="primary",
            icon=":material/gavel:",
            disabled=busy or not written,
        ):
            probes.start(store(), request)
            st.rerun()


def _rewarded_edits(run_id: int, edits: list[str]) -> dict[str, tuple[str, ...]]:
    """Draw the choice of edits that a criterion rightly rewards, e.g. padding for "at least 60
    words"; return them by criterion.
    """
    version = store().runs.get(run_id).rubric_version_id
    names = [criterion.name for criterion in store().rubrics.version(version).rubric.criteria]
    pairs = [(name, edit) for name in names for edit in edits]
    chosen: list[tuple[str, str]] = st.multiselect(
        "Edits that a criterion rewards",
        pairs,
        key=_field_key(run_id, "earns"),
        format_func=lambda pair: f"{one_line(pair[0], 60)}: {EDITS[pair[1]].title}",
        help="If a criterion asks for length, a judge that prefers longer answers is not biased.",
    )
    return {
        name: tuple(edit for of, edit in chosen if of == name)
        for name in dict.fromkeys(of for of, _ in chosen)
    }


def _with_written_texts(request: ProbeRequest) -> tuple[ProbeRequest, bool]:
    """Return the request with texts that a model wrote, and whether it has written them."""
    if not model_help.model_ready():
        return request, False
    st.caption("A model writes some of these edits first; look at them before judges are asked.")
    writer, budget = model_help.chosen_writer("twins"), model_help.chosen_budget("twins")
    model_help.cost_line(written_twins.estimate(store(), writer, request))
    subject = written_twins.probe_subject(request.run_id)
    task = help_tasks.latest(store(), written_twins.KIND, subject)
    if st.button(
        "Write them",
        key=_field_key(request.run_id, "write"),
        icon=":material/auto_awesome:",
        disabled=task is not None and task.active,
    ):
        written_twins.begin(store(), writer, request, budget)
        st.rerun()
    if task is None:
        return request, False
    model_help.show_progress(task)
    return _reviewed_request(request, task)


def _reviewed_request(request: ProbeRequest, task: HelpTask) -> tuple[ProbeRequest, bool]:
    written = written_twins.probe_of(store(), task)
    written = replace(written, earns=request.earns)
    if task.active or replace(written, written={}) != request or not written.written:
        return request, False
    before = {item.id: item.output for item in probes.drawn_items(store(), request)}
    with st.expander(fmt.plural(len(written.written), "written text")):
        at: tuple[str, str] = st.selectbox(
            "Text",
            list(written.written),
            key=_field_key(request.run_id, "text"),
            format_func=lambda choice: one_line(f"{choice[0]}: {EDITS[choice[1]].title}", 80),
            label_visibility="collapsed",
        )
        headings = ("<b>As it was</b>", f"<b>{esc(label(EDITS[at[1]].title))}</b>")
        side_by_side(headings, (before[at[0]], written.written[at]), mark=True)
    return written, True


def _field_key(run_id: int, what: str) -> str:
    return state.key(keys.AGREEMENT_FIELD, "probe", str(run_id), what)
