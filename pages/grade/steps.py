"""The state of the path (the address holds it), and how to draw a step, folded or open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

import streamlit as st

from core.domain.library import DatasetVersion, RubricVersion
from core.errors import NotFound
from core.services.datasets import catalog
from core.services.guided import dropped
from core.services.results import item_view
from core.services.rubrics import library
from pages.ui import resources, routes, state
from pages.ui.resources import actor, store
from pages.ui.text import esc
from pages.ui.widgets import choose_one, draw_row

ValueT = TypeVar("ValueT")

# Families of session keys.
GRADE_ACT = "grade_act"
GRADE_FIELD = "grade_field"
#: The step that the person reopened.
GRADE_OPEN = "grade_open"

Step = Literal["texts", "rubric", "judges", "try", "grade"]
NAMES: dict[Step, str] = {
    "texts": "Texts",
    "rubric": "Rubric",
    "judges": "Judges",
    "try": "Test on three texts",
    "grade": "Grade",
}
NUMBERS = {step: number for number, step in enumerate(NAMES, start=1)}


@dataclass(frozen=True)
class Path:
    """The settled parts: the newest versions of texts and rubric, and their runs."""

    dataset: DatasetVersion | None
    rubric: RubricVersion | None
    run: int | None
    tried: int | None


def read_path() -> Path:
    """Read the path from the address; missing things count as not settled."""
    dataset_id, rubric_id = state.address_id(state.DATASET), state.address_id(state.RUBRIC)
    parameters = {state.DATASET: dataset_id, state.RUBRIC: rubric_id}
    state.put(routes.PATH, {name: value for name, value in parameters.items() if value is not None})
    return Path(
        _find_or_none(catalog.latest, state.DATASET, dataset_id),
        _find_or_none(library.latest_version, state.RUBRIC, rubric_id),
        _run_id(state.RUN),
        _run_id(state.TRIED),
    )


def _run_id(name: str) -> int | None:
    run_id = state.address_id(name)
    return None if _find_or_none(item_view.require_run, name, run_id) is None else run_id


def _find_or_none(look: Callable[..., ValueT], name: str, identity: int | None) -> ValueT | None:
    try:
        return None if identity is None else look(store(), identity)
    except NotFound:
        state.report_unknown(name, identity)
        return None


def settle_parts(**parameters: object) -> None:
    """Settle parts of the path: drop runs of other parts, and fold the steps."""
    state.put(GRADE_OPEN, None)
    state.set_address(**{state.RUN: None, state.TRIED: None, **parameters})


def is_open(step: Step, settled: bool) -> bool:
    """Return whether a step shows its choices."""
    return not settled or state.get(GRADE_OPEN) == step


def show_waiting(step: Step) -> None:
    """Draw a step that comes later."""
    st.html(f'<div class="rs-quiet" style="padding:.1rem .2rem">{_step_heading(step)}</div>')


def show_all_waiting(first: Step) -> None:
    """Draw a step and the following steps, which come later."""
    for step in NAMES:
        if NUMBERS[step] >= NUMBERS[first]:
            show_waiting(step)


def show_title(step: Step, subtitle: str = "") -> None:
    """Draw the heading of an open step."""
    quiet = f' <span class="rs-quiet">{esc(subtitle)}</span>' if subtitle else ""
    st.html(f'<h2 class="rs-cell">{_step_heading(step)}{quiet}</h2>')


def _step_heading(step: Step) -> str:
    return f"{NUMBERS[step]} · {NAMES[step]}"


def show_folded(
    step: Step,
    line: str,
    *,
    show_content: Callable[[], None] = lambda: None,
    change: Callable[[Step], None] | None = None,
) -> None:
    """Draw a settled step in one line, with a button to reopen it; ``show_content`` draws further
    buttons.
    """
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        draw_row([f"<b>✓ {_step_heading(step)}</b>", f"<span>{esc(line)}</span>"], width="content")
        st.space("stretch")
        show_content()
        st.button(
            "Change",
            key=state.key(GRADE_ACT, "change", step),
            type="tertiary",
            icon=":material/edit:",
            on_click=change or _on_change,
            args=(step,),
        )


def _on_change(step: Step) -> None:
    state.put(GRADE_OPEN, step)


def draw_close_unchanged(step: Step) -> None:
    """Draw the button that closes a reopened step unchanged."""
    if state.get(GRADE_OPEN) == step:
        st.button(
            "Leave this unchanged",
            key=state.key(GRADE_ACT, "leave", step),
            type="tertiary",
            icon=":material/undo:",
            on_click=state.put,
            args=(GRADE_OPEN, None),
        )


def field_key(*ids: object) -> str:
    """Return the key of a field of this screen."""
    return state.key(GRADE_FIELD, *ids)


def chosen_way(step: Literal["texts", "rubric"], ways: dict[str, str]) -> str | None:
    """Return the chosen way to fill the step, or pasting if there is pasted text."""
    pasted = dropped.kept_text(store(), step)
    default = "paste" if pasted else "drop"
    return choose_one(f"{NAMES[step]} from", ways, default=default, key=field_key(step, "way"))


def paste_box(step: Literal["texts", "rubric"], placeholder: str) -> str:
    """Draw a box to paste into; text that was not accepted yet survives a reload."""
    key = field_key(step, "paste")
    state.seed(key, dropped.kept_text(store(), step))
    text = st.text_area(
        f"Paste the {NAMES[step].lower()}",
        key=key,
        height=180,
        persist_state="session",
        placeholder=placeholder,
        on_change=_on_pasted,
        args=(step,),
    )
    return (text or "").strip()


def _on_pasted(step: Literal["texts", "rubric"]) -> None:
    if actor().may("draft"):
        dropped.keep_text(store(), step, str(state.get(field_key(step, "paste")) or ""))


def discard_input(step: Literal["texts", "rubric"]) -> None:
    """Discard the dropped and pasted input, which was used."""
    resources.hold_files(step, ())
    if actor().may("draft"):
        dropped.keep_text(store(), step, "")
    state.drop(field_key(step, "paste"))
