"""Estimates as dots with their intervals, and groups of raters as strips of dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from core.figures.base import BAR, CHOSEN, MARGIN, QUIET, coefficient, plain, whiskers

#: Where a dot of a strip stands across it, so that equal ones do not hide each other.
_PLACES = (0.0, 0.12, -0.12, 0.24, -0.24, 0.06, -0.06, 0.18, -0.18)


class Dot(NamedTuple):
    """An estimate, its interval and what it has to beat; ``None`` where there is none."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    n: int = 0


class Strip(NamedTuple):
    """A kind of raters: the name and value of each, and their mean (``None``: undefined)."""

    name: str
    raters: Sequence[tuple[str, float]]
    mean: float | None


def forest(
    dots: Sequence[Dot], axis: str, baseline: str, chosen: str = "", *, whole: bool = True
) -> Any:
    """A dot and its interval per row, with an open diamond for what it has to beat.

    ``whole``: the axis reaches to 1, else as far as the dots do.

    Rows without a value say so. A dot's ``customdata`` is its name; ``chosen`` is ringed.
    """
    import plotly.graph_objects as go

    known = [(row, dot) for row, dot in enumerate(dots) if dot.value is not None]
    figure = go.Figure()
    bases = [(row, dot) for row, dot in known if dot.baseline is not None]
    if bases:
        figure.add_scatter(
            x=[dot.baseline for _, dot in bases],
            y=[row for row, _ in bases],
            mode="markers",
            name=baseline,
            marker={"symbol": "diamond-open", "size": 11, "color": QUIET, "line": {"width": 2}},
            hovertemplate=f"{plain(baseline)}: %{{x:.2f}}<extra></extra>",
        )
    figure.add_scatter(
        x=[dot.value for _, dot in known],
        y=[row for row, _ in known],
        error_x=whiskers([(dot.value, dot.low, dot.high) for _, dot in known]),
        mode="markers",
        name=axis,
        marker={
            "size": 12,
            "color": BAR,
            "line": {
                "width": [3 if dot.name == chosen else 0 for _, dot in known],
                "color": CHOSEN,
            },
        },
        customdata=[dot.name for _, dot in known],
        hovertext=[_said(dot) for _, dot in known],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    for row, dot in enumerate(dots):
        if dot.value is None:
            figure.add_annotation(
                x=0, y=row, text="undefined", showarrow=False, xanchor="left", font_color=QUIET
            )
    _rows(figure, [dot.name for dot in dots], axis)
    low = min([0.0, *(dot.low for _, dot in known if dot.low is not None)])
    if whole:
        figure.update_xaxes(range=[low - 0.02, 1.02])
    else:
        figure.update_xaxes(rangemode="tozero")
    return figure


def _said(dot: Dot) -> str:
    ends = (
        "no interval"
        if dot.low is None or dot.high is None
        else f"{coefficient(dot.low)} to {coefficient(dot.high)}"
    )
    return f"{plain(dot.name)}: {coefficient(dot.value or 0)} ({ends}), {dot.n:,} items"


def strips(groups: Sequence[Strip], axis: str, chosen: str = "") -> Any:
    """One strip of dots per kind of raters, a line at each kind's mean.

    A dot's ``customdata`` is ``(strip, place)`` among the values given; ``chosen`` is ringed.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for row, group in enumerate(groups):
        figure.add_scatter(
            x=[value for _, value in group.raters],
            y=[row + _PLACES[at % len(_PLACES)] for at in range(len(group.raters))],
            mode="markers",
            marker={
                "size": 10,
                "color": BAR,
                "opacity": 0.75,
                "line": {
                    "width": [3 if name == chosen else 1 for name, _ in group.raters],
                    "color": [
                        CHOSEN if name == chosen else "rgba(255,255,255,.7)"
                        for name, _ in group.raters
                    ],
                },
            },
            customdata=[(row, at) for at in range(len(group.raters))],
            hovertext=[f"{plain(name)}: {coefficient(v)}" for name, v in group.raters],
            hovertemplate="%{hovertext}<extra></extra>",
        )
        if group.mean is not None:
            figure.add_shape(
                type="line",
                x0=group.mean,
                x1=group.mean,
                y0=row - 0.38,
                y1=row + 0.38,
                line={"color": CHOSEN, "width": 3},
            )
    _rows(figure, [group.name for group in groups], axis, height=74)
    figure.update_layout(showlegend=False)
    values = [value for group in groups for _, value in group.raters]
    figure.update_xaxes(range=[min([0.0, *values]) - 0.04, 1.02])
    return figure


def _rows(figure: Any, names: Sequence[str], axis: str, height: int = 36) -> None:
    figure.update_layout(
        height=86 + height * len(names),
        margin=MARGIN,
        dragmode=False,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )
    figure.update_xaxes(title=plain(axis), fixedrange=True, zeroline=True)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[plain(name, 30) for name in names],
        range=[len(names) - 0.5, -0.5],
        fixedrange=True,
        automargin=True,
        showgrid=False,
        zeroline=False,
    )
