"""Spot check: one submission, some judges, now. `?run=ID` reopens a check."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import RunItemRow, RunRow
from core.errors import InputError, NotFound
from core.services.judges import registry
from core.services.spot import request, spot_check, trials
from core.text import numbers as fmt
from core.text.names import visible
from pages.spot import form_data, result, submission
from pages.spot.form_data import SPOT_ACT, SPOT_FORMER, SPOT_REFUSED
from pages.ui import asking, routes, state
from pages.ui.asking_words import asking_line, rule_label
from pages.ui.resources import disabled_without, store
from pages.ui.run_status import status_words
from pages.ui.text import distinct_names, esc, label, one_line
from pages.ui.trial.judges import choose_judges, choose_teacher
from pages.ui.trial.kept_drafts import listed_drafts, writer
from pages.ui.widgets import (
    empty_state,
    page_header,
    problem_list,
    show_flash,
    show_refusal,
    shown_errors,
)

SHOWN = 8


def recent_checks(open_run: int | None) -> None:
    """Draw the list; without any checks, explain this page."""
    checks = [
        pair for pair in spot_check.recent_checks(store(), SHOWN + 1) if pair[0].id != open_run
    ]
    if not checks:
        if open_run is None:
            empty_state(
                "Nothing checked yet",
                "Paste a submission, choose who judges it, and see every vote in seconds, "
                "before you plan a whole run.",
            )
        return
    st.html('<div class="rs-section">Recent checks</div>')
    for run, item in checks[:SHOWN]:
        _check_card(run, item)


def _check_card(run: RunRow, item: RunItemRow) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        caption, tone = status_words(run)
        state_words = "" if tone == "good" else f" · {caption.lower()}"
        judges = fmt.plural(len(run.panel.judges), "judge")
        details = f"{run.rubric_name} · {judges} · {fmt.time_ago(run.created)}{state_words}"
        with st.container(width="stretch"):
            st.html(
                f"<b>{fmt.score(item.score)}</b> {esc(one_line(item.preview, 90))}<br>"
                f'<span class="rs-quiet">{esc(details)}</span>'
            )
        st.button(
            "Open",
            key=state.key(SPOT_ACT, "open", run.id),
            type="tertiary",
            on_click=state.set_address,
            kwargs={state.RUN: run.id},
        )


EXAMPLES_FROM = "Examples are labelled items chosen below; an item is never its own example."


def draw_judge_choice(rubric: Rubric | None) -> None:
    """Choose the panel, the judges, and the dataset that offline judges learn from."""
    _panel_choice()
    form = form_data.current_form()
    choose_judges(form_data.FIELDS, form.judges if form.panel else ())
    if any(not judge.offline for judge in request.judges_of(store(), form_data.current_form())):
        _asking_fields()
    if rubric is not None and request.needs_labels(store(), form_data.current_form()):
        choose_teacher(form_data.FIELDS, rubric, form.dataset if form.way == "item" else None)


def _asking_fields() -> None:
    start = form_data.current_form().asking
    now = asking.read_asking(_KEYS, start)
    head = label(f"{asking.HEAD}: {asking_line(now)}")
    with st.expander(head, icon=":material/tune:", key=form_data.field_key("tune")):
        asking.draw_fields(_KEYS, start, examples_from=EXAMPLES_FROM)
        st.caption("A spot check asks every judge at once, and every vote counts.")


def _on_asking() -> None:
    with shown_errors():
        choice = asking.read_asking(_KEYS, form_data.current_form().asking)
        form_data.set_fields(asking=choice)


_KEYS = asking.FieldKeys(lambda name: form_data.field_key("asking", name), changed=_on_asking)


def _panel_choice() -> None:
    panels = {row.id: row.panel for row in registry.list_panels(store())}
    if not panels:
        return
    key = form_data.field_key("panel")
    panel = form_data.current_form().panel
    state.seed(key, panel)
    if state.get(key) not in panels:
        state.put(key, None)
    st.selectbox(
        "Panel",
        list(panels),
        format_func=lambda i: visible(panels[i].name),
        key=key,
        index=None,
        placeholder="Fill in from a panel (optional)",
        on_change=_on_panel,
    )
    if panel in panels:
        rules = form_data.current_form().rules.model_dump().items()
        used = ", ".join(f"{scale}: {rule_label(rule).lower()}" for scale, rule in rules)
        st.caption(f"With the panel's rules ({used}).")


def _on_panel() -> None:
    with shown_errors():
        panel_id = state.get(form_data.field_key("panel"))
        form_data.change_form(request.with_panel(store(), form_data.current_form(), panel_id))
        state.drop(state.SPOT_FIELD, "judges")
        state.drop(state.SPOT_FIELD, "asking")


MAX_REPLICATES = 20


def check_form() -> None:
    """Draw the whole form."""
    _former_inputs()
    rubric = _chosen_rubric()
    submission.show()
    draw_judge_choice(rubric)
    _more_fields()
    st.button(
        "Grade now",
        key=state.key(SPOT_ACT, "grade"),
        type="primary",
        icon=":material/bolt:",
        shortcut="Mod+Enter",
        width="stretch",
        on_click=_on_grade,
        **disabled_without("write"),
    )
    _show_cost(rubric)
    refused = form_data.last_refusal()
    if refused is not None:
        show_refusal(refused)
    form = form_data.current_form()
    if rubric and form.judges and form.way == "text" and state.address_id(state.RUN) is None:
        submission.take_cursor()


def _former_inputs() -> None:
    if state.get(SPOT_FORMER) is None:
        return
    st.button(
        "Restore the previous form",
        key=state.key(SPOT_ACT, "former"),
        type="tertiary",
        icon=":material/undo:",
        on_click=form_data.restore_form,
    )


def _chosen_rubric() -> Rubric | None:
    place, chosen_before = st.container(), form_data.current_form().rubric
    kept = listed_drafts(chosen_before.removeprefix(request.DRAFT))
    choices = request.rubric_choices(store(), [(draft, writer(draft)) for draft in kept])
    if not choices:
        st.info("There is no rubric yet. Write a rubric, or start from a sample.")
        routes.draw_link(routes.RUBRICS, "Open rubrics")
        return None
    key = form_data.field_key("rubric")
    state.seed(key, chosen_before)
    if state.get(key) not in choices:
        state.put(key, next(iter(choices)))
    chosen = place.selectbox(
        "Rubric",
        list(choices),
        format_func=distinct_names(choices, 120).__getitem__,
        key=key,
        on_change=form_data.on_field,
        args=("rubric",),
    )
    if form_data.current_form().rubric != chosen:
        form_data.set_fields(rubric=chosen)
    try:
        rubric = request.rubric_of(store(), chosen)
    except (InputError, NotFound) as error:
        st.warning(label(f"This draft cannot be used yet. {str(error).splitlines()[0]}"))
        problem_list(error.problems if isinstance(error, InputError) else ())
        return None
    names = ", ".join(criterion.name for criterion in rubric.criteria)
    st.caption(label(f"{fmt.plural(len(rubric.criteria), 'criterion', 'criteria')}: {names}", 240))
    return rubric


def _more_fields() -> None:
    form = form_data.current_form()
    changed = form.replicates != 1 or form.seed is not None
    seed = "drawn" if form.seed is None else str(form.seed)
    caption = f"Replicates {form.replicates}, seed {seed}" if changed else "Replicates and seed"
    expander = st.expander(caption, icon=":material/tune:", key=form_data.field_key("more"))
    with expander, st.grid(2, min_column_width=160):
        _number_field(
            "replicates",
            "Replicates",
            (1, MAX_REPLICATES),
            "The number of votes per judge, each with another order of options.",
        )
        _number_field(
            "seed",
            "Seed",
            (0, 2**31 - 1),
            "Decides the order of options. The same seed gives the same order.",
        )


def _number_field(name: str, caption: str, limits: tuple[int, int], help: str) -> None:
    key = form_data.field_key(name)
    state.seed(key, getattr(form_data.current_form(), name))
    st.number_input(
        caption,
        min_value=limits[0],
        max_value=limits[1],
        step=1,
        key=key,
        placeholder="drawn for you",
        on_change=form_data.on_field,
        args=(name,),
        help=help,
    )


def _show_cost(rubric: Rubric | None) -> None:
    """Show the cost of the check, if the form is complete."""
    form, judges = form_data.current_form(), request.judges_of(store(), form_data.current_form())
    if rubric is None or not judges:
        return
    try:
        estimate = trials.estimate_trial(store(), request.trial_of(store(), form))
    except (InputError, NotFound):
        return
    parts = [fmt.plural(len(rubric.criteria), "criterion", "criteria")]
    parts.append(fmt.plural(len(judges), "judge"))
    parts += [fmt.plural(form.replicates, "replicate")] if form.replicates > 1 else []
    parts += ["both orders"] if estimate.calls and form.asking.flip != "off" else []
    st.caption(label(f"{' × '.join(parts)}: {estimate.words}.", 300))


def _on_grade() -> None:
    with shown_errors():
        form_data.sync_fields()
        state.drop(SPOT_REFUSED)
        try:
            run_id = spot_check.check(store(), form_data.current_form())
        except (InputError, NotFound) as error:
            form_data.keep_refusal(error)
            return
        state.drop(SPOT_FORMER)
        state.set_address(**{state.RUN: run_id})


page_header(
    "Spot check", "See every vote of some judges on one submission. Your input here is kept."
)
show_flash()
form_data.load_form()
_run = state.address_id(state.RUN)
_left, _right = st.columns([5, 6], gap="large")
if state.is_arriving():
    state.drop(state.SPOT_FIELD)
with _left, shown_errors():
    check_form()
state.note_arrival()
with _right, shown_errors():
    if _run is not None:
        result.show(_run)
    recent_checks(_run)
