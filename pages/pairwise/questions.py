"""The parts of the form for the questions asked of two answers, and which pairs meet."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.base import build_model
from core.domain.rubric import Rubric
from core.services.pairwise.design import (
    ContestQuestion,
    Design,
    free_question,
    overall_question,
    question_of_criterion,
)
from core.services.runs import planning
from core.services.runs.planning import RunChoices
from pages.pairwise import selection as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import choose_one

OVERALL, BY_RUBRIC, EACH, OWN = "Overall", "A rubric as a whole", "Each criterion", "Own words"
KINDS = {
    "all": "All pairs",
    "baseline": "Against a baseline",
    "sampled": "Sampled",
    "adaptive": "Adaptive",
}
SAYS = {
    "all": (
        "Every pair of systems meets on every task. This is the most precise, with the most calls."
    ),
    "baseline": (
        "All other systems meet the same system, and are compared with each other only through it."
    ),
    "sampled": "On every task a few pairs meet, drawn so that all pairs meet about equally often.",
    "adaptive": "The first round is sampled; each later round holds the most informative contests. "
    "The page of a round offers the next.",
}


def chosen_questions(choices: RunChoices) -> tuple[tuple[ContestQuestion, ...], str] | None:
    """Return the chosen questions, and the guidelines of their rubric; `None` (after showing why)
    if there are none.
    """
    state.seed(_form_key("what"), OVERALL)
    question = choose_one(
        "What is asked",
        [OVERALL, BY_RUBRIC, EACH, OWN],
        key=_form_key("what"),
        persist_state="session",
    )
    if question == OVERALL:
        st.caption(overall_question().requirement)
        return (overall_question(),), ""
    if question == OWN:
        own_question = _own_question()
        return None if own_question is None else ((own_question,), "")
    rubric = _chosen_rubric(choices)
    if rubric is None:
        st.info(
            "Write a rubric first, or ask which answer is better overall.",
            icon=":material/checklist:",
        )
        return None
    if question == BY_RUBRIC:
        return (overall_question(rubric),), rubric.guidelines
    questions = _question_per_criterion(rubric)
    return (questions, rubric.guidelines) if questions else None


def _own_question() -> ContestQuestion | None:
    text: str = st.text_input(
        "Your question",
        key=_form_key("own"),
        max_chars=2000,
        placeholder="Which answer is easier to follow for a beginner?",
        persist_state="session",
    )
    if not text.strip():
        st.info("Describe what makes an answer better than another.", icon=":material/edit:")
        return None
    return free_question(text)


def _chosen_rubric(choices: RunChoices) -> Rubric | None:
    if not choices.rubrics:
        return None
    names = {rubric.id: rubric.name for rubric in choices.rubrics}
    if state.get(_form_key("rubric")) not in names:
        state.put(_form_key("rubric"), next(iter(names)))
    chosen: int = st.selectbox(
        "Rubric",
        list(names),
        key=_form_key("rubric"),
        format_func=lambda choice: one_line(names[choice], 90),
        persist_state="session",
    )
    newest = planning.rubric_versions(store(), chosen)[0].id
    return planning.rubric_at(store(), newest)


def _question_per_criterion(rubric: Rubric) -> tuple[ContestQuestion, ...]:
    by_name = {c.name: c for c in rubric.criteria}
    key = _form_key("criteria", rubric.name)
    state.put(key, [name for name in state.get(key, list(by_name)) if name in by_name])
    chosen: list[str] = st.multiselect(
        "Criteria",
        list(by_name),
        key=key,
        format_func=lambda value: one_line(value, 60),
        placeholder="Choose one or more",
        persist_state="session",
    )
    if not chosen:
        st.info("Choose at least one criterion.", icon=":material/checklist:")
    return tuple(question_of_criterion(by_name[name]) for name in chosen)


def chosen_design(systems: tuple[str, ...]) -> Design:
    """Return the chosen design."""
    state.seed(_form_key("kind"), "all")
    chosen = choose_one("Who meets whom", KINDS, key=_form_key("kind"), persist_state="session")
    kind = str(chosen)
    st.caption(SAYS[kind])
    values: dict[str, Any] = {"kind": kind}
    if kind == "baseline":
        if state.get(_form_key("baseline")) not in systems:
            state.put(_form_key("baseline"), systems[0])
        values["baseline"] = st.selectbox(
            "Baseline",
            list(systems),
            key=_form_key("baseline"),
            format_func=lambda system: one_line(system, 60),
            persist_state="session",
        )
    if kind in ("sampled", "adaptive"):
        most = max(1, len(systems) * (len(systems) - 1) // 2)
        state.put(_form_key("per_task"), min(most, state.get(_form_key("per_task"), 1)))
        values["per_task"] = st.number_input(
            "Pairs on every task",
            1,
            most,
            key=_form_key("per_task"),
            width=200,
            persist_state="session",
        )
    return build_model(Design, {**values, **_counting_fields()}, "design")


def _counting_fields() -> dict[str, Any]:
    """Return the chosen orders, ties, and effect of a disagreement."""
    for name, start in (("both", True), ("ties", True), ("both_bad", False), ("summaries", False)):
        state.seed(_form_key(name), start)
    with st.grid(2, min_column_width=230):
        both_orders = st.toggle(
            "Ask in both orders",
            key=_form_key("both"),
            help="Each pair is asked twice, with the answers exchanged, so that position "
            "bias cannot move the ranking. Otherwise one order, balanced over tasks.",
            persist_state="session",
        )
        ties = st.toggle("Offer a tie", key=_form_key("ties"), persist_state="session")
        both_bad = st.toggle(
            "Offer “both are bad” as an answer", key=_form_key("both_bad"), persist_state="session"
        )
        summaries = st.toggle(
            "Summarise each contest",
            key=_form_key("summaries"),
            help="One more call per contest and judge, for a summary of its reasons.",
            persist_state="session",
        )
    undecided = False
    if both_orders:
        state.seed(_form_key("undecided"), False)
        undecided = st.toggle(
            "If the verdict changes when the two answers are swapped, count it as undecided, "
            "not as a tie",
            key=_form_key("undecided"),
            persist_state="session",
        )
    return {
        "orders": "both" if both_orders else "one",
        "ties": bool(ties),
        "both_bad": bool(both_bad),
        "summaries": bool(summaries),
        "disagreement": "inconclusive" if undecided else "tie",
    }


def _form_key(*ids: object) -> str:
    return state.key(keys.CONTEST_FORM, *ids)
