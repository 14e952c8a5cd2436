"""A drop zone for any file: it says what the file is, and links to the screen that uses it."""

from __future__ import annotations

import streamlit as st

from core.services.datasets import catalog
from core.services.guided import dropped as reading
from core.services.guided import texts
from core.services.guided.dropped import Kind, Recognised
from core.services.guided.texts import File
from pages.ui import resources, routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, draw_row, problem_list, shown_errors, tag

START_FILES = "start_files"
START_ACT = "start_act"
#: Whether the user wants to compare two prompts but has not dropped two systems' answers yet.
START_PAIRS = "start_pairs"
PAIRS = """prompt,answer_v1,answer_v2
Why is the sky blue?,Because of the sea.,Air scatters blue light more."""
KINDS: dict[Kind, str] = {
    "texts": "texts",
    "rubric": "rubric",
    "votes": "votes",
    "unknown": "not recognised",
}


def show() -> None:
    """Draw the zone, what each file is, and where it can go.

    Dropped files stay until they are used, even if the page is reloaded.
    """
    files = resources.held_files("start")
    _drop_zone(files)
    if not files:
        return
    with st.container(border=True), shown_errors():
        resources.draw_held_files("start", files, "Clear")
        recognised = resources.recognised_files(files)
        for dropped in recognised:
            _draw_file(dropped)
        _draw_targets(recognised)


def _drop_zone(held: tuple[File, ...]) -> None:
    """Draw the drop zone. Later files are added; a file of the same name replaces the earlier
    one.
    """
    uploads = st.file_uploader(
        "Drop more files"
        if held
        else "Drop anything: a table, submissions, a rubric, another tool's results",
        accept_multiple_files=True,
        key=state.key(START_FILES, len(held)) if held else START_FILES,
        help="Dropped files are read and shown first. Nothing is sent anywhere yet.",
    )
    together = {file.name: file for file in (*held, *resources.dropped_files(uploads or ()))}
    if tuple(together.values()) != held:
        resources.hold_files("start", tuple(together.values()))
        st.rerun()
    if state.get(START_PAIRS) and not held:
        with st.container(border=True):
            st.html(
                "To compare two prompts, drop a file with the answers of each, or one table with "
                "both: side by side as below, or one answer per row with a column <i>system</i>."
            )
            st.code(PAIRS, language=None)


def keep_dropped_files() -> None:
    """Keep the dropped files when the user leaves by another link."""
    recognised = resources.recognised_files(resources.held_files("start"))
    for kind in ("texts", "rubric", "votes"):
        if files := reading.files_of_kind(recognised, kind):
            resources.hold_files(kind, files)
    resources.hold_files("start", ())


def _draw_file(recognised: Recognised) -> None:
    tone: Tone = "warn" if recognised.kind == "unknown" else "good"
    draw_row(
        [
            tag(KINDS[recognised.kind], tone),
            f"<b>{esc(one_line(recognised.title, 70))}</b>",
            f"<span>{esc(one_line(recognised.line, 260))}</span>",
        ]
    )
    if recognised.problems:
        problem_list(recognised.problems[:5])


def _draw_targets(recognised: tuple[Recognised, ...]) -> None:
    """Draw where these files can go: the likeliest first, then the others."""
    class_, rubric = (
        reading.files_of_kind(recognised, "texts"),
        reading.files_of_kind(recognised, "rubric"),
    )
    votes = reading.files_of_kind(recognised, "votes")
    systems = next((dropped for dropped in recognised if len(dropped.systems) > 1), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        # Users who came to compare see that first.
        if systems is not None:
            _go_to_contest(systems.files, systems.systems)
        # It reads both tables, so it is cached.
        elif apart := resources.remembered(
            "systems in files", (hash(class_),), lambda: texts.systems_in(class_)
        ):
            _go_to_contest(class_, apart)
        if class_ or rubric:
            text = "Grade these texts" if class_ else "Grade texts with this rubric"
            if class_ and rubric:
                text = "Grade these texts with this rubric"
            if _target_button(text, "grading", primary=not state.get(START_PAIRS)):
                only_texts = not any(dropped.also_votes for dropped in recognised)
                _go_to_grading(class_, rubric, is_certain=only_texts)
        doubtful = tuple(
            file for dropped in recognised if dropped.also_votes for file in dropped.files
        )
        if (votes or doubtful) and _target_button(
            "Review and measure these votes" if votes else "Import its columns as votes",
            "upload",
            primary=not (class_ or rubric),
        ):
            resources.hold_files("votes", votes or doubtful)
            resources.hold_files("start", ())
            routes.go_to(routes.IMPORT_VOTES)


def _go_to_grading(class_: tuple[File, ...], rubric: tuple[File, ...], *, is_certain: bool) -> None:
    """Go on to grading. What leaves nothing to ask is stored; the rest is asked there."""
    address: dict[str, object] = {}
    checked = texts.texts_without_questions(class_) if is_certain and class_ else None
    if checked is not None:
        version = texts.keep(store(), checked, texts.source_of(class_))
        address[state.DATASET] = version.dataset_id
        if (rubric_read := reading.unasked_rubric(rubric)) is not None:
            kept = catalog.keep_rubric(store(), rubric_read, rubric[0].name)
            address[state.RUBRIC] = kept.rubric_id
    resources.hold_files("texts", () if state.DATASET in address else class_)
    resources.hold_files("rubric", () if state.RUBRIC in address else rubric)
    resources.hold_files("start", ())
    routes.go_to(routes.GRADE, address)


def _go_to_contest(files: tuple[File, ...], systems: tuple[str, ...]) -> None:
    """Store the answers of several systems, from one table or a file each, and plan a contest."""
    names = " and ".join(one_line(name, 20) for name in systems[:2])
    more = f" and {len(systems) - 2} more" if len(systems) > 2 else ""
    if _target_button(f"Compare {names}{more}", "swords", primary=bool(state.get(START_PAIRS))):
        look = texts.look(texts.read_answers(files))
        version = texts.keep(store(), texts.check(look), files[0].name)
        resources.hold_files("start", ())
        routes.go_to(routes.CONTESTS, {state.PLAN: state.NEW, state.DATASET: version.dataset_id})


def _target_button(words: str, icon: str, *, primary: bool = False) -> bool:
    return st.button(
        label(words, 120),
        key=state.key(START_ACT, icon),
        type="primary" if primary else "secondary",
        icon=f":material/{icon}:",
    )
