"""Pick verdicts, see the score and how it came about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services import numbers as fmt
from core.services import rehearsing
from core.services.drafts import rubric_from
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT
from pages.author._rubric.work import RUBRIC_TRY
from pages.ui import state
from pages.ui.outcomes import outcome_tags
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Figure, figures, row, shown_errors, tag

#: No verdict at all, as when every call failed.
NO_VERDICT = -1
PRESETS: Mapping[str, Callable[[Rubric], dict[str, int]]] = {
    "Most points": rehearsing.flawless,
    "Fewest points": rehearsing.worst,
    "At random": rehearsing.at_random,
}


@st.fragment
def show(name: str) -> None:
    """The simulator; reruns alone."""
    with shown_errors():
        try:
            rubric = rubric_from(work.draft(name))
        except InputError as error:
            st.warning(label(f"{error.message} Mend it to try its scoring; see Check."))
            return
        _show(name, rubric)


def _show(name: str, rubric: Rubric) -> None:
    best = rehearsing.flawless(rubric)
    for criterion in rubric.criteria:
        state.seed(_key(name, criterion.name), best[criterion.name])
        if state.get(_key(name, criterion.name)) not in _indices(criterion):
            state.put(_key(name, criterion.name), best[criterion.name])
    outcome = st.container()
    length = _length(name, rubric)
    text = _text(name) if rubric.prechecks else ""
    _presets(name)
    for criterion in rubric.criteria:
        _verdict(name, criterion)
    chosen = {c.name: int(state.get(_key(name, c.name))) for c in rubric.criteria}
    answers = {n: option for n, option in chosen.items() if option != NO_VERDICT}
    with outcome:
        _outcome(rehearsing.simulate(rubric, answers, length=length, text=text))


def _verdict(name: str, criterion: Criterion) -> None:
    def words(index: int) -> str:
        if index == NO_VERDICT:
            return "no verdict (calls failed)"
        option = criterion.choices[index]
        value = "no score" if option.na else fmt.score(option.value)
        return f"{one_line(option.label, 60)} · {value}"

    st.selectbox(
        label(f"{criterion.name} ({fmt.weight(criterion.weight)})", 90),
        _indices(criterion),
        key=_key(name, criterion.name),
        format_func=words,
        persist_state="page",
    )


def _presets(name: str) -> None:
    with st.container(horizontal=True):
        for words in PRESETS:
            st.button(
                words,
                key=state.key(RUBRIC_ACT, name, "try", words),
                on_click=_on_preset,
                args=(name, words),
            )


def _on_preset(name: str, words: str) -> None:
    with shown_errors():
        rubric = rubric_from(work.draft(name))
        for criterion_name, option in PRESETS[words](rubric).items():
            state.put(_key(name, criterion_name), option)


def _length(name: str, rubric: Rubric) -> int:
    penalty = rubric.scoring.length_penalty
    if penalty is None:
        return 0
    key = state.key(RUBRIC_TRY, name, "length")
    state.seed(key, penalty.free_budget)
    value: int = st.number_input(
        f"Length of the text in {penalty.count}", min_value=0, step=100, key=key
    )
    return value


def _text(name: str) -> str:
    value: str = st.text_area(
        "Text for the pre-checks",
        key=state.key(RUBRIC_TRY, name, "text"),
        height=68,
        placeholder="What the pre-checks read.",
        persist_state="page",
    )
    return value


def _outcome(simulation: rehearsing.Simulation) -> None:
    trace = simulation.trace
    shown = fmt.score if trace.normalized else fmt.number
    values = [Figure("Score", shown(simulation.result.score))]
    if trace.low is not None and trace.high is not None and trace.low < trace.high:
        values.append(Figure("Between", f"{shown(trace.low)} and {shown(trace.high)}"))
    values.append(Figure("Points", fmt.number(simulation.result.raw)))
    figures(values, columns=3)
    marks = outcome_tags(trace)
    marks += [] if trace.complete else [tag("Incomplete", "warn")]
    if marks:
        row(marks)
    items = "".join(f"<li>{esc(line)}</li>" for line in simulation.sentences)
    st.html(f'<ul class="rs-list">{items}</ul>')


def _indices(criterion: Criterion) -> list[int]:
    return [*range(len(criterion.choices)), NO_VERDICT]


def _key(name: str, criterion: str) -> str:
    return state.key(RUBRIC_TRY, name, criterion)
