"""One criterion and one pair of raters: every figure, the confusion matrix and its items."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.domain.runs import RunItemFilter
from core.metrics.agreement.ratings import label_entropy
from core.metrics.estimate import Confidence
from core.services.agreement import confusion, rater_pairs
from core.services.agreement.confusion import Confusion
from core.services.agreement.rater_pairs import OptionLine, PairDetails
from core.services.agreement.ratings import CriterionRatings
from core.services.results import browsing
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.criteria import show_caveats
from pages.agreement.selection import RatedSelection, draw_switch, rater_caption, versus_words
from pages.agreement.words import (
    STRENGTH,
    equal_answers_name,
    estimate_row,
    few_items_warning,
    show_section,
)
from pages.ui import routes, state
from pages.ui.places import work
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, empty_state, figure_cell

PAGE = 10
CELLS = {"counts": "Counts", "shares": "Shares of the row"}
Cell = tuple[int, int]


def show(chosen: RatedSelection) -> None:
    """Draw the matrix, and next to it the items of the chosen cell."""
    matrix = confusion.confusion(chosen.sheet, chosen.criterion, chosen.reference, chosen.rater)
    if not any(map(sum, matrix.counts)):
        empty_state("Nothing to count", "No item has an answer from both on this criterion.")
        return
    sentence = confusion.confusion_words(matrix, chosen.reference, chosen.rater)
    st.html(f'<div class="rs-prose">{esc(sentence)}</div>')
    cell = _chosen_cell(matrix)
    left, right = st.columns(2, gap="large")
    with left:
        _draw_matrix(chosen, matrix, cell)
    with right:
        _cell_picker(matrix, cell)
        if cell is None:
            st.caption("Click a cell, or pick one from the list, to see its items.")
        else:
            _cell_items(chosen, cell)


def _chosen_cell(matrix: Confusion) -> Cell | None:
    names = {
        f"{index}-{rated_column}": (index, rated_column)
        for index in range(len(matrix.rows))
        for rated_column in range(len(matrix.columns))
    }
    return names.get(state.address_in(keys.CELL, names) or "")


def _draw_matrix(chosen: RatedSelection, matrix: Confusion, cell: Cell | None) -> None:
    sides = (rater_caption(chosen.reference), rater_caption(chosen.rater))
    shares = draw_switch("Cells", keys.CELLS, CELLS) == "shares"
    # Each chosen cell has a new key, so that the plot's own selection does not remain.
    cell_now = state.address(keys.CELL) or ""
    key = state.key(keys.AGREEMENT_CHART, *chosen.pair, chosen.criterion, cell_now, shares)
    st.plotly_chart(
        draw.confusion_cells(
            matrix.rows, matrix.columns, matrix.counts, sides, cell, as_shares=shares
        ),
        key=key,
        on_select=lambda: _on_click(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt=f"Confusion matrix: rows are answers of {visible(sides[0])}, columns those of "
        f"{visible(sides[1])}. The table below has its counts.",
    )
    st.caption(
        f"A row holds the items that {label(sides[0])} gave one answer; the deeper a cell's "
        "colour, the larger its share of the row. Outlined: both gave the same answer."
    )
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
            (f"{sides[0]} \\ {sides[1]}", *matrix.columns),
            (
                (esc(name), *(_count_and_share(n, sum(row)) for n in row))
                for name, row in zip(matrix.rows, matrix.counts, strict=True)
            ),
            name="Confusion matrix",
            numbers=range(1, len(matrix.columns) + 1),
        )


def _count_and_share(n: int, whole: int) -> str:
    """Return HTML of a count and, below it, its share of the row."""
    share = fmt.percent(n / whole) if whole else fmt.DASH
    return f'{fmt.count(n)}<br><span class="rs-quiet">{share}</span>'


def _cell_picker(matrix: Confusion, cell: Cell | None) -> None:
    names = {
        f"{row}-{column}": f"{one_line(given, 40)} where the label is {one_line(label_true, 40)}: "
        f"{fmt.plural(matrix.counts[row][column], 'item')}"
        for row, label_true in enumerate(matrix.rows)
        for column, given in enumerate(matrix.columns)
    }
    key = state.key(keys.AGREEMENT_FIELD, keys.CELL)
    state.put(key, None if cell is None else f"{cell[0]}-{cell[1]}")
    st.selectbox(
        "Items that the rater called",
        list(names),
        index=None,
        key=key,
        format_func=lambda name: names.get(name, name),
        placeholder="Pick a cell of the matrix",
        on_change=_on_pick,
        args=(key,),
    )


def _cell_items(chosen: RatedSelection, cell: Cell) -> None:
    ids = confusion.items_in(chosen.sheet, chosen.criterion, chosen.reference, chosen.rater, *cell)
    if not ids:
        st.caption("No item is in this cell.")
        return
    pages = -(-len(ids) // PAGE)
    page = min(max(1, state.address_id(state.PAGE) or 1), pages)
    part = ids[(page - 1) * PAGE : page * PAGE]
    rows, _ = browsing.run_items(store(), chosen.run_id, RunItemFilter(item_ids=part), limit=PAGE)
    previews = {row.item_id: row.preview for row in rows}
    row, column = cell
    ratings = chosen.sheet.criterion(chosen.criterion)
    given = ratings.labels[column] if column < len(ratings.labels) else confusion.ABSTAINED_WORD
    name = f"{chosen.criterion}: {given} where it is {ratings.labels[row]}"
    address = work.address_of_first(chosen.run_id, ids, chosen.criterion)
    work.offer_work(chosen.run_id, ids, name, criterion=chosen.criterion)
    for item_id in part:
        link, right = st.columns([2, 5], vertical_alignment="center", gap="small")
        with link:
            routes.draw_link(
                routes.RUN,
                label(item_id, 40),
                {**address, state.ITEM: item_id},
                icon="description",
            )
        with right:
            st.html(f'<div class="rs-cut">{esc(one_line(previews.get(item_id, ""), 160))}</div>')
    if pages > 1:
        key = state.key(keys.AGREEMENT_FIELD, state.PAGE)
        state.put(key, page)
        st.pagination(pages, key=key, on_change=_remember_page, args=(key,))


def _on_click(key: str) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points:
        row, column = points[0]["customdata"][:2]
        _open_cell(f"{row}-{column}")


def _on_pick(key: str) -> None:
    _open_cell(state.get(key))


def _open_cell(cell: str | None) -> None:
    state.set_address(**{keys.CELL: cell, state.PAGE: None})


def _remember_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key)})


def show_criterion(chosen: RatedSelection) -> None:
    """Draw the matrix, which shows on what the raters differ, then the figures on how much."""
    confidence = chosen.confidence
    sides = chosen.criterion, chosen.reference, chosen.rater
    close = remembered(
        "agreement close",
        (*chosen.pair, chosen.criterion),
        lambda: rater_pairs.pair_details(chosen.sheet, *sides, confidence=confidence),
    )
    _draw_counts(chosen, close)
    show_section(f"Confusion: {chosen.criterion}")
    show(chosen)
    if not close.n:
        return
    left, right = st.columns(2, gap="large")
    with left:
        show_section("Figures of this pair")
        same = equal_answers_name(chosen.sheet, chosen.reference)
        _agreement_figures(close, chosen.sheet.criterion(chosen.criterion), confidence, same)
    with right:
        show_section("Option by option")
        _option_table(close)
    show_caveats(chosen)


def _draw_counts(chosen: RatedSelection, close: PairDetails) -> None:
    excluded = [
        (close.abstained, "abstention of the rater", "abstentions of the rater"),
        (close.tied, "item without a majority", "items without a majority"),
        (close.failed, "failed call", "failed calls"),
    ]
    parts = [fmt.plural(n, single, plural_word) for n, single, plural_word in excluded if n]
    left_out = f" Left out: {', '.join(parts)}." if parts else ""
    st.caption(
        f"{label(versus_words(chosen))}: "
        f"{fmt.plural(close.n, 'item')} with an answer from both.{left_out} "
        f"{few_items_warning(close.n)}"
    )


def _agreement_figures(
    close: PairDetails, ratings: CriterionRatings, confidence: Confidence, same: str
) -> None:
    headings = ("Figure", "Value", f"{fmt.level_words(confidence.level)} interval", "Items")
    first = (estimate_row(*estimate, ratings, same) for estimate in close.first)
    draw_table(headings, first, name="Figures", numbers=(1, 2, 3))
    how_made = (
        "Intervals come from resampling items. With two options, most come from the counts "
        "with a few ratings added, so that they hold even if one option is rare."
    )
    plain = "Intervals come from resampling items (by the method that you chose)."
    st.caption(how_made if confidence.method == "auto" else plain, help=STRENGTH)
    with st.expander("Every other figure", icon=":material/more_horiz:"):
        rest = (estimate_row(*estimate, ratings) for estimate in close.rest)
        draw_table(headings, rest, name="Other figures", numbers=(1, 2, 3))


def _option_table(close: PairDetails) -> None:
    draw_table(
        ("Option", "Reference", "Rater", "Precision", "Recall", "F1"),
        map(_option_row, close.options),
        name="Precision, recall and F1 of every option",
        numbers=(1, 2, 3, 4, 5),
    )
    st.caption(
        "Precision: the share of the rater's answers with this option that match the reference. "
        "Recall: the share of the reference's answers with this option that the rater matches. "
        "F1: their harmonic mean."
    )
    truth = label_entropy([line.true for line in close.options])
    rated = label_entropy([line.given for line in close.options])
    st.caption(
        f"How evenly the options are used: by the reference {fmt.score(truth)}, by the rater "
        f"{fmt.score(rated)} (1: all equally often; 0: always the same option; Shannon 1948)."
    )


def _option_row(line: OptionLine) -> list[str]:
    return [
        esc(line.label),
        fmt.count(line.true),
        fmt.count(line.given),
        figure_cell(line.precision),
        figure_cell(line.recall),
        figure_cell(line.f1),
    ]
