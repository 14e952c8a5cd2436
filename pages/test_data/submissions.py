"""Submissions written for each option of a criterion; then how often judges recover it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, cast

import streamlit as st

from core.domain.dataset import Item
from core.domain.panel import Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import HelpTask, RunRow
from core.metrics.estimate import Estimate
from core.services.assist import generated_items, help_tasks
from core.services.assist.generated_items import AimedSubmissions, DataRequest
from core.services.runs import cost_estimate, lifecycle
from core.services.runs.planning import RunRequest
from core.text import numbers as fmt
from pages.ui import model_help, routes, state
from pages.ui.resources import store
from pages.ui.run_status import status_tag
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_row, draw_table, shown_errors, tag

DATA_FIELD = "data_field"
DATA_ACT = "data_act"


def draw_keep_button(task: HelpTask, make: Callable[..., object], version: int | None) -> None:
    """Draw the button that saves the result as a dataset, or the link to that dataset."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Save as a dataset" if version is None else "Keep again",
            key=state.key(DATA_ACT, "keep", task.id),
            icon=":material/dataset:",
            on_click=_on_keep,
            args=(task, make),
            help="Tags of its items name the intended option; the items have no labels.",
        )
        if version is not None:
            routes.draw_link(routes.DATASETS, "Datasets", icon="arrow_forward")


def _on_keep(task: HelpTask, make: Callable[..., object]) -> None:
    with shown_errors():
        make(store(), task, "")
        state.flash("Saved as a dataset.")


def draw_ask_form(noun: str, make: Callable[[Panel], RunRequest], run: RunRow | None) -> None:
    """Draw the choice of judges, the cost, and the progress of the newest run."""
    panel = model_help.chosen_panel("Who judges", noun)
    if panel is None:
        return
    request = make(panel)
    model_help.cost_line(cost_estimate.estimate_request(store(), request))
    if st.button(
        "Ask judges",
        key=state.key(DATA_ACT, noun, "ask"),
        icon=":material/gavel:",
        disabled=run is not None and run.active,
    ):
        lifecycle.start(store(), request)
        st.rerun()
    if run is not None:
        st.fragment(_live_task, run_every=model_help.POLL_SECONDS if run.active else None)(
            run.id, run.active
        )
        routes.draw_link(routes.RUN, "The run, with every vote", {state.RUN: run.id})


def _live_task(run_id: int, was_active: bool) -> None:
    with shown_errors():
        look = lifecycle.run_progress(store(), run_id)
        if look.row.active != was_active:
            st.rerun()
        facts = f"{fmt.count(look.settled)} of {fmt.plural(look.row.planned, 'vote')}"
        draw_row([status_tag(look.row), f'<span class="rs-quiet rs-num">{esc(facts)}</span>'])
        if look.row.active:
            st.progress(min(1.0, look.share))


LENGTHS = {"short": "Short", "medium": "A paragraph", "long": "Long"}
SHOWN = 60


def show(name: str, rubric: Rubric) -> None:
    """Draw the form, the current task, its texts, and the recovery figure."""
    criteria = {c.name: c for c in rubric.criteria}
    chosen = st.selectbox(
        "Criterion",
        list(criteria),
        key=_field_key(name, "criterion"),
        format_func=lambda criterion: one_line(criterion, 80),
    )
    criterion = criteria[chosen]
    subject = f"rubric/{name}/{criterion.name}"
    counts, borderline = _counts_fields(name, criterion)
    left, right = st.columns(2, gap="medium")
    with left:
        tasks, invent = _task_fields(name)
    with right:
        length = st.segmented_control(
            "Length",
            list(LENGTHS),
            key=_field_key(name, "length"),
            default="medium",
            required=True,
            format_func=LENGTHS.__getitem__,
        )
        judge = model_help.chosen_writer("data")
        budget = model_help.chosen_budget("data")
    request = DataRequest(
        judge=judge,
        criterion=criterion,
        counts=counts,
        borderline=borderline,
        tasks=tasks,
        invent=invent,
        length=cast("Literal['short', 'medium', 'long']", length),
        subject=subject,
        budget=budget,
    )
    model_help.cost_line(generated_items.estimate(request))
    task = help_tasks.latest(store(), generated_items.KIND, subject)
    if st.button(
        "Write them",
        key=state.key(DATA_ACT, name, "write"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=task is not None and task.active,
    ):
        generated_items.begin(store(), request)
        st.rerun()
    if task is not None:
        model_help.show_progress(task)
        _draw_texts(task, rubric)


def _counts_fields(name: str, criterion: Criterion) -> tuple[dict[int, int], int]:
    counts: dict[int, int] = {}
    options = list(enumerate(criterion.options))
    with st.grid(min(6, len(options) + 1), min_column_width=140):
        for index, option in options:
            counts[index] = st.number_input(
                label(option.label, 40),
                0,
                50,
                0 if option.na else 2,
                key=_field_key(name, "count", criterion.name, str(index)),
            )
        borderline: int = st.number_input(
            "Borderline",
            0,
            50,
            2,
            key=_field_key(name, "count", criterion.name, "borderline"),
            help="Between two neighbouring options, so that careful graders would hesitate.",
        )
    return counts, borderline


def _task_fields(name: str) -> tuple[tuple[str, ...], int]:
    typed = st.text_area(
        "Tasks that the texts answer, one per line (optional)",
        key=_field_key(name, "tasks"),
        height=110,
        placeholder="Leave this empty to let the model invent tasks.",
    )
    tasks = tuple(line.strip() for line in (typed or "").splitlines() if line.strip())
    invent: int = st.number_input(
        "Tasks to invent", 0, 20, 3, key=_field_key(name, "invent"), disabled=bool(tasks), width=180
    )
    return tasks, 0 if tasks else invent


def _draw_texts(task: HelpTask, rubric: Rubric) -> None:
    written = generated_items.written_so_far(store(), task)
    if not written:
        return
    st.subheader("What was written", anchor=False)
    st.caption("The target option is not a label: no person has checked that a text deserves it.")
    _show_texts(written)
    version = help_tasks.kept_dataset(store(), task)
    if not task.active:
        draw_keep_button(task, generated_items.as_dataset, version)
    if version is None:
        return
    criterion = generated_items.request_of(task).criterion
    with st.container(border=True):
        st.subheader("Do judges find the intended option?", anchor=False)
        run = lifecycle.newest_over(store(), version, generated_items.DETAIL)
        draw_ask_form(
            f"recovery/{task.id}",
            lambda panel: generated_items.request(
                store(), version, criterion, rubric.guidelines, panel
            ),
            run,
        )
        if run is not None and run.votes:
            _show_recovery(*generated_items.recovery_of_run(store(), run.id))


def _show_texts(written: list[Item]) -> None:
    with st.expander(fmt.plural(len(written), "submission"), expanded=len(written) <= 6):
        for item in written[:SHOWN]:
            _, options = generated_items.aim_of_item(item) or ("", ())
            details = f'<span class="rs-quiet">{esc(one_line(item.prompt, 120))}</span>'
            aimed = one_line(" or ".join(options), 60)
            draw_row([tag(aimed, "warn" if len(options) > 1 else "info"), details])
            st.html(f'<div class="rs-card rs-prose">{esc(item.output)}</div>')
        if len(written) > SHOWN:
            st.caption(f"and {len(written) - SHOWN} more, in the dataset")


def _show_recovery(criterion: Criterion, rows: Sequence[AimedSubmissions]) -> None:
    st.html(f"<b>Found: {esc(share_words(generated_items.found_share(rows)))}</b>")
    labels = [option.label for option in criterion.choices]
    headings = ("Written for", "Found", *labels, "No verdict")
    lines = [
        (
            esc(" or ".join(row.aimed)) + (" " + tag("borderline", "warn") if row.between else ""),
            esc(share_words(row.found)),
            *(fmt.count(row.chosen[name]) if name in row.chosen else "" for name in labels),
            fmt.count(row.unanswered) if row.unanswered else "",
        )
        for row in rows
    ]
    numbers = tuple(range(2, len(headings)))
    draw_table(headings, lines, name="Judges' choices, by intended option", numbers=numbers)
    st.caption(
        "A miss may be the judge's fault or the writer's: read the text first. In borderline "
        "rows either option counts as right; the figure above leaves these texts out."
    )


def share_words(share: Estimate) -> str:
    """Return a share with its interval and n, or why it is missing."""
    if not share.n:
        return "No submission has a verdict yet."
    return f"{share.words(fmt.percent).inline}, {share.hits} of {share.n}"


def _field_key(name: str, *ids: str) -> str:
    return state.key(DATA_FIELD, name, *ids)
