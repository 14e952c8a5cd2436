"""Trying a judge's unsaved checks, on a pasted text or a stored item."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.domain.base import build_model
from core.domain.dataset import Item
from core.errors import InputError
from core.services.judges import check_rules
from core.services.judges.check_rules import CheckOutcome
from core.services.rubrics import prompt_preview
from core.text.names import visible
from pages.judges import checks
from pages.judges.fields import JUDGE_FIELD
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import draw_prose, esc, label
from pages.ui.trial.texts import choose_item
from pages.ui.widgets import choose_one, draw_table, problem_list, quiet_html, shown_errors, tag

WAYS = {"text": "Paste a text", "item": "A kept item"}
#: The texts of a pasted item other than the submission.
MORE = {"thinking": "Thinking", "prompt": "Prompt", "reference": "Reference"}


def show(reference: str) -> None:
    """Draw the fields, and the result of each criterion's checks."""
    st.subheader("Try it out", anchor=False)
    st.caption("Uses the rules above. Nothing is saved, and no calls are made.")
    source = choose_one("What is tried", WAYS, default="text", key=_field_key(reference, "way"))
    with shown_errors():
        item = _stored_item(reference) if source == "item" else _pasted_item(reference)
        if item is not None:
            _show_answers(reference, item)


def _field_key(reference: str, name: str) -> str:
    return state.key(JUDGE_FIELD, reference, "try", name)


def _text_area(reference: str, name: str, caption: str, height: int) -> str:
    return st.text_area(
        caption,
        key=_field_key(reference, name),
        height=height,
        max_chars=100_000,
        persist_state="page",
    )


def _pasted_item(reference: str) -> Item | None:
    text = _text_area(reference, "text", "Submission", 140)
    with st.expander("Thinking, prompt and reference (optional)"):
        more = {name: _text_area(reference, name, caption, 80) for name, caption in MORE.items()}
    if not any(part.strip() for part in (text, *more.values())):
        return None
    thinking = more.pop("thinking")
    submission = {"thinking": thinking, "output": text} if thinking.strip() else text
    return build_model(Item, {"id": "pasted", "submission": submission, **more}, "text")


def _stored_item(reference: str) -> Item | None:
    place = choose_item(partial(_field_key, reference))
    if place is None:
        return None
    item = prompt_preview.preview_item(store(), *place)
    draw_prose(item.text[:4000], height=160)
    return item


def _show_answers(reference: str, item: Item) -> None:
    try:
        result = check_rules.checks_from(
            checks.form_rows(reference), checks.further_checks(reference)
        )
    except InputError as error:
        st.warning(label("The rules are not complete yet."), icon=":material/rule:")
        problem_list(error.problems)
        return
    draw_table(
        ("Criterion", "Answer", "Why"),
        (_result_row(tried) for tried in check_rules.try_out(result, item)),
        name="Result of the checks for this text",
    )


def _result_row(outcome: CheckOutcome) -> list[str]:
    if outcome.failed:
        answer = tag("✕ failure", "bad")
    elif outcome.option is None:
        answer = quiet_html("abstains")
    else:
        answer = tag(visible(outcome.option), "info")
    return [esc(visible(outcome.criterion)), answer, esc(visible(outcome.why))]
