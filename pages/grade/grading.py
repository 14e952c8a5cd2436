"""Step 5, grading: its cost, its progress, and its result."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.library import DatasetVersion, RubricVersion
from core.domain.panel import Panel
from core.domain.runs import RunRow
from core.errors import InputError, NotFound
from core.services.exports import run_export
from core.services.guided import grading, judging
from core.services.guided.grading import Outcome
from core.services.judges import connection
from core.services.runs import cost_estimate, lifecycle
from core.services.runs.cost_estimate import CostEstimate
from core.services.runs.planning import RunRequest
from core.text import numbers as fmt
from pages.grade import own, steps
from pages.grade.steps import GRADE_ACT, Path, Step
from pages.ui import resources, routes, run_status, state
from pages.ui.places import work
from pages.ui.resources import make_later, store
from pages.ui.text import esc, label
from pages.ui.widgets import show_refusal, shown_errors

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def run_of(path: Path) -> RunRow | None:
    """Return the run in the address, if it is over these texts with this rubric."""
    if path.run is None or path.dataset is None or path.rubric is None:
        return None
    try:
        row = lifecycle.run_progress(store(), path.run).row
    except NotFound:
        return None
    return row if row.dataset_version_id == path.dataset.id else None


def plan_grading(path: Path, names: tuple[str, ...], trial_run: int | None) -> None:
    """Show the existing grades, and an estimate with the start button for the named judges."""
    graded = own.graded_count(path)
    if path.dataset is None or path.rubric is None or not (names or graded):
        steps.show_waiting("grade")
        return
    with st.container(border=True), shown_errors():
        steps.show_title("grade")
        if graded:
            _draw_own_grades(path.dataset, path.rubric, graded)
        if names:
            _start_by_judges(path, path.dataset, path.rubric, names, trial_run, first=not graded)


def _draw_own_grades(dataset: DatasetVersion, rubric: RubricVersion, graded: int) -> None:
    """Draw the download of grades for a person who has graded all texts."""
    st.subheader(f"{fmt.plural(graded, 'text')} graded by you", anchor=False)
    _download_grades(
        lambda held: run_export.own_workbook(held, dataset.id, rubric.id),
        dataset.name,
        "own grades",
    )


def _download_grades(
    data: Callable[..., bytes], dataset_name: str, key: str, *, first: bool = True
) -> None:
    st.download_button(
        "Download grades (.xlsx)",
        data=make_later(data),
        file_name=grading.file_name(dataset_name),
        mime=XLSX,
        type="primary" if first else "secondary",
        icon=":material/download:",
        on_click="ignore",
        key=state.key(GRADE_ACT, key),
        help="Every text with its grade and the grader.",
    )


def _start_by_judges(
    path: Path,
    dataset: DatasetVersion,
    rubric: RubricVersion,
    names: tuple[str, ...],
    trial_run: int | None,
    *,
    first: bool,
) -> None:
    """Draw the estimate and the button, or how to teach judges that have too few grades."""
    try:
        panel = judging.panel_of(store(), names)
        if own.no_judge_can_grade(path, names):
            if first:
                st.caption("These judges have too few grades to learn from. Your grades are kept.")
                own.draw_begin_button(path, "more", first=True)
            return
        request = grading.run_request(store(), rubric.id, dataset.id, panel, trial_run=trial_run)
        count = _show_estimate(request, panel)
    except InputError as error:
        show_refusal(error)
        return
    pressed = st.button(
        f"Grade {fmt.plural(count, 'text')}",
        key=state.key(GRADE_ACT, "grade"),
        type="primary" if first else "secondary",
        icon=":material/play_arrow:",
    )
    if pressed:
        run_id = grading.start(store(), request)
        state.set_address(**{state.RUN: run_id})
        st.rerun()


def cached_estimate(request: RunRequest) -> CostEstimate:
    """Return the estimate of a run of this path. Raise `InputError` if it is impossible."""
    cache_key = (
        request.rubric_version,
        request.dataset_version,
        request.panel.model_dump_json(),
        request.label_share,
        request.limit,
        # The last test measured the duration of a call.
        *(_last_test_words(judge.name) for judge in request.panel.judges),
    )
    return resources.remembered(
        "path estimate", cache_key, lambda: cost_estimate.estimate_request(store(), request)
    )


def _show_estimate(request: RunRequest, panel: Panel) -> int:
    """Show the estimate and its caveats in a line; return how many texts are graded."""
    estimate = cached_estimate(request)
    st.html(f'<span class="rs-num">{esc(grading.estimate_line(estimate, panel))}</span>')
    if estimate.calibration:
        learned = fmt.plural(estimate.calibration, "labelled text")
        st.caption(
            f"Judges learn from {learned}. These texts keep the grades that your own labels give."
        )
    if any(judge.cost is None for judge in estimate.judges):
        st.caption("The price of the model is not known. Enter it on the Judges page.")
    return estimate.items


def _last_test_words(judge: str) -> str:
    """Return when a judge was last tested."""
    last = connection.last_result(store(), judge)
    return "" if last is None else last.when


def show(path: Path, run: RunRow) -> None:
    """Draw the run's progress and, when it ends, the result and the next steps."""
    with st.container(border=True), shown_errors():
        steps.show_title("grade")
        if run.active or run.failures_open or lifecycle.status_of(run) != "done":
            run_status.show_status(run.id)
        if not run.active and run.votes:
            _show_outcome(path, run)


def on_other_judges(_: Step) -> None:
    """Return to the choice of judges; the run stays in the list of runs."""
    state.set_address(**{state.RUN: None})


def _show_outcome(path: Path, run: RunRow) -> None:
    cache_key = (run.id, run.votes, run.failures_open, run.scored_version_id, run.status)
    outcome = (
        grading.outcome(store(), run.id) if run.failures_open else _cached_outcome(run, cache_key)
    )
    st.subheader(label(outcome.line), anchor=False)
    for reason, count in list(outcome.reasons.items())[:5]:
        st.caption(label(f"{fmt.plural(count, 'text')} without a grade: {reason}.", 300))
    if len(run.panel.judges) == 1 and not outcome.in_doubt:
        st.caption("A single judge shows no disagreement: review some texts yourself.")
    learners = any(judge.learns for judge in run.panel.judges)
    teaching = own.open_texts(path, outcome.ungraded) if learners else ()
    with st.container(horizontal=True, vertical_alignment="center"):
        _download_grades(
            lambda held: run_export.grades_workbook(held, run.id),
            run.dataset_name,
            "download",
            first=not teaching,
        )
        routes.draw_link(routes.RUN, "Open the grid", {state.RUN: run.id}, icon="grid_on")
        if outcome.in_doubt:
            address = {state.NEW: state.QUEUE, state.RUN: run.id}
            routes.draw_link(routes.QUEUES, "Settle doubtful cells", address)
        routes.draw_link(routes.AGREEMENT, "How far to trust it", {state.RUN: run.id})
    if outcome.ungraded and learners:
        with st.container(horizontal=True, vertical_alignment="center"):
            own.draw_begin_button(path, "open", first=True, ids=teaching)
            own.draw_begin_button(path, "more", first=False)
            routes.draw_link(
                routes.REVIEW_ITEM,
                f"Grade {fmt.plural(len(outcome.ungraded), 'ungraded text')} yourself",
                {state.RUN: run.id, state.RULE: work.UNGRADED},
                icon="edit_note",
                help=(
                    "Shows only cells that judges left undecided, without their answers. Grade "
                    "with the digit keys."
                ),
            )


def _cached_outcome(run: RunRow, cache_key: tuple[object, ...]) -> Outcome:
    # Reviewers' decisions change the counts but no vote, so the key includes their last event.
    events = (*cache_key, grading.last_event(store()))
    return resources.remembered("outcome", events, lambda: grading.outcome(store(), run.id))
