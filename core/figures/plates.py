"""Small plots of any few series over named places: the evidence behind a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from core.figures.base import BAR, CHOSEN, MARGIN, QUIET, plain

_COLORS = (BAR, CHOSEN, QUIET, "#009E73")
_SYMBOLS = ("circle", "diamond", "square", "x")
_PATTERNS = ("", "/", ".", "x")


class Series(NamedTuple):
    """One series: a value per place, ``None`` where there is none."""

    name: str
    values: Sequence[float | None]


def series_plot(
    places: Sequence[str],
    series: Sequence[Series],
    axes: tuple[str, str],
    *,
    kind: Literal["bars", "dots", "lines"] = "bars",
    share: bool = False,
) -> Any:
    """Series side by side over the same places; ``share`` writes the values as percentages.

    Series differ in colour and in pattern or symbol, so that no colour has to be told apart.
    """
    import plotly.graph_objects as go

    form = ".0%" if share else ".2f"
    figure = go.Figure()
    for at, one in enumerate(series):
        look = at % len(_COLORS)
        shared = {
            "x": list(range(len(places))),
            "y": list(one.values),
            "name": plain(one.name),
            "hovertext": [plain(place, 60) for place in places],
            "hovertemplate": f"{plain(one.name)}, %{{hovertext}}: %{{y:{form}}}<extra></extra>",
        }
        if kind == "bars":
            marker = {"color": _COLORS[look], "pattern": {"shape": _PATTERNS[look], "size": 6}}
            figure.add_bar(**shared, marker=marker)
            continue
        figure.add_scatter(
            **shared,
            mode="markers" if kind == "dots" else "lines+markers",
            marker={"size": 11, "color": _COLORS[look], "symbol": _SYMBOLS[look]},
        )
    figure.update_layout(
        height=300,
        margin=MARGIN,
        dragmode=False,
        barmode="group",
        bargap=0.25,
        showlegend=len(series) > 1,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )
    figure.update_xaxes(
        title=plain(axes[0]),
        tickvals=list(range(len(places))),
        ticktext=[plain(place, 22) for place in places],
        # Slanted labels would else be dropped where they reach past the plot.
        ticklabeloverflow="allow",
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(title=plain(axes[1]), tickformat=form, fixedrange=True, zeroline=True)
    return figure
