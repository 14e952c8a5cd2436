"""The part of the form that says who judges, and how votes become verdicts."""

from __future__ import annotations

import streamlit as st

from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.rules import RULES, Scale
from core.identity import content_hash
from core.services import choosing
from core.services.choosing import Choices
from core.services.seating import Seating, seating_of
from pages.ui import routes, seating, state
from pages.ui import run_keys as keys
from pages.ui.asking import Keys
from pages.ui.rule_words import RULE_WORDS, SCALE_WORDS, rule_label
from pages.ui.text import label, one_line

SAVED, PICKED = "A saved panel", "Choose judges"
OWN_PANEL = "Chosen judges"


def panel(found: Choices, rubric: Rubric) -> Panel | None:
    """The panel as chosen; `None` (and a sentence) while nobody is chosen."""
    saved = _saved(found)
    judges = saved.judges if saved is not None else _picked(found)
    if not judges:
        st.info("Choose at least one judge.", icon=":material/gavel:")
        return None
    rules = _rules(saved, rubric, len(judges))
    of = saved.name if saved else OWN_PANEL
    chosen = choosing.panel_of(of, judges, rules, _seating(saved, judges))
    _key_warnings(chosen)
    return chosen


def _seating(saved: Panel | None, judges: tuple[Judge, ...]) -> Seating:
    """How they are asked in this run: as the panel says, unless somebody says otherwise here."""
    # A panel that was changed meanwhile begins anew with what it says now.
    of = content_hash(saved.model_dump()) if saved else OWN_PANEL
    start = seating_of(saved) if saved else Seating()
    keys_of_panel = Keys(lambda name: _key("seating", of, name), lasting=True)
    return seating.fields(
        keys_of_panel,
        start,
        [judge.name for judge in judges],
        models=any(not judge.offline for judge in judges),
    )


def _saved(found: Choices) -> Panel | None:
    if not found.panels:
        return None
    state.seed(_key("how"), SAVED)
    how = st.segmented_control(
        "Judges",
        [SAVED, PICKED],
        key=_key("how"),
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    if how != SAVED:
        return None
    panels = {one.id: one.panel for one in found.panels}
    if state.get(_key("panel")) not in panels:
        state.put(_key("panel"), next(iter(panels)))
    chosen: int = st.selectbox(
        "Panel",
        list(panels),
        key=_key("panel"),
        format_func=lambda one: one_line(panels[one].name, 90),
        persist_state="session",
    )
    names = ", ".join(_described(judge) for judge in panels[chosen].judges)
    st.caption(label(names))
    return panels[chosen]


def _described(judge: Judge) -> str:
    return f"{judge.name} ({'offline' if judge.offline else judge.model})"


def _picked(found: Choices) -> tuple[Judge, ...]:
    judges = {one.name: one.judge for one in found.judges}
    if not judges:
        routes.link(routes.JUDGES, "Add a judge first")
        return ()
    names: list[str] = st.multiselect(
        "Judges",
        list(judges),
        key=_key("judges"),
        format_func=lambda name: one_line(_described(judges[name]), 90),
        placeholder="Choose one or more",
        label_visibility="collapsed",
        persist_state="session",
    )
    return tuple(judges[name] for name in names)


def _rules(saved: Panel | None, rubric: Rubric, judges: int) -> dict[Scale, str]:
    """The rule of each scale that the rubric uses; those of the saved panel come first."""
    rules: dict[Scale, str] = {
        scale: getattr(saved.rules, scale) if saved else RULES[scale][0] for scale in RULES
    }
    of = saved.name if saved else OWN_PANEL
    with st.expander("How votes become a verdict", expanded=judges > 1 and saved is None):
        own = sum(c.aggregation is not None for c in rubric.criteria)
        if own:
            st.caption(f"{own} of the rubric's criteria bring their own rule.")
        for scale in choosing.scales_of(rubric):
            key = _key("rule", scale, of)
            state.seed(key, rules[scale])
            rules[scale] = st.selectbox(
                SCALE_WORDS[scale],
                RULES[scale],
                key=key,
                format_func=rule_label,
                persist_state="session",
            )
            st.caption(RULE_WORDS[scale][rules[scale]])
    return rules


def _key_warnings(chosen: Panel) -> None:
    for judge, variable in choosing.missing_keys(chosen.judges):
        st.warning(
            label(
                f"{judge} has no key: {variable} is not set in the environment of this app. "
                "All its votes would fail. Set it and start the app again, or leave the judge out."
            ),
            icon=":material/key_off:",
        )


def _key(*ids: object) -> str:
    return state.key(keys.PLAN_FIELD, *ids)
