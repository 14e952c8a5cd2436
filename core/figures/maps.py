"""Many raters with each other: a heat map without words in its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.figures.base import MARGIN, QUIET, STEPS, coefficient, plain

#: From here on, names beside the map would overlap; they are told on hover.
MOST_NAMES = 45


def agreement_map(
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    counts: Sequence[Sequence[int]],
    groups: Sequence[tuple[str, int]] = (),
) -> Any:
    """The lower half of a symmetric matrix of coefficients; what is undefined stays blank.

    ``groups`` are names with how many raters each has, in order: lines part them. A cell's
    ``customdata`` is ``(row, column)``. Below 0 is coloured as 0.
    """
    import plotly.graph_objects as go

    size = len(names)
    cells = [(row, column) for row in range(size) for column in range(row)]
    known = [cell for cell in cells if values[cell[0]][cell[1]] is not None]
    figure = go.Figure(
        go.Heatmap(
            z=[
                [values[row][column] if column < row else None for column in range(size)]
                for row in range(size)
            ],
            colorscale=[[at / (len(STEPS) - 1), color] for at, color in enumerate(STEPS)],
            zmin=0,
            zmax=1,
            hoverinfo="skip",
            colorbar={"thickness": 12, "outlinewidth": 0, "tickformat": ".1f"},
        )
    )
    figure.add_scatter(
        x=[column for _, column in known],
        y=[row for row, _ in known],
        mode="markers",
        # Plotly cannot select a heat map's cells, so these stand upon them, unseen.
        marker={"symbol": "square", "size": max(4, min(26, 560 // size)), "color": "rgba(0,0,0,0)"},
        unselected={"marker": {"opacity": 0}},
        selected={"marker": {"color": "rgba(0,0,0,0)"}},
        customdata=known,
        hovertext=[
            f"{plain(names[row])} and {plain(names[column])}: "
            f"{coefficient(values[row][column] or 0)} on {counts[row][column]:,} items"
            for row, column in known
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    _parted(figure, groups, size)
    few = size <= MOST_NAMES
    axis = {
        "tickvals": list(range(size)) if few else [],
        "ticktext": [plain(name, 24) for name in names] if few else [],
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
    }
    figure.update_xaxes(**axis, range=[-0.5, size - 0.5], tickangle=-55)
    figure.update_yaxes(**axis, range=[size - 0.5, -0.5])
    figure.update_layout(
        height=max(420, min(760, 160 + 18 * size)),
        margin=MARGIN if few else {**MARGIN, "l": 84},
        dragmode=False,
        showlegend=False,
        hovermode="closest",
    )
    return figure


def _parted(figure: Any, groups: Sequence[tuple[str, int]], size: int) -> None:
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
                text=plain(name),
                showarrow=False,
                xanchor="right",
                xshift=-6,
            )
        start = end
