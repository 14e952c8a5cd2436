"""The submission: a pasted text, a conversation, thinking with output, or a dataset's item."""

from __future__ import annotations

import streamlit as st

from core.domain.dataset import Item
from core.services.rubrics import prompt_preview
from core.services.spot import request, spot_check
from core.services.spot.request import SpotTurn, Way
from core.text import numbers as fmt
from pages.spot import form_data
from pages.spot.form_data import SPOT_ACT
from pages.ui import state
from pages.ui.browser.cursor import CURSOR
from pages.ui.resources import store
from pages.ui.text import distinct_names, draw_prose, label
from pages.ui.trial.texts import choose_item, draw_texts_around, text_field
from pages.ui.widgets import choose_one, shown_errors

WAYS: dict[Way, str] = {
    "text": "Text",
    "chat": "Chat",
    "sections": "Thinking + output",
    "item": "Dataset item",
}
ROLES = ["user", "assistant", "system", "tool"]


# On touch screens the cursor would open the screen keyboard over the form.
_CURSOR = (
    CURSOR
    + """
export default function({ data }) {
  const page = document, from = page.activeElement;
  if (page.rubricStudioSpot === data.visit || !matchMedia("(pointer: fine)").matches) return;
  page.rubricStudioSpot = data.visit;
  const find = () => page.querySelector(".st-key-spot_field-text textarea");
  const gone = (field) => ![field, from, page.body].includes(page.activeElement);
  const stop = cursorInto(find, gone);
  page.addEventListener("pointerdown", stop, { capture: true, once: true });
}
"""
)


def take_cursor() -> None:
    """Put the cursor into the submission on arrival, unless the person has gone elsewhere."""
    key = state.key(SPOT_ACT, "visit")
    if state.is_arriving() or state.get(key) is None:
        state.put(key, (state.get(key) or 0) + 1)
    st.components.v2.component("rubric_studio_spot_cursor", js=_CURSOR)(
        key=state.key(SPOT_ACT, "cursor"),
        data={"visit": state.get(key)},
        height=1,
    )


def show() -> None:
    """Draw the choice of a kind, and its fields."""
    key = form_data.field_key("way")
    state.seed(key, form_data.current_form().way)
    source = choose_one(
        "What is judged", WAYS, key=key, wrap=True, on_change=form_data.on_field, args=("way",)
    )
    if source == "item":
        _item_choice()
        return
    if source == "chat":
        _conversation_fields()
    elif source == "sections":
        thoughts = "The model's thinking before its answer (optional)"
        text_field(form_data.FIELDS, "thinking", "Thinking", thoughts)
        text_field(form_data.FIELDS, "output", "Output", "What it answered", tall=True)
    else:
        caption = "Paste the text to judge"
        text_field(form_data.FIELDS, "text", "Submission", caption, tall=True)
    _extra_fields()


def _extra_fields() -> None:
    given_fields = [
        name for name in ("prompt", "reference") if form_data.text_of_field(name).strip()
    ]
    if any(text.strip() for text in form_data.current_form().context.values()):
        given_fields.insert(len(given_fields) and given_fields[0] == "prompt", "context")
    tasks = _learned_tasks()
    caption = "Prompt, context and reference (optional)"
    if given_fields:
        caption = f"Prompt, context and reference: {' and '.join(given_fields)} given"
    elif tasks:
        caption = "Prompt and reference: missing, but offline judges use them"
    with st.expander(
        label(caption), icon=":material/add_notes:", key=form_data.field_key("extras")
    ):
        if tasks:
            _take_over_task(tasks)
        draw_texts_around(form_data.FIELDS)


def _learned_tasks() -> list[Item]:
    """Return the tasks that the chosen offline judges learned from; empty without such a judge."""
    version = form_data.current_form().learn_from
    learners = any(judge.learns for judge in request.judges_of(store(), form_data.current_form()))
    return spot_check.distinct_tasks(store(), version) if version is not None and learners else []


def _take_over_task(tasks: list[Item]) -> None:
    key = form_data.field_key("task")
    state.seed(key, None)
    shown = distinct_names({index: _task_words(task) for index, task in enumerate(tasks)}, 120)
    st.selectbox(
        "Copy from the labelled items",
        range(len(tasks)),
        format_func=shown.__getitem__,
        key=key,
        index=None,
        placeholder="Choose the prompt that this text answers",
        on_change=_on_task,
        args=(tasks,),
    )


def _task_words(task: Item) -> str:
    return task.prompt or task.reference or next(iter(task.context.values()), "")


def _on_task(tasks: list[Item]) -> None:
    with shown_errors():
        at = state.get(form_data.field_key("task"))
        if at is not None:
            form_data.sync_fields()
            task, context = tasks[at], dict(tasks[at].context)
            form_data.set_fields(prompt=task.prompt, context=context, reference=task.reference)
            state.put(form_data.field_key("prompt"), task.prompt)
            state.put(form_data.field_key("reference"), task.reference)
            for name, text in context.items():
                state.put(form_data.field_key("context", name), text)


def _conversation_fields() -> None:
    turns = form_data.current_form().turns
    for number, turn in enumerate(turns, start=1):
        uid = turn.uid
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            key = form_data.field_key("turn", uid, "role")
            state.seed(key, turn.role)
            st.selectbox(
                f"Role of message {number}",
                [*ROLES, *([] if turn.role in ROLES else [turn.role])],
                key=key,
                label_visibility="collapsed",
                accept_new_options=True,
                width=150,
                on_change=form_data.on_turn,
                args=(uid, "role"),
            )
            st.space("stretch")
            st.button(
                f"Remove message {number}",
                key=state.key(SPOT_ACT, "remove", uid),
                type="tertiary",
                icon=":material/close:",
                disabled=len(turns) == 1,
                on_click=_on_remove,
                args=(uid,),
            )
        key = form_data.field_key("turn", uid, "content")
        state.seed(key, turn.content)
        st.text_area(
            f"Message {number}",
            key=key,
            height=100,
            label_visibility="collapsed",
            placeholder="What was said",
            on_change=form_data.on_turn,
            args=(uid, "content"),
        )
    st.button(
        "Add message",
        key=state.key(SPOT_ACT, "add"),
        type="tertiary",
        icon=":material/add:",
        on_click=_on_add,
    )


def _on_add() -> None:
    with shown_errors():
        form_data.sync_fields()
        turns = form_data.current_form().turns
        role = "assistant" if turns and turns[-1].role == "user" else "user"
        form_data.set_fields(turns=(*turns, SpotTurn(role=role)))


def _on_remove(uid: str) -> None:
    with shown_errors():
        form_data.sync_fields()
        turns = tuple(t for t in form_data.current_form().turns if t.uid != uid)
        form_data.set_fields(turns=turns)


def _item_choice() -> None:
    form = form_data.current_form()
    place = choose_item(form_data.field_key, form.dataset, form.item)
    if place is None:
        return
    if place != (form.dataset, form.item):
        form_data.set_fields(dataset=place[0], item=place[1])
    _show_preview(*place)


def _show_preview(version: int, item_id: str) -> None:
    item = prompt_preview.preview_item(store(), version, item_id)
    if item.prompt:
        st.caption(label(item.prompt, 300))
    draw_prose(item.text[:4000], height=220)
    labelled = fmt.plural(len(item.labels), "label")
    caption = (
        f"It has {labelled}; the check shows the labels next to the verdicts."
        if item.labels
        else ""
    )
    if caption:
        st.caption(caption)
