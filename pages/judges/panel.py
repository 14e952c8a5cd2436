"""One panel: its judges, and the rule that turns their votes into a verdict."""

from __future__ import annotations

import streamlit as st

from core.domain.library import PanelRow
from core.domain.rubric import SCALES
from core.errors import InputError, Problem
from core.services.judges import registry
from core.services.judges.panel_setup import PanelSetup, setup_of
from core.text.names import visible
from pages.judges.fields import JUDGES_VIEW
from pages.ui import asking, routes, state
from pages.ui.asking import FieldKeys
from pages.ui.asking_words import RULE_WORDS, SCALE_NAMES, rule_label
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.widgets import (
    empty_state,
    page_header,
    problem_list,
    show_flash,
    shown_errors,
)

PANEL_FIELD = "panel_field"
PANEL_ACT = "panel_act"
PANEL_REFUSED = "panel_refused"


def show(reference: str) -> None:
    """Draw the screen of the panel with that id, or of a new one."""
    routes.draw_back_link(routes.JUDGES, "All judges")
    panel_id = state.address_id(state.PANEL)
    panel_row = next((p for p in registry.list_panels(store()) if p.id == panel_id), None)
    if panel_row is None and reference != state.NEW:
        page_header("Judges")
        empty_state("No such panel", "It may have been archived or renamed.")
        return
    page_header(panel_row.name if panel_row else "New panel", own_words=panel_row is None)
    show_flash()
    _seed_fields(reference, panel_row)
    _choose_members(reference, panel_row)
    _rule_fields(reference)
    _seating_fields(reference, panel_row)
    refused = state.get(state.key(PANEL_REFUSED, reference))
    if refused:
        st.error(label("This panel was not saved."), icon=":material/error:")
        problem_list([Problem(message, advice) for message, advice in refused])
    st.button(
        "Save",
        key=state.key(PANEL_ACT, reference, "save"),
        type="primary",
        icon=":material/save:",
        on_click=_on_save,
        args=(reference, panel_id),
    )


def _field_key(reference: str, name: str) -> str:
    return state.key(PANEL_FIELD, reference, name)


def _seed_fields(reference: str, panel_row: PanelRow | None) -> None:
    if panel_row is not None:
        state.seed(_field_key(reference, "name"), panel_row.name)
        state.seed(_field_key(reference, "judges"), [j.name for j in panel_row.panel.judges])
        for scale in SCALES:
            state.seed(_field_key(reference, scale), getattr(panel_row.panel.rules, scale))


def _choose_members(reference: str, panel_row: PanelRow | None) -> None:
    names = [entry.name for entry in registry.list_judges(store())]
    seats = [j.name for j in panel_row.panel.judges] if panel_row else []
    st.text_input(
        "Name",
        key=_field_key(reference, "name"),
        max_chars=200,
        on_change="ignore",
        autocomplete="off",
    )
    st.multiselect(
        "Judges",
        names + [name for name in seats if name not in names],
        format_func=visible,
        key=_field_key(reference, "judges"),
        placeholder="Choose the panel's judges",
    )
    st.caption(
        "Every judge answers every criterion of every item (unless asked in stages, "
        "below), so every judge adds to the cost. Judges from different makers are less likely "
        "to make the same mistakes."
    )


def _rule_fields(reference: str) -> None:
    st.html('<div class="rs-section">How votes become one verdict</div>')
    st.caption("A criterion may have its own rule. Abstentions and failures never count.")
    for column, scale in zip(st.columns(len(SCALES)), SCALES, strict=True):
        with column:
            rules = RULE_WORDS[scale]
            st.radio(
                SCALE_NAMES[scale],
                list(rules),
                format_func=rule_label,
                captions=list(rules.values()),
                key=_field_key(reference, scale),
                on_change="ignore",
            )


def _seating_fields(reference: str, panel_row: PanelRow | None) -> None:
    names = _chosen_names(reference)
    judges = {entry.name: entry.judge for entry in registry.list_judges(store())}
    judges |= {judge.name: judge for judge in panel_row.panel.judges} if panel_row else {}
    models = any(not judges[name].offline for name in names if name in judges)
    asking.setup_fields(
        _field_keys(reference), _initial_setup(panel_row), names, models=models or not names
    )


def _chosen_names(reference: str) -> list[str]:
    return list(state.get(_field_key(reference, "judges")) or [])


def _field_keys(reference: str) -> FieldKeys:
    return FieldKeys(lambda name: _field_key(reference, name))


def _initial_setup(panel_row: PanelRow | None) -> PanelSetup:
    return setup_of(panel_row.panel) if panel_row else PanelSetup()


def _on_save(reference: str, panel_id: int | None) -> None:
    state.drop(PANEL_REFUSED, reference)
    with shown_errors():
        names = _chosen_names(reference)
        try:
            panel_row = None if panel_id is None else registry.get_panel(store(), panel_id)
            registry.save_panel(
                store(),
                str(state.get(_field_key(reference, "name")) or ""),
                names,
                {scale: state.get(_field_key(reference, scale)) for scale in SCALES},
                panel_id=panel_id,
                setup=asking.read_setup(_field_keys(reference), _initial_setup(panel_row), names),
            )
        except InputError as error:
            problems = [(str(p), "") for p in error.problems]
            state.put(state.key(PANEL_REFUSED, reference), problems)
            return
        state.drop(PANEL_FIELD, reference)
        state.set_address(**{state.PANEL: None})
        state.put(JUDGES_VIEW, "panels")
        state.flash("Saved.")
