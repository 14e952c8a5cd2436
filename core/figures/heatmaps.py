"""Heat maps of counts or coefficients, and of the agreement of many raters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.blocks.palette import COMPLEMENT, NO_VERDICT, shade, text_color
from core.figures.base import MARGIN, QUIET, SCORES, as_label, two_sided_color
from core.text.numbers import percent, score

#: Outlines of cells where both raters gave the same answer. There are two colours, so that one of
#: them shows on any background.
SAME = (("#FFFFFF", 5), ("#000000", 2))


def confusion_cells(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    sides: tuple[str, str],
    chosen: tuple[int, int] | None = None,
    *,
    as_shares: bool = False,
) -> Any:
    """Return a confusion matrix as a heat map of row shares.

    The text in a cell is its count or share. Cells where both raters gave the same answer are
    outlined. ``sides`` names rows and columns. A cell's ``customdata`` is its ``(row, column)``.
    Cells are bars of length 1, since plotly makes bars clickable but not the cells of a heat map.
    """
    sums = [sum(row) or 1 for row in counts]
    shares = [[n / total for n in row] for row, total in zip(counts, sums, strict=True)]
    texts = [[f"{n:,}" for n in row] for row in counts]
    if as_shares:
        texts = [[percent(share) for share in row] for row in shares]
    figure = _heatmap(shares, texts)
    for at, name in enumerate(rows):
        if at < len(columns) and columns[at] == name:
            for color, width in SAME:
                _draw_ring(figure, (at, at), color, width)
    if chosen is not None:
        _draw_ring(figure, chosen)
    _label_axes(figure, rows, columns)
    figure.update_xaxes(title=as_label(sides[1]))
    figure.update_yaxes(title=as_label(sides[0]))
    return figure


def agreement_cells(names: Sequence[str], values: Sequence[Sequence[float | None]]) -> Any:
    """Return pairwise agreement as a heat map of coefficients up to 1.

    Coefficients below 0 are coloured as 0.
    """
    shares = [[None if v is None else max(0.0, v) for v in row] for row in values]
    texts = [["undefined" if v is None else score(v) for v in row] for row in values]
    figure = _heatmap(shares, texts)
    _label_axes(figure, names, names)
    return figure


def _heatmap(
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    colour: Callable[[float], str] = shade,
) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    for column in range(len(shares[0])):
        at = [(row, column) for row in range(len(shares))]
        colors = [NO_VERDICT if (s := shares[r][column]) is None else colour(s) for r, _ in at]
        figure.add_bar(
            y=[row for row, _ in at],
            x=[1] * len(at),
            orientation="h",
            width=1,
            marker={"color": colors, "line": {"color": QUIET, "width": 0.5}},
            text=[texts[row][column] for row, _ in at],
            textposition=["none" if _is_paper_color(color) else "inside" for color in colors],
            insidetextanchor="middle",
            textangle=0,
            textfont={
                "color": [
                    QUIET if _is_paper_color(color) else text_color(color) for color in colors
                ],
                "size": 15,
            },
            customdata=at,
            hovertemplate="%{text}<extra></extra>",
        )
        for (row, _), color in zip(at, colors, strict=True):
            if _is_paper_color(color):
                figure.add_annotation(
                    x=column + 0.5,
                    y=row,
                    text=texts[row][column],
                    showarrow=False,
                    font={"size": 15},
                )
    return figure


def _is_paper_color(color: str) -> bool:
    """Return whether a colour is close to the page's, so that text has the theme's colour."""
    return color.startswith("rgba")


def _draw_ring(figure: Any, cell: tuple[int, int], color: str = COMPLEMENT, width: int = 4) -> None:
    row, column = cell
    figure.add_shape(
        type="rect",
        x0=column + 0.01,
        x1=column + 0.99,
        y0=row - 0.48,
        y1=row + 0.48,
        line={"color": color, "width": width},
    )


def _label_axes(figure: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
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
        ticktext=[as_label(name, 24) for name in columns],
        # Labels are horizontal if they fit, otherwise slanted so that the last labels stay in the
        # picture.
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
        ticktext=[as_label(name, 24) for name in rows],
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
    """Return a heat map of wins: the row's share of points against the column.

    Cells are pale at 0.5. ``None`` marks pairs that never met, and the diagonal. A cell's
    ``customdata`` is ``(row, column)``.
    """
    figure = _heatmap(shares, texts, two_sided_color)
    if chosen is not None:
        _draw_ring(figure, chosen)
    _label_axes(figure, systems, systems)
    figure.update_xaxes(title="against")
    return figure


#: With more raters, names at the side would overlap, so only hovering shows them.
MOST_NAMES = 45
#: The most names below the map on a narrow screen.
MOST_ACROSS = 20


def agreement_map(
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    counts: Sequence[Sequence[int]],
    groups: Sequence[tuple[str, int]] = (),
) -> Any:
    """Return the lower half of a symmetric matrix; undefined cells stay blank.

    ``groups`` are names with their number of raters, in order, with lines between them. A clickable
    cell has ``customdata`` ``(row, column)``. Every cell is clickable in a map of up to
    ``MOST_NAMES`` raters. In a larger map only the first group is, since that many marks would take
    seconds. Dragging frames any cell. Coefficients below 0 are coloured as 0.
    """
    import numpy as np
    import plotly.graph_objects as go

    size = len(names)
    is_small = size <= MOST_NAMES
    z = np.array([[np.nan if v is None else v for v in row] for row in values], np.float32)
    z[np.triu_indices(size)] = np.nan
    figure = go.Figure(
        go.Heatmap(
            z=z,
            customdata=np.array(counts, np.int32),
            colorscale=[[0, shade(0)], [1, shade(1)]],
            zmin=0,
            zmax=1,
            hoverongaps=False,
            hovertemplate="%{y} and %{x}: %{z:.2f} on %{customdata:,} items<extra></extra>",
            colorbar={"thickness": 12, "outlinewidth": 0, "tickformat": SCORES},
        )
    )
    marked = size if is_small or not groups else groups[0][1]
    cells = [(row, at) for row in range(size) for at in range(min(row, marked))]
    cells = [cell for cell in cells if values[cell[0]][cell[1]] is not None]
    _marks(figure, cells, names, values, counts)
    _draw_group_lines(figure, groups, size)
    axis = {
        # Without labels at the side, hovering still shows the names.
        "tickvals": list(range(size)),
        "ticktext": [as_label(name, 24) for name in names],
        "showticklabels": is_small,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
    }
    # Rows and columns have the same names.
    across = {**axis, "showticklabels": size <= MOST_ACROSS}
    figure.update_xaxes(**across, range=[-0.5, size - 0.5], tickangle=-55)
    figure.update_yaxes(**axis, range=[size - 0.5, -0.5])
    figure.update_layout(
        height=max(420, min(760, 160 + 18 * size)),
        margin=MARGIN if is_small else {**MARGIN, "l": 84},
        dragmode=False if is_small else "select",
        showlegend=False,
        hovermode="closest",
    )
    return figure


def _marks(
    figure: Any,
    cells: Sequence[tuple[int, int]],
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    counts: Sequence[Sequence[int]],
) -> None:
    """Add invisible squares to cells, since plotly cannot select a heat map's own."""
    figure.add_scatter(
        x=[column for _, column in cells],
        y=[row for row, _ in cells],
        mode="markers",
        marker={
            "symbol": "square",
            "size": max(4, min(26, 560 // max(len(names), 1))),
            "color": "rgba(0,0,0,0)",
        },
        unselected={"marker": {"opacity": 0}},
        selected={"marker": {"color": "rgba(0,0,0,0)"}},
        customdata=cells,
        hovertext=[
            f"{as_label(names[row])} and {as_label(names[column])}: "
            f"{score(values[row][column] or 0)} on {counts[row][column]:,} items"
            for row, column in cells
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _draw_group_lines(figure: Any, groups: Sequence[tuple[str, int]], size: int) -> None:
    start = 0
    for name, number in groups:
        end = start + number
        if start:
            line = {"color": QUIET, "width": 1.5, "dash": "dot"}
            figure.add_shape(
                type="line", x0=-0.5, x1=start - 0.5, y0=start - 0.5, y1=start - 0.5, line=line
            )
            figure.add_shape(
                type="line",
                x0=start - 0.5,
                x1=start - 0.5,
                y0=start - 0.5,
                y1=size - 0.5,
                line=line,
            )
        if size > MOST_NAMES:
            figure.add_annotation(
                x=start - 0.5,
                y=(start + end - 1) / 2,
                text=as_label(name),
                showarrow=False,
                xanchor="right",
                xshift=-6,
            )
        start = end
