"""One criterion, all raters: who agrees with whom, who comes near people, and how each answers."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import streamlit as st

from core import figures as draw
from core.files.visible import visible
from core.metrics.figure import Figure
from core.services import agreeing_cells, agreeing_groups
from core.services import numbers as fmt
from core.services.agreeing_groups import Matrix
from core.services.agreeing_sheet import LABELS, PANEL, PEOPLE, Asked, Sheet
from core.services.leaning import positive
from pages.measure._agreement import ceiling
from pages.measure._agreement.choosing import Chosen, words_of
from pages.measure._agreement.words import KINDS, STRENGTH, section
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc, one_line
from pages.ui.widgets import table

PLAIN = {"displayModeBar": False}
#: Up to so many columns, the cells of the matrix have room for their numbers.
ROOM = 12
#: Pairs and raters that a table lists at most; more would be no table to read.
LISTED = 300
GROUPS = {LABELS: "Labels", PANEL: "Panel", **KINDS}


def show(chosen: Chosen) -> None:
    """The matrix, the ceiling, the spread; each plot with its table."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        section(f"Every two raters: {chosen.criterion}")
        _matrix(chosen)
    with right:
        if len(chosen.sheet.people) > 1:
            section("People as the ceiling")
            ceiling.show(chosen)
        section("How answers are spread")
        _spread(chosen)


def columns_of(sheet: Sheet) -> tuple[str, ...]:
    """The columns of the matrix, by kind: labels, majority, panel, judges, offline judges, people.

    The panel stays out where it is nobody but people.
    """
    labels = (LABELS,) if sheet.labelled else ()
    majority = (PEOPLE,) if len(sheet.people) > 1 else ()
    panel = (PANEL,) if len(sheet.judges) > 1 else ()
    judges = sorted(sheet.judges, key=lambda one: sheet.kind(one) == "offline")
    return (*labels, *majority, *panel, *judges, *sheet.people)


def _kind(sheet: Sheet, column: str) -> str:
    return sheet.kind(column) if column in (*sheet.judges, *sheet.people) else "all"


def _matrix(chosen: Chosen) -> None:
    sheet = chosen.sheet
    found = remembered(
        "agreement matrix",
        (*chosen.about, chosen.criterion),
        lambda: agreeing_groups.kappas(sheet, chosen.criterion, columns_of(sheet)),
    )
    names = [words_of(one) for one in found.columns]
    key = state.key(keys.AGREEMENT_CHART, "raters", chosen.criterion, *chosen.about)
    if len(names) <= ROOM:
        figure = draw.agreement_cells(names, found.values)
    else:
        kinds = groupby(_kind(sheet, one) for one in found.columns)
        parts = [(KINDS.get(kind, "Reference"), len(list(of))) for kind, of in kinds]
        figure = draw.agreement_map(names, found.values, found.counts, parts)
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _on_click(key, found.columns),
        selection_mode=("points", "box"),
        config=PLAIN,
        alt="Kappa of every two raters as a heat map; the table below has its figures.",
    )
    st.caption(
        "Kappa of every two raters, with quadratic weights on an ordinal criterion. "
        f"{'Click' if len(names) <= draw.MOST_NAMES else 'Drag over'} a cell to see that pair "
        "closely.",
        help=STRENGTH,
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        _pairs(found, names)


def _pairs(found: Matrix, names: list[str]) -> None:
    pairs = [
        (one, other, found.figure(a, b))
        for a, one in enumerate(names)
        for b, other in enumerate(names)
        if a < b
    ]
    pairs.sort(key=lambda pair: (pair[2].value is None, -(pair[2].value or 0.0)))
    shown = pairs if len(pairs) <= LISTED else [*pairs[: LISTED // 2], *pairs[-LISTED // 2 :]]
    if len(shown) < len(pairs):
        st.caption(f"The {LISTED // 2} highest and the {LISTED // 2} lowest of {len(pairs):,}.")
    table(
        ("Rater", "Rater", "Kappa", "Items"),
        ([esc(a), esc(b), _value(one), fmt.count(one.n)] for a, b, one in shown),
        name="Kappa of every two raters",
        numbers=(2, 3),
    )


def _value(one: Figure) -> str:
    if one.value is not None:
        return fmt.score(one.value)
    return f'undefined<br><span class="rs-quiet rs-wrap">{esc(one.reason)}</span>'


def _on_click(key: str, columns: tuple[str, ...]) -> None:
    row, column = _cell(state.get(key, {}).get("selection", {}))
    if row == column or not 0 <= row < len(columns) or not 0 <= column < len(columns):
        return
    # Whatever stands earlier is the likelier reference: labels, majority, panel, judges, people.
    see_pair(columns[min(row, column)], columns[max(row, column)])


def _cell(selection: Any) -> tuple[int, int]:
    """Row and column of a clicked cell, or of the middle of a dragged box; equal for none."""
    boxes = selection.get("box", [])
    if boxes:
        return round(sum(boxes[0]["y"]) / 2), round(sum(boxes[0]["x"]) / 2)
    points = selection.get("points", [])
    if not points or "customdata" not in points[0]:
        return 0, 0
    row, column = points[0]["customdata"][:2]
    return row, column


def see_pair(reference: str, rater: str) -> None:
    """Go to that pair, one criterion closely."""
    state.set_address(
        **{
            keys.REFERENCE: reference,
            keys.RATER: rater,
            state.VIEW: "one",
            keys.CELL: None,
            state.PAGE: None,
        }
    )


def _spread(chosen: Chosen) -> None:
    asked = chosen.sheet.criterion(chosen.criterion)
    groups = agreeing_cells.spread_of_groups(chosen.sheet, chosen.criterion)
    each = agreeing_cells.spread(chosen.sheet, chosen.criterion)
    alone = len(each) <= ROOM
    bars = (
        [_bar(asked, words_of(name), *counts) for name, counts in each.items()]
        if alone
        else [_bar(asked, GROUPS[name], *groups[name]) for name in GROUPS if name in groups]
    )
    st.plotly_chart(
        draw.verdict_bars(bars),
        key=state.key(keys.AGREEMENT_CHART, "spread", chosen.criterion, *chosen.about),
        config=PLAIN,
        alt="The share of answers by option; the table below has the counts.",
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        heads = (*(one_line(name, 40) for name in asked.labels), "Abstained")
        for what, name_of, found in (
            ("Kind", lambda name: GROUPS[name], groups),
            ("Rater", words_of, each),
        ):
            table(
                (what, *heads),
                (
                    [esc(name_of(name)), *map(fmt.count, counts), fmt.count(abstained)]
                    for name, (counts, abstained) in list(found.items())[:LISTED]
                ),
                name=f"Answers by {what.lower()}",
                numbers=range(1, len(heads) + 1),
            )


def _bar(
    asked: Asked, name: str, counts: tuple[int, ...], abstained: int
) -> tuple[str, list[tuple[str, int | None, float | None, int]]]:
    steps = max(1, len(counts) - 1)
    # Of a binary criterion's two levels MET is the better one, wherever it is listed.
    turned = asked.scale == "binary" and positive(asked.labels) == 0
    first, step = (1.0, -1.0) if turned else (0.0, 1.0 / steps)
    pieces: list[tuple[str, int | None, float | None, int]] = [
        (one_line(words, 40), at, first + at * step, n)
        for at, (words, n) in enumerate(zip(asked.labels, counts, strict=True))
    ]
    return visible(name), [*pieces, ("abstained", None, None, abstained)]
