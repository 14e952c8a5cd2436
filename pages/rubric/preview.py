"""The prompt a judge gets for a criterion; and the score of chosen verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services.rubrics import prompt_preview
from core.services.rubrics.drafts import rubric_from
from core.services.rubrics.prompt_preview import SAMPLE_ITEM
from core.text import numbers as fmt
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_ACT, RUBRIC_TRY
from pages.ui.items import option_chips
from pages.ui.resources import store
from pages.ui.text import draw_raw, esc, label, one_line
from pages.ui.trial.texts import choose_item
from pages.ui.trial.votes import show_score
from pages.ui.widgets import (
    LabelledFigure,
    choose_one,
    draw_row,
    empty_state,
    problem_list,
    shown_errors,
)

RUBRIC_PREVIEW = "rubric_preview"
RUBRIC_SEED = "rubric_seed"

TYPED, CHOSEN = "Typed sample", "Item of a dataset"


@st.fragment
def show(name: str) -> None:
    """Draw the preview with its choices, as a fragment that reruns alone."""
    with shown_errors():
        _show_preview(name)


def _show_preview(name: str) -> None:
    draft = drafts.draft(name)
    if not draft["criteria"]:
        empty_state("Nothing to send yet", "Add a criterion; its prompt appears here.")
        return
    uid = _chosen_criterion(name)
    try:
        criterion = prompt_preview.criterion_from(draft, uid)
    except InputError as error:
        st.warning("This criterion has problems; fix them to see its prompt.")
        problem_list(error.problems)
        return
    item = _item_choice()
    if item is None:
        return
    instructions = _chosen_instructions()
    shuffle, seed = _chosen_order()
    brief = st.toggle(
        "Brief wording, for small models",
        key=state.key(RUBRIC_PREVIEW, "brief"),
        persist_state="page",
    )
    order, prompt = prompt_preview.preview_prompt(
        criterion,
        draft["guidelines"],
        item,
        seed=seed,
        shuffle=shuffle,
        name=draft["name"],
        instructions=instructions,
        style="brief" if brief else "full",
    )
    st.html("<b>Shown in this order</b>")
    draw_row([option_chips(criterion, None, order)])
    _show_texts([(segment.role, segment.text) for segment in prompt.segments], prompt.version)
    with st.expander("The required reply (JSON schema)"):
        draw_raw(json.dumps(prompt.schema, indent=2))


def _chosen_instructions() -> str:
    """Return the chosen judge's or panel's instructions; ask only if one has its own."""
    instructed = prompt_preview.own_instructions(store())
    if not instructed:
        return ""
    chosen: str | None = st.selectbox(
        "Prompt as sent to",
        list(instructed),
        index=None,
        key=state.key(RUBRIC_PREVIEW, "instructions"),
        format_func=lambda value: one_line(value, 80),
        placeholder="A judge without its own instructions",
        persist_state="page",
    )
    return instructed.get(chosen or "", "")


def _chosen_criterion(name: str) -> str:
    names = {c["uid"]: c["name"] for c in drafts.draft(name)["criteria"]}
    opened = drafts.open_card(name)
    # The open card comes first. The key contains its name, so that opening another card resets the
    # choice.
    first = opened if opened in names else next(iter(names))
    uids = list(names)
    chosen: str = st.selectbox(
        "Criterion",
        uids,
        index=uids.index(first),
        key=state.key(RUBRIC_PREVIEW, "criterion", name, first),
        format_func=lambda uid: one_line(names[uid], 80) or "Unnamed",
        persist_state="page",
    )
    return chosen


def _item_choice() -> Item | None:
    key = state.key(RUBRIC_PREVIEW, "source")
    state.seed(key, TYPED)
    source = choose_one("Judged text", [TYPED, CHOSEN], key=key)
    return _typed_item() if source == TYPED else _chosen_item()


def _typed_item() -> Item:
    values = dict[str, str]()
    for field, caption, first in (
        ("prompt", "Task (optional)", SAMPLE_ITEM.prompt),
        ("submission", "Submission", SAMPLE_ITEM.output),
        ("context", "Context (optional)", ""),
        ("reference", "Reference (optional)", ""),
    ):
        key = state.key(RUBRIC_PREVIEW, field)
        state.seed(key, first)
        values[field] = st.text_area(caption, key=key, height="content", persist_state="session")
    context = {"context": values.pop("context")}
    return Item(id=SAMPLE_ITEM.id, context=context, **values)


def _chosen_item() -> Item | None:
    place = choose_item(partial(state.key, RUBRIC_PREVIEW))
    return None if place is None else prompt_preview.preview_item(store(), *place)


def _chosen_order() -> tuple[bool, int]:
    seed = int(state.get(RUBRIC_SEED, 0))
    key = state.key(RUBRIC_PREVIEW, "shuffle")
    state.seed(key, True)
    with st.container(horizontal=True, vertical_alignment="center"):
        shuffle = st.toggle("Shuffle options", key=key)
        st.button(
            "Shuffle again",
            key=state.key(RUBRIC_ACT, "shuffle"),
            icon=":material/shuffle:",
            disabled=not shuffle,
            on_click=state.put,
            args=(RUBRIC_SEED, seed + 1),
        )
    return shuffle, seed


def _show_texts(segments: Sequence[tuple[str, str]], version: str) -> None:
    letters = sum(len(text) for _, text in segments)
    st.html(
        f'<b>Sent to the judge</b> <span class="rs-quiet">{fmt.count(letters)} characters · '
        f"wording {esc(version)} · the fences' code is drawn anew for every seed</span>"
    )
    for role, text in segments:
        if role == "system":
            with st.expander("System text, the same for every question"):
                draw_raw(text, height=420)
        else:
            st.caption(label(role))
            draw_raw(text)


#: No verdict, as when every call failed.
NO_VERDICT = -1
PRESETS: Mapping[str, Callable[[Rubric], dict[str, int]]] = {
    "Most points": prompt_preview.best_answers,
    "Fewest points": prompt_preview.worst_answers,
    "At random": prompt_preview.random_answers,
}


@st.fragment
def try_scoring(name: str) -> None:
    """Draw the simulator, as a fragment that reruns alone."""
    with shown_errors():
        try:
            rubric = rubric_from(drafts.draft(name))
        except InputError as error:
            st.warning(
                label(f"{error.message} Fix the rubric before you try its scoring; see Check.")
            )
            return
        _show_score(name, rubric)


def _show_score(name: str, rubric: Rubric) -> None:
    best = prompt_preview.best_answers(rubric)
    for criterion in rubric.criteria:
        state.seed(_field_key(name, criterion.name), best[criterion.name])
        if state.get(_field_key(name, criterion.name)) not in _option_indices(criterion):
            state.put(_field_key(name, criterion.name), best[criterion.name])
    st.html('<div class="rs-section">Score of the verdicts chosen below</div>')
    outcome = st.container()
    length = _length_field(name, rubric)
    text = _text_field(name) if rubric.prechecks else ""
    _preset_buttons(name)
    for criterion in rubric.criteria:
        _verdict_choice(name, criterion)
    chosen = {c.name: int(state.get(_field_key(name, c.name))) for c in rubric.criteria}
    answers = {n: option for n, option in chosen.items() if option != NO_VERDICT}
    with outcome:
        score, sentences = prompt_preview.simulate_score(rubric, answers, length=length, text=text)
        points = LabelledFigure("Points", fmt.number(score.raw))
        show_score(score.trace, score.score, sentences, points)


def _verdict_choice(name: str, criterion: Criterion) -> None:
    def option_words(index: int) -> str:
        if index == NO_VERDICT:
            return "no verdict (calls failed)"
        option = criterion.choices[index]
        value = "no score" if option.na else fmt.score(option.value)
        return f"{one_line(option.label, 60)} · {value}"

    st.selectbox(
        label(f"{criterion.name} ({fmt.weight(criterion.weight)})", 90),
        _option_indices(criterion),
        key=_field_key(name, criterion.name),
        format_func=option_words,
        persist_state="page",
    )


def _preset_buttons(name: str) -> None:
    with st.container(horizontal=True):
        for caption in PRESETS:
            st.button(
                caption,
                key=state.key(RUBRIC_ACT, name, "try", caption),
                on_click=_on_preset,
                args=(name, caption),
            )


def _on_preset(name: str, caption: str) -> None:
    with shown_errors():
        rubric = rubric_from(drafts.draft(name))
        for criterion_name, option in PRESETS[caption](rubric).items():
            state.put(_field_key(name, criterion_name), option)


def _length_field(name: str, rubric: Rubric) -> int:
    penalty = rubric.scoring.length_penalty
    if penalty is None:
        return 0
    key = state.key(RUBRIC_TRY, name, "length")
    state.seed(key, penalty.free_budget)
    value: int = st.number_input(
        f"Length of the text in {penalty.count}", min_value=0, step=100, key=key
    )
    return value


def _text_field(name: str) -> str:
    value: str = st.text_area(
        "Text for the pre-checks",
        key=state.key(RUBRIC_TRY, name, "text"),
        height=68,
        placeholder="The text that the pre-checks search.",
        persist_state="page",
    )
    return value


def _option_indices(criterion: Criterion) -> list[int]:
    return [*range(len(criterion.choices)), NO_VERDICT]


def _field_key(name: str, criterion: str) -> str:
    return state.key(RUBRIC_TRY, name, criterion)
