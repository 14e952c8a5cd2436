"""Submissions for each option of a criterion: how many, about what; then how judges find them."""

from __future__ import annotations

from typing import Literal, cast

import streamlit as st

from core.domain.rubric import Criterion, Rubric
from core.domain.runs import HelpTask
from core.metrics.estimate import Share
from core.services import generating, helping
from core.services import generating_recovery as recovering
from core.services import numbers as fmt
from core.services.generating import DataRequest, Made
from core.services.generating_recovery import Recovery
from pages.author._help import common, measuring
from pages.author._help.measuring import DATA_ACT, DATA_FIELD
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import row, table, tag

LENGTHS = {"short": "Short", "medium": "A paragraph", "long": "Long"}
SHOWN = 60


def show(name: str, rubric: Rubric) -> None:
    """The form, the task under way, what it wrote, and the recovery figure."""
    criteria = {c.name: c for c in rubric.criteria}
    chosen = st.selectbox(
        "Criterion",
        list(criteria),
        key=_key(name, "criterion"),
        format_func=lambda one: one_line(one, 80),
    )
    criterion = criteria[chosen]
    subject = f"rubric/{name}/{criterion.name}"
    counts, borderline = _counts(name, criterion)
    left, right = st.columns(2, gap="medium")
    with left:
        tasks, invent = _tasks(name)
    with right:
        length = st.segmented_control(
            "Length",
            list(LENGTHS),
            key=_key(name, "length"),
            default="medium",
            required=True,
            format_func=LENGTHS.__getitem__,
        )
        judge = common.writer("data")
        budget = common.budget("data")
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
    common.outlook(generating.estimate(request))
    task = helping.latest(store(), generating.KIND, subject)
    if st.button(
        "Write them",
        key=state.key(DATA_ACT, name, "write"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=task is not None and task.active,
    ):
        generating.begin(store(), request)
        st.rerun()
    if task is not None:
        common.progress(task)
        _written(task, rubric)


def _counts(name: str, criterion: Criterion) -> tuple[dict[int, int], int]:
    counts: dict[int, int] = {}
    options = list(enumerate(criterion.options))
    with st.grid(min(6, len(options) + 1), min_column_width=140):
        for index, option in options:
            counts[index] = st.number_input(
                label(option.label, 40),
                0,
                50,
                0 if option.na else 2,
                key=_key(name, "count", criterion.name, str(index)),
            )
        borderline: int = st.number_input(
            "Borderline",
            0,
            50,
            2,
            key=_key(name, "count", criterion.name, "borderline"),
            help="Between two neighbouring options, so that careful graders would be torn.",
        )
    return counts, borderline


def _tasks(name: str) -> tuple[tuple[str, ...], int]:
    typed = st.text_area(
        "What they answer, one task a line (optional)",
        key=_key(name, "tasks"),
        height=110,
        placeholder="Leave it empty to let the model invent tasks.",
    )
    tasks = tuple(line.strip() for line in (typed or "").splitlines() if line.strip())
    invent: int = st.number_input(
        "Tasks to invent", 0, 20, 3, key=_key(name, "invent"), disabled=bool(tasks), width=180
    )
    return tasks, 0 if tasks else invent


def _written(task: HelpTask, rubric: Rubric) -> None:
    made = generating.made(store(), task)
    if not made:
        return
    st.subheader("What was written", anchor=False)
    st.caption("The option aimed at is not a label: nobody has checked that a text deserves it.")
    _texts(made)
    version = helping.kept_dataset(store(), task)
    if not task.active:
        measuring.keep(task, generating.as_dataset, version)
    if version is None:
        return
    criterion = generating.request_of(task).criterion
    with st.container(border=True):
        st.subheader("Do judges find the option aimed at?", anchor=False)
        run = recovering.latest_run(store(), version)
        measuring.ask(
            f"recovery/{task.id}",
            lambda panel: recovering.request(store(), version, criterion, rubric.guidelines, panel),
            run,
        )
        if run is not None and run.votes:
            _recovery(recovering.recovery(store(), run.id))


def _texts(made: list[Made]) -> None:
    with st.expander(fmt.plural(len(made), "submission"), expanded=len(made) <= 6):
        for one in made[:SHOWN]:
            aimed = " or ".join(one.aimed)
            between = len(one.aimed) > 1
            about = f'<span class="rs-quiet">{esc(one_line(one.task, 120))}</span>'
            row([tag(one_line(aimed, 60), "warn" if between else "info"), about])
            st.html(f'<div class="rs-card rs-prose">{esc(one.text)}</div>')
        if len(made) > SHOWN:
            st.caption(f"and {len(made) - SHOWN} more, in the dataset")


def _recovery(found: Recovery) -> None:
    st.html(f"<b>Found: {esc(share_words(found.whole))}</b>")
    heads = ("Written for", "Found", *found.labels, "No verdict")
    lines = [
        (
            esc(" or ".join(one.aimed)) + (" " + tag("borderline", "warn") if one.between else ""),
            esc(share_words(one.found)),
            *(fmt.count(one.chosen[name]) if name in one.chosen else "" for name in found.labels),
            fmt.count(one.unanswered) if one.unanswered else "",
        )
        for one in found.rows
    ]
    numbers = tuple(range(2, len(heads)))
    table(heads, lines, name="What judges chose, by the option aimed at", numbers=numbers)
    st.caption(
        "A miss may be the judge's or the writer's: read the text before you blame either. Of "
        "borderline texts either option counts as found, and they are not in the figure above."
    )


def share_words(share: Share) -> str:
    """A share with its interval and n, or why there is none."""
    if not share.n:
        return "No submission has a verdict yet."
    bounds = f"{fmt.percent(share.low)} to {fmt.percent(share.high)}"
    return f"{fmt.percent(share.value)} ({bounds}), {share.hits} of {share.n}"


def _key(name: str, *ids: str) -> str:
    return state.key(DATA_FIELD, name, *ids)
