"""Step 1, the texts: dropped, pasted or already stored. It guesses their column and shows the
guess.
"""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.formats.office.workbook import SheetNotChosen
from core.formats.tables.table import Table
from core.services.datasets import catalog
from core.services.guided import dropped as reading
from core.services.guided import texts
from core.services.guided.texts import File, TextTable
from core.text import numbers as fmt
from pages.grade import steps
from pages.grade.rubric import dropped_rubric
from pages.grade.steps import GRADE_ACT, Path, field_key, settle_parts
from pages.ui import resources, routes, state
from pages.ui.files import roles
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table as html_table
from pages.ui.widgets import problem_list, sheet_choice, show_refusal, shown_errors

WAYS = {"drop": "Drop files", "paste": "Paste", "here": "Choose what the table contains"}
TOGETHER = {
    "join": "One table, joined by a column",
    "systems": "Answers of two systems",
    "parts": "Parts of one table",
}


def show(path: Path) -> None:
    """Draw the step, folded once settled."""
    if path.dataset is not None and not steps.is_open("texts", True):
        version = path.dataset
        address = {state.DATASET: version.dataset_id}
        steps.show_folded(
            "texts",
            texts.kept_line(version),
            show_content=lambda: routes.draw_link(
                routes.DATASETS, "Look", address, icon="visibility"
            ),
        )
        return
    with st.container(border=True), shown_errors():
        steps.show_title("texts", "what is to be graded")
        _choose_texts()
        steps.draw_close_unchanged("texts")


def _choose_texts() -> None:
    files = resources.held_files("texts")
    if files:
        resources.draw_held_files("texts", files)
        _show_files(files)
        return
    datasets = {row.id: row for row in catalog.list_datasets(store())}
    ways = WAYS if datasets else {way: caption for way, caption in WAYS.items() if way != "here"}
    way = steps.chosen_way("texts", ways)
    if way == "paste":
        _show_pasted()
    elif way == "here":
        _choose_stored(
            {i: f"{row.name} ({fmt.plural(row.items, 'text')})" for i, row in datasets.items()}
        )
    else:
        uploads = st.file_uploader(
            "A table (.xlsx, .csv and others), a zip archive, or the documents themselves",
            accept_multiple_files=True,
            key=field_key("texts", "files"),
        )
        if uploads:
            # Files are held like those dropped on Start, so that they survive a reload.
            files = resources.dropped_files(uploads)
            rubrics = reading.files_of_kind(resources.recognised_files(files), "rubric")
            if 0 < len(rubrics) < len(files):
                resources.hold_files("rubric", rubrics)
                files = tuple(file for file in files if file not in rubrics)
            resources.hold_files("texts", files)
            st.rerun()


def _show_files(files: tuple[File, ...]) -> None:
    sheet: str | None = None
    table = resources.table_of_texts(files)
    if isinstance(table, SheetNotChosen):
        sheet = sheet_choice(table.sheets, field_key("texts", "sheet", files[0].name))
        if sheet is None:
            return
        table = resources.table_of_texts(files, sheet)
    if texts.are_tables(files) and not isinstance(table, InputError):
        table = resources.table_of_texts(files, sheet, _chosen_way(files, sheet))
    _show_parsed(table, texts.source_of(files))


def _chosen_way(files: tuple[File, ...], sheet: str | None) -> str:
    """Return how several tables belong together, asked once; the likeliest answer is
    preselected.
    """
    could = texts.ways_to_join(files, sheet)
    key = field_key("texts", "way", *(file.name for file in files))
    state.guess(key, could[0])
    if len(could) > 1:
        st.segmented_control(
            "These tables are", could, format_func=TOGETHER.__getitem__, key=key, required=True
        )
    return str(state.get(key))


def _show_pasted() -> None:
    text = steps.paste_box(
        "texts", "A table with headings, or texts: one per paragraph (or per line)."
    )
    if text:
        try:
            _show_parsed(texts.read_pasted(text), "pasted texts")
        except InputError as error:
            _show_parsed(error, "pasted texts")


def _choose_stored(names: dict[int, str]) -> None:
    st.selectbox(
        "Dataset",
        list(names),
        index=None,
        format_func=lambda choice: one_line(names[choice], 90),
        key=field_key("texts", "dataset"),
        placeholder="Choose one",
        on_change=_on_known_dataset,
    )


def _on_known_dataset() -> None:
    with shown_errors():
        chosen = state.get(field_key("texts", "dataset"))
        if chosen is not None:
            settle_parts(**{state.DATASET: chosen})


def _show_parsed(table: Table | InputError, name: str) -> None:
    """Show the parsed table: its column, three rows, its problems, and the button."""
    if isinstance(table, InputError):
        show_refusal(table)
        return
    look = _choose_text_column(table, name)
    if look is None:
        return
    naming = texts.naming_column(look)
    html_table(
        (one_line(naming, 40), look.column or "Text"),
        ([esc(one_line(naming, 40)), esc(text)] for naming, text in texts.first_rows(look)),
        name="The first texts",
    )
    if naming in look.mapping.meta:
        st.caption(f"{label(naming, 40)} names the author of the text; no judge sees it.")
    look = _view_with_roles(look, name)
    checked = texts.check(look)
    if checked.problems:
        st.error("These texts cannot be used yet.", icon=":material/error:")
        problem_list(checked.problems)
        return
    if checked.notices:
        with st.expander(fmt.plural(len(checked.notices), "remark"), expanded=False):
            problem_list(checked.notices)
    count = len(checked.dataset.items) if checked.dataset else 0
    which = "this text" if count == 1 else f"these {fmt.plural(count, 'text')}"
    dropped = dropped_rubric()
    if st.button(
        f"Use {which} and the rubric" if dropped else f"Use {which}",
        key=state.key(GRADE_ACT, "texts"),
        type="primary",
        icon=":material/check:",
    ):
        version = texts.keep(store(), checked, name)
        parameters: dict[str, object] = {state.DATASET: version.dataset_id}
        if checked.dataset is not None and checked.dataset.rubric is not None:
            rubric = catalog.keep_rubric(store(), checked.dataset.rubric, name)
            parameters[state.RUBRIC] = rubric.rubric_id
        elif dropped is not None:
            parameters[state.RUBRIC] = catalog.keep_rubric(store(), *dropped).rubric_id
            steps.discard_input("rubric")
        steps.discard_input("texts")
        settle_parts(**parameters)
        st.rerun()


def _view_with_roles(look: TextTable, name: str) -> TextTable:
    """Return the view with the roles that the person gave to the other columns."""
    if look.table.kind == "files" or len(look.table.columns) < 2:
        return look
    with st.expander("What each column is for", expanded=False, icon=":material/view_column:"):
        about = state.key(name, look.column, len(look.table.rows))
        chosen = roles.choose_roles(field_key("texts", "role"), about, look.table, look.mapping)
    return texts.with_roles(look, chosen)


def _choose_text_column(table: Table, name: str) -> TextTable | None:
    """Return the view of the table with the guessed or chosen column of texts, or ``None``."""
    guess = texts.look(table)
    if table.kind == "files" or len(guess.columns) < 2:
        return guess
    key = field_key("texts", "column", name, len(table.rows))
    state.guess(key, guess.column)
    column = st.selectbox(
        "Column with the texts",
        guess.columns,
        index=None,
        format_func=lambda column: one_line(column, 80),
        key=key,
        placeholder="Choose the column that holds the texts to grade",
    )
    if column is None:
        return None
    return guess if column == guess.column else texts.look(table, column)
