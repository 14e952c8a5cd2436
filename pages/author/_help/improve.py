"""Proposals for one criterion or all, from findings and from cases people decided otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.review import Case
from core.domain.rubric import Rubric
from core.services import helping, improving, metachecking
from core.services import improving_evidence as evidence
from core.services import numbers as fmt
from core.services.checking import after
from core.services.improving import ImproveRequest
from core.services.improving_evidence import Findings
from pages.author._help import common, pieces
from pages.author._rubric import work
from pages.ui import help_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import label, one_line

ALL = ""


def show(name: str, rubric: Rubric) -> None:
    """What to improve and why, then the proposals."""
    st.caption(
        "A model proposes new words. You take each change or leave it; options, values and weights "
        "stay unless you take a change of one."
    )
    target = _target(name, rubric)
    names = [c.name for c in rubric.criteria] if target == ALL else [target]
    findings, cases = _reasons(name, rubric, names)
    judge = common.writer(name, "improve")
    request = ImproveRequest(
        judge=judge,
        rubric=rubric,
        subject=_subject(name),
        targets=tuple(names),
        findings=findings,
        cases=tuple(cases),
        budget=common.budget(name, "improve"),
    )
    common.outlook(improving.estimate(request))
    task = helping.latest(store(), improving.KIND, _subject(name))
    if st.button(
        "Propose changes",
        key=state.key(keys.HELP_ACT, name, "improve"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=task is not None and task.active,
    ):
        improving.begin(store(), request)
        st.rerun()
    if task is not None:
        common.progress(task)
        if task.done or not task.active:
            pieces.show(name, improving.pieces(store(), task), f"improve/{task.id}")


def _target(name: str, rubric: Rubric) -> str:
    names = [ALL, *(c.name for c in rubric.criteria)]
    key = state.key(keys.HELP_FIELD, name, "target")
    if state.get(key) not in names:
        state.put(key, _open_criterion(name, names))
    chosen: str = st.selectbox(
        "Improve",
        names,
        key=key,
        format_func=lambda one: "Every criterion" if one == ALL else one_line(one, 70),
    )
    return chosen


def _open_criterion(name: str, names: Sequence[str]) -> str:
    opened = work.open_card(name)
    for criterion in work.draft(name)["criteria"]:
        if criterion["uid"] == opened and criterion["name"] in names:
            return criterion["name"]
    return ALL


def _reasons(name: str, rubric: Rubric, names: Sequence[str]) -> tuple[Findings, list[Case]]:
    """What is told to the model, by source; each source can be left out."""
    offline = _about(evidence.offline_findings(rubric), names)
    judged = _about(_judged(name, rubric), names)
    run = _run(name)
    told = {} if run is None else _about(evidence.findings_after(store(), run), names)
    cases = [] if run is None else evidence.cases_of(store(), run, names)
    sources = (
        ("offline", "Findings of the offline check", offline, _count(offline)),
        ("judged", "Findings of the check by judges", judged, _count(judged)),
        ("told", "What the newest run says", told, _count(told)),
    )
    chosen = [found for key, words, found, n in sources if _source(name, key, words, n)]
    shown = _source(name, "cases", "Cases people decided otherwise than judges", len(cases))
    if not any(n for *_, n in sources) and not cases:
        st.caption("Nothing speaks against these words yet; a model can still look them over.")
    return evidence.merged(*chosen), cases if shown else []


def _source(name: str, what: str, words: str, count: int) -> bool:
    if not count:
        return False
    key = state.key(keys.HELP_FIELD, name, "because", what)
    state.seed(key, True)
    return bool(st.checkbox(label(f"{words} ({fmt.count(count)})"), key=key))


def _about(found: Findings, names: Sequence[str]) -> Findings:
    return {name: said for name, said in found.items() if name in names or not name}


def _count(found: Findings) -> int:
    return sum(len(said) for said in found.values())


def _judged(name: str, rubric: Rubric) -> Findings:
    run_id = metachecking.latest(store(), _subject(name))
    if run_id is None:
        return {}
    found: Findings = {}
    for one in metachecking.result(store(), run_id, rubric).findings:
        if not one.stale:
            for criterion in one.criteria or ("",):
                found.setdefault(criterion, []).append(f"{one.question}: {one.reason}")
    return found


def _run(name: str) -> int | None:
    rubric_id = work.draft(name)["rubric_id"]
    said = None if rubric_id is None else after.newest_answer(store(), rubric_id)
    return None if said is None else said.run.id


def _subject(name: str) -> str:
    return f"rubric/{name}"
