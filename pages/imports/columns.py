"""The role of each column in a table of votes: guessed, shown as a table, changed by hand."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.tables.table import Table
from core.formats.votes.vote_mapping import VoteColumn, VoteMapping
from core.services.imports import column_roles, import_files
from core.services.imports.import_files import FileShape
from core.text.names import visible
from pages.imports import reading as keys
from pages.ui import state
from pages.ui.files import roles
from pages.ui.widgets import choose_meanings

KINDS = {"human": "Person", "llm": "Model", "offline": "Offline judge", "gold": "Label (gold)"}
#: Raters beyond this number keep the guessed kind.
MOST_RATERS = 500


def show(key: str, table: Table, guess: VoteMapping) -> tuple[VoteMapping, tuple[Problem, ...]]:
    """Draw the table of roles and the raters; return the resulting mapping and its problems."""
    with st.expander("What each column is for", expanded=True, icon=":material/view_column:"):
        table = roles.open_cells(state.key(keys.FIELD, key, "inside"), table)
        chosen = roles.choose_roles(keys.FIELD, key, table, guess)
        mapping, problems = column_roles.votes_from(table.columns, chosen, guess)
        data: dict[str, Any] = mapping.model_dump()
        if words := column_roles.words_of_ticks(table, mapping):
            data["words"] = words if _ask_if_blank_is_no(key, guess) else {}
        if guess.layout in ("long", "wide") and mapping.criterion is None:
            data["only"] = _single_rater(key, mapping)
        if guess.layout == "wide":
            data |= _chosen_raters(key, mapping)
        elif mapping.kind is None and mapping.rater is not None:
            data["kinds"] = _chosen_kinds(key, table, guess, mapping.rater)
    return VoteMapping(**data), problems


def _ask_if_blank_is_no(key: str, guess: VoteMapping) -> bool:
    name = state.key(keys.FIELD, key, guess.layout, "blank")
    state.guess(name, bool(guess.words))
    st.checkbox("A blank cell means No", key=name, help="Otherwise a blank cell is not an answer.")
    return bool(state.get(name))


def answer_meanings(
    key: str, file_look: FileShape, mapping: VoteMapping, rubric: Rubric | None
) -> VoteMapping:
    """Return the mapping with the chosen option for each unknown answer of the file."""
    unknown = import_files.words_to_say(file_look, mapping, rubric)
    if rubric is None or not unknown:
        return mapping
    meanings = choose_meanings(
        unknown, rubric, lambda name, word: state.key(keys.FIELD, key, "word", name, word)
    )
    return mapping.model_copy(update={"words": meanings}) if meanings else mapping


def _single_rater(key: str, mapping: VoteMapping) -> str:
    name = state.key(keys.FIELD, key, mapping.layout, "only")
    state.guess(name, mapping.with_criterion().only or "rating")
    st.text_input(
        "Name of the criterion",
        key=name,
        max_chars=200,
        help="The criterion of answers whose column or row does not name one.",
        on_change="rerun",
    )
    return str(state.get(name) or "").strip() or "rating"


def _chosen_raters(key: str, mapping: VoteMapping) -> dict[str, Any]:
    """Return the chosen rater and criterion of every column of answers."""
    rows = [_rater_row(column, mapping) for column in mapping.columns]
    names = [column.column for column in mapping.columns]
    edited = _edited_rows(state.key(keys.RATERS, key), names, rows, ("Rater", "Criterion"))
    columns, kinds = list[VoteColumn](), dict[str, Any]()
    by_caption = {caption: kind for kind, caption in KINDS.items()}
    for name, row in zip(names, edited, strict=True):
        rater = str(row["Rater"] or "").strip() or name
        criterion = str(row["Criterion"] or "").strip()
        columns.append(VoteColumn(column=name, rater=rater, criterion=criterion))
        kinds[rater] = by_caption.get(str(row["Is a"]), mapping.others)
    return {"columns": tuple(columns), "kinds": kinds}


def _rater_row(column: VoteColumn, mapping: VoteMapping) -> dict[str, str]:
    return {
        "Column": visible(column.column),
        "Is a": KINDS[mapping.kinds.get(column.rater, mapping.others)],
        "Rater": column.rater,
        "Criterion": column.criterion,
    }


def _chosen_kinds(key: str, table: Table, guess: VoteMapping, rater: str) -> dict[str, Any]:
    """Return each rater's chosen kind in a long table, if no column has it."""
    names = list(dict.fromkeys(str(row.get(rater) or "").strip() for row in table.rows))
    names = [name for name in names if name][:MOST_RATERS]
    rows = [
        {"Rater": visible(name), "Is a": KINDS[guess.kinds.get(name, guess.others)]}
        for name in names
    ]
    edited = _edited_rows(state.key(keys.RATERS, key, rater), names, rows, ())
    by_caption = {caption: kind for kind, caption in KINDS.items()}
    kinds = {n: by_caption.get(str(row["Is a"])) for n, row in zip(names, edited, strict=True)}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _edited_rows(
    key: str, names: list[str], rows: list[dict[str, str]], editable: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the guessed rows with the person's changes, earlier ones included.

    Streamlit keeps changes by row number only. When the guessed rows change, the table is drawn
    again, and the earlier changes are applied by the name of the column or rater.
    """
    fixed = [name for name in (rows[0] if rows else ()) if name not in (*editable, "Is a")]
    changed: dict[str, dict[str, Any]] = state.get(state.key(key, "changed")) or {}
    drawn, number, start = state.get(state.key(key, "drawn")) or (None, 0, rows)
    if drawn != (names, rows):
        start = [row | changed.get(name, {}) for name, row in zip(names, rows, strict=True)]
        number += 1
        state.put(state.key(key, "drawn"), ((names, rows), number, start))
    edited = st.data_editor(
        start,
        key=state.key(key, "table", number),
        hide_index=True,
        disabled=fixed,
        column_config={
            "Is a": st.column_config.SelectboxColumn(options=list(KINDS.values()), required=True),
            "Rater": st.column_config.TextColumn(max_chars=100),
            "Criterion": st.column_config.TextColumn(max_chars=200),
        },
    )
    now = cast("list[dict[str, Any]]", edited)
    for name, guessed, row in zip(names, rows, now, strict=True):
        changed[name] = {cell: value for cell, value in row.items() if value != guessed[cell]}
    state.put(state.key(key, "changed"), changed)
    return now
