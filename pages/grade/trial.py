"""Step 4, three texts first: their verdicts in compact rows; this step is optional."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Criterion
from core.domain.runs import RunRow
from core.domain.votes import Verdict
from core.errors import InputError, NotFound
from core.services.guided import grading, judging
from core.services.results.item_view import CriterionView, ItemView
from core.services.runs import lifecycle
from core.text import numbers as fmt
from pages.grade import own, steps
from pages.grade.grading import cached_estimate
from pages.grade.steps import GRADE_ACT, Path
from pages.ui import routes, run_status, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.trial import votes
from pages.ui.widgets import Tone, draw_table, shown_errors, tag


def show(path: Path, names: tuple[str, ...]) -> int | None:
    """Draw the step; return the trial's run, if there is one over these texts."""
    if path.dataset is None or path.rubric is None or not names:
        steps.show_waiting("try")
        return None
    version, rubric = path.dataset.id, path.rubric.id
    run = _trial_run(path.tried, rubric, version)
    if run is None and own.no_judge_can_grade(path, names):
        steps.show_waiting("try")
        return None
    tried = None if run is None or run.active else run.id
    with st.container(border=True), shown_errors():
        steps.show_title("try", "optional: a trial before all texts are graded")
        if run is None:
            _offer_trial(rubric, version, names)
        else:
            if run.active or run.failures_open:
                run_status.show_status(run.id)
            if not run.active:
                _trial_rows(run)
    return tried


def _trial_run(run_id: int | None, rubric: int, dataset: int) -> RunRow | None:
    try:
        row = None if run_id is None else lifecycle.run_progress(store(), run_id).row
    except NotFound:
        return None
    return row if row is not None and grading.is_run_of(row, rubric, dataset) else None


def _offer_trial(rubric: int, dataset: int, names: tuple[str, ...]) -> None:
    try:
        panel = judging.panel_of(store(), names)
        request = grading.trial_request(store(), rubric, dataset, panel)
        estimate = cached_estimate(request)
    except InputError:  # the last step of the page shows the error
        return
    pressed = st.button(
        f"Try {fmt.plural(estimate.items, 'text')}",
        key=state.key(GRADE_ACT, "try"),
        icon=":material/experiment:",
    )
    st.caption(label(f"{estimate.words}.", 200))
    if pressed:
        state.set_address(**{state.TRIED: grading.start(store(), request)})
        st.rerun()


def _trial_rows(run: RunRow) -> None:
    texts = grading.trial_texts(store(), run.id)
    criteria = list(dict.fromkeys(c.criterion.name for text in texts for c in text.criteria))
    draw_table(
        ("Text", "Points", *(one_line(name, 40) for name in criteria)),
        (_trial_row(text, criteria) for text in texts),
        name=f"{fmt.plural(len(texts), 'text')} and verdicts",
        numbers=(1,),
    )
    for text in texts:
        item = text.row.item_id
        key = state.key(GRADE_ACT, "why", run.id, item)
        caption = label(f"Reasons: {item}", 80)
        part = st.expander(caption, key=key, on_change="rerun", type="compact")
        if part.open:
            with part:
                votes.show_votes(text, active=False)
    with st.container(horizontal=True):
        routes.draw_link(
            routes.RUN, "Every vote with its reason", {state.RUN: run.id}, icon="search"
        )
        st.button(
            "Try again",
            key=state.key(GRADE_ACT, "again"),
            type="tertiary",
            icon=":material/replay:",
            help="Repeats the trial, since the rubric or the judges changed.",
            on_click=state.set_address,
            kwargs={state.TRIED: None},
        )


def _trial_row(text: ItemView, criteria: list[str]) -> list[str]:
    row, verdicts = text.row, {c.criterion.name: _verdict_html(c) for c in text.criteria}
    return [
        f"<b>{esc(one_line(row.item_id, 40))}</b><br>"
        f'<span class="rs-quiet">{esc(one_line(row.preview, 90))}</span>',
        esc(grading.points(text)),
        *(verdicts.get(name, "") for name in criteria),
    ]


def _verdict_html(view: CriterionView) -> str:
    if view.verdict is None or view.verdict_label is None:
        return tag("no verdict", "warn")
    return tag(one_line(view.verdict_label, 40), _verdict_tone(view.criterion, view.verdict))


def _verdict_tone(criterion: Criterion, cell: Verdict) -> Tone:
    """Return green for all available points, red for none; reversed for a penalty."""
    if cell.abstained or cell.value is None:
        return "neutral"
    if criterion.weight < 0:
        return "bad" if cell.value else "good"
    return "good" if cell.value >= 1 else "bad" if cell.value <= 0 else "warn"
