"""What each column is for: guessed from the names, changed by the person.

Another rubric changes the guesses, and nothing that was chosen.
"""

from __future__ import annotations

import streamlit as st

from core.errors import Problem
from core.files.mapping import ColumnMapping
from core.files.tables import Table
from core.services import dataset_columns as roles
from core.services import datasets
from pages.ui import dataset_cache, state
from pages.ui.dataset_cache import Source
from pages.ui.text import esc, label, one_line

IMPORT_WAY = "import_way"
IMPORT_FILE = "import_file"
IMPORT_TEXT = "import_text"
IMPORT_RUBRIC = "import_rubric"
IMPORT_COLUMN = "import_column"
IMPORT_META = "import_meta"
IMPORT_NAME = "import_name"
IMPORT_INTO = "import_into"
IMPORT_KEEP_RUBRIC = "import_keep_rubric"
IMPORT_ACT = "import_act"


#: More columns than this are kept as they were guessed beyond this place.
MOST = 60


def show(
    source: Source, table: Table, rubric_version: int | None
) -> tuple[ColumnMapping, tuple[Problem, ...]]:
    """One choice per column; returns the mapping they come to, and what is wrong with it."""
    rubric = datasets.own_rubric(table) or dataset_cache.rubric(rubric_version)
    guess = datasets.suggest(table, rubric)
    guessed = roles.roles_of(table, guess)
    options = roles.role_options(table, guess, rubric)
    chosen = list(guessed)
    with st.expander("What each column is for", expanded=True, icon=":material/view_column:"):
        for index, column in enumerate(table.columns[:MOST]):
            key = state.key(IMPORT_COLUMN, source.key, index)
            chosen[index] = _column(table, column, key, options, guessed[index])
        if len(table.columns) > MOST:
            st.caption(f"The other {len(table.columns) - MOST} columns stay as guessed.")
        structured = _structured(table, source)
    return roles.mapping_from(table.columns, chosen, structured=structured)


def _column(table: Table, column: str, key: str, options: list[str], guessed: str) -> str:
    state.guess(key, guessed if guessed in options else roles.META)
    chosen = str(state.get(key))
    left, right = st.columns([3, 4], vertical_alignment="center")
    right.selectbox(
        label(f"Role of {column}", 70),
        # A role that was chosen stays, also where another rubric would not offer it.
        options if chosen in options else [*options, chosen],
        format_func=lambda role: one_line(roles.role_words(role), 80),
        key=key,
        label_visibility="collapsed",
    )
    cells = " · ".join(one_line(cell, 60) for cell in roles.sample(table, column, 2))
    left.html(
        f"<b>{esc(one_line(column, 80))}</b><br>"
        f'<span class="rs-quiet">{esc(cells) or "always empty"}</span>'
    )
    return str(state.get(key))


def _structured(table: Table, source: Source) -> bool:
    if table.kind != "csv":
        return False
    return st.toggle(
        "Submissions are JSON: chat turns, or thinking and output",
        key=state.key(IMPORT_META, source.key),
    )
