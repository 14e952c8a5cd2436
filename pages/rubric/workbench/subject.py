"""The current criterion of the workbench, and the rows' results on it."""

from __future__ import annotations

import streamlit as st

from core.metrics.estimate import Estimate
from core.services.rubrics.draft_shapes import CriterionDraft
from core.services.workbench import bench_rows
from core.services.workbench.bench_state import (
    BenchFigures,
    WorkbenchState,
    figures_of,
    workbench_state,
)
from core.text import numbers as fmt
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_VIEW
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_row, draw_table, problem_list, tag

_NOTHING = '<span class="rs-quiet">nothing</span>'


def current_state(name: str) -> WorkbenchState:
    """Return the state of the workbench for this tab's draft."""
    draft = drafts.draft(name)
    return workbench_state(store(), bench_rows.followed(store(), name, draft), draft)


def show_outcome(bench: WorkbenchState, criterion: str | None) -> None:
    """Show the chosen criterion's figures, or a line for each criterion."""
    if not bench.judges or not bench.cells:
        return
    rows = figures_of(bench, None if criterion is None else [criterion])
    if criterion is None:
        _figures_of_all(bench, rows)
    elif rows:
        _figures_of_criterion(bench, rows[0])


def _figures_of_criterion(bench: WorkbenchState, figures: BenchFigures) -> None:
    agreed = f"<b>Agreement</b> <span>{share_html(figures.agreement)}</span>"
    parts = [agreed]
    if figures.agreement.n:
        always = (
            f"always the most common expected option: {figures.always.hits} of {figures.always.n}"
        )
        parts.append(f'<span class="rs-quiet">{esc(always)}</span>')
    if bench.bench["flip"] or figures.flips.n:
        parts.append(
            f'<b style="margin-left:1rem">Flips</b> <span>{share_html(figures.flips)}</span>'
        )
    draw_row([*parts, *missing_tags(figures)])
    if len(figures.by_judge) > 1:
        draw_row(
            f'<span class="rs-quiet rs-num">{esc(name)}: {share_html(estimate)}</span>'
            for name, estimate in figures.by_judge
        )


def _figures_of_all(bench: WorkbenchState, rows: list[BenchFigures]) -> None:
    flips = bench.bench["flip"] or any(figures.flips.n for figures in rows)
    headings = ["Criterion", "Agreement", *(["Flips"] if flips else []), "Not counted"]
    draw_table(
        headings,
        [
            [
                f"<b>{esc(figures.criterion)}</b>",
                share_html(figures.agreement),
                *([share_html(figures.flips)] if flips else []),
                f'<div class="rs-row">{"".join(missing_tags(figures))}</div>'
                if missing_tags(figures)
                else _NOTHING,
            ]
            for figures in rows
        ],
        name="Agreement by criterion",
    )


def share_html(estimate: Estimate) -> str:
    """Return `3 of 4 (75%, 30 to 95%)` as HTML; a dash if nothing is counted."""
    if not estimate.n:
        return f'<span class="rs-num">{fmt.DASH}</span> <span class="rs-quiet">none to count</span>'
    text = estimate.words(fmt.percent)
    return (
        f'<span class="rs-num">{estimate.hits} of {estimate.n}</span> '
        f'<span class="rs-quiet rs-num">{text.value}, 95% interval {text.ends}</span>'
    )


def missing_tags(figures: BenchFigures) -> list[str]:
    """Return tags for the cells that no figure includes."""
    parts = list[str]()
    if figures.stale:
        parts.append(tag(f"{figures.stale} stale", "warn"))
    if figures.failed:
        parts.append(tag(f"✕ {figures.failed} failed", "bad"))
    if figures.unasked:
        parts.append(tag(f"{figures.unasked} not asked"))
    if figures.unlabelled:
        parts.append(tag(f"{figures.unlabelled} without an expected option"))
    return parts


# Keys of the workbench, next to those of `state` (used with `state.key`).

BENCH = "workbench"
#: The view's name on the page.
BENCH_VIEW = "Workbench"

WORKBENCH_CRITERION = "workbench_criterion"
WORKBENCH_FIELD = "workbench_field"
WORKBENCH_FIND = "workbench_find"
WORKBENCH_OPEN = "workbench_open"
WORKBENCH_GONE = "workbench_gone"
WORKBENCH_PAGE = "workbench_page"
WORKBENCH_SAVED = "workbench_saved"
WORKBENCH_ACT = "workbench_act"


ALL = ""
#: The most criteria listed with their requirements; others are folded.
FEW = 8


def show_subject(name: str, bench: WorkbenchState) -> str | None:
    """Draw the choice and the criterion; return the criterion's name, or `None` for all."""
    criteria = {c["uid"]: c for c in drafts.draft(name)["criteria"]}
    key = state.key(WORKBENCH_CRITERION, name)
    opened = drafts.open_card(name)
    state.seed(key, opened if opened in criteria else next(iter(criteria)))
    if state.get(key) not in (ALL, *criteria):
        state.put(key, next(iter(criteria)))
    with st.container(border=True):
        uid = st.selectbox(
            "Criterion",
            [ALL, *criteria],
            key=key,
            format_func=lambda value: (
                one_line(criteria[value]["name"], 80) or "Unnamed" if value else "All criteria"
            ),
            persist_state="page",
        )
        if not uid:
            _show_all(bench)
            return None
        _show_criterion(name, criteria[uid])
    criterion = criteria[uid]["name"]
    if criterion in bench.subject.criteria:
        return criterion
    st.warning("This criterion cannot be asked yet.", icon=":material/build:")
    problem_list(bench.subject.broken.get(criterion) or bench.subject.broken.get("Unnamed", ()))
    return criterion


def _show_all(bench: WorkbenchState) -> None:
    lines = "".join(
        f"<li><b>{esc(c.name)}</b> {esc(one_line(c.requirement, 140))}</li>"
        for c in bench.subject.criteria.values()
    )
    broken = "".join(
        f"<li><b>{esc(one_line(n, 60))}</b> {tag('cannot be asked yet', 'warn')}</li>"
        for n in bench.subject.broken
    )
    written = f'<ul class="rs-list">{lines}{broken}</ul>'
    total = len(bench.subject.criteria) + len(bench.subject.broken)
    if total <= FEW:
        st.html(written)
        return
    with st.expander(f"The {total} criteria"):
        st.html(written)


def _show_criterion(name: str, criterion: CriterionDraft) -> None:
    uid = criterion["uid"]
    st.text_area(
        "Requirement: what the judge must decide",
        height="content",
        max_chars=20_000,
        **drafts.bound_field(name, "criterion", (uid,), "requirement"),
    )
    draw_row(
        [
            _option_html(option["label"], option["description"], na=option["na"])
            for option in criterion["options"]
        ]
    )
    st.button(
        "Edit options and other fields in the form",
        key=state.key(WORKBENCH_ACT, name, "form"),
        type="tertiary",
        icon=":material/edit:",
        on_click=_on_form,
        args=(name, uid),
    )


def _option_html(label: str, description: str, *, na: bool) -> str:
    anchor = f"<small>{esc(one_line(description, 90))}</small>" if description else ""
    classes = "rs-chip rs-na" if na else "rs-chip"
    return f'<span class="{classes}"><span>{esc(one_line(label, 60))}</span>{anchor}</span>'


def _on_form(name: str, uid: str) -> None:
    drafts.set_open_card(name, uid)
    state.put(state.key(RUBRIC_VIEW, name), "Form")
    state.set_address(**{state.SIDE: None})
