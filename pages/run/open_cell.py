"""A cell of a run's grid, opened next to it: the steps to other cells, settling it, its votes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.domain.dataset import Item
from core.domain.runs import Run
from core.services.results import item_view
from core.services.results.grid import GridItem
from core.services.review import audit_trail
from pages.run import criterion, filters
from pages.run.filters import CELL, open_next_doubt, see_cell
from pages.run.item import text_pieces
from pages.ui import routes, state
from pages.ui.places import settling, work
from pages.ui.resources import store
from pages.ui.text import clamped_html, esc, one_line

RUN_GRID = "run_grid"
#: A text of more lines is folded; a line holds so many letters.
LINES, LINE = 6, 70
#: The most letters shown of a text; the item's page has the rest.
MOST = 20_000


def show(run: Run, items: Sequence[GridItem], item_id: str, name: str) -> None:
    """Draw the open cell: its text, verdict and votes, and the steps to other cells.

    On a telephone, a cell that a filter opened is hidden until a tap (grid.css).
    """
    view = item_view.item_view(store(), run.id, item_id)
    shown_criterion = next(shown for shown in view.criteria if shown.criterion.name == name)
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            css_class = ' class="rs-sought"' if state.get(filters.FOUND) else ""
            st.html(f"<b{css_class}>{esc(one_line(item_id, 60))}</b>", width="content")
            may_settle = settling.may_settle() and not settling.selected_cells()
            if may_settle:
                # Among the other buttons, so that the votes below do not move down.
                settling.show_last(run.id, brief=True)
            st.space("stretch")
            # Screen readers read out the buttons' words; other users see the icon, the key, and a
            # tooltip.
            with st.container(horizontal=True, gap="xsmall", key="rs_steps", width="content"):
                _step_buttons(items, item_id, name)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            routes.draw_link(
                routes.RUN,
                "Open the item",
                {**_kept_address(), state.ITEM: item_id, state.AT: name},
                icon="description",
            )
            title = f"{one_line(name, 80)}: {one_line(item_id, 80)}"
            work.link_to_review(run.id, [item_id], title, criterion=name)
            if may_settle:
                settling.ask_name_in_cell()
        st.html(text_html(view.item))
        if may_settle:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.html('<span class="rs-quiet">Settle as</span>', width="content")
                go_on = partial(open_next_doubt, items, item_id, name)
                settling.settle_form(
                    run.id, [(item_id, name)], shown_criterion.criterion, "cell", go_on
                )
    settled = audit_trail.settled_decisions(store(), run.id, item_id).get(name)
    line = None
    if settled is not None:
        line = partial(criterion.settlement, run.id, item_id, name, settled)
    criterion.show(
        shown_criterion,
        view.item.text,
        over=run.status == "done",
        decided=line,
        rubric=None if view.item.rubric else run.rubric_id,
        brief=True,
    )


def text_html(item: Item) -> str:
    """Return HTML of what was judged: the prompt in one line, and the text, folded if long."""
    parts = [_folded_html(item.prompt, 1, "rs-quiet")] if item.prompt else []
    for speaker, text in text_pieces(item):
        parts += [f'<div class="rs-quiet"><b>{esc(speaker)}</b></div>'] if speaker else []
        parts.append(_folded_html(text, LINES, "rs-answer"))
    return f'<div class="rs-card rs-brief">{"".join(parts)}</div>'


def _folded_html(text: str, lines: int, kind: str) -> str:
    """Return HTML of a text, folded if it has more than so many lines."""
    shown = f'<div class="rs-prose">{esc(text[:MOST])}</div>'
    long = len(text) > lines * LINE or text.count("\n") >= lines
    return clamped_html(shown, kind=kind) if long else f'<div class="{kind}">{shown}</div>'


def _kept_address() -> dict[str, object]:
    """Return the address without the open cell, to which the item's page returns."""
    return {n: v for n, v in st.query_params.to_dict().items() if n != CELL}


def _step_buttons(items: Sequence[GridItem], item_id: str, name: str) -> None:
    """Draw the buttons to the neighbouring cells and the one that closes."""
    ids = [item.row.item_id for item in items]
    cells = list(items[ids.index(item_id)].cells)
    row, column = ids.index(item_id), cells.index(name)
    ways = (
        ("Previous criterion", "chevron_left", "Left", row, column - 1),
        ("Next criterion", "chevron_right", "Right", row, column + 1),
        ("Item above", "expand_less", "K", row - 1, column),
        ("Item below", "expand_more", "J", row + 1, column),
    )
    for title, icon, shortcut, r, c in ways:
        has_cell = 0 <= r < len(items) and 0 <= c < len(list(items[r].cells))
        target = (ids[r], list(items[r].cells)[c]) if has_cell else (item_id, name)
        st.button(
            title,
            key=state.key(RUN_GRID, title),
            icon=f":material/{icon}:",
            help=title,
            type="tertiary",
            shortcut=shortcut,
            disabled=not has_cell,
            on_click=see_cell,
            args=target,
        )
    st.button(
        "Close",
        key=state.key(RUN_GRID, "close"),
        icon=":material/close:",
        help="Close",
        type="tertiary",
        shortcut="Escape",
        on_click=state.set_address,
        kwargs={CELL: None},
    )
