"""Import votes: answers given elsewhere become a run, after a preview."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.formats.office.workbook import SheetNotChosen
from core.formats.votes.reading import SeenKind, SourceKind
from core.formats.votes.tools.known_tools import TOOL_NAMES
from core.services.datasets import catalog
from core.services.imports import import_files, vote_import
from core.services.imports.import_files import CheckedVotes, FileShape
from core.services.rubrics import library
from pages.imports import columns, reading
from pages.ui import resources, routes, state
from pages.ui.resources import Upload, store
from pages.ui.text import distinct_names, label
from pages.ui.widgets import page_header, problem_list, sheet_choice, show_refusal, shown_errors

ENDINGS = [
    *("csv", "tsv", "jsonl", "json", "xlsx", "ods", "parquet", "arrow", "feather", "zip", "eval"),
]
SHAPES: dict[SeenKind, str] = {
    "long": "One answer per row",
    "wide": "One rater per column",
    "criteria": "One criterion per column",
    "pairs": "Two answers compared",
}
WHERE: dict[SeenKind, tuple[routes.Screen, str]] = {
    "rubric": (routes.RUBRICS, "This file is a rubric without votes."),
    "dataset": (
        routes.DATASETS,
        "This seems to hold items, not votes. If it contains votes, choose their layout above.",
    ),
    "unknown": (
        routes.DATASETS,
        "This is neither a table of votes nor a dataset in a known format. If it holds votes, "
        "choose their layout above; import items on the Datasets page.",
    ),
}


def import_form() -> None:
    """Draw the whole import, top to bottom; only the last button saves."""
    routes.draw_back_link(routes.RUNS, "All runs")
    page_header(
        "Import votes",
        "What people or models answered elsewhere becomes a run, to be measured and reviewed like "
        "any other. Nothing is stored until you have seen a preview and press Import.",
    )
    upload: Upload | None = resources.held_upload("votes")
    upload = upload or st.file_uploader("File of votes", type=ENDINGS, key=reading.FILE)
    if upload is None:
        _show_help()
        return
    seen = reading.look_at_file(upload, None)
    about = upload.file_id
    if isinstance(seen, SheetNotChosen):
        sheet = sheet_choice(seen.sheets, state.key(reading.SHEET, about))
        if sheet is None:
            return
        about = state.key(about, sheet)
        seen = reading.look_at_file(upload, None, sheet)
    if not isinstance(seen, InputError):
        _begin_with_the_likeliest(about, seen)
    shape: SourceKind | None = state.get(state.key(reading.SHAPE, about))
    if shape is not None and not isinstance(seen, InputError):
        seen = reading.look_at_file(upload, shape, seen.source.sheet)
    if isinstance(seen, InputError):
        show_refusal(seen)
        return
    if _holds_votes(about, seen):
        _choose_mapping(upload, about, seen)


def _begin_with_the_likeliest(upload_name: str, seen: FileShape) -> None:
    """Choose the shape that an unrecognised table comes nearest to, and list what it could be."""
    shape = import_files.likeliest_kind(seen)
    key = state.key(reading.SHAPE, upload_name)
    if shape is None:
        return
    state.seed(key, shape)
    if state.get(key) is not None:
        st.info("The headings do not show what this table contains. Check what each column is for.")
        problem_list(import_files.nearest_in_words(seen))


def _show_help() -> None:
    st.caption(
        "A table as shown here, a zip archive with votes.csv, rubric.yaml and items.jsonl, or a "
        "file from another tool: autorubric, Gradescope, "
        f"{label(', '.join(TOOL_NAMES.values()))}."
    )
    left, right = st.columns(2)
    left.caption(
        "One answer per row. n/a is an abstention; an empty answer of a model is a failure."
    )
    right.caption("One rater per column. An empty cell means that the rater was not asked.")
    left.code(
        "item,criterion,rater,label\nq1,polite,ann,yes\nq1,polite,gpt-4,no\nq2,polite,ann,no",
        language=None,
    )
    right.code("item,ann,bob,gpt-4\nq1,4,5,4\nq2,2,,3", language=None)


def _holds_votes(upload_name: str, file_look: FileShape) -> bool:
    """Return whether the file has votes; ask if a table can be read in two ways."""
    if not file_look.source.lone or file_look.kind == "gradescope" or file_look.kind in TOOL_NAMES:
        return True
    if file_look.kind != "rubric":
        key = state.key(reading.SHAPE, upload_name)
        if file_look.kind in SHAPES:
            state.seed(key, file_look.kind)
        st.segmented_control(
            "This table has", list(SHAPES), format_func=SHAPES.__getitem__, key=key
        )
    if file_look.kind in SHAPES:
        return True
    page, caption = WHERE[file_look.kind]
    st.info(caption, icon=":material/info:")
    problem_list(import_files.nearest_in_words(file_look))
    routes.draw_link(page, page.title, icon="arrow_outward")
    return False


def _choose_mapping(upload: Upload, upload_name: str, file_look: FileShape) -> None:
    rubric, dataset = _chosen_rubric_and_dataset(file_look)
    mapping = import_files.guess_mapping(file_look, resources.rubric(rubric))
    if file_look.table is not None and mapping is not None:
        mapping, wrong = columns.show(upload_name, file_look.table, mapping)
        if wrong:
            st.error("The columns do not fit together.", icon=":material/error:")
            problem_list(wrong)
            return
        mapping = columns.answer_meanings(upload_name, file_look, mapping, resources.rubric(rubric))
    bins = _chosen_steps(upload) if file_look.kind in TOOL_NAMES else ()
    checked = reading.checked_votes(
        f"{upload_name}-{rubric or 0}", file_look, mapping, rubric, dataset, bins
    )
    st.subheader("Check", anchor=False)
    if reading.show(checked):
        _save_votes(upload, checked)


def _chosen_steps(upload: Upload) -> tuple[str, ...]:
    """Return the chosen steps into which numbers are grouped."""
    written = st.text_input(
        "Steps for scores that are numbers",
        key=state.key(reading.STEPS, upload.file_id),
        placeholder="5 equal steps",
        max_chars=1000,
        persist_state="page",
        help="The number of steps (4), or their edges (0, 0.5, 1). For a single question write "
        "faithfulness=0,0.5,1; separate several questions with semicolons. The original "
        "numbers are kept with the reasons.",
    )
    return tuple(part.strip() for part in (written or "").split(";") if part.strip())


def _chosen_rubric_and_dataset(file_look: FileShape) -> tuple[int | None, int | None]:
    """Return the chosen stored rubric and dataset, by their versions."""
    rubrics = {row.version_id: row.name for row in library.rubric_rows(store())}
    names = {row.version_id: row.name for row in catalog.list_datasets(store())}
    contained = file_look.source.lone
    left, right = st.columns(2)
    with left:
        rubric = _version_choice(
            "Rubric",
            rubrics,
            reading.RUBRIC,
            "Made from the labels in the file" if contained else "The file's own",
            "The rubric that raters answered. Labels are checked against it.",
        )
    with right:
        dataset = _version_choice(
            "Dataset",
            names,
            reading.DATASET,
            "Made from the items in the file" if contained else "The file's own",
            "The dataset that was judged. The ids in the file must match its items' ids.",
        )
    return rubric, dataset


def _version_choice(
    name: str, names: dict[int, str], key: str, otherwise: str, help_text: str
) -> int | None:
    if state.get(key) not in (None, *names):
        state.drop(key)
    shown = distinct_names(names, 100)
    chosen: int | None = st.selectbox(
        name,
        list(names),
        index=None,
        format_func=lambda version: shown.get(version, ""),
        key=key,
        placeholder=otherwise,
        help=help_text,
    )
    return chosen


def _save_votes(upload: Upload, checked: CheckedVotes) -> None:
    bundle, seen = checked.bundle, checked.preview
    if bundle is None or seen is None:
        return
    key = state.key(reading.NAME, upload.file_id)
    state.seed(key, f"{bundle.name}: imported votes"[:200])
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.text_input(
        "Name of the run", key=key, max_chars=200, on_change="ignore", persist_state="page"
    )
    pressed = right.button(
        "Import",
        key=state.key(reading.ACT, "import"),
        type="primary",
        icon=":material/upload_file:",
        width="stretch",
    )
    if not pressed:
        return
    with shown_errors():
        with st.spinner("Storing every vote …"):
            name = " ".join(str(state.get(key) or "").split())
            run = vote_import.bring_in(store(), bundle, name=name, source=upload.name)
            vote_import.make_ready(store(), run)
        reading.forget_file()
        resources.hold_files("votes", ())
        state.put(reading.DONE, (run.run, run.existed))
        st.rerun()


def import_result(run: int | None, existed: bool) -> None:
    """Draw the links to the run and its agreement, and the button for another file."""
    routes.draw_back_link(routes.RUNS, "All runs")
    page_header("Import votes")
    if run is None:
        st.success("The rubric and the items are stored. Without votes there is no run.")
    elif existed:
        st.info(f"These votes were already imported as run {run}. Nothing was added.")
    else:
        st.success(f"Imported as run {run}.", icon=":material/check:")
    with st.container(horizontal=True):
        if run is not None:
            for page, caption, icon in (
                (routes.AGREEMENT, "See how far raters agree", "balance"),
                (routes.RUN, "Open the run", "monitoring"),
            ):
                routes.draw_link(page, caption, {state.RUN: run}, icon=icon)
        st.button(
            "Import another file",
            key=state.key(reading.ACT, "another"),
            icon=":material/add:",
            on_click=_on_another,
        )


def _on_another() -> None:
    for family in (
        reading.DONE,
        reading.FILE,
        reading.SHAPE,
        reading.SHEET,
        reading.FIELD,
        reading.RATERS,
        reading.NAME,
        reading.STEPS,
    ):
        state.drop(family)


if state.is_arriving():
    # Returning here means importing another file.
    state.drop(reading.DONE)
state.note_arrival()
_done = state.get(reading.DONE)
if _done is None:
    import_form()
else:
    import_result(*_done)
