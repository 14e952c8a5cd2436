"""The versions of a rubric: who saved what and why, what each was used for, what differs."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.domain.library import RubricVersionInfo
from core.services import authoring
from core.services import numbers as fmt
from core.services.version_uses import Uses, uses
from core.services.versioning import edits_between
from pages.author._rubric import edits, work
from pages.author._rubric.going import RUBRIC_ACT, back_to_list
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import empty_state, page_header, shown_errors

VERSIONS_PICK = "versions_pick"

RUNS = 5


def show(name: str) -> None:
    """The history, newest first, and graded runs; for the panel beside the form."""
    rubric_id = work.draft(name)["rubric_id"]
    if rubric_id is None:
        empty_state("No versions yet", "Every save makes one; runs refer to it for good.")
        return
    history = authoring.history(store(), rubric_id)
    used = uses(store(), rubric_id)
    for place, found in enumerate(history):
        with st.container(border=True):
            _words(found, used.get(found.id, Uses()))
            _acts(name, found, history[place + 1].id if place + 1 < len(history) else None)


def _words(found: RubricVersionInfo, used: Uses) -> None:
    by = f" by {found.author}" if found.author else ""
    quiet = f"{fmt.ago(found.created)}{by} · {fmt.short_hash(found.hash)}"
    lines = [
        f"<b>Version {found.number}</b> {esc(found.note)}",
        f'<span class="rs-quiet">{esc(quiet)}</span>',
        *(f'<span class="rs-quiet">{esc(line)}</span>' for line in _uses(used)),
    ]
    st.html("<br>".join(lines))


def _uses(used: Uses) -> list[str]:
    if not used.asked and not used.follow:
        return ["not used"]
    lines = []
    for words, runs in (("asked in", used.asked), ("scores follow it in", used.follow)):
        if runs:
            names = ", ".join(f"{run.id} {one_line(run.name, 40)}" for run in runs[:RUNS])
            more = f" and {len(runs) - RUNS} more" if len(runs) > RUNS else ""
            lines.append(f"{words} {fmt.plural(len(runs), 'run')}: {names}{more}")
    if used.queues:
        lines.append(f"reviewed in {fmt.plural(used.queues, 'queue')}")
    return lines


def _acts(name: str, found: RubricVersionInfo, before: int | None) -> None:
    with st.container(horizontal=True):
        for act, words, parameters in (
            ("version", "Read", {state.VERSION: found.id}),
            ("changes", "What changed", {state.VERSION: found.id, state.AGAINST: before}),
        ):
            if act == "version" or before is not None:
                st.button(
                    words,
                    key=state.key(RUBRIC_ACT, name, act, found.id),
                    type="tertiary",
                    on_click=_go,
                    kwargs=parameters,
                )


def _go(**parameters: object) -> None:
    state.set_address(**parameters)


def show_difference(version_id: int, against: int) -> None:
    """Two versions of a rubric, criterion by criterion."""
    with shown_errors():
        new = authoring.version(store(), version_id)
        history = {one.id: one for one in authoring.history(store(), new.rubric_id)}
        back_to_list()
        page_header(new.rubric.name, "What differs between two versions", own_words=False)
        older, newer = _pick(history, against, version_id)
        one, other = (authoring.version(store(), each) for each in (older, newer))
        found = edits_between(one.rubric, other.rubric)
        with st.container(horizontal=True):
            st.button(
                "Back to the editor",
                key=state.key(RUBRIC_ACT, "editor"),
                icon=":material/edit:",
                on_click=_go,
                kwargs={state.RUBRIC: new.rubric_id, state.VERSION: None, state.AGAINST: None},
            )
        edits.show(found.edits, f"Version {one.number}", f"Version {other.number}")
        if found.edits:
            st.html('<div class="rs-section">What that means for votes that are there</div>')
            edits.legend(found.edits)


def _pick(history: Mapping[int, RubricVersionInfo], older: int, newer: int) -> tuple[int, int]:
    def words(version_id: int) -> str:
        found = history[version_id]
        return one_line(f"Version {found.number} {found.note}", 60)

    chosen = []
    with st.container(horizontal=True):
        for what, title, first in (("older", "From", older), ("newer", "To", newer)):
            key = state.key(VERSIONS_PICK, what, older, newer)
            ids = list(history)
            state.seed(key, first if first in history else ids[-1])
            chosen.append(st.selectbox(title, ids, key=key, format_func=words, width=280))
    return chosen[0], chosen[1]
