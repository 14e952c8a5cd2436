"""The table of roles: how each column of a file was understood, why, and a choice of another
role.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.rubric import Rubric
from core.formats.datasets.roles import role_table
from core.formats.source.parsed import ColumnRole
from core.formats.tables.table import Table
from core.formats.votes.vote_mapping import VoteMapping
from core.services.datasets import catalog
from core.services.imports import column_roles
from core.services.imports.column_roles import AnyMapping
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.text import esc, label, one_line

#: Columns beyond this number keep their guessed role.
MOST = 60


def choose_roles(
    family: str, table_key: str, table: Table, guess: AnyMapping, rubric: Rubric | None = None
) -> list[str]:
    """Draw one choice per column; return the chosen roles, in the columns' order."""
    guessed = column_roles.roles_of(table, guess)
    options = column_roles.role_options(table, guess, rubric)
    chosen = list(guessed)
    seen = role_table(table, guess.roles())
    layout = guess.layout if isinstance(guess, VoteMapping) else None
    for index, row in enumerate(seen[:MOST]):
        key = state.key(family, table_key, layout or "items", index)
        state.guess(key, guessed[index] if guessed[index] in options else options[0])
        left, right = st.columns([3, 4], vertical_alignment="center")
        role = str(state.get(key))
        right.selectbox(
            label(f"Role of {row.column}", 70),
            # A chosen role stays, even if another rubric would not offer it.
            options if role in options else [*options, role],
            format_func=lambda role: one_line(column_roles.role_words(role, layout), 80),
            key=key,
            label_visibility="collapsed",
        )
        chosen[index] = str(state.get(key))
        _column_about(left, row, changed=chosen[index] != guessed[index])
    if len(seen) > MOST:
        st.caption(f"The other {len(seen) - MOST} columns keep their guessed roles.")
    _show_left_out(seen, chosen)
    return chosen


def open_cells(key: str, table: Table, best: str | None = None) -> Table:
    """Return the table with the contents of its cells as columns, if the person chooses that."""
    paths = catalog.paths_inside_cells(table)
    if not paths:
        return table
    chosen = st.multiselect(
        "Use the fields inside the cells",
        paths,
        default=[best] if best else [],
        format_func=lambda path: one_line(path, 80),
        key=key,
        placeholder="None",
        help="A place within a message, an object or a list becomes its own column.",
    )
    return catalog.with_path_columns(table, chosen)


def _column_about(
    place: st.delta_generator.DeltaGenerator, row: ColumnRole, *, changed: bool
) -> None:
    cells = " · ".join(one_line(cell, 40) for cell in row.samples)
    reason = "as you said" if changed else row.why
    place.html(
        f"<b>{esc(one_line(row.column, 80))}</b> <span class='rs-quiet'>({esc(reason)})</span><br>"
        f'<span class="rs-quiet">{esc(cells)}</span>'
    )


def _show_left_out(roles: Sequence[ColumnRole], chosen: Sequence[str]) -> None:
    """Show which columns are left out, with the number of their cells."""
    left_out = [
        f"{one_line(row.column, 40)} ({fmt.plural(row.filled, 'cell')})"
        for row, role in zip(roles, chosen, strict=True)
        if role == column_roles.OUT and row.filled
    ]
    if left_out:
        more = f" and {len(left_out) - 10} more" if len(left_out) > 10 else ""
        st.caption(label(f"Left out: {', '.join(left_out[:10])}{more}."))
