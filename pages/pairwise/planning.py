"""The form that plans contests and their next round, with the estimated cost."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.domain.runs import Run
from core.errors import InputError
from core.services.pairwise import contests, leaderboard
from core.services.pairwise.contests import ContestRequest, RankingOutlook
from core.services.pairwise.design import contest_rubric
from core.services.pairwise.leaderboard import with_first_round
from core.services.runs import planning
from core.services.runs.cost_estimate import JudgeEstimate
from core.services.runs.planning import RunChoices
from core.text import numbers as fmt
from pages.pairwise import questions
from pages.pairwise import selection as keys
from pages.pairwise.selection import ContestSelection
from pages.ui import routes, run_form, state
from pages.ui.resources import remembered, store
from pages.ui.run_form import PLAN_FIELD, seed_and_budget, start_button
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    draw_table,
    empty_state,
    page_header,
    show_figures,
    show_refusal,
    shown_errors,
)


def show_estimate(request: ContestRequest | None) -> None:
    """Draw the estimate and Start, or why a contest is impossible."""
    with st.container(border=True):
        st.html('<div class="rs-section">What it will take</div>')
        outlook = None if request is None else estimate_or_none(request)
        if outlook is not None and request is not None:
            _outlook_words(request, outlook)
        elif request is None:
            st.caption("Choose systems and judges to see the estimate here.")
        pressed = start_button(state.key(keys.CONTEST_ACT, "start"), outlook is not None)
    if pressed and request is not None:
        run_id = contests.start(store(), request)
        state.drop(PLAN_FIELD, "seed")
        state.drop(keys.CONTEST_FORM, "name")
        routes.go_to(routes.CONTESTS, {state.RUN: run_id})


def estimate_or_none(request: ContestRequest) -> RankingOutlook | None:
    """Return a request's estimate; or `None`, with the reason shown on the page."""
    cache_key = (contests.request_hash(request), request.join, request.bouts, request.seed)
    try:
        return remembered("contest", cache_key, lambda: contests.request_preview(store(), request))
    except InputError as error:
        show_refusal(error)
        return None


def _outlook_words(request: ContestRequest, outlook: RankingOutlook) -> None:
    estimate = outlook.estimate
    show_figures(
        [
            LabelledFigure("Contests", fmt.count(outlook.contests)),
            LabelledFigure("Calls to models", fmt.count(estimate.calls)),
            LabelledFigure("Votes", fmt.count(estimate.votes)),
            LabelledFigure("Cost", ("about " if estimate.cost else "") + fmt.cost(estimate.cost)),
        ],
        columns=2,
    )
    orders = "both orders" if request.design.orders == "both" else "one order"
    first = " of the first round" if request.design.kind == "adaptive" else ""
    questions = len(request.questions)
    parts = [
        fmt.plural(len(request.systems), "system"),
        orders,
        f"{fmt.plural(outlook.contests, 'contest')}{first} on {fmt.plural(outlook.tasks, 'task')}",
    ]
    parts += [fmt.plural(questions, "question")] if questions > 1 else []
    parts.append(fmt.plural(estimate.calls, "call"))
    st.caption(", ".join(parts) + ".")
    draw_table(
        ("Judge", "Calls", "Tokens in", "Tokens out", "Cost"),
        map(_judge_row, estimate.judges),
        name="The estimate for every judge",
        numbers=(1, 2, 3, 4),
    )
    for notice in outlook.notices:
        st.caption(label(notice))
    if any(estimate_row.cost is None for estimate_row in estimate.judges):
        st.warning(
            "The price of a judge is not known, so neither is the cost.", icon=":material/payments:"
        )


def _judge_row(judge_estimate: JudgeEstimate) -> list[str]:
    tokens = [
        fmt.tokens(n).removesuffix(" tokens")
        for n in (judge_estimate.tokens_in, judge_estimate.tokens_out)
    ]
    return [
        esc(judge_estimate.name),
        fmt.count(judge_estimate.calls),
        *tokens,
        fmt.cost(judge_estimate.cost),
    ]


BY_PROMPT, BY_ID = "the same prompt", "the same id"


def show() -> None:
    """Draw the whole form."""
    st.button(
        "All contests",
        key=state.key(keys.CONTEST_ACT, "back"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=state.set_address,
        kwargs={state.PLAN: None, state.DATASET: None},
    )
    page_header("Plan a contest", "No calls are made before you press Start.")
    choices = planning.choices(store())
    if not choices.datasets:
        empty_state(
            "There is no dataset yet",
            "A contest compares what several systems answered to the same tasks.",
            lambda: routes.draw_link(routes.DATASETS, "Open datasets", icon=""),
        )
        return
    form, side = st.columns([3, 2], gap="large")
    request: ContestRequest | None = None
    with form, shown_errors():
        request = _draw_form(choices)
    with side, st.container(key="rs_beside"), shown_errors():
        show_estimate(request)


def _draw_form(choices: RunChoices) -> ContestRequest | None:
    st.html('<div class="rs-section">What is compared</div>')
    data = _compared_data(choices)
    if data is None:
        return None
    versions, join, systems = data
    st.html('<div class="rs-section">What is asked</div>')
    chosen = questions.chosen_questions(choices)
    st.html('<div class="rs-section">Who meets whom</div>')
    design = questions.chosen_design(systems)
    if chosen is None:
        return None
    asked_questions, guidelines = chosen
    st.html('<div class="rs-section">Who judges</div>')
    panel = run_form.choose_panel(
        _able_choices(choices), contest_rubric(asked_questions, design), labelled=0
    )
    seed, budget = seed_and_budget()
    state.seed(field_key("replicates"), 1)
    replicates: int = st.number_input(
        "Votes per judge",
        1,
        20,
        key=field_key("replicates"),
        width=200,
        persist_state="session",
    )
    name = run_form.name_field(field_key("name"), "Names of the systems and the dataset")
    if panel is None:
        return None
    request = ContestRequest(
        datasets=versions,
        panel=panel,
        systems=systems,
        questions=asked_questions,
        design=design,
        guidelines=guidelines,
        join=join,
        name=name,
        seed=seed,
        replicates=replicates,
        budget=budget,
    )
    return with_first_round(request) if design.kind == "adaptive" else request


def _compared_data(
    choices: RunChoices,
) -> tuple[tuple[int, ...], str | None, tuple[str, ...]] | None:
    """Return the chosen dataset versions, the key to join their items by, and the systems."""
    names = {
        dataset.id: f"{dataset.name} ({fmt.plural(dataset.items, 'item')})"
        for dataset in choices.datasets
    }
    key = field_key("datasets")
    dataset_id = state.address_id(state.DATASET)
    first = [dataset_id] if dataset_id in names else []
    if dataset_id is not None and not first:
        state.report_unknown(state.DATASET, dataset_id)
    state.put(key, [chosen_id for chosen_id in state.get(key, first) if chosen_id in names])
    chosen: list[int] = st.multiselect(
        "Datasets",
        list(names),
        key=key,
        format_func=lambda choice: one_line(names[choice], 90),
        placeholder="A dataset whose items name their system, or a dataset for each system",
        persist_state="session",
    )
    if not chosen:
        st.info("Choose a dataset with answers of two systems or more.", icon=":material/dataset:")
        return None
    versions = tuple(planning.dataset_versions(store(), chosen_id)[0].id for chosen_id in chosen)
    join = _join_key(versions)
    cache_key = ("field", versions, join)
    available, tasks = remembered(
        "systems", cache_key, lambda: contests.systems_and_tasks_of(store(), versions, join)
    )
    systems = _chosen_systems(available, versions, join)
    if len(systems) < 2:
        st.info("Choose two systems or more.", icon=":material/swords:")
        return None
    st.caption(f"{fmt.plural(tasks, 'task')} that at least two systems answered.")
    return versions, join, systems


def _join_key(versions: tuple[int, ...]) -> str | None:
    """Return the chosen key that joins items to one task; `None` is the default."""
    default_key = BY_ID if len(versions) > 1 else BY_PROMPT
    names = remembered("meta", versions, lambda: contests.meta_names(store(), versions[0]))
    if not names:
        return None
    key = field_key("join", len(versions) > 1)
    if state.get(key) not in (default_key, *names):
        state.put(key, default_key)
    chosen: str = st.selectbox(
        "Answers belong to the same task if they have",
        [default_key, *names],
        key=key,
        format_func=lambda value: (
            value if value == default_key else f"the same note {one_line(value, 60)}"
        ),
        persist_state="session",
    )
    return None if chosen == default_key else chosen


def _chosen_systems(
    available: tuple[str, ...], versions: tuple[int, ...], join: str | None
) -> tuple[str, ...]:
    key = field_key("systems", *versions, join)
    state.seed(key, list(available))
    chosen: list[str] = st.multiselect(
        "Systems",
        list(available),
        key=key,
        format_func=lambda system: one_line(system, 60),
        placeholder="Choose two or more",
        persist_state="session",
    )
    return tuple(system for system in available if system in chosen)


def _able_choices(choices: RunChoices) -> RunChoices:
    """Return the choices with only the judges that can compare two answers: models."""
    judges = tuple(entry for entry in choices.judges if not entry.judge.offline)
    panels = tuple(
        panel for panel in choices.panels if not any(judge.offline for judge in panel.panel.judges)
    )
    if not panels and not judges:
        st.caption(label("Offline judges cannot compare two answers; add a model."))
    return replace(choices, judges=judges, panels=panels)


def field_key(*ids: object) -> str:
    """Return the key of a field of this form."""
    return state.key(keys.CONTEST_FORM, *ids)


PER_ROUND = 20


def show_next_round(run: Run, chosen: ContestSelection) -> None:
    """Draw the next round, if the contest is adaptive."""
    design = chosen.contests.rounds[chosen.run_id].design
    if design.kind != "adaptive" or run.active:
        return
    with st.container(border=True), shown_errors():
        key = state.key(keys.CONTEST_FIELD, "per round", run.id)
        state.seed(key, PER_ROUND)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            size: int = st.number_input("Contests of the next round", 1, 10_000, key=key, width=220)
            request = remembered(
                "next round",
                (*chosen.about, size),
                lambda: leaderboard.next_round(store(), chosen.runs, size),
            )
            outlook = None if request is None else estimate_or_none(request)
            st.button(
                "Hold it",
                key=state.key(keys.CONTEST_ACT, "round", run.id),
                type="primary",
                icon=":material/play_arrow:",
                disabled=outlook is None,
                on_click=_hold_contest,
                args=(request,),
            )
        if request is None:
            st.caption(
                "No contest is left: the systems are already separated, or all contests were held."
            )
        elif outlook is not None:
            calls, cost = fmt.plural(outlook.estimate.calls, "call"), outlook.estimate.cost
            st.caption(
                f"Round {len(chosen.runs) + 1}: the {fmt.plural(outlook.contests, 'contest')} that "
                f"would be most informative, {calls}, "
                f"{('cost unknown' if cost is None else fmt.cost(cost))}."
            )


def _hold_contest(request: ContestRequest | None) -> None:
    if request is not None:
        with shown_errors():
            run_id = contests.start(store(), request)
            state.set_address(**{state.RUN: run_id})
