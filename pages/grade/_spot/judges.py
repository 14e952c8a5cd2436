"""Who is asked: judges, perhaps filled in by a panel, and what offline ones learn from."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.files.visible import visible
from core.services import numbers as fmt
from core.services import registry, spot, spot_form
from core.services.registry import JudgeEntry
from core.services.spot import Teacher
from pages.grade._spot import work
from pages.ui import asking, routes, seating, state
from pages.ui.asking_words import asking_line
from pages.ui.resources import store
from pages.ui.rule_words import rule_label
from pages.ui.text import label
from pages.ui.widgets import shown_errors

EXAMPLES_FROM = "They come from the labelled items chosen below; an item is never its own example."
KEY_WORDS = {"not set": "key missing", "unknown": "key unknown"}


def show(rubric: Rubric | None) -> None:
    """Panel, judges, and the dataset that offline ones learn from."""
    entries = {entry.name: entry for entry in registry.list_judges(store())}
    _panel()
    chosen = _judges(entries)
    for name in chosen:
        entry = entries.get(name)
        if entry is not None and entry.key == "not set":
            words = f"{name}: the variable {entry.key_env} is not set where the app was started."
            st.caption(f":material/key_off: {label(words)}")
    models = any(not judge.offline for judge in spot_form.judges_of(store(), work.form()))
    if models:
        _asking()
    if rubric is not None and spot_form.needs_labels(store(), work.form()):
        _teacher(rubric)


def _asking() -> None:
    start = spot_form.asking_of(work.form())
    now = asking.read(_KEYS, start)
    head = label(f"{seating.HEAD}: {asking_line(now)}")
    with st.expander(head, icon=":material/tune:", key=work.field("tune")):
        asking.fields(_KEYS, start, examples_from=EXAMPLES_FROM)
        st.caption("A spot check asks every judge at once, and every vote counts.")


def _on_asking() -> None:
    with shown_errors():
        kept = asking.read(_KEYS, spot_form.asking_of(work.form()))
        work.set_fields(asking=kept.model_dump())


_KEYS = asking.Keys(lambda name: work.field("asking", name), changed=_on_asking)


def _panel() -> None:
    panels = {row.id: row.panel for row in registry.list_panels(store())}
    if not panels:
        return
    key = work.field("panel")
    kept = work.form()["panel"]
    state.seed(key, kept)
    if state.get(key) not in panels:
        state.put(key, None)
    st.selectbox(
        "Panel",
        list(panels),
        format_func=lambda i: visible(panels[i].name),
        key=key,
        index=None,
        placeholder="Fill in from a panel (optional)",
        on_change=_on_panel,
    )
    rules = work.form()["rules"]
    if kept in panels and rules:
        used = ", ".join(f"{scale}: {rule_label(rule).lower()}" for scale, rule in rules.items())
        st.caption(f"With the panel's rules ({used}).")


def _on_panel() -> None:
    with shown_errors():
        panel_id = state.get(work.field("panel"))
        work.change(spot_form.with_panel(store(), work.form(), panel_id))
        state.drop(state.SPOT_FIELD, "judges")
        state.drop(state.SPOT_FIELD, "asking")


def _judges(entries: dict[str, JudgeEntry]) -> list[str]:
    form = work.form()
    known = [*entries, *(n for n in form["judges"] if n not in entries and form["panel"])]
    key = work.field("judges")
    state.seed(key, form["judges"])
    kept = [name for name in state.get(key) if name in known]
    if kept != state.get(key):
        state.put(key, kept)
        work.set_fields(judges=kept)

    def words(name: str) -> str:
        entry = entries.get(name)
        if entry is None:
            return f"{visible(name)} (as in the panel)"
        kind = "offline" if entry.judge.offline else visible(entry.judge.model)
        key_words = KEY_WORDS.get(entry.key, "")
        return f"{visible(name)} · {kind}" + (f" · {key_words}" if key_words else "")

    chosen: list[str] = st.multiselect(
        "Judges",
        known,
        format_func=words,
        key=key,
        placeholder="Choose at least one",
        wrap=True,
        on_change=work.on_field,
        args=("judges",),
    )
    if not any(not entry.judge.offline for entry in entries.values()):
        routes.link(routes.JUDGES, "Connect a model to ask one", icon="add_link")
    return chosen


def _teacher(rubric: Rubric) -> None:
    found = {t.row.version_id: t for t in spot.teachers(store(), rubric)}
    if not found:
        st.warning(
            "Offline judges and examples need labelled answers, and no dataset has labels that fit "
            "this rubric. Choose a model without examples, or bring in labelled items.",
            icon=":material/school:",
        )
        return
    key = work.field("learn_from")
    form = work.form()
    own = form["dataset"] if form["way"] == "item" and form["dataset"] in found else None
    best = form["learn_from"] if form["learn_from"] in found else own or next(iter(found))
    state.seed(key, best)
    if state.get(key) not in found:
        state.put(key, best)
    chosen = st.selectbox(
        "Labelled items to learn from",
        list(found),
        format_func=lambda version: _words(found[version]),
        key=key,
        on_change=work.on_field,
        args=("learn_from",),
    )
    if form["learn_from"] != chosen:
        work.set_fields(learn_from=chosen)
    untaught = found[chosen].untaught
    if untaught:
        names = ", ".join(repr(name) for name in untaught)
        st.caption(
            label(f"No labels for {names}: offline judges abstain there, and there is no example.")
        )


def _words(teacher: Teacher) -> str:
    labels = fmt.plural(teacher.labels, "fitting label")
    return f"{visible(teacher.row.name)} · {labels} on {fmt.plural(teacher.row.labelled, 'item')}"
