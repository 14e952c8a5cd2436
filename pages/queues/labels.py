"""How much more precise further random labels make the estimates, and the queue that collects
them.
"""

from __future__ import annotations

import streamlit as st

from core.domain.review import DrawKind, Seat
from core.domain.runs import RunRow
from core.services.labelling import label_plan, plan_queue, plan_words
from core.services.labelling.label_plan import DRAWS, LabelGain, LabelPlan
from core.services.pairwise import contests
from core.services.results import browsing
from core.services.review import queues
from core.services.rubrics import library
from core.text import numbers as fmt
from pages.queues import making
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD, QUEUES_ACT
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import choose_one, draw_table, empty_state, page_header, shown_errors

#: The address of this screen: `?new=labels`.
LABELS = "labels"
ALL = "All criteria, by weight"
SAYS = (
    "Half the width of the 95% interval of the mean, corrected by this many random labels. How "
    "far people will differ from the votes is estimated from how much the votes agree, and from "
    "existing random labels. As many of each verdict: equally many cells of every option that the "
    "votes gave. Doubtful ones more often: in proportion to how far people are expected to differ "
    "(Neyman 1934). The chance of every cell is recorded, so each draw represents all cells."
)


#: The column heading of each way to draw.
SHORT = {"even": "alike", "strata": "per verdict", "doubt": "doubtful"}


def show(seat: Seat) -> None:
    """Draw the form, the table of what labels buy, and the button that creates the queue."""
    page_header(
        "How many labels?",
        "The gain and the time of more random labels, and the queue that asks for them.",
    )
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_leave_form)
    run = making.choose_run()
    if run is None:
        empty_state("No run has votes yet", "Grade something, or import votes, first.")
        return
    left, right = st.columns([1, 2], gap="large")
    with left:
        form = _form_values(run)
    labels, hourly, criterion, pair = form
    cache_key = (*browsing.results_state(store(), run), *form)
    plan = remembered(
        "label plan",
        cache_key,
        lambda: label_plan.label_plan(
            store(), run.id, criterion=criterion, labels=labels, pair=pair, hourly=hourly or None
        ),
    )
    with right:
        st.html(f'<div class="rs-prose">{esc(plan_words.plan_in_words(plan))}</div>')
        if plan.steps:
            _plan_table(plan, wages=bool(hourly))
            _make_queue(seat, run, plan, min(labels, plan.left))


def _leave_form() -> None:
    state.drop(QUEUE_FIELD)
    state.set_address(**{state.NEW: None, state.RUN: None})


def _form_values(run: RunRow) -> tuple[int, float, str, tuple[str, str] | None]:
    def field_key(field: str, value: object) -> str:
        name = state.key(QUEUE_FIELD, LABELS, field, run.id)
        state.seed(name, value)
        return name

    rubric = library.version_by_id(store(), run.rubric_version_id).rubric
    names = [c.name for c in rubric.criteria]
    criterion = ""
    if len(names) > 1:
        criterion = st.selectbox(
            "The question to answer",
            ["", *names],
            key=field_key("criterion", ""),
            format_func=lambda name: one_line(name, 60) or ALL,
        )
    labels = int(st.number_input("Labels more", 1, 100_000, step=25, key=field_key("labels", 100)))
    hourly = float(
        st.number_input(
            "A reviewer's hourly wage", 0.0, 10_000.0, step=5.0, key=field_key("hourly", 0.0)
        )
    )
    return (
        labels,
        hourly,
        criterion,
        _systems_to_separate(run, field_key("first", ""), field_key("second", "")),
    )


def _short_name(system: str) -> str:
    return one_line(system, 40) or "nothing"


def _systems_to_separate(run: RunRow, first: str, second: str) -> tuple[str, str] | None:
    """Return the two systems to tell apart, or `None` if the run has fewer than two."""
    systems = contests.systems_of(store(), run)
    if len(systems) < 2:
        return None
    names = ["", *systems]
    chosen = st.selectbox("Tell apart", names, key=first, format_func=_short_name)
    other = st.selectbox("from", names, key=second, format_func=_short_name)
    return (chosen, other) if chosen and other and chosen != other else None


def _plan_table(plan: LabelPlan, *, wages: bool) -> None:
    timed = any(step.minutes is not None for step in plan.steps)
    headings = ["Labels more", *(f"± {SHORT[draw]}" for draw in DRAWS)]
    headings += ["Power"] if plan.gap is not None else []
    headings += ["People's time"] if timed else []
    headings += ["Wages"] if timed and wages else []
    draw_table(
        headings,
        (_plan_row(step, plan, timed=timed, wages=wages) for step in plan.steps),
        name="What labels buy",
        numbers=range(len(headings)),
    )
    time = (
        ""
        if timed
        else " An estimate of the time appears once people have reviewed with this rubric."
    )
    mean = f"mean of {label(plan.criterion, 40)}" if plan.criterion else "mean score"
    mean += "" if plan.gap is None else " of all systems"
    st.caption(f"± is half the 95% interval of the corrected {mean}.{time}", help=SAYS)


def _plan_row(bought: LabelGain, plan: LabelPlan, *, timed: bool, wages: bool) -> list[str]:
    cells = [fmt.count(bought.labels)]
    cells += [fmt.DASH if w is None else fmt.score(w, 3) for w in bought.width.values()]
    cells += (
        [fmt.DASH if bought.power is None else fmt.percent(bought.power)]
        if plan.gap is not None
        else []
    )
    cells += (
        [fmt.DASH if bought.minutes is None else fmt.about_minutes(bought.minutes)] if timed else []
    )
    cells += (
        [fmt.DASH if bought.money is None else f"{bought.money:,.2f}"] if timed and wages else []
    )
    return cells


def _make_queue(seat: Seat, run: RunRow, plan: LabelPlan, labels: int) -> None:
    draw: DrawKind = (
        choose_one("Draw", DRAWS, default="even", key=state.key(QUEUES_ACT, LABELS, "draw"))
        or "even"
    )
    if st.button(
        f"Make a queue of about {fmt.plural(labels, 'cell')}",
        key=state.key(QUEUE_ACT, LABELS, "make"),
        type="primary",
    ):
        with shown_errors():
            queue = queues.make_queue(
                store(),
                seat,
                run.id,
                plan_queue.queue_name(plan, labels),
                plan_queue.queue_rule(plan, labels, draw),
                queues.USUAL,
                order="random",
            )
            state.drop(QUEUE_FIELD)
            state.set_address(**{state.NEW: None, state.QUEUE: queue.id, state.RUN: None})
            st.rerun()
