"""Changes by people in a queue, agreement of reviewers, and the cells behind each count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services.labelling import queue_results, reviewer_pairs
from core.services.labelling.queue_results import Became, DecidedCell, Session
from core.services.labelling.reviewer_pairs import ReviewerPair, SharedCell
from core.text import numbers as fmt
from pages.review_findings.words import cached_figure, show_section, show_sentences
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_table, figure_cell

#: Columns: an item, a criterion, and two labels.
_Row = tuple[str, str, str, str]
#: The result of people's decision: the text in the table, and above the list of cells.
BECAME: dict[Became, tuple[str, str]] = {
    "mended": ("Changed", "Cells on which people changed the panel's verdict"),
    "kept": ("Kept", "Cells on which people kept the panel's verdict"),
    "given": ("Verdicts where the panel had none", "Cells on which only people gave a verdict"),
    "uncertain": ("Cannot assess", "Cells that people could not assess"),
}
SAME, DIFFER = "same", "differ"
#: The most rows of a list, and the most pairs of reviewers.
MOST_CELLS, MOST_PAIRS = 200, 20


def show(seat: Seat, queue: QueueRow) -> Session:
    """Draw both parts and the list of cells in the address; return the queue's results."""
    result = cached_figure("session", queue, lambda: queue_results.session(store(), queue.id))
    pairs = cached_figure(
        "pairs",
        queue,
        lambda: reviewer_pairs.reviewer_pairs(store(), seat, queue.id),
        seat.name,
        seat.role,
    )
    _changed_cells(queue, result)
    _reviewer_agreement(queue, pairs)
    _cell_list(queue, result, pairs)
    return result


def _changed_cells(queue: QueueRow, result: Session) -> None:
    show_section("What people changed")
    if not result.settled:
        show_sentences("Nothing is settled in this queue yet.")
        return
    judged = result.mended + result.kept
    share = f" ({fmt.percent(result.mended / judged)})" if judged else ""
    show_sentences(
        f"People settled {fmt.plural(result.settled, 'cell')}. Of {fmt.count(judged)} with a "
        f"verdict of the panel that they could assess, they changed {fmt.count(result.mended)}"
        f"{share}."
    )
    draw_table(
        ("People's verdict", "Cells"),
        (
            [esc(text), _count_link(queue, getattr(result, became), {state.SHOW: became})]
            for became, (text, _) in BECAME.items()
        ),
        name="What people changed",
        numbers=(1,),
    )


def _reviewer_agreement(queue: QueueRow, pairs: Sequence[ReviewerPair]) -> None:
    show_section("How far two reviewers agree")
    if not pairs:
        show_sentences("Not known: no cell has the verdicts of two reviewers who judged it blind.")
        return
    same, cells = (sum(counts) for counts in zip(*map(_pair_counts, pairs), strict=True))
    show_sentences(
        f"Two reviewers gave the same first verdict on {fmt.count(same)} of "
        f"{fmt.plural(cells, 'cell')} ({fmt.percent(same / cells)})."
    )
    draw_table(
        ("Criterion", "Kappa", "Same", "Different", "Reviewers"),
        (_pair_row(queue, index, pair) for index, pair in enumerate(pairs[:MOST_PAIRS])),
        name="Agreement between two reviewers",
        numbers=(1, 2, 3),
    )
    more = len(pairs) - MOST_PAIRS
    rest = (
        f" {fmt.plural(more, 'more pair')} of reviewers have fewer shared cells."
        if more > 0
        else ""
    )
    st.caption(
        f"First verdicts, given before the votes were shown; kappa with its 95% interval.{rest}",
        help=(
            "Cells that all their reviewers have judged. Cohen's kappa, with quadratic weights "
            "if options are ordered. Cells that a reviewer could not assess are left out."
        ),
    )


def _pair_counts(pair: ReviewerPair) -> tuple[int, int]:
    return len(pair.same), pair.cells


def _pair_row(queue: QueueRow, at: int, pair: ReviewerPair) -> list[str]:
    return [
        esc(one_line(pair.criterion, 80)),
        figure_cell(pair.kappa),
        _count_link(queue, len(pair.same), {state.SHOW: SAME, state.AT: at}),
        _count_link(queue, len(pair.differ), {state.SHOW: DIFFER, state.AT: at}),
        esc(f"{one_line(pair.first, 40)} and {one_line(pair.second, 40)}"),
    ]


def _count_link(queue: QueueRow, count: int, cells: dict[str, object]) -> str:
    """Return a count as the HTML of a link to its cells."""
    if not count:
        return "0"
    address = {state.QUEUE: queue.id, state.VIEW: "session", **cells}
    url = routes.link_address(routes.RECORD.url, address)
    return f'<a href="{esc(url)}" target="_self">{fmt.count(count)}</a>'


def _cell_list(queue: QueueRow, result: Session, pairs: Sequence[ReviewerPair]) -> None:
    """Draw the cells behind the count in the address."""
    shown_list = state.address(state.SHOW)
    if shown_list is None:
        return
    if shown_list in BECAME:
        became: Became = shown_list
        _cell_table(
            queue, BECAME[became][1], "Panel", "People", map(_decided_row, result.of(became))
        )
    elif shown_list in (SAME, DIFFER):
        at = state.address_id(state.AT)
        if at is None or at >= len(pairs):
            show_sentences("The address names two reviewers who share no cell of this queue.")
            return
        pair = pairs[at]
        kind = "the same verdict" if shown_list == SAME else "different verdicts"
        rows = pair.same if shown_list == SAME else pair.differ
        head = f"{pair.criterion}: cells with {kind}"
        _cell_table(queue, head, pair.first, pair.second, map(_shared_row, rows))
    else:
        show_sentences(f"The address asks for {shown_list!r}, which is not a list on this page.")


def _decided_row(cell: DecidedCell) -> _Row:
    return cell.item_id, cell.criterion, cell.before or "no verdict", cell.after or "uncertain"


def _shared_row(cell: SharedCell) -> _Row:
    hidden = "shown once the cell is resolved"
    labels = (cell.first, cell.second) if cell.resolved else (hidden, hidden)
    return (cell.item_id, cell.criterion, *labels)


def _cell_table(
    queue: QueueRow, heading: str, first: str, second: str, rows: Iterable[_Row]
) -> None:
    cells = list(rows)
    show_section(heading)
    draw_table(
        ("Item", "Criterion", first, second),
        (_cell_row(queue, *row) for row in cells[:MOST_CELLS]),
        name=heading,
    )
    if len(cells) > MOST_CELLS:
        st.caption(f"and {fmt.count(len(cells) - MOST_CELLS)} more; exports contain all of them.")


def _cell_row(queue: QueueRow, item: str, criterion: str, first: str, second: str) -> list[str]:
    address = {state.RUN: queue.run_id, state.ITEM: item, state.AT: criterion}
    url = esc(routes.link_address(routes.RUN.url, address))
    name = f'<a href="{url}" target="_self">{esc(one_line(item, 60))}</a>'
    return [name, *(esc(one_line(text, 60)) for text in (criterion, first, second))]
