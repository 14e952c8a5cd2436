"""Who beats whom: the win matrix, whose cells open their contests."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services import numbers as fmt
from core.services.contest_votes import Held
from pages.grade._contests import bout
from pages.grade._contests import chosen as chosen_
from pages.grade._contests.chosen import Chosen
from pages.ui import contest_keys as keys
from pages.ui import state
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import table

PAGE = 12
#: From here on, words do not fit into the cells of the picture.
ROOM = 8
Cell = tuple[int, int]


def show(chosen: Chosen) -> None:
    """The matrix, the contests of the chosen cell, and the contest that is open."""
    cell = _cell(len(chosen.contests.systems))
    _matrix(chosen, cell)
    _list(chosen, _contests(chosen, cell), cell)


def _cell(systems: int) -> Cell | None:
    row, _, column = (state.address(keys.CELL) or "").partition("-")
    at = state.as_id(row), state.as_id(column)
    if at[0] is None or at[1] is None or at[0] == at[1] or max(at[0], at[1]) >= systems:
        return None
    return at[0], at[1]


def _matrix(chosen: Chosen, cell: Cell | None) -> None:
    systems = chosen.contests.systems
    found = chosen_.board(chosen).matrix
    size = range(len(systems))
    met = [[float(found.contests[i, j]) if i != j else 0.0 for j in size] for i in size]
    shares = [[float(found.share[i, j]) if met[i][j] else None for j in size] for i in size]
    words = [
        [_words(shares[i][j], met[i][j], short=len(systems) > ROOM) if i != j else "" for j in size]
        for i in size
    ]
    key = state.key(keys.CONTEST_CHART, "wins", state.address(keys.CELL) or "", *chosen.about[-1:])
    st.plotly_chart(
        draw.win_cells(systems, shares, words, cell),
        key=key,
        on_select=lambda: _on_click(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt="Win matrix: the share of points that the row's system has against the column's. The "
        "table below has its counts.",
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("Row \\ against", *systems),
            (
                [
                    esc(systems[i]),
                    *(
                        fmt.DASH
                        if not met[i][j]
                        else f"{fmt.percent(shares[i][j])}<br><span class='rs-quiet'>"
                        f"{found.wins[i, j]:g} won, {found.ties[i, j]:g} tied, "
                        f"{found.wins[j, i]:g} lost</span>"
                        for j in size
                    ),
                ]
                for i in size
            ),
            name="Win matrix",
        )


def _words(share: float | None, contests: float, *, short: bool) -> str:
    if share is None:
        return ""
    return fmt.percent(share) if short else f"{fmt.percent(share)} of {contests:g}"


def _on_click(key: str) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points:
        row, column = points[0]["customdata"][:2]
        _see(None if row == column else f"{row}-{column}")


def _see(cell: str | None) -> None:
    state.set_address(**{keys.CELL: cell, state.PAGE: None, keys.BOUT: None})


def _contests(chosen: Chosen, cell: Cell | None) -> list[tuple[int, Held]]:
    if cell is None:
        return chosen.held()
    return chosen.held(frozenset(chosen.contests.systems[at] for at in cell))


def _list(chosen: Chosen, found: list[tuple[int, Held]], cell: Cell | None) -> None:
    _picker(chosen, cell)
    if not found:
        st.caption("These two never met.")
        return
    pages = -(-len(found) // PAGE)
    opened, order = state.address_id(keys.BOUT), [at for at, _ in found]
    # The open contest decides which page is shown, so that one can go on from it to the next.
    asked = order.index(opened) // PAGE + 1 if opened in order else state.address_id(state.PAGE)
    page = min(max(1, asked or 1), pages)
    st.caption(f"{fmt.plural(len(found), 'contest')}. Open one to see both answers and its votes.")
    with st.container(gap="xxsmall"):
        for at, held in found[(page - 1) * PAGE : page * PAGE]:
            _line(chosen, at, held, opened=at == opened)
            if at == opened:
                bout.show(chosen, at, order)
    if pages > 1:
        # A key for every page: one that is set beforehand may have no value of its own.
        key = state.key(keys.CONTEST_FIELD, state.PAGE, page)
        st.pagination(pages, default=page, key=key, on_change=_on_page, args=(key,))


def _picker(chosen: Chosen, cell: Cell | None) -> None:
    systems = chosen.contests.systems
    names = {
        f"{i}-{j}": f"{one_line(one, 40)} against {one_line(other, 40)}"
        for i, one in enumerate(systems)
        for j, other in enumerate(systems)
        if i != j
    }
    key = state.key(keys.CONTEST_FIELD, keys.CELL)
    state.put(key, None if cell is None else f"{cell[0]}-{cell[1]}")
    st.selectbox(
        "Contests between",
        list(names),
        index=None,
        key=key,
        format_func=lambda one: names.get(one, one),
        placeholder="All systems; click a cell, or pick two",
        on_change=lambda: _see(state.get(key)),
    )


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key), keys.BOUT: None})


def _line(chosen: Chosen, at: int, held: Held, *, opened: bool) -> None:
    asked = f" · {held.question}" if len(chosen.contests.questions) > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            label(f"{held.task}: {held.first} against {held.second}{asked}", 110),
            key=state.key(keys.CONTEST_ACT, "open", at),
            type="tertiary",
            icon=f":material/{'expand_more' if opened else 'chevron_right'}:",
            on_click=state.set_address,
            kwargs={keys.BOUT: None if opened else at},
        )
        st.html(bout.outcome_tag(chosen.outcome(held), held), width="content")
