"""The form that sets up a sweep: what to vary, the estimated cost, and one button."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.domain.panel import Panel
from core.errors import InputError
from core.services.guided import judging
from core.services.runs import planning, sweeps
from core.services.runs.cost_estimate import CostEstimate
from core.services.runs.planning import LABEL_SHARE, RunChoices, RunRequest
from core.services.runs.sweeps import Judging, Sweep, SweepAxes
from core.text import numbers as fmt
from pages.runs import choosing
from pages.ui import asking_words as words
from pages.ui import routes, run_form, state
from pages.ui.resources import remembered, store
from pages.ui.run_form import PLAN_FIELD, RUNS_ACT, SWEPT, plan_key, start_button
from pages.ui.text import esc, label
from pages.ui.widgets import (
    LabelledFigure,
    draw_table,
    empty_state,
    page_header,
    problem_list,
    show_figures,
    shown_errors,
)

EXAMPLES = (0, 1, 2, 3, 5, 8, 10, 15, 20)
TIMES = (1, 2, 3, 5, 10)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
JUDGING: dict[Judging, str] = {
    "together": "The panel together",
    "alone": "Each judge alone",
    "both": "Both",
}


def show() -> None:
    """Draw the whole form; after the start, a link to the comparison."""
    if state.get(SWEPT):
        _show_started()
        return
    run_form.back_button()
    page_header(
        "Plan a sweep",
        "Many runs in one step: all grade the same items with the same seed, so that their "
        "differences are paired.",
    )
    choices = planning.choices(store())
    if not choices.rubrics or not choices.datasets:
        choosing.show_missing(choices)
        return
    form, side = st.columns([3, 2], gap="large")
    sweep_form = None
    with form, shown_errors():
        sweep_form = _sweep_form(choices)
    with side, st.container(key="rs_beside"):
        _sweep_outlook(sweep_form)


def _sweep_form(choices: RunChoices) -> tuple[RunRequest, SweepAxes] | None:
    st.html('<div class="rs-section">What is judged</div>')
    rubric = choosing.choose_rubric(choices)
    dataset, items = choosing.choose_dataset(choices)
    limit, drawn = choosing.choose_items(items)
    st.html('<div class="rs-section">Who judges</div>')
    version = planning.rubric_at(store(), rubric)
    panel = run_form.choose_panel(
        choices, version, labelled=judging.count_labelled(store(), dataset, version)
    )
    st.html('<div class="rs-section">What to vary</div>')
    st.caption("Every combination is a run. Leave a field empty to keep the panel's setting.")
    axes = _sweep_axes(panel)
    st.html('<div class="rs-section">How</div>')
    seed, budget = run_form.seed_and_budget()
    name = run_form.name_field(_form_key("name"), "Sweep", 120)
    if panel is None:
        return None
    request = RunRequest(
        rubric_version=rubric,
        dataset_version=dataset,
        panel=panel,
        name=name,
        seed=seed,
        budget=budget,
        limit=limit,
        drawn=drawn,
    )
    return request, axes


def _sweep_axes(panel: Panel | None) -> SweepAxes:
    few_shot = _pick_values("Labelled examples shown", "few_shot", EXAMPLES, str)
    side: Judging = "together"
    if panel is not None and len(panel.judges) > 1:
        state.seed(_form_key("judging"), side)
        chosen: Judging | None = st.segmented_control(
            "Judges",
            list(JUDGING),
            key=_form_key("judging"),
            format_func=JUDGING.__getitem__,
            required=True,
            persist_state="session",
        )
        side = chosen or side
    modes = _pick_values(
        "Criteria per call", "modes", tuple(words.MODES), lambda m: words.MODES[m][0]
    )
    layouts = _pick_values(
        "What comes first", "layouts", tuple(words.LAYOUTS), words.LAYOUTS.__getitem__
    )
    times = _pick_values("Votes per judge", "replicates", TIMES, str)
    shares = _pick_values(
        "Labelled items to learn from",
        "shares",
        SHARES,
        fmt.percent,
        help=f"Without a choice: {fmt.percent(LABEL_SHARE)}. A smaller share is a subset of a "
        "larger one. If the dataset marks a calibration part, judges learn from that part "
        "instead.",
    )
    return SweepAxes(few_shot, side, modes, layouts, times, shares)


def _pick_values(
    name: str,
    setting: str,
    options: tuple[Any, ...],
    words_of: Callable[[Any], str],
    help: str = "",
) -> tuple[Any, ...]:
    chosen = st.pills(
        name,
        list(options),
        selection_mode="multi",
        key=_form_key(setting),
        format_func=words_of,
        help=help or None,
        persist_state="session",
    )
    return tuple(option for option in options if option in chosen)


def _sweep_outlook(form: tuple[RunRequest, SweepAxes] | None) -> None:
    with st.container(border=True):
        st.html('<div class="rs-section">What it will take</div>')
        sweep = None
        if form is None:
            st.caption("Choose judges to see the estimate here.")
        else:
            sweep = _estimated_sweep(*form)
        name = "Start all runs" if sweep is None else f"Start {len(sweep.variants)} runs"
        pressed = start_button(state.key(RUNS_ACT, "start sweep"), sweep is not None, name)
        if pressed and sweep is not None:
            started = sweeps.start_sweep(store(), sweep)
            state.drop(PLAN_FIELD, "seed")
            state.put(SWEPT, list(started))
            st.rerun()


def _estimated_sweep(request: RunRequest, axes: SweepAxes) -> Sweep | None:
    try:
        cache_key = (repr(request), repr(axes))
        sweep, runs = remembered("sweep", cache_key, lambda: _plan_and_estimate(request, axes))
    except InputError as error:
        st.info(label(error.message), icon=":material/tune:")
        problem_list(error.problems)
        return None
    budget, costs = request.budget, [run.cost for run in runs]
    cost = None if None in costs else sum(known for known in costs if known is not None)
    show_figures(
        [
            LabelledFigure("Runs", fmt.count(len(sweep.variants))),
            LabelledFigure("Items in each", fmt.count(len(sweep.items))),
            LabelledFigure("Calls to models", fmt.count(sum(run.calls for run in runs))),
            LabelledFigure("Cost of all", ("about " if cost else "") + fmt.cost(cost)),
        ],
        columns=2,
    )
    if sweep.teaching:
        example_words = fmt.plural(len(sweep.teaching), "labelled item")
        st.caption(
            f"{example_words} may train judges or be shown as examples; no run is measured on them."
        )
    if sweep.same:
        st.caption(f"{fmt.plural(sweep.same, 'combination')} would only repeat another run.")
    draw_table(
        ("Run", "Calls", "Cost"),
        (
            (esc(sweeps.variant_words(variant)), fmt.count(of.calls), fmt.cost(of.cost))
            for variant, of in zip(sweep.variants, runs, strict=True)
        ),
        name="The runs of the sweep",
        numbers=(1, 2),
    )
    if cost is None:
        st.warning(
            "A price is not known. Enter prices on the Judges page.", icon=":material/payments:"
        )
    if budget is not None:
        st.caption(f"The budget of {fmt.cost(budget)} is for each run.")
    return sweep


def _plan_and_estimate(request: RunRequest, axes: SweepAxes) -> tuple[Sweep, list[CostEstimate]]:
    sweep = sweeps.plan_sweep(store(), request, axes)
    return sweep, sweeps.estimate_sweep(store(), sweep)


def _show_started() -> None:
    """Show after the start that all runs are queued, and the link to their comparison."""
    run_ids: list[int] = state.get(SWEPT)
    page_header("Sweep started", f"{fmt.plural(len(run_ids), 'run')} wait their turn.")
    empty_state(
        f"Runs {run_ids[0]} to {run_ids[-1]}",
        "Compare shows what changed between any two of them, and accuracy against cost over all, "
        "as soon as votes come in.",
        lambda: routes.draw_link(
            routes.COMPARE, "Compare these runs", {"runs": ",".join(map(str, run_ids))}
        ),
    )
    run_form.back_button()


def _form_key(*ids: object) -> str:
    return plan_key("sweep", *ids)
