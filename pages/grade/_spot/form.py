"""The form of a check, top to bottom: rubric, submission, judges, and the button."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError, NotFound
from core.files.visible import visible
from core.services import numbers as fmt
from core.services import spot, spot_form
from pages.grade._spot import judges, submission, work
from pages.grade._spot.work import SPOT_ACT, SPOT_FORMER, SPOT_REFUSED
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.widgets import problem_list, shown_errors

MAX_REPLICATES = 20


def show() -> None:
    """The whole form."""
    _former()
    rubric = _rubric()
    submission.show()
    judges.show(rubric)
    _more()
    st.button(
        "Grade now",
        key=state.key(SPOT_ACT, "grade"),
        type="primary",
        icon=":material/bolt:",
        shortcut="Mod+Enter",
        width="stretch",
        on_click=_on_grade,
    )
    _plan(rubric)
    _refusal()


def _former() -> None:
    if state.get(SPOT_FORMER) is None:
        return
    st.button(
        "Bring back what stood here before",
        key=state.key(SPOT_ACT, "former"),
        type="tertiary",
        icon=":material/undo:",
        on_click=work.bring_back,
    )


def _rubric() -> Rubric | None:
    choices = {choice.key: choice for choice in spot_form.rubric_choices(store())}
    if not choices:
        st.info("There is no rubric yet. Write one, or start from a sample.")
        routes.link(routes.RUBRICS, "Open rubrics")
        return None
    key = work.field("rubric")
    state.seed(key, work.form()["rubric"])
    if state.get(key) not in choices:
        state.put(key, next(iter(choices)))
    chosen = st.selectbox(
        "Rubric",
        list(choices),
        format_func=lambda k: f"{visible(choices[k].name)} · {choices[k].words}",
        key=key,
        on_change=work.on_field,
        args=("rubric",),
    )
    if work.form()["rubric"] != chosen:
        work.set_fields(rubric=chosen)
    try:
        rubric = spot_form.rubric_of(store(), chosen)
    except (InputError, NotFound) as error:
        st.warning(label(f"This draft cannot be used yet. {str(error).splitlines()[0]}"))
        problem_list(error.problems if isinstance(error, InputError) else ())
        return None
    names = ", ".join(criterion.name for criterion in rubric.criteria)
    st.caption(label(f"{fmt.plural(len(rubric.criteria), 'criterion', 'criteria')}: {names}", 240))
    return rubric


def _more() -> None:
    form = work.form()
    changed = form["replicates"] != 1 or form["seed"] is not None
    seed = "drawn" if form["seed"] is None else str(form["seed"])
    words = f"Replicates {form['replicates']}, seed {seed}" if changed else "Replicates and seed"
    expander = st.expander(words, icon=":material/tune:", key=work.field("more"))
    with expander, st.grid(2, min_column_width=160):
        _number(
            "replicates",
            "Replicates",
            (1, MAX_REPLICATES),
            "How often each judge is asked, each time with another order of options.",
        )
        _number(
            "seed",
            "Seed",
            (0, 2**31 - 1),
            "Decides the order of options. The same seed asks the same again.",
        )


def _number(name: str, words: str, limits: tuple[int, int], help: str) -> None:
    key = work.field(name)
    state.seed(key, dict(work.form())[name])
    st.number_input(
        words,
        min_value=limits[0],
        max_value=limits[1],
        step=1,
        key=key,
        placeholder="drawn for you",
        on_change=work.on_field,
        args=(name,),
        help=help,
    )


def _plan(rubric: Rubric | None) -> None:
    asked = spot_form.judges_of(store(), work.form())
    if rubric is None or not asked:
        return
    times, criteria = work.form()["replicates"], len(rubric.criteria)
    parts = [fmt.plural(criteria, "criterion", "criteria"), fmt.plural(len(asked), "judge")]
    parts += [fmt.plural(times, "replicate")] if times > 1 else []
    votes, calls = spot_form.outlook(store(), work.form(), criteria)
    parts += ["both orders"] if calls and spot_form.asking_of(work.form()).flip != "off" else []
    money = f"{fmt.plural(calls, 'call')} to models" if calls else "no calls, no cost"
    st.caption(f"{' × '.join(parts)}: {fmt.plural(votes, 'vote')}, {money}.")


def _on_grade() -> None:
    with shown_errors():
        work.sync()
        state.drop(SPOT_REFUSED)
        try:
            run_id = spot.check(store(), spot_form.request_from(store(), work.form()))
        except (InputError, NotFound) as error:
            work.refuse(error)
            return
        state.drop(SPOT_FORMER)
        state.set_address(**{state.RUN: run_id})


def _refusal() -> None:
    refused = work.refusal()
    if refused is not None:
        st.error(label(refused.message), icon=":material/error:")
        problem_list(refused.problems)
