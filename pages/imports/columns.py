"""The role of each column in a table of votes: guessed, shown as a table, changed by hand."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from core.domain.rubric import Rubric
from core.formats.datasets.table import Table, leaves
from core.formats.votes.vote_mapping import VoteColumn, VoteMapping
from core.services.imports import import_files
from core.services.imports.import_files import FileLook
from core.text.names import visible
from pages.imports import reading as keys
from pages.ui import state
from pages.ui.text import esc, one_line
from pages.ui.widgets import meanings
from pages.ui.widgets import table as html_table

WORDS = {
    "item": "Item",
    "rater": "Rater",
    "label": "Answer",
    "criterion": "Criterion",
    "kind": "Kind of rater",
    "reason": "Reason",
    "weight": "Weight of the rater",
    "replicate": "Repetition",
    "order": "Order of options",
    "submission": "Submission (text)",
    "prompt": "Prompt",
    "system": "System",
}
LONG = tuple(WORDS)
WIDE = ("item", "criterion", "submission", "prompt", "system")
NEEDED = frozenset({"item", "rater", "label"})
KINDS = {"human": "Person", "llm": "Model", "offline": "Offline judge", "gold": "Label (gold)"}
OUT = "Leave out"
#: Raters beyond this number keep the guessed kind.
MOST_RATERS = 500


def show(key: str, table: Table, guess: VoteMapping) -> VoteMapping:
    """Draw the choices; return the resulting mapping."""
    with st.expander("What each column is for", expanded=True, icon=":material/view_column:"):
        _sample(table)
        data: dict[str, Any] = {"layout": guess.layout}
        fields = LONG if guess.layout == "long" else WIDE
        with st.grid(3, min_column_width=200):
            for field in fields:
                data[field] = _field(key, table, guess, field)
        if data["criterion"] is None:
            data["only"] = _only(key, guess)
        if guess.layout == "wide":
            used_columns = {data[field] for field in fields}
            data |= _raters(key, table, guess, used_columns)
        elif data["kind"] is None and data["rater"] is not None:
            data["kinds"] = _kinds(key, table, guess, data["rater"])
    return VoteMapping(**data)


def words(key: str, seen: FileLook, mapping: VoteMapping, rubric: Rubric | None) -> VoteMapping:
    """Choose the option that each unknown answer of the file means."""
    strange = import_files.words_to_say(seen, mapping, rubric)
    if rubric is None or not strange:
        return mapping
    meant = meanings(
        strange, rubric, lambda name, word: state.key(keys.FIELD, key, "word", name, word)
    )
    return mapping.model_copy(update={"words": meant}) if meant else mapping


def _sample(table: Table) -> None:
    """Draw the first rows as they are."""
    html_table(
        [one_line(column, 30) for column in table.columns[:20]],
        (
            [esc(one_line(str(row.get(column) or ""), 40)) for column in table.columns[:20]]
            for row in table.rows[:3]
        ),
        name="The first rows of the file",
    )


def _field(key: str, table: Table, guess: VoteMapping, field: str) -> str | None:
    name = state.key(keys.FIELD, key, guess.layout, field)
    state.guess(name, getattr(guess, field))
    chosen: str | None = st.selectbox(
        WORDS[field],
        [*table.columns, *leaves(table)],
        index=None,
        format_func=lambda column: one_line(column, 60),
        key=name,
        placeholder="Choose a column" if field in NEEDED else "None",
    )
    return chosen


def _only(key: str, guess: VoteMapping) -> str:
    name = state.key(keys.FIELD, key, guess.layout, "only")
    state.guess(name, guess.only or "rating")
    st.text_input(
        "Name of the criterion",
        key=name,
        max_chars=200,
        help="For answers whose column or row names none.",
        on_change="rerun",
    )
    return str(state.get(name) or "").strip() or "rating"


def _raters(
    key: str, table: Table, guess: VoteMapping, used_columns: set[object]
) -> dict[str, Any]:
    """Choose for every other column its rater and criterion, or leave it out."""
    guesses = {column.column: column for column in guess.columns}
    free = [column for column in table.columns if column not in used_columns]
    rows = [_rater_row(column, guesses.get(column), guess) for column in free]
    edited = _edited(state.key(keys.RATERS, key), free, rows, ("Rater", "Criterion"))
    columns, kinds = list[VoteColumn](), dict[str, Any]()
    by_caption = {caption: kind for kind, caption in KINDS.items()}
    for column, row in zip(free, edited, strict=True):
        rater = str(row["Rater"] or "").strip()
        kind = by_caption.get(str(row["Is a"]))
        if kind is not None and rater:
            criterion = str(row["Criterion"] or "").strip()
            columns.append(VoteColumn(column=column, rater=rater, criterion=criterion))
            kinds[rater] = kind
    return {"columns": tuple(columns), "kinds": kinds}


def _rater_row(column: str, guessed: VoteColumn | None, guess: VoteMapping) -> dict[str, str]:
    rater = guessed.rater if guessed else column
    kind = KINDS[guess.kinds.get(rater, guess.others)] if guessed else OUT
    return {
        "Column": visible(column),
        "Is a": kind,
        "Rater": rater,
        "Criterion": guessed.criterion if guessed else "",
    }


def _kinds(key: str, table: Table, guess: VoteMapping, rater: str) -> dict[str, Any]:
    """Choose each rater's kind in a long table, if no column has it."""
    names = list(dict.fromkeys(str(row.get(rater) or "").strip() for row in table.rows))
    names = [name for name in names if name][:MOST_RATERS]
    rows = [
        {"Rater": visible(name), "Is a": KINDS[guess.kinds.get(name, guess.others)]}
        for name in names
    ]
    edited = _edited(state.key(keys.RATERS, key, rater), names, rows, ())
    by_caption = {caption: kind for kind, caption in KINDS.items()}
    kinds = {n: by_caption.get(str(row["Is a"])) for n, row in zip(names, edited, strict=True)}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _edited(
    key: str, names: list[str], rows: list[dict[str, str]], free: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the rows with the person's changes, made now or before the guess changed.

    Streamlit keeps a table's changes by row number only; when the rows change, the table is drawn
    again from the guess and the changes by name.
    """
    kinds = [*KINDS.values(), OUT] if free else list(KINDS.values())
    fixed = [name for name in (rows[0] if rows else ()) if name not in (*free, "Is a")]
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
            "Is a": st.column_config.SelectboxColumn(options=kinds, required=True),
            "Rater": st.column_config.TextColumn(max_chars=100),
            "Criterion": st.column_config.TextColumn(max_chars=200),
        },
    )
    now = cast("list[dict[str, Any]]", edited)
    for name, guessed, row in zip(names, rows, now, strict=True):
        changed[name] = {cell: value for cell, value in row.items() if value != guessed[cell]}
    state.put(state.key(key, "changed"), changed)
    return now
