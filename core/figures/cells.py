"""Tables of counts or coefficients as heat maps whose cells can be clicked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.figures.base import (
    ABSTAINED,
    CHOSEN,
    EDGE,
    MARGIN,
    coefficient,
    ink,
    leaning,
    plain,
    shade,
)


def confusion_cells(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    sides: tuple[str, str],
    chosen: tuple[int, int] | None = None,
) -> Any:
    """A confusion matrix as a heat map: colour is the share of the row, text the count.

    ``sides`` says what rows and columns are. A cell's ``customdata`` is its ``(row, column)``.
    Cells are bars of length 1, since plotly lets bars be clicked, and a heat map's cells not.
    """
    sums = [sum(row) or 1 for row in counts]
    shares = [[n / whole for n in row] for row, whole in zip(counts, sums, strict=True)]
    texts = [[f"{n:,}" for n in row] for row in counts]
    figure = _cells(shares, texts)
    if chosen is not None:
        _ring(figure, chosen)
    _name_cells(figure, rows, columns)
    figure.update_xaxes(title=plain(sides[1]))
    figure.update_yaxes(title=plain(sides[0]))
    return figure


def agreement_cells(names: Sequence[str], values: Sequence[Sequence[float | None]]) -> Any:
    """How far every two raters agree, as a heat map of coefficients up to 1; below 0 is as 0."""
    shares = [[None if v is None else max(0.0, v) for v in row] for row in values]
    texts = [["undefined" if v is None else coefficient(v) for v in row] for row in values]
    figure = _cells(shares, texts)
    _name_cells(figure, names, names)
    return figure


def _cells(
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    colour: Callable[[float], str] = shade,
) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    for column in range(len(shares[0])):
        at = [(row, column) for row in range(len(shares))]
        colors = [ABSTAINED if (s := shares[r][column]) is None else colour(s) for r, _ in at]
        figure.add_bar(
            y=[row for row, _ in at],
            x=[1] * len(at),
            orientation="h",
            width=1,
            marker={
                "color": colors,
                "line": {"color": EDGE, "width": 1},
            },
            text=[texts[row][column] for row, _ in at],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": [ink(color) for color in colors], "size": 15},
            customdata=at,
            hovertemplate="%{text}<extra></extra>",
        )
    return figure


def _ring(figure: Any, cell: tuple[int, int]) -> None:
    row, column = cell
    figure.add_shape(
        type="rect",
        x0=column + 0.01,
        x1=column + 0.99,
        y0=row - 0.48,
        y1=row + 0.48,
        line={"color": CHOSEN, "width": 4},
    )


def _name_cells(figure: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    figure.update_layout(
        barmode="stack",
        bargap=0,
        height=96 + 56 * len(rows),
        margin=MARGIN,
        showlegend=False,
        dragmode=False,
    )
    figure.update_xaxes(
        range=[0, len(columns)],
        tickvals=[at + 0.5 for at in range(len(columns))],
        ticktext=[plain(name, 24) for name in columns],
        # Level where there is room; else slanted so that the last ones do not leave the picture.
        tickangle=0 if len(columns) <= 3 or max(map(len, columns)) <= 6 else -35,
        ticklabeloverflow="allow",
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5],
        tickvals=list(range(len(rows))),
        ticktext=[plain(name, 24) for name in rows],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )


def win_cells(
    systems: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    chosen: tuple[int, int] | None = None,
) -> Any:
    """Who beats whom: colour is the share of points of the row against the column, pale at a half.

    ``None`` where two never met, and on the diagonal. A cell's ``customdata`` is ``(row, column)``.
    """
    figure = _cells(shares, texts, leaning)
    if chosen is not None:
        _ring(figure, chosen)
    _name_cells(figure, systems, systems)
    figure.update_xaxes(title="against")
    return figure
