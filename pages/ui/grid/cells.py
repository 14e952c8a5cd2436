"""A grid of coloured cells: arrow keys move in it, Enter or a click opens a cell.

It is an HTML table instead of a drawing, so that screen readers and searches find its words, its
colours follow light and dark, and a long row scrolls while its name stays. It shows only plain
text. It reports the name of the chosen cell or column, and only names that the script gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import streamlit as st

from core.services.results.grid import GridCell
from core.text import numbers as fmt
from core.text.names import visible
from pages.ui import state
from pages.ui.text import one_line

#: From no points to all points; `none` if a cell has no verdict or score, `plain` for words.
Tone = Literal["t0", "t1", "t2", "t3", "t4", "none", "plain"]
#: Signs in a cell, and what they say.
OWN = "◇"
SIGNS = {
    "≠": "judges disagree",
    "○": "a judge abstained",
    "✕": "a judge failed",
    "◆": "settled",
    "≈": "between two options, the nearer one",
    OWN: "by a person's labels",
}


class ShownCell(NamedTuple):
    """A cell: its words, colour, signs, a sentence with all of it, its name, and a quiet line."""

    words: str
    tone: Tone = "plain"
    signs: str = ""
    tells: str = ""
    opens: str = ""
    note: str = ""


class HeadCell(NamedTuple):
    """A column: its words, a quiet line below, what a click sorts by, and how it is sorted."""

    words: str
    note: str = ""
    sort: str = ""
    way: Literal["", "ascending", "descending"] = ""
    wide: int = 0


def share_tone(share: float | None) -> Tone:
    """Return the colour of a share of the best: one of five steps.

    >>> [share_tone(share) for share in (0.0, 0.2, 0.5, 0.8, 1.0, None)]
    ['t0', 't1', 't2', 't3', 't4', 'none']
    """
    if share is None:
        return "none"
    if share <= 0 or share >= 1:
        return "t0" if share <= 0 else "t4"
    return "t1" if share < 0.4 else "t2" if share < 0.6 else "t3"


def shown_cell(cell: GridCell | None, opens: str, *, place: str) -> ShownCell:
    """Return a cell of a run; `place` names its item or criterion for screen readers."""
    if cell is None:
        return ShownCell("", "plain", "", f"{place}: not asked", "")
    signs = [
        *(["≠"] if cell.split else []),
        *(["○"] if cell.abstentions and not cell.abstained else []),
        *(["✕"] if cell.failures else []),
        *(["◆"] if cell.settled else []),
        *(["≈"] if cell.between else []),
    ]
    words = one_line(cell.label, 40)
    if not cell.label:
        missing_words = "failed" if cell.failures else "not asked"
        words = (
            "abstained" if cell.abstained else "cannot assess" if cell.settled else missing_words
        )
    earned = "" if cell.earned is None else f", {fmt.percent(cell.earned)} of its best"
    sign_words = "".join(f", {SIGNS[sign]}" for sign in signs)
    if cell.settled and cell.judged != cell.label:
        sign_words += f" against the votes' {cell.judged or 'no verdict'}"
    tells = f"{visible(place)}: {words}{earned}{sign_words}"
    return ShownCell(words, share_tone(cell.earned), " ".join(signs), tells, opens)


def show_grid(
    key: str,
    name: str,
    headings: Sequence[HeadCell],
    rows: Sequence[Sequence[ShownCell]],
    *,
    groups: Sequence[tuple[str, int, str]] = (),
    lines: Sequence[Sequence[ShownCell]] = (),
    opened: str = "",
    on_open: Callable[[str], None],
    on_sort: Callable[[str], None] | None = None,
    selected: Sequence[str] | None = None,
    on_select: Callable[[list[str]], None] | None = None,
    on_digit: Callable[[str, int], None] | None = None,
    height: int = 0,
    focus: int = 0,
) -> None:
    """Draw the grid; the first cell of a row is its name and stays visible.

    Args:
        key: the widget's.
        name: the grid's name for screen readers.
        headings: the heads of the columns.
        rows: the rows, each with a cell per column.
        groups: headings above several columns, as (words, number of columns, quiet line); `("", 2,
            "")` leaves two columns without a heading.
        lines: rows that stay in sight at the foot, e.g. means.
        opened: the name (`ShownCell.opens`) of the cell that is open.
        on_open: called with the name of a cell that was clicked.
        on_sort: called with what a column sorts by.
        selected: the names of the selected cells; `None` where none can be selected.
        on_select: called with the names of all cells that are selected now.
        on_digit: called with the name of a cell and the digit that was pressed on it.
        height: the height in pixels beyond which rows scroll; 0 for no limit.
        focus: increases when the cursor should go to the open cell.
    """
    component = st.components.v2.component(
        "rubric_studio_grid",
        css=_file_text("grid.css"),
        js=_file_text("grid.js"),
        isolate_styles=False,
    )
    names = {one.opens for cells in rows for one in cells if one.opens}
    sorts = {head.sort for head in headings if head.sort}

    def _answer_event(
        event: str, names_given: set[str], callback: Callable[[str], None] | None
    ) -> None:
        event_value = (state.get(key) or {}).get(event)
        # Accept only names that the grid gave out, because a browser may send anything.
        if callback is not None and isinstance(event_value, str) and event_value in names_given:
            callback(event_value)

    def _on_selected() -> None:
        event_value = (state.get(key) or {}).get("select")
        if on_select is not None and isinstance(event_value, list):
            on_select([name for name in event_value if isinstance(name, str) and name in names])

    def _on_digit() -> None:
        event_value = (state.get(key) or {}).get("digit")
        if on_digit is None or not isinstance(event_value, list) or len(event_value) != 2:
            return
        name, digit = event_value
        if isinstance(name, str) and name in names and digit in range(10):
            on_digit(name, int(digit))

    component(
        key=key,
        data={
            "name": name,
            "heads": [head._asdict() for head in headings],
            "groups": [list(group) for group in groups],
            "lines": [[list(cell) for cell in cells] for cells in lines],
            "rows": [[list(cell) for cell in cells] for cells in rows],
            "opened": opened,
            "selected": None if selected is None else list(selected),
            "height": height,
            "focus": focus,
        },
        on_open_change=lambda: _answer_event("open", names, on_open),
        on_sort_change=lambda: _answer_event("sort", sorts, on_sort),
        on_select_change=_on_selected,
        on_digit_change=_on_digit,
    )


def signs_key(rows: Sequence[Sequence[ShownCell]]) -> str:
    """Return the meaning of the signs that occur in these cells."""
    meanings = {**SIGNS, "✓": "label as the verdict", "✗": "another label", "·": "does not count"}
    present = {sign for cells in rows for cell in cells for sign in cell.signs.split()}
    return " · ".join(f"{sign} {words}" for sign, words in meanings.items() if sign in present)


def colour_legend() -> str:
    """Return HTML that explains the colours; the filters explain the signs."""
    steps = "".join(f'<i class="rs-step-{step}">{words}</i>' for step, words in _STEPS.items())
    return f'<span class="rs-steps">{steps}</span>'


_STEPS = {0: "no points", 1: "", 2: "half", 3: "", 4: "all", "none": "no verdict"}


@cache
def _file_text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
