"""Parts of the forms that start a run: judges, their rules, the estimate, the start button."""

from __future__ import annotations

import streamlit as st

from core import clock
from core.domain.panel import Judge, Panel
from core.domain.rubric import RULES, Rubric, Scale
from core.errors import InputError
from core.identity import content_hash
from core.services.guided import judging
from core.services.judges.panel_setup import PanelSetup, setup_of
from core.services.runs import cost_estimate, lifecycle, planning
from core.services.runs.cost_estimate import CostEstimate, JudgeEstimate
from core.services.runs.planning import RunChoices, RunRequest
from core.text import numbers as fmt
from pages.ui import asking, routes, state
from pages.ui.asking import FieldKeys
from pages.ui.asking_words import RULE_WORDS, SCALE_NAMES, rule_label, who_answers
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.trial.judges import show_missing_keys
from pages.ui.widgets import (
    LabelledFigure,
    choose_one,
    draw_table,
    show_figures,
    show_refusal,
)

PLAN_FIELD = "plan_field"
RUNS_ACT = "runs_act"
SWEPT = "plan_swept"

SAVED, PICKED = "A saved panel", "Choose judges"
OWN_PANEL = "Chosen judges"


def choose_panel(choices: RunChoices, rubric: Rubric, *, labelled: int) -> Panel | None:
    """Return the chosen panel; `None` (after showing why) without a judge.

    `labelled` is how many items the judges can learn from.
    """
    _propose_judges(choices, labelled)
    saved = _saved_panel(choices)
    judges = saved.judges if saved is not None else _picked_judges(choices)
    if not judges:
        st.info("Choose at least one judge.", icon=":material/gavel:")
        return None
    rules = _scale_rules(saved, rubric, len(judges))
    panel_name = saved.name if saved else OWN_PANEL
    chosen = planning.panel_of(panel_name, judges, rules, _seating_setup(saved, judges))
    show_missing_keys(chosen.judges)
    return chosen


def _propose_judges(choices: RunChoices, labelled: int) -> None:
    """Fill in the last run's judges, or suitable ones, until the person chooses others."""
    panel_id, names = judging.planned(store(), choices, labelled)
    state.guess(plan_key("how"), PICKED if panel_id is None and choices.judges else SAVED)
    state.guess(plan_key("judges"), list(names))
    if panel_id is not None:
        state.guess(plan_key("panel"), panel_id)


def _seating_setup(saved: Panel | None, judges: tuple[Judge, ...]) -> PanelSetup:
    """Return how this run asks its judges: as the panel does, unless changed here."""
    # After a panel was changed, the fields start again from its settings.
    source = content_hash(saved.model_dump()) if saved else OWN_PANEL
    start = setup_of(saved) if saved else PanelSetup()
    keys_of_panel = FieldKeys(lambda name: plan_key("seating", source, name), lasting=True)
    return asking.setup_fields(
        keys_of_panel,
        start,
        [judge.name for judge in judges],
        models=any(not judge.offline for judge in judges),
    )


def name_field(key: str, placeholder: str, most: int = 200) -> str:
    """Return the typed name of a run, stripped; `placeholder` is the default."""
    name: str = st.text_input(
        "Name (optional)",
        key=key,
        max_chars=most,
        placeholder=placeholder,
        persist_state="session",
    )
    return " ".join(name.split())


def _saved_panel(choices: RunChoices) -> Panel | None:
    if not choices.panels:
        return None
    mode = choose_one("Judges", [SAVED, PICKED], key=plan_key("how"), persist_state="session")
    if mode != SAVED:
        return None
    panels = {panel_row.id: panel_row.panel for panel_row in choices.panels}
    if state.get(plan_key("panel")) not in panels:
        state.put(plan_key("panel"), next(iter(panels)))
    chosen: int = st.selectbox(
        "Panel",
        list(panels),
        key=plan_key("panel"),
        format_func=lambda value: one_line(panels[value].name, 90),
        persist_state="session",
    )
    names = ", ".join(_judge_words(judge) for judge in panels[chosen].judges)
    st.caption(label(names))
    return panels[chosen]


def _judge_words(judge: Judge) -> str:
    return f"{judge.name} ({who_answers(judge)})"


def _picked_judges(choices: RunChoices) -> tuple[Judge, ...]:
    judges = {judge.name: judge.judge for judge in choices.judges}
    if not judges:
        routes.draw_link(routes.JUDGES, "Add a judge first")
        return ()
    # The forms of runs and contests share the field; only models can compare two answers.
    key, before = plan_key("judges"), state.get(plan_key("judges")) or []
    if not set(before) <= set(judges):
        state.put(key, [name for name in before if name in judges])
    names: list[str] = st.multiselect(
        "Judges",
        list(judges),
        key=key,
        format_func=lambda name: one_line(_judge_words(judges[name]), 90),
        placeholder="Choose one or more",
        label_visibility="collapsed",
        persist_state="session",
    )
    return tuple(judges[name] for name in names)


def _scale_rules(saved: Panel | None, rubric: Rubric, judges: int) -> dict[Scale, str]:
    """Return each scale's rule: as in the saved panel, or as chosen for scales of the rubric."""
    rules: dict[Scale, str] = {
        scale: getattr(saved.rules, scale) if saved else RULES[scale][0] for scale in RULES
    }
    panel_name = saved.name if saved else OWN_PANEL
    with st.expander("How votes become a verdict", expanded=judges > 1 and saved is None):
        own_rules = sum(c.aggregation is not None for c in rubric.criteria)
        if own_rules:
            st.caption(f"{own_rules} of the rubric's criteria have their own rule.")
        for scale in planning.scales_of(rubric):
            key = plan_key("rule", scale, panel_name)
            state.seed(key, rules[scale])
            rules[scale] = st.selectbox(
                SCALE_NAMES[scale],
                RULES[scale],
                key=key,
                format_func=rule_label,
                persist_state="session",
            )
            st.caption(RULE_WORDS[scale][rules[scale]])
    return rules


def plan_key(*ids: object) -> str:
    """Return the key of one field of the form."""
    return state.key(PLAN_FIELD, *ids)


def back_button() -> None:
    """Draw the button back to the list."""
    st.button(
        "All runs",
        key=state.key(RUNS_ACT, "back"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=_on_back,
    )


def _on_back() -> None:
    state.drop(SWEPT)
    state.set_address(**{state.PLAN: None, state.RUBRIC: None, state.DATASET: None})


def seed_and_budget() -> tuple[int, float | None]:
    """Return the seed, and the budget of one run in US dollars (`None`: no limit)."""
    state.seed(plan_key("seed"), clock.draw_seed())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed: int = st.number_input(
            "Seed",
            0,
            2**31 - 1,
            key=plan_key("seed"),
            width=180,
            persist_state="session",
            help="Decides the order in which options are shown, and which items are drawn. The "
            "same seed gives the same run.",
        )
        st.button("Draw another", key=state.key(RUNS_ACT, "seed"), on_click=_on_seed)
        budget: float | None = st.number_input(
            "Budget in US dollars",
            min_value=0.01,
            value=None,
            key=plan_key("budget"),
            width=200,
            placeholder="No limit",
            persist_state="session",
            help="The run stops when this is spent; finished votes are kept.",
        )
    return seed, budget


def _on_seed() -> None:
    state.put(plan_key("seed"), clock.draw_seed())


def show_estimate(request: RunRequest | None) -> None:
    """Draw a request's estimate and Start, or why a run is impossible."""
    with st.container(border=True):
        st.html('<div class="rs-section">What it will take</div>')
        estimate = None if request is None else _estimate_or_none(request)
        if request is not None and estimate is not None:
            _estimate_figures(estimate, any(judge.learns for judge in request.panel.judges))
        elif request is None:
            st.caption("Choose judges to see the estimate here.")
        _start_button(request if estimate is not None else None)


def _estimate_or_none(request: RunRequest) -> CostEstimate | None:
    # The seed does not change how many calls are made. It is part of the key only if items are
    # drawn, because their lengths differ.
    cache_key = (
        request.rubric_version,
        request.dataset_version,
        request.panel.model_dump_json(),
        request.seed if request.drawn else None,
        request.replicates,
        request.label_share,
        request.limit,
        request.drawn,
        request.batch,
    )
    try:
        return remembered(
            "estimate", cache_key, lambda: cost_estimate.estimate_request(store(), request)
        )
    except InputError as error:
        show_refusal(error)
        return None


def _estimate_figures(estimate: CostEstimate, learners: bool) -> None:
    most = "at most " if estimate.at_most else ""
    about = most or "about " if estimate.cost else ""
    show_figures(
        [
            LabelledFigure("Items", fmt.count(estimate.items)),
            LabelledFigure("Votes", most + fmt.count(estimate.votes)),
            LabelledFigure(
                "Calls to models", (most if estimate.calls else "") + fmt.count(estimate.calls)
            ),
            LabelledFigure("Cost", about + fmt.cost(estimate.cost)),
        ],
        columns=2,
    )
    if estimate.at_most:
        st.caption(
            "This is the maximum; the savings of stages and early stops are known afterwards."
        )
    if estimate.calibration:
        learned = fmt.plural(estimate.calibration, "labelled item")
        verb = "Offline judges learn from" if learners else "Examples are drawn from"
        st.caption(f"{verb} {learned}; these items are not graded.")
        if estimate.twins:
            st.caption(estimate.twins.in_words())
    if estimate.calls:
        draw_table(
            ("Judge", "Calls", "Tokens in", "Tokens out", "Cost"),
            (_judge_row(judge) for judge in estimate.judges),
            name="The estimate for every judge",
            numbers=(1, 2, 3, 4),
        )
        st.caption(_time_words(estimate))
    if estimate.brief_suits:
        st.caption(f"{cost_estimate.BRIEF_SUITS} The setting is under Wording.")
    if estimate.batch and estimate.direct:
        st.caption(f"Without a batch the run would cost about {fmt.cost(estimate.direct)}.")
    unpriced = [judge.name for judge in estimate.judges if judge.cost is None]
    if unpriced:
        st.warning(
            label(
                f"The price of {', '.join(unpriced)} is not known, so the cost is unknown and a "
                "budget cannot stop the run. Enter prices on the Judges page."
            ),
            icon=":material/payments:",
        )


def _judge_row(judge: JudgeEstimate) -> list[str]:
    tokens = [fmt.tokens(n).removesuffix(" tokens") for n in (judge.tokens_in, judge.tokens_out)]
    return [esc(judge.name), fmt.count(judge.calls), *tokens, fmt.cost(judge.cost)]


def _time_words(estimate: CostEstimate) -> str:
    caption = "Tokens are estimated at 4 characters each and 150 for an answer."
    if estimate.batch:
        return f"{caption} The answers come within a day of sending, often sooner."
    if estimate.seconds is None:
        return (
            f"{caption} The time is unknown: test the connection on the Judges page to get an "
            "estimate."
        )
    return (
        f"{caption} At the speed of the last test it takes about {fmt.seconds(estimate.seconds)}."
    )


def start_button(key: str, ready: bool, words: str = "Start") -> bool:
    """Draw the button below an estimate; return whether it was pressed."""
    return st.button(
        words,
        key=key,
        type="primary",
        icon=":material/play_arrow:",
        disabled=not ready,
        width="stretch",
    )


def _start_button(request: RunRequest | None) -> None:
    pressed = start_button(state.key(RUNS_ACT, "start"), request is not None)
    if pressed and request is not None:
        run_id = lifecycle.start(store(), request)
        state.drop(PLAN_FIELD, "seed")
        routes.go_to(routes.RUN, {state.RUN: run_id})
