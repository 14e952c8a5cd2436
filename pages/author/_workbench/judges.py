"""Who is asked: models or offline judges, in one order or in both."""

from __future__ import annotations

import streamlit as st

from core.files.visible import visible
from core.services import numbers as fmt
from core.services import registry, workbench
from core.services.registry import JudgeEntry
from core.services.spot import teachers
from core.services.workbench_standing import Standing
from pages.ui import routes, state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import shown_errors

KEY_WORDS = {"not set": "key missing", "unknown": "key unknown"}


def show(name: str, now: Standing) -> None:
    """Judges, the reversed order, and the dataset that offline judges learn from."""
    entries = {entry.name: entry for entry in registry.list_judges(store())}
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        _judges(name, now, entries)
    with right:
        _flip(name, now)
    for judge in now.judges:
        entry = entries.get(judge.name)
        if entry is not None and entry.key == "not set":
            words = f"{judge.name}: the variable {entry.key_env} is not set where the app runs."
            st.caption(f":material/key_off: {label(words)}")
    if any(judge.offline for judge in now.judges):
        _teacher(name, now)
    if all(entry.judge.offline for entry in entries.values()):
        routes.link(routes.JUDGES, "Connect a model to ask one", icon="add_link")


def _judges(name: str, now: Standing, entries: dict[str, JudgeEntry]) -> None:
    key = state.key(keys.WORKBENCH_FIELD, name, "judges")
    kept = [one for one in now.bench["judges"] if one in entries]
    state.seed(key, kept)
    if [one for one in state.get(key) if one in entries] != state.get(key):
        state.put(key, kept)

    def words(one: str) -> str:
        entry = entries[one]
        kind = "offline" if entry.judge.offline else one_line(entry.judge.model, 40)
        return " · ".join(p for p in (visible(one), kind, KEY_WORDS.get(entry.key, "")) if p)

    st.multiselect(
        "Judges",
        list(entries),
        key=key,
        format_func=words,
        placeholder="Choose at least one",
        on_change=_on_asking,
        args=(name,),
    )


def _flip(name: str, now: Standing) -> None:
    key = state.key(keys.WORKBENCH_FIELD, name, "flip")
    state.seed(key, now.bench["flip"])
    st.toggle(
        "Ask in both orders",
        key=key,
        on_change=_on_asking,
        args=(name,),
        help="Each question is asked again with the options reversed. An answer that changes "
        "hangs on the order. Twice the calls; what is known is not paid again.",
    )


def _teacher(name: str, now: Standing) -> None:
    rubric = now.subject.rubric(list(now.subject.criteria), "w") if now.subject.criteria else None
    found = {t.row.version_id: t for t in teachers(store(), rubric)} if rubric else {}
    if not found:
        st.warning(
            "Offline judges learn from labelled items, and no dataset has labels that fit this "
            "rubric. Label items on the Datasets page, or ask a model.",
            icon=":material/school:",
        )
        return
    key = state.key(keys.WORKBENCH_FIELD, name, "learn_from")
    state.seed(key, now.bench["learn_from"])
    if state.get(key) not in found:
        state.put(key, None)
    chosen = st.selectbox(
        "Offline judges learn from",
        list(found),
        key=key,
        index=None,
        placeholder="Choose a labelled dataset",
        format_func=lambda one: (
            f"{one_line(found[one].row.name, 60)} · {fmt.plural(found[one].labels, 'label')}"
        ),
        on_change=_on_asking,
        args=(name,),
    )
    if chosen is not None and found[chosen].untaught:
        untaught = ", ".join(found[chosen].untaught)
        st.caption(label(f"No labels for {untaught}: there they abstain.", 300))


def _on_asking(name: str) -> None:
    with shown_errors():

        def of(what: str) -> str:
            return state.key(keys.WORKBENCH_FIELD, name, what)

        chosen = list(state.get(of("judges"), []))
        teacher = state.get(of("learn_from"))
        workbench.set_asking(
            store(), name, judges=chosen, flip=bool(state.get(of("flip"))), learn_from=teacher
        )
