"""What a version of the rubric does to a run that is graded already: shown, applied, undone."""

from __future__ import annotations

import streamlit as st

from core.domain.library import RubricVersion
from core.domain.runs import Run
from core.errors import NotFound
from core.services import authoring, propagating, viewing
from core.services.versioning import Edits
from pages.author._rubric import edits, spread_acts, spread_figures, spread_moves
from pages.ui import routes, state
from pages.ui import version_keys as keys
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import page_header, show_flash, shown_errors


def show(name: str, run_id: int) -> None:
    """The whole screen: the run, a version to choose, the difference, and what can be done."""
    with st.container(horizontal=True):
        st.button(
            "Back to the editor",
            key=state.key(keys.SPREAD_ACT, "editor"),
            type="tertiary",
            icon=":material/arrow_back:",
            on_click=state.set_address,
            kwargs={state.RUBRIC: name, state.RUN: None},
        )
    with shown_errors():
        try:
            run = viewing.require_run(store(), run_id)
        except NotFound as error:
            st.warning(label(str(error)), icon=":material/search_off:")
            return
        page_header(f"Graded run: {one_line(run.name, 80)}", _stands(run), own_words=False)
        show_flash()
        _run_link(run)
        version_id = _version(run)
        _under(run, version_id)


def _run_link(run: Run) -> None:
    routes.link(routes.RUN, "Open the run", {state.RUN: run.id}, icon="arrow_outward")


def _stands(run: Run) -> str:
    asked = f"Judges were asked version {run.rubric_number}"
    if run.scored_version_id == run.rubric_version_id:
        return f"{asked}, and scores follow it. Votes and plan stay as they are, whatever you do."
    return f"{asked}; scores follow version {run.scored_number}. Votes and plan are as they were."


def _version(run: Run) -> int:
    history = {one.id: one for one in authoring.history(store(), run.rubric_id)}
    key = state.key(keys.SPREAD_VERSION, run.id)
    state.seed(key, next(iter(history)))

    def words(version_id: int) -> str:
        found = history[version_id]
        marks = [
            "asked" if version_id == run.rubric_version_id else "",
            "scores follow it" if version_id == run.scored_version_id else "",
        ]
        mark = ", ".join(filter(None, marks))
        return one_line(f"Version {found.number}{f' ({mark})' if mark else ''} {found.note}", 90)

    chosen: int = st.selectbox("Look at it under", list(history), key=key, format_func=words)
    return chosen


def _under(run: Run, version_id: int) -> None:
    found = propagating.edits(store(), run.id, version_id)
    version = authoring.version(store(), version_id)
    if found.edits:
        with st.expander(
            f"What differs from version {run.rubric_number}, which judges were asked",
            expanded=len(found.edits) <= 4,
        ):
            edits.show(found.edits, f"Version {run.rubric_number}", f"Version {version.number}")
            edits.legend(found.edits)
    if version_id == run.scored_version_id:
        spread_acts.stand(run)
    else:
        _other(run, version, found)
    spread_acts.history(run)


def _other(run: Run, version: RubricVersion, found: Edits) -> None:
    """What a version that scores do not follow would change, and what can be done."""
    asked = authoring.version(store(), run.rubric_version_id)
    moves = spread_moves.choose(run.id, asked.rubric, version.rubric, found)
    if moves != found.moves:
        found = propagating.edits(store(), run.id, version.id, moves)
    difference = propagating.difference(store(), run.id, version.id, moves)
    spread_figures.show(difference)
    spread_acts.apply(run, version.id, found, moves)
