"""Proposals for a criterion, each next to the text it replaces, to accept or ignore."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.review import Case
from core.domain.rubric import Rubric
from core.rubric_diff.wording import word_diff
from core.services.assist import help_tasks, meta_check, proposals
from core.services.assist.proposals import Findings, ImproveRequest, ProposalPiece
from core.services.diagnostics import diagnosis
from core.text import numbers as fmt
from pages.ui import drafts, model_help, state
from pages.ui.resources import store
from pages.ui.text import esc, label, marked, one_line
from pages.ui.widgets import shown_errors, tag

PARTS = {
    "requirement": "Requirement",
    "option": "Option's text",
    "label": "Name of the option",
    "weight": "Weight",
    "guidelines": "Guidelines",
}


def show_pieces(name: str, pieces: Sequence[ProposalPiece], place: str) -> None:
    """Draw all pieces with a button each, and one button for all open ones."""
    if not pieces:
        st.caption("No change was proposed.")
        return
    draft = drafts.draft(name)
    # A label, a weight or a rule is a separate decision; wording can be accepted together.
    wording = [piece for piece in pieces if piece.part in ("requirement", "option")]
    open_ = [piece for piece in wording if proposals.state_of(draft, piece) == "open"]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f"<b>{esc(fmt.plural(len(pieces), 'proposed change'))}</b>")
        if len(open_) > 1:
            st.button(
                f"Accept all {len(open_)} wordings",
                key=state.key(model_help.HELP_ACT, place, name, "all"),
                icon=":material/done_all:",
                on_click=_take_pieces,
                args=(name, tuple(open_)),
            )
    for number, piece in enumerate(pieces):
        _show_piece(name, piece, f"{place}/{number}")


def _show_piece(name: str, piece: ProposalPiece, place: str) -> None:
    state_now = proposals.state_of(drafts.draft(name), piece)
    subject = piece.criterion or "The rubric"
    part = PARTS[piece.part] + (f" “{one_line(piece.option, 40)}”" if piece.option else "")
    with st.container(border=True, gap="xxsmall"):
        st.html(
            f'<div class="rs-row"><b>{esc(one_line(subject, 60))}</b>'
            f'<span class="rs-quiet">{esc(part)}</span></div>{_difference_html(piece)}'
            + (f'<div class="rs-quiet">{esc(piece.why)}</div>' if piece.why else "")
        )
        if state_now == "open":
            st.button(
                "Take",
                key=state.key(model_help.HELP_ACT, place, name, "take"),
                type="tertiary",
                icon=":material/check:",
                on_click=_take_pieces,
                args=(name, (piece,)),
            )
        elif state_now == "taken":
            st.html(tag("✓ Taken", "good"))
        else:
            st.html(tag("This wording has changed since the proposal", "neutral"))


def _difference_html(piece: ProposalPiece) -> str:
    old_spans, new_spans, _ = word_diff(piece.before, piece.after)
    before = marked(piece.before, old_spans) if piece.before else "<i>(empty)</i>"
    return (
        f'<div class="rs-prose rs-quiet"><b>Now</b> {before}</div>'
        f'<div class="rs-prose"><b>Then</b> {marked(piece.after, new_spans)}</div>'
    )


def _take_pieces(name: str, chosen: tuple[ProposalPiece, ...]) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        for piece in chosen:
            draft = proposals.take_piece(draft, piece)
        drafts.change_draft(name, draft, redraw=True)


ALL = ""


def show(name: str, rubric: Rubric) -> None:
    """Draw the criterion to improve and the reasons, then the proposals."""
    st.caption(
        "A model proposes new wording. Accept or reject each change. Options, values and "
        "weights change only if you accept a change to them."
    )
    target = _target_choice(name, rubric)
    names = [c.name for c in rubric.criteria] if target == ALL else [target]
    findings, cases = _chosen_evidence(name, rubric, names)
    judge = model_help.chosen_writer(name, "improve")
    request = ImproveRequest(
        judge=judge,
        rubric=rubric,
        subject=_task_subject(name),
        targets=tuple(names),
        findings=findings,
        cases=tuple(cases),
        budget=model_help.chosen_budget(name, "improve"),
    )
    model_help.cost_line(proposals.estimate(request))
    task = help_tasks.latest(store(), proposals.KIND, _task_subject(name))
    if st.button(
        "Propose changes",
        key=state.key(model_help.HELP_ACT, name, "improve"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=task is not None and task.active,
    ):
        proposals.begin(store(), request)
        st.rerun()
    if task is not None:
        model_help.show_progress(task)
        if task.done or not task.active:
            show_pieces(name, proposals.pieces_so_far(store(), task), f"improve/{task.id}")


def _target_choice(name: str, rubric: Rubric) -> str:
    names = [ALL, *(c.name for c in rubric.criteria)]
    key = state.key(model_help.HELP_FIELD, name, "target")
    if state.get(key) not in names:
        state.put(key, _open_criterion(name, names))
    chosen: str = st.selectbox(
        "Improve",
        names,
        key=key,
        format_func=lambda name: "Every criterion" if name == ALL else one_line(name, 70),
    )
    return chosen


def _open_criterion(name: str, names: Sequence[str]) -> str:
    opened = drafts.open_card(name)
    for criterion in drafts.draft(name)["criteria"]:
        if criterion["uid"] == opened and criterion["name"] in names:
            return criterion["name"]
    return ALL


def _chosen_evidence(
    name: str, rubric: Rubric, names: Sequence[str]
) -> tuple[Findings, list[Case]]:
    """Return the evidence for the model, by source; the person can leave out each source."""
    offline = _findings_about(proposals.offline_findings(rubric), names)
    judged = _findings_about(_findings_of_run(name, rubric), names)
    run = _run_choice(name)
    findings = {} if run is None else _findings_about(proposals.findings_after(store(), run), names)
    cases = [] if run is None else proposals.cases_of(store(), run, names)
    sources = (
        ("offline", "Findings of the offline check", offline, _findings_count(offline)),
        ("judged", "Findings of the check by judges", judged, _findings_count(judged)),
        ("told", "Findings of the newest run", findings, _findings_count(findings)),
    )
    chosen = [
        source_findings
        for key, caption, source_findings, n in sources
        if _source_toggle(name, key, caption, n)
    ]
    shown = _source_toggle(
        name, "cases", "Cases that people decided differently from the judges", len(cases)
    )
    if not any(n for *_, n in sources) and not cases:
        st.caption("No finding concerns this wording yet; a model can still review it.")
    return proposals.merge_findings(*chosen), cases if shown else []


def _source_toggle(name: str, side: str, caption: str, count: int) -> bool:
    if not count:
        return False
    key = state.key(model_help.HELP_FIELD, name, "because", side)
    state.seed(key, True)
    return bool(st.checkbox(label(f"{caption} ({fmt.count(count)})"), key=key))


def _findings_about(by_criterion: Findings, names: Sequence[str]) -> Findings:
    return {name: findings for name, findings in by_criterion.items() if name in names or not name}


def _findings_count(by_criterion: Findings) -> int:
    return sum(len(findings) for findings in by_criterion.values())


def _findings_of_run(name: str, rubric: Rubric) -> Findings:
    run_id = meta_check.latest_check(store(), _task_subject(name))
    if run_id is None:
        return {}
    findings: Findings = {}
    for finding in meta_check.check_result(store(), run_id, rubric).findings:
        if not finding.stale:
            for criterion in finding.criteria or ("",):
                findings.setdefault(criterion, []).append(f"{finding.question}: {finding.reason}")
    return findings


def _run_choice(name: str) -> int | None:
    rubric_id = drafts.draft(name)["rubric_id"]
    answer = None if rubric_id is None else diagnosis.newest_answer(store(), rubric_id)
    return None if answer is None else answer.run.id


def _task_subject(name: str) -> str:
    return f"rubric/{name}"
