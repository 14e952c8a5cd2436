"""The fields for how judges are asked, and for the stages of a panel.

The caller chooses the keys of the values (`Keys`), so that they live as long as its form.
`draw_fields` draws the fields; `read_asking` returns their values, also in a callback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import streamlit as st

from core.domain.base import build_model
from core.domain.panel import Asking, Cascade
from core.errors import InputError
from core.services.judges.panel_setup import PanelSetup
from pages.ui import asking_words as words
from pages.ui import state
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import problem_list, tag

NAMES = tuple(Asking.model_fields)
MOST_EXAMPLES = 20


class FieldKeys(NamedTuple):
    """The keys of the values, and each widget's behaviour: `of` returns a name's key.

    `lasting` keeps values while their widgets are not drawn; `changed` is called after a change.
    """

    of: Callable[[str], str]
    lasting: bool = False
    changed: Callable[[], None] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments that every widget takes."""
        lasting: dict[str, Literal["session"]] = {"persist_state": "session"}
        return {**(lasting if self.lasting else {}), "on_change": self.changed}


def read_asking(keys: FieldKeys, start: Asking) -> Asking:
    """Return the fields' values, or those of `start` for fields that were never drawn."""
    values = {name: state.get(keys.of(name), getattr(start, name)) for name in NAMES}
    values["few_shot"] = values["few_shot"] or 0
    values["instructions"] = values["instructions"] or ""
    try:
        return build_model(Asking, values, "asking")
    except InputError:
        # Only the instructions can be invalid; `draw_fields` shows why. Until they are fixed the
        # old ones apply.
        return build_model(Asking, values | {"instructions": start.instructions}, "asking")


def draw_fields(keys: FieldKeys, start: Asking, examples_from: str = words.EXAMPLES_FROM) -> Asking:
    """Draw every field with its explanation; return the fields' values.

    `examples_from` says where few-shot examples come from.
    """
    for name in NAMES:
        state.seed(keys.of(name), getattr(start, name))
    _choice_field(keys, "mode", "Each question", words.MODES)
    _choice_field(keys, "style", "Wording", words.STYLES)
    _few_shot(keys, examples_from)
    _choice_field(keys, "flip", "Reversed order", words.FLIPS)
    _toggle_field(keys, "balanced", "Balance the order of options", words.BALANCED_SAYS)
    with st.container(gap="xxsmall"):
        st.selectbox(
            "First in the prompt",
            list(words.LAYOUTS),
            format_func=words.LAYOUTS.__getitem__,
            key=keys.of("layout"),
            width=280,
            **keys.options,
        )
        st.caption(words.LAYOUT_SAYS)
    _toggle_field(keys, "cache", "Reuse cached answers", words.CACHE_SAYS)
    _instructions_field(keys)
    return read_asking(keys, start)


def _instructions_field(keys: FieldKeys) -> None:
    with st.container(gap="xxsmall"):
        written = st.text_area(
            "Instructions for every model",
            key=keys.of("instructions"),
            max_chars=20_000,
            height=100,
            **keys.options,
        )
        st.caption(words.INSTRUCTIONS_SAYS)
        try:
            build_model(Asking, {"instructions": written or ""}, "asking")
        except InputError as error:
            problem_list(error.problems)


def _choice_field(
    keys: FieldKeys, name: str, caption: str, choices: dict[str, tuple[str, str]]
) -> None:
    st.radio(
        caption,
        list(choices),
        format_func=lambda option: choices[option][0],
        captions=[says for _, says in choices.values()],
        key=keys.of(name),
        **keys.options,
    )


def _few_shot(keys: FieldKeys, examples_from: str) -> None:
    with st.container(gap="xxsmall"):
        st.number_input(
            "Examples for every criterion (few-shot)",
            0,
            MOST_EXAMPLES,
            step=1,
            key=keys.of("few_shot"),
            width=280,
            **keys.options,
        )
        st.caption(words.FEW_SHOT_SAYS)
        if state.get(keys.of("few_shot")):
            st.caption(examples_from)
            _toggle_field(
                keys, "few_shot_reasons", "Include the reasons given for labels", words.REASONS_SAYS
            )


def _toggle_field(keys: FieldKeys, name: str, caption: str, help_text: str) -> None:
    with st.container(gap="xxsmall"):
        st.toggle(caption, key=keys.of(name), **keys.options)
        st.caption(help_text)


# The expander "How judges are asked": how the judges are asked, and the stages of the panel.
#
# The panel editor and the form of a run use it; a spot check shows only the first part.

HEAD = "How judges are asked"
STAGES = 10
START_CONFIDENCE = 0.8


def read_setup(keys: FieldKeys, start: PanelSetup, names: Sequence[str]) -> PanelSetup:
    """Return the fields' values for these judges, or those of `start` for fields that were never
    drawn.
    """
    staged = _field_value(keys, "staged", start.cascade is not None) and len(names) > 1
    return PanelSetup(
        asking=read_asking(keys, start.asking),
        cascade=_cascade_fields(keys, start) if staged else None,
        early_stop=bool(_field_value(keys, "early_stop", start.early_stop)) and len(names) > 1,
        stages={name: _stage_field(keys, start, name, index) for index, name in enumerate(names)},
        shadows=frozenset(
            name
            for name in names
            if len(names) > 1
            and _field_value(keys, _field_key("shadow", name), name in start.shadows)
        ),
    )


def setup_fields(
    keys: FieldKeys, start: PanelSetup, names: Sequence[str], *, models: bool = True
) -> PanelSetup:
    """Draw the expander, whose title lists the settings; return the fields' values.

    `names` are the chosen judges; `models`: any of them is a model.
    """
    setup = read_setup(keys, start, names)
    with st.expander(
        label(expander_title(setup, models=models)), icon=":material/tune:", key=keys.of("tune")
    ):
        if models:
            draw_fields(keys, start.asking)
        else:
            st.caption("Offline judges need no prompt, so this only sets the order of the judges.")
        if len(names) > 1:
            _draw_panel_settings(keys, start, names)
        else:
            st.caption("With two judges or more there are stages, early stops and shadows, too.")
    return read_setup(keys, start, names)


def expander_title(setup: PanelSetup, *, models: bool = True) -> str:
    """Return the title of the closed expander."""
    seats = words.seating_line(setup.cascade, setup.early_stop, setup.stages, len(setup.shadows))
    parts = [words.asking_line(setup.asking)] if models else []
    parts += [seats] if seats else []
    return f"{HEAD}: {', '.join(parts) or 'all at once'}"


def _draw_panel_settings(keys: FieldKeys, start: PanelSetup, names: Sequence[str]) -> None:
    st.html('<div class="rs-section">Who is asked when</div>')
    state.seed(keys.of("staged"), start.cascade is not None)
    state.seed(keys.of("early_stop"), start.early_stop)
    with st.container(gap="xxsmall"):
        st.toggle("Ask in stages", key=keys.of("staged"), **keys.options)
        st.caption(words.CASCADE_SAYS)
    staged = bool(state.get(keys.of("staged")))
    _seat_lines(keys, start, names, staged=staged)
    if staged:
        _cascade_toggle(keys, start)
        _draw_stages(read_setup(keys, start, names))
    with st.container(gap="xxsmall"):
        st.toggle("Stop early", key=keys.of("early_stop"), **keys.options)
        st.caption(words.EARLY_STOP_SAYS)


def _seat_lines(keys: FieldKeys, start: PanelSetup, names: Sequence[str], *, staged: bool) -> None:
    """Draw a line for every judge: its stage, and whether it is a shadow."""
    for index, name in enumerate(names):
        stage, shadow = keys.of(_field_key("stage", name)), keys.of(_field_key("shadow", name))
        state.seed(stage, _first_stage(start, name, index) + 1)
        state.seed(shadow, name in start.shadows)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if staged:
                st.number_input(
                    f"Stage of {label(name)}",
                    1,
                    STAGES,
                    step=1,
                    key=stage,
                    width=90,
                    label_visibility="collapsed",
                    **keys.options,
                )
            st.html(f"<b>{esc(one_line(name, 50))}</b>", width=150)
            st.toggle("Shadow", key=shadow, **keys.options)
    st.caption(("The number is the stage. " if staged else "") + words.SHADOW_SAYS)


def _cascade_toggle(keys: FieldKeys, start: PanelSetup) -> None:
    cascade = start.cascade or Cascade()
    st.html('<div class="rs-section">A cell goes on to the next stage when</div>')
    with st.grid(2, min_column_width=230):
        for name, (condition, caption) in words.GOES_ON.items():
            state.seed(keys.of(name), getattr(cascade, name))
            with st.container(gap="xxsmall"):
                st.checkbox(condition, key=keys.of(name), **keys.options)
                st.caption(caption)
        state.seed(keys.of("below"), cascade.below_confidence is not None)
        with st.container(gap="xxsmall"):
            st.checkbox("its confidence is low", key=keys.of("below"), **keys.options)
            st.caption(words.CONFIDENCE_SAYS)
            if state.get(keys.of("below")):
                first = cascade.below_confidence or START_CONFIDENCE
                state.seed(keys.of("confidence"), first)
                st.number_input(
                    "Below", 0.0, 1.0, step=0.05, key=keys.of("confidence"), **keys.options
                )


def _draw_stages(setup: PanelSetup) -> None:
    """Draw the stages in the order in which a cell passes them."""
    if setup.cascade is None:
        return
    lines = words.stage_lines(setup.cascade, setup.stages, setup.shadows)
    steps = "<div class='rs-quiet'>↓</div>".join(
        f"<div><b>{esc(judges)}</b> {tag(then, 'info' if then == 'decides' else 'neutral')}</div>"
        for judges, then in lines
    )
    one_stage = (
        '<div class="rs-quiet">All in one stage: give the later judges a higher number.</div>'
    )
    st.html(f'<div class="rs-card">{steps}{one_stage if len(lines) == 1 else ""}</div>')
    for stage in sorted(set(setup.stages.values())):
        members = [name for name, number in setup.stages.items() if number == stage]
        if all(name in setup.shadows for name in members):
            st.warning(
                label(
                    f"The stage of {', '.join(members)} has only shadows, so it cannot settle "
                    "any cell."
                )
            )


def _cascade_fields(keys: FieldKeys, start: PanelSetup) -> Cascade:
    cascade = start.cascade or Cascade()
    values = {
        name: bool(_field_value(keys, name, getattr(cascade, name))) for name in words.GOES_ON
    }
    below = _field_value(keys, "below", cascade.below_confidence is not None)
    confidence = _field_value(keys, "confidence", cascade.below_confidence or START_CONFIDENCE)
    return build_model(
        Cascade, {**values, "below_confidence": confidence if below else None}, "cascade"
    )


def _stage_field(keys: FieldKeys, start: PanelSetup, name: str, position: int) -> int:
    return (
        int(
            _field_value(keys, _field_key("stage", name), _first_stage(start, name, position) + 1)
            or 1
        )
        - 1
    )


def _first_stage(start: PanelSetup, name: str, position: int) -> int:
    """Return the saved stage, counted from 0; without a cascade, the judge's position up to the
    last stage.
    """
    return start.stages.get(name, 0) if start.cascade else min(position, STAGES - 1)


def _field_value(keys: FieldKeys, name: str, otherwise: Any) -> Any:
    return state.get(keys.of(name), otherwise)


def _field_key(field: str, name: str) -> str:
    return f"{field}/{name}"
