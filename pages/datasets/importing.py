"""Importing a dataset: choose a file, map its columns, check the preview, and only then save.

Another rubric changes the guesses, but not the person's choices.
"""

from __future__ import annotations

import streamlit as st

from core.domain.dataset import Dataset
from core.errors import InputError, Problem
from core.formats.datasets.mapping import ColumnMapping
from core.formats.office.workbook import SheetNotChosen
from core.formats.rubrics.forms import looks_like_rubric
from core.formats.tables.table import Table
from core.formats.votes.reading import TABLES
from core.formats.votes.vote_layouts import kind_of_table
from core.services.datasets import catalog, label_stats
from core.services.datasets.catalog import Checked
from core.services.guided import marks
from core.services.imports import column_roles
from core.services.rubrics import library
from core.text import numbers as fmt
from core.text.names import visible
from pages.ui import resources, routes, state
from pages.ui.files import roles
from pages.ui.items import show_item
from pages.ui.resources import DatasetFile, remembered, store
from pages.ui.text import distinct_names, label
from pages.ui.widgets import (
    choose_meanings,
    choose_one,
    page_header,
    problem_list,
    sheet_choice,
    show_flash,
    show_refusal,
    shown_errors,
)

IMPORT_WAY = "import_way"
IMPORT_FILE = "import_file"
IMPORT_TEXT = "import_text"
IMPORT_SHEET = "import_sheet"
IMPORT_INSIDE = "import_inside"
IMPORT_RUBRIC = "import_rubric"
IMPORT_COLUMN = "import_column"
IMPORT_META = "import_meta"
IMPORT_WORD = "import_word"
IMPORT_NAME = "import_name"
IMPORT_INTO = "import_into"
IMPORT_KEEP_RUBRIC = "import_keep_rubric"
IMPORT_ACT = "import_act"


def choose_columns(
    source: str, table: Table, rubric_version: int | None
) -> tuple[ColumnMapping, tuple[Problem, ...]]:
    """Draw one choice per column; return the resulting mapping and its problems."""
    rubric = catalog.rubric_in_table(table) or resources.rubric(rubric_version)
    guess = catalog.with_likeliest_path(table, catalog.suggest_mapping(table, rubric))
    with st.expander("What each column is for", expanded=True, icon=":material/view_column:"):
        chosen = roles.choose_roles(IMPORT_COLUMN, source, table, guess, rubric)
        structured = _is_structured(table, source, guess.structured)
    return column_roles.mapping_from(table.columns, chosen, structured=structured)


def _point_to_other_page(source: DatasetFile, table: Table) -> None:
    """Point to the right page for a file that is probably not a dataset."""
    data = source.data()
    if kind_of_table(table) in TABLES:
        st.info("This seems to hold votes, which have a page of their own.", icon=":material/info:")
        routes.draw_link(routes.IMPORT_VOTES, routes.IMPORT_VOTES.title, icon="arrow_outward")
    elif isinstance(data, bytes) and looks_like_rubric(data, source.name):
        st.info("This seems to be a rubric, not a dataset.", icon=":material/info:")
        routes.draw_link(routes.RUBRICS, routes.RUBRICS.title, icon="arrow_outward")


def _label_words(
    source: str, table: Table, mapping: ColumnMapping, rubric_version: int | None
) -> ColumnMapping:
    """Return the mapping with meanings for label texts that are not options."""
    rubric = catalog.rubric_in_table(table) or resources.rubric(rubric_version)
    if rubric is None:
        return mapping
    unknown = label_stats.strange_labels(table, mapping, rubric)
    words_meant = choose_meanings(
        unknown, rubric, lambda name, word: state.key(IMPORT_WORD, source, name, word)
    )
    return mapping.model_copy(update={"words": words_meant}) if words_meant else mapping


def _is_structured(table: Table, source: str, guessed: bool) -> bool:
    if not table.flat:
        return False
    state.seed(state.key(IMPORT_META, source), guessed)
    return st.toggle(
        "Submissions are JSON: chat turns, or thinking and output",
        key=state.key(IMPORT_META, source),
    )


AS_NEW = 0


def save_form(source: DatasetFile, dataset: Dataset) -> None:
    """Draw the name, new dataset or new version, the file's own rubric, and the button."""
    st.subheader("Save", anchor=False)
    names = {row.id: row.name for row in catalog.list_datasets(store())}
    if state.get(IMPORT_INTO) not in (None, AS_NEW, *names):
        state.drop(IMPORT_INTO)
    left, right = st.columns(2)
    with left:
        into = st.selectbox(
            "Save as",
            [AS_NEW, *names],
            format_func=lambda value: (
                "A new dataset"
                if value == AS_NEW
                else f"New version of {visible(names.get(value, ''))[:80]}"
            ),
            key=IMPORT_INTO,
            help="A new version replaces the dataset in new runs; earlier runs keep theirs.",
        )
    with right:
        name = state.key(IMPORT_NAME, source.key, into)
        state.seed(name, dataset.name if into == AS_NEW else names.get(into, ""))
        st.text_input("Name", key=name, max_chars=200, on_change="ignore", persist_state="page")
    if dataset.rubric is not None:
        criteria = fmt.plural(len(dataset.rubric.criteria), "criterion", "criteria")
        st.checkbox(
            f"Also save the rubric in the file ({criteria})",
            value=True,
            key=state.key(IMPORT_KEEP_RUBRIC, source.key),
        )
    if st.button(
        "Import",
        key=state.key(IMPORT_ACT, "import"),
        type="primary",
        icon=":material/upload_file:",
    ):
        _import_dataset(source, dataset, None if into == AS_NEW else into, name)


def _import_dataset(
    source: DatasetFile, dataset: Dataset, dataset_id: int | None, name: str
) -> None:
    with shown_errors():
        with st.spinner("Saving every item …"):
            version, existed = catalog.import_dataset(
                store(),
                dataset,
                name=str(state.get(name) or ""),
                dataset_id=dataset_id,
                source=source.name,
            )
        caption = "This content already exists; nothing was added." if existed else "Imported."
        if dataset.rubric is not None and state.get(state.key(IMPORT_KEEP_RUBRIC, source.key)):
            catalog.keep_rubric(store(), dataset.rubric, source.name)
            caption += " Its rubric is in the list of rubrics."
        resources.forget_file()
        resources.hold_files("dataset", ())
        state.flash(caption)
        state.set_address(**{state.DATASET: version.dataset_id})
        st.rerun()


ENDINGS = [
    *("csv", "tsv", "json", "jsonl", "ndjson", "yaml", "yml"),
    *("xlsx", "ods", "parquet", "arrow", "feather"),
    *("zip", "docx", "odt", "pdf", "md", "eval"),
]
WAYS = {"file": "Upload a file", "text": "Paste text"}
#: The number of notices open at first, of raw rows, and of items in the preview.
FEW, FIRST_ROWS, FIRST_ITEMS = 6, 5, 3
CELL = 200


NOTHING_SAVED = "Nothing is saved until you have seen a preview and press Import."


def _seed_target() -> str:
    """Seed the dataset that the address names to save into; return a note on it, empty without
    one.
    """
    into = state.address_id(state.INTO)
    names = {row.id: row.name for row in catalog.list_datasets(store())} if into else {}
    if into not in names:
        return ""
    state.seed(IMPORT_INTO, into)
    return (
        "Add a column of marks to the texts, and import the file as the next version of "
        f"{names[into]}. "
    )


def show() -> None:
    """Draw the whole import, top to bottom; only the last button saves."""
    routes.draw_back_link(routes.DATASETS, "All datasets")
    into = _seed_target()
    page_header("Import a dataset", f"{label(into)} {NOTHING_SAVED}")
    show_flash()
    source = _dropped_file()
    if source is None:
        _show_help()
        return
    results = resources.tool_items(source)
    if results is not None:
        _handle_results(source, *results)
        return
    table = resources.table_in(source)
    sheet: str | None = None
    if isinstance(table, SheetNotChosen):
        sheet = sheet_choice(table.sheets, state.key(IMPORT_SHEET, source.key))
        if sheet is None:
            return
        table = resources.table_in(source, sheet)
    if isinstance(table, InputError):
        show_refusal(table)
        return
    _point_to_other_page(source, table)
    _show_first_rows(table)
    rubric_id = _rubric_choice(table)
    about = state.key(source.key, sheet) if sheet else source.key
    table = roles.open_cells(
        state.key(IMPORT_INSIDE, about), table, catalog.likeliest_submission(table)
    )
    mapping, wrong = choose_columns(about, table, rubric_id)
    if wrong:
        st.error("The columns do not fit together.", icon=":material/error:")
        problem_list(wrong)
        return
    mapping = _label_words(about, table, mapping, rubric_id)
    checked = resources.check_rows(about, table, mapping, rubric_id)
    if _looks_right(checked) and checked.dataset is not None:
        save_form(source, checked.dataset)


def _handle_results(source: DatasetFile, tool: str, items: Checked) -> None:
    """Handle another tool's results: votes have their own page, items can be imported here."""
    st.info(
        f"This file holds results of {tool}. To measure and review their scores, "
        "import it as votes. Here only its items can be imported, to be judged again.",
        icon=":material/info:",
    )
    routes.draw_link(routes.IMPORT_VOTES, "Import the scores as votes", icon="arrow_outward")
    if _looks_right(items) and items.dataset is not None:
        save_form(source, items.dataset)


def _dropped_file() -> DatasetFile | None:
    source = choose_one("From", WAYS, default="file", key=IMPORT_WAY)
    if source == "text":
        text = st.text_area(
            "Paste CSV, TSV, JSON or JSONL",
            key=IMPORT_TEXT,
            persist_state="page",
            height=180,
            placeholder="id,prompt,submission,reference\n1,...",
        )
        return DatasetFile(text, "pasted text") if text and text.strip() else None
    upload = resources.held_upload("dataset") or st.file_uploader(
        "File", type=ENDINGS, key=IMPORT_FILE
    )
    return DatasetFile(upload, upload.name) if upload is not None else None


def _show_help() -> None:
    st.caption(
        "One row or object per item. Only a submission is needed. The columns id, prompt, "
        "reference, system, split, tags and labels are recognised by their usual names; "
        "you can change this. A column such as label:clarity holds a person's label for "
        "the criterion clarity; reason:clarity holds the reason."
    )
    st.code(
        "id,prompt,submission,reference,label:correct,reason:correct\n"
        'q1,"Capital of France?",Paris.,Paris,MET,names it',
        language=None,
    )


def _show_first_rows(table: Table) -> None:
    rows = fmt.plural(len(table.rows), "row")
    kind = "Submissions" if table.kind == "files" else table.kind.upper()
    description = f"{kind} with {rows} and {fmt.plural(len(table.columns), 'column')}"
    with st.expander(f"The file as it is: {description}"):
        st.dataframe(
            [
                {visible(c)[:80]: visible(str(line.get(c, "")))[:CELL] for c in table.columns}
                for line in table.rows[:FIRST_ROWS]
            ],
            hide_index=True,
            alt="The first rows of the file, unchanged.",
        )


def _rubric_choice(table: Table) -> int | None:
    """Return the version chosen to check labels; ``None``: the file's own rubric, or no check."""
    if catalog.rubric_in_table(table) is not None:
        st.caption("The file contains a rubric; its labels are checked against that rubric.")
        return None
    rubrics = {row.version_id: row.name for row in library.rubric_rows(store())}
    if not rubrics:
        return None
    cache_key = tuple(rubrics), tuple(table.columns)
    guess = remembered(
        "likely rubric", cache_key, lambda: marks.likely_rubric(store(), cache_key[1])
    )
    state.guess(IMPORT_RUBRIC, guess)
    shown = distinct_names(rubrics, 100)
    chosen: int | None = st.selectbox(
        "Check labels against a rubric",
        list(rubrics),
        index=None,
        format_func=lambda version: shown.get(version, ""),
        key=IMPORT_RUBRIC,
        placeholder="Optional: finds misspelt labels and columns named after criteria",
    )
    return chosen


def _looks_right(checked: Checked) -> bool:
    st.subheader("Check", anchor=False)
    if checked.problems:
        count = fmt.plural(len(checked.problems), "problem")
        st.error(f"{count} to fix before this can be imported.", icon=":material/error:")
        problem_list(checked.problems)
        return False
    if checked.dataset is None:
        return False
    items = checked.dataset.items
    labelled = sum(1 for item in items if item.labels)
    st.success(
        f"All {fmt.plural(len(items), 'item')} can be read, {fmt.count(labelled)} with labels.",
        icon=":material/check:",
    )
    if checked.notices:
        few = len(checked.notices) <= FEW
        with st.expander(fmt.plural(len(checked.notices), "notice"), expanded=few):
            problem_list(checked.notices)
    shown = items[:FIRST_ITEMS]
    st.html('<div class="rs-section">How the first items will look</div>')
    tabs = st.tabs([label(item.id, 40) for item in shown])
    for tab, item in zip(tabs, shown, strict=True):
        with tab:
            show_item(checked.dataset.resolved(item))
    return True
