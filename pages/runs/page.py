"""Runs: the list, the form that plans one (`?plan=new`), or many at once (`?plan=sweep`)."""

from __future__ import annotations

import streamlit as st

from core.domain.panel import Panel
from core.domain.runs import RunRow
from core.scoring.explanation import ungraded_words
from core.services.guided import judging
from core.services.runs import cost_estimate, lifecycle, planning
from core.services.runs.batches import lanes
from core.services.runs.planning import LABEL_SHARE, RunChoices, RunRequest
from core.text import numbers as fmt
from pages.runs import choosing, sweeping
from pages.ui import routes, run_form, state
from pages.ui.resources import disabled_without, store
from pages.ui.run_form import RUNS_ACT, SWEPT, plan_key
from pages.ui.run_status import cost_words, raters_line, status_tag, versions_line, votes_words
from pages.ui.text import esc, label
from pages.ui.widgets import (
    draw_row,
    empty_state,
    page_header,
    search_box,
    show_flash,
    shown_errors,
)

RUNS_FILTER = "runs_filter"

PAGE = 20
POLL_SECONDS = 1.5


def run_list() -> None:
    """Draw the whole list screen."""
    page_header("Runs", "A run asks judges about every item and keeps every vote.")
    show_flash()
    search = _draw_toolbar()
    offset = (_page_number() - 1) * PAGE
    rows, total = lifecycle.runs_page(store(), search=search, limit=PAGE, offset=offset)
    if not total:
        _show_nothing(search)
        return
    active = any(run_row.active for run_row in rows)
    st.fragment(_run_cards, run_every=POLL_SECONDS if active else None)(search, offset, active)
    _page_numbers(total)


def _draw_toolbar() -> str:
    search = state.address(state.FIND) or ""
    key = state.key(RUNS_FILTER, "find")
    state.put(key, search)
    with st.container(horizontal=True, vertical_alignment="center"):
        search_box(
            key, "Search by name, rubric, dataset", width=280, on_change=_on_search, args=(key,)
        )
        st.button(
            "Plan a run",
            key=state.key(RUNS_ACT, "plan"),
            type="primary",
            icon=":material/add:",
            on_click=open_plan_form,
            **disabled_without("write"),
        )
        st.button(
            "Plan a sweep",
            key=state.key(RUNS_ACT, "sweep"),
            icon=":material/tune:",
            on_click=open_plan_form,
            args=(state.SWEEP,),
            **{
                "help": "Many runs in one step: examples, judges or ways of asking are varied.",
                **disabled_without("write"),
            },
        )
        routes.draw_link(
            routes.IMPORT_VOTES,
            "Import votes",
            icon="upload_file",
            help="Answers of people or models from elsewhere become a run.",
        )
    return search


def open_plan_form(what: str = "new") -> None:
    """Callback: open the form that plans a run, or a sweep."""
    state.drop(SWEPT)
    state.set_address(**{state.PLAN: what, state.FIND: None, state.PAGE: None})


def _on_search(key: str) -> None:
    state.set_address(**{state.FIND: state.get(key) or None, state.PAGE: None})


def _page_number() -> int:
    return max(1, state.address_id(state.PAGE) or 1)


def _page_numbers(total: int) -> None:
    if total <= PAGE:
        return
    key = state.key(RUNS_FILTER, "page")
    count = -(-total // PAGE)
    state.put(key, min(_page_number(), count))
    st.pagination(count, key=key, on_change=_on_page, args=(key,))


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key)})


def _show_nothing(search: str) -> None:
    if search:
        empty_state("Nothing found", "The name, rubric or dataset of no run contains these words.")
        return
    empty_state(
        "No runs yet",
        "Plan a run: choose a rubric, a dataset and judges, see the cost, and start the run.",
        lambda: st.button(
            "Plan a run",
            key=state.key(RUNS_ACT, "first"),
            icon=":material/add:",
            on_click=open_plan_form,
            **disabled_without("write"),
        ),
    )


def _run_cards(search: str, offset: int, was_active: bool) -> None:
    with shown_errors():
        rows, _ = lifecycle.runs_page(store(), search=search, limit=PAGE, offset=offset)
        if was_active and not any(run_row.active for run_row in rows):
            st.rerun()
        for run_row in rows:
            _run_card(run_row)


def _run_card(run: RunRow) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            routes.draw_link(routes.RUN, label(run.name, 90), {state.RUN: run.id})
            draw_row([status_tag(run)])
        if run.active:
            answered = run.votes + run.failures_open
            st.progress(min(1.0, answered / run.planned) if run.planned else 1.0)
        lines = (f"{versions_line(run)} · {raters_line(run)}", " · ".join(_run_facts(run)))
        st.html("".join(f'<div class="rs-quiet rs-num">{esc(line)}</div>' for line in lines))


def _run_facts(run: RunRow) -> list[str]:
    score, agreement, ungraded = lifecycle.run_means(store(), run.id)
    facts = [f"run {run.id}", f"{fmt.plural(run.items, 'item')}", votes_words(run)]
    if lifecycle.cells_not_needed(run):
        facts.append(f"{fmt.count(lifecycle.cells_not_needed(run))} not needed")
    if score is not None:
        facts.append(f"mean score {fmt.score(score)}")
    if ungraded:
        facts.append(ungraded_words(ungraded))
    if agreement is not None and len(run.panel.judges) > 1:
        facts.append(f"agreement {fmt.score(agreement)}")
    if run.failures_open:
        facts.append(fmt.plural(run.failures_open, "failure"))
    if run.calls:
        facts.append(cost_words(run))
    return [*facts, fmt.time_ago(run.created)]


def plan_form() -> None:
    """Draw the whole form."""
    run_form.back_button()
    page_header("Plan a run", "No calls are made before you press Start.")
    choices = planning.choices(store())
    if not choices.rubrics or not choices.datasets:
        choosing.show_missing(choices)
        return
    form, side = st.columns([3, 2], gap="large")
    request: RunRequest | None = None
    with form, shown_errors():
        request = _run_form(choices)
    with side, st.container(key="rs_beside"), shown_errors():
        run_form.show_estimate(request)


def _run_form(choices: RunChoices) -> RunRequest | None:
    st.html('<div class="rs-section">What is judged</div>')
    rubric = choosing.choose_rubric(choices)
    dataset, items = choosing.choose_dataset(choices)
    limit, drawn = choosing.choose_items(items)
    st.html('<div class="rs-section">Who judges</div>')
    version = planning.rubric_at(store(), rubric)
    panel = run_form.choose_panel(
        choices, version, labelled=judging.count_labelled(store(), dataset, version)
    )
    st.html('<div class="rs-section">How</div>')
    share = _label_share(dataset, panel)
    replicates = _replicates_field()
    batch = _batch_toggle(panel)
    seed, budget = run_form.seed_and_budget()
    name = run_form.name_field(plan_key("name"), "The rubric's and the dataset's names")
    if panel is None:
        return None
    return RunRequest(
        rubric_version=rubric,
        dataset_version=dataset,
        panel=panel,
        name=name,
        seed=seed,
        replicates=replicates,
        budget=budget,
        label_share=share,
        limit=limit,
        drawn=drawn,
        batch=batch,
    )


def _batch_toggle(panel: Panel | None) -> bool:
    """Return whether models are asked in batches; offered if every model of the panel can be."""
    if panel is None or all(judge.offline for judge in panel.judges):
        return False
    reasons_against = lanes.without_batches(panel)
    in_batches: bool = st.toggle(
        "Ask in batches, at half the price",
        key=plan_key("batch"),
        disabled=bool(reasons_against),
        persist_state="session",
        help="The questions go to the provider in files, and the answers come within a day, often "
        "sooner. You may close the app meanwhile: the run continues when the app is open again.",
    )
    if reasons_against:
        reasons = " ".join(f"{name} {reason}" for name, reason in reasons_against.items())
        st.caption(label(f"Batches are not possible: {reasons}"))
    return in_batches and not reasons_against


def _label_share(dataset: int, panel: Panel | None) -> float:
    learners = _learner_words(panel)
    if not learners:
        return LABEL_SHARE
    labelled, marked = cost_estimate.teaching_items(store(), dataset)
    if marked:
        st.caption(
            f"The dataset marks {fmt.plural(marked, 'labelled item')} as its calibration "
            f"part. {learners} those, and they are not graded."
        )
        return LABEL_SHARE
    if not labelled:
        return LABEL_SHARE
    state.seed(plan_key("share"), round(100 * LABEL_SHARE))
    share: int = st.slider(
        "Labelled items to learn from",
        5,
        95,
        step=5,
        format="%d%%",
        key=plan_key("share"),
        persist_state="session",
        help=f"{learners} this share of the {labelled} labelled items. "
        "These items are not graded; the judges are measured on the other labelled items.",
    )
    return share / 100


def _learner_words(panel: Panel | None) -> str:
    """Return the judges that need labelled items, with a verb; empty if there are none."""
    if panel is None:
        return ""
    models = any(not judge.offline for judge in panel.judges)
    examples = bool(panel.asking.few_shot) and models
    if any(judge.learns for judge in panel.judges):
        shown = ", and examples for models are drawn from" if examples else ""
        return f"Offline judges learn from{shown}"
    return "Examples are drawn from" if examples else ""


def _replicates_field() -> int:
    state.seed(plan_key("replicates"), 1)
    count: int = st.number_input(
        "Votes per judge", 1, 20, key=plan_key("replicates"), persist_state="session"
    )
    st.caption(
        "One vote is usual. Several votes show whether a judge agrees with itself, and make the "
        "verdict more stable, but they multiply calls and cost"
        f"{'' if count == 1 else f' (here by {count})'}."
    )
    return count


_plan = state.address_in(state.PLAN, (state.NEW, state.SWEEP))
if _plan is None:
    run_list()
elif _plan == state.SWEEP:
    sweeping.show()
else:
    plan_form()
