"""Step 3, the judges: those of the last run, those that learn from labels, or a model added
here.
"""

from __future__ import annotations

import streamlit as st

from core.errors import InputError, Problem
from core.services.guided import judging
from core.services.guided.judging import JudgeChoice
from core.services.judges import connection, registry
from core.services.judges.panel_setup import could_be_secret
from core.text.names import visible
from pages.grade import own, steps
from pages.grade.steps import GRADE_ACT, Path, field_key
from pages.ui import resources, state
from pages.ui.model_help import last_test_tag, show_connection
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.trial.judges import show_missing_keys
from pages.ui.widgets import draw_row, problem_list, shown_errors

REFUSED = "grade_refused"
#: The model added last in this tab.
ADDED = "grade_added"
WHY = {
    "last": "The judges of your last run.",
    "labels": (
        "Your texts have labels: these two judges learn from them, and need no model and no key."
    ),
    "model": "Your model.",
}
LABELS = {
    "model": "Model",
    "api_base": "Address",
    "key_env": "Environment variable of the key",
    "name": "Name",
}


def show(path: Path) -> tuple[str, ...]:
    """Draw the step, or the texts that a person grades in it; return the chosen judges."""
    sitting = own.open_sitting(path)
    if sitting is not None:
        own.show(path, sitting)
        return ()
    testing = connection.tested_now(store())  # Read before the results, which may change meanwhile.
    choice = _cached_choice(path)
    chosen = _chosen_names(choice)
    with st.container(border=True), shown_errors():
        steps.show_title("judges", "who grades" if chosen else "")
        no_learners = not any(entry.judge.learns for entry in choice.known)
        ungraded = own.ungraded_texts(path)
        # The person graded every text, and the labels are too few for a judge to learn from.
        finished = no_learners and not ungraded
        none = "No judge is chosen yet." if choice.known and not (chosen or finished) else ""
        if chosen and not state.addresses(state.JUDGE):
            st.caption(WHY[choice.why])
        elif none and not no_learners:
            st.caption(none)
        chosen = _judge_pills(choice, chosen)
        _draw_test_results(choice, chosen, testing)
        by_name = choice.by_name
        if no_learners:
            own.offer_judges(path, none, first=not chosen)
        elif any(by_name[name].judge.learns for name in chosen):
            own.show_learnt(path)
        own_grades = no_learners and (ungraded or own.graded_count(path))
        _add_model(chosen, wanted=not (chosen or own_grades))
    return chosen


def judge_names_line(names: tuple[str, ...]) -> str:
    """Return the judges' names in one line."""
    return ", ".join(one_line(name, 50) for name in names)


def _cached_choice(path: Path) -> JudgeChoice:
    labelled = 0
    if path.dataset is not None and path.rubric is not None and path.dataset.labelled:
        cache_key = (path.dataset.id, path.rubric.id)
        version, rubric = path.dataset.id, path.rubric.rubric
        labelled = resources.remembered(
            "learnable", cache_key, lambda: judging.count_learnable(store(), version, rubric)
        )
    return judging.judges(store(), labelled)


def _chosen_names(choice: JudgeChoice) -> tuple[str, ...]:
    """Return the judges in the address, or else the proposed ones."""
    names = state.addresses(state.JUDGE)
    if not names:
        return choice.proposed
    return tuple(name for name in names if name in choice.by_name)


def _judge_pills(choice: JudgeChoice, chosen: tuple[str, ...]) -> tuple[str, ...]:
    by_name = choice.by_name
    if not by_name:
        return ()
    key = _pills_key()
    state.put(key, list(chosen))

    def judge_words(name: str) -> str:
        judge = by_name[name].judge
        kind = judge.model if judge.kind == "llm" else "on this machine"
        return label(name if judge.kind == "llm" and kind == name else f"{name} · {kind}", 70)

    st.pills(
        "Judges",
        list(by_name),
        selection_mode="multi",
        format_func=judge_words,
        key=key,
        label_visibility="collapsed",
        on_change=_on_judge_choice,
        args=(key,),
    )
    return chosen


def _pills_key() -> str:
    """Return a key that contains the model added last.

    The page reruns itself while a test is pending, and a slow browser then sends the former choice
    as if the person had made it again.
    """
    return field_key("judges", "pills", str(state.get(ADDED) or ""))


def _on_judge_choice(key: str) -> None:
    if key != _pills_key():
        return
    with shown_errors():
        # A list with one empty name means that the person deselected every judge; an empty list
        # means that no choice was made yet.
        state.set_address(**{state.JUDGE: list(state.get(key) or [""]), state.TRIED: None})


def _draw_test_results(
    choice: JudgeChoice, chosen: tuple[str, ...], testing: frozenset[str]
) -> None:
    """Show for each chosen model whether it answered, and whether its key is missing."""
    models = [choice.by_name[name] for name in chosen if choice.by_name[name].judge.kind == "llm"]
    for model in models:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            draw_row(
                [esc(one_line(model.name, 60)), last_test_tag(model, model.name in testing)],
                width="content",
            )
            if not (model.test_holds or model.name in testing):
                st.button(
                    "Test",
                    key=state.key(GRADE_ACT, "test", model.row.id),
                    type="tertiary",
                    icon=":material/cable:",
                    on_click=_on_test,
                    args=(model.name,),
                )
        show_missing_keys([model.judge])
    for model in models:
        failed = model.last_test is not None and not (model.last_test.ok and model.last_test.right)
        if model.name in testing or (model.name == state.get(ADDED) and failed):
            show_connection(model.name, model.name in testing)


def _on_test(name: str) -> None:
    with shown_errors():
        connection.begin(store(), registry.get_judge(store(), name).judge)
        state.put(ADDED, name)


def _add_model(chosen: tuple[str, ...], *, wanted: bool) -> None:
    """Draw the fields of a model, two of them folded, and a test that asks one small question."""
    refused = state.get(REFUSED)
    open_ = wanted or refused is not None
    with st.expander("Add a model", icon=":material/add:", expanded=open_):
        # In a form, a key pasted by mistake reaches this server only with the button.
        with st.form(field_key("judges", "form"), border=False):
            left, right, side = st.columns([5, 5, 4], vertical_alignment="bottom")
            act = side.container(horizontal=True, gap="small")
            left.text_input(
                "Model",
                key=field_key("model"),
                placeholder="openai/gpt-4.1-mini",
                max_chars=1000,
                help=(
                    "Or `file:` and the path of a model file (GGUF) on this machine; the app then "
                    "starts a server for it."
                ),
            )
            right.text_input(
                "Address (only for your own server)",
                key=field_key("api_base"),
                placeholder="http://localhost:8000/v1",
                max_chars=500,
            )
            act.form_submit_button(
                "Add and test",
                key=state.key(GRADE_ACT, "add"),
                icon=":material/cable:",
                type="secondary",
                on_click=_on_add,
                args=(chosen,),
            )
            more = act.popover("Key and name", icon=":material/key:", type="tertiary")
            more.text_input(
                "Environment variable of the key",
                key=field_key("key_env"),
                placeholder="OPENAI_API_KEY",
                max_chars=200,
                help="The name of an environment variable, never the key itself. Empty: the "
                "provider's usual one; your own server gets none.",
            )
            more.text_input(
                "Name (optional)", key=field_key("name"), placeholder="The model's", max_chars=200
            )
        if refused is not None:
            problem_list([Problem(message, mend, (place,)) for message, mend, place in refused])
        variables = [name for _, name in registry.KNOWN_KEYS]
        set_variables = [name for name, is_set in registry.env_status(variables).items() if is_set]
        if set_variables:
            st.caption(label(f"Keys set in this environment: {', '.join(set_variables)}."))


def _on_add(chosen: tuple[str, ...]) -> None:
    with shown_errors():
        state.put(REFUSED, None)
        typed = {name: str(state.get(field_key(name)) or "") for name in LABELS}
        try:
            judge = judging.add_model(store(), **typed)
        except InputError as error:
            state.put(REFUSED, [(p.message, p.mend, _problem_label(p)) for p in error.problems])
        else:
            state.put(ADDED, judge.name)
            offline = [n for n in chosen if registry.get_judge(store(), n).judge.offline]
            names = [*(n for n in chosen if n not in offline and n != judge.name), judge.name]
            state.set_address(**{state.JUDGE: names, state.TRIED: None})
            state.flash(f"Added {visible(judge.name)}.")
        finally:
            for name, value in typed.items():
                if could_be_secret(name, value):
                    state.put(field_key(name), "")


def _problem_label(problem: Problem) -> str:
    first = str(problem.path[0]) if problem.path else ""
    return LABELS.get(first, first)
