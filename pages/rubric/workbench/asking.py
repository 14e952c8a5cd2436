"""Who is asked, what is open, what it takes; progress, and cancelling."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services.judges import registry
from core.services.judges.registry import JudgeEntry
from core.services.runs.lifecycle import phase_of
from core.services.spot.trials import teachers
from core.services.workbench import asking, bench_rows
from core.services.workbench.asking import Want
from core.services.workbench.bench_state import WorkbenchState
from core.text import numbers as fmt
from core.text.names import visible
from pages.rubric.workbench import subject as keys
from pages.ui import drafts, routes, state
from pages.ui.asking_words import who_answers
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import shown_errors


def asking_bar(name: str, now: WorkbenchState, criterion: str | None) -> None:
    """The buttons with what each takes, or how far the judges are."""
    for need in asking.needs(store(), now):
        st.info(label(need), icon=":material/gavel:")
    if now.active:
        _progress(name, now)
        return
    for run in now.stopped:
        words = run.message or "The asking was interrupted. Ask what is open to go on."
        st.error(label(words, 600), icon=":material/error:")
    if not now.cells or not now.judges:
        return
    left = asking.outlook(store(), now, Want("open", criterion=criterion))
    whole = asking.outlook(store(), now, Want("all", criterion=criterion))
    failed = asking.outlook(store(), now, Want("failed", criterion=criterion))
    with st.container(horizontal=True, vertical_alignment="center"):
        words = f"Ask what is open ({left.cells})" if left.cells else "Nothing is open"
        _button(name, words, "open", criterion, primary=True, off=not left.cells)
        if failed.cells and failed.cells < left.cells:
            _button(name, f"Only what failed ({failed.cells})", "failed", criterion)
        _button(name, f"Ask all anew ({whole.cells})", "all", criterion, off=not whole.cells)
    told = [f"Open: {left.takes.words}."] if left.cells else []
    st.caption(label(" ".join([*told, f"All: {whole.takes.words}."]), 400))


def _button(
    name: str,
    words: str,
    which: str,
    criterion: str | None,
    *,
    primary: bool = False,
    off: bool = False,
) -> None:
    st.button(
        words,
        key=state.key(keys.WORKBENCH_ACT, name, "ask", which),
        type="primary" if primary else "secondary",
        icon=":material/play_arrow:" if primary else ":material/refresh:",
        disabled=off,
        on_click=on_ask,
        args=(name, which, None, criterion),
    )


def on_ask(name: str, which: asking.Which, row: str | None, criterion: str | None) -> None:
    """Callback: start asking these cells."""
    with shown_errors():
        started = asking.ask(store(), name, drafts.draft(name), Want(which, row, criterion))
        if not started:
            raise InputError("There is nothing to ask: every row has its answer.")


def _progress(name: str, now: WorkbenchState) -> None:
    planned = sum(run.planned for run in now.runs)
    done = sum(run.votes + run.failures_open for run in now.runs)
    at_work = next((run for run in now.runs if run.status != "queued"), now.runs[0])
    st.progress(
        min(1.0, done / planned) if planned else 0.0,
        text=f"{done} of {fmt.plural(planned, 'answer')} · {phase_of(at_work)}",
    )
    st.button(
        "Cancel",
        key=state.key(keys.WORKBENCH_ACT, name, "cancel"),
        icon=":material/stop:",
        on_click=_on_cancel,
        args=(name,),
        help="What was answered stays; what was not asked yet costs nothing.",
    )


def _on_cancel(name: str) -> None:
    with shown_errors():
        asking.cancel(store(), name)


KEY_WORDS = {"not set": "key missing", "unknown": "key unknown"}


def choose_judges(name: str, now: WorkbenchState) -> None:
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
    if any(judge.learns for judge in now.judges):
        _teacher(name, now)
    if all(entry.judge.offline for entry in entries.values()):
        routes.link(routes.JUDGES, "Connect a model to ask one", icon="add_link")


def _judges(name: str, now: WorkbenchState, entries: dict[str, JudgeEntry]) -> None:
    key = state.key(keys.WORKBENCH_FIELD, name, "judges")
    kept = [one for one in now.bench["judges"] if one in entries]
    state.seed(key, kept)
    if [one for one in state.get(key) if one in entries] != state.get(key):
        state.put(key, kept)

    def words(one: str) -> str:
        entry = entries[one]
        kind = one_line(who_answers(entry.judge), 40)
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


def _flip(name: str, now: WorkbenchState) -> None:
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


def _teacher(name: str, now: WorkbenchState) -> None:
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
        bench_rows.set_asking(
            store(), name, judges=chosen, flip=bool(state.get(of("flip"))), learn_from=teacher
        )
