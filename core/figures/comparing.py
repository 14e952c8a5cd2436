"""Differences between two runs, and accuracy beside cost over many."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from core.figures.base import BAR, CHOSEN, MARGIN, QUIET, plain, whiskers

#: Costs that span more than this take a logarithmic axis.
SPAN = 20


class DifferenceDot(NamedTuple):
    """A difference with its interval; ``None`` where there is none. ``said`` is shown on hover.

    ``significant``: its test, corrected for how many there are, told it from no difference.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    said: str
    significant: bool = False


class Priced(NamedTuple):
    """A run: what 1,000 items cost (US dollars), its accuracy and interval, and its standing."""

    name: str
    cost: float
    value: float
    low: float | None
    high: float | None
    efficient: bool


def differences(gaps: Sequence[DifferenceDot], axis: str, *, share: bool = False) -> Any:
    """A forest plot around no difference. Significant ones are filled, others open."""
    import plotly.graph_objects as go

    known = [(row, gap) for row, gap in enumerate(gaps) if gap.value is not None]
    figure = go.Figure()
    figure.add_scatter(
        x=[gap.value for _, gap in known],
        y=[row for row, _ in known],
        error_x=whiskers([(gap.value, gap.low, gap.high) for _, gap in known]),
        mode="markers",
        marker={
            "size": 12,
            "color": BAR,
            "symbol": ["circle" if gap.significant else "circle-open" for _, gap in known],
            "line": {"width": 2, "color": BAR},
        },
        hovertext=[plain(gap.said, 120) for _, gap in known],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    for row, gap in enumerate(gaps):
        if gap.value is None:
            figure.add_annotation(
                x=0, y=row, text="undefined", showarrow=False, xanchor="left", xshift=6
            )
    figure.add_vline(x=0, line_color=QUIET, line_dash="dash")
    _lay_out(figure, gaps, plain(axis, 90), share)
    return figure


def _lay_out(figure: Any, gaps: Sequence[DifferenceDot], title: str, share: bool) -> None:
    known = [gap for gap in gaps if gap.value is not None]
    ends = [abs(e) for g in known for e in (g.value, g.low, g.high) if e is not None]
    reach = max([0.05, *ends]) * 1.12
    figure.update_layout(
        height=96 + 36 * len(gaps),
        margin={**MARGIN, "r": 20},
        showlegend=False,
        dragmode=False,
        hovermode="closest",
    )
    figure.update_xaxes(
        title=title,
        range=[-reach, reach],
        tickformat=".0%" if share else None,
        nticks=7,
        fixedrange=True,
    )
    figure.update_yaxes(
        tickvals=list(range(len(gaps))),
        ticktext=[plain(gap.name, 26) for gap in gaps],
        range=[len(gaps) - 0.5, -0.5],
        fixedrange=True,
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


def frontier(runs: Sequence[Priced]) -> Any:
    """Accuracy against cost: the efficient runs are filled diamonds joined by a line.

    The cost axis is logarithmic where costs span more than a factor of twenty.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    best = sorted((r for r in runs if r.efficient), key=lambda r: r.cost)
    figure.add_scatter(
        x=[r.cost for r in best],
        y=[r.value for r in best],
        mode="lines",
        line={"color": CHOSEN, "width": 2, "shape": "hv", "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    others = [r for r in runs if not r.efficient]
    for name, group, symbol, color in (
        ("efficient", best, "diamond", CHOSEN),
        ("another run is as good for less", others, "circle-open", BAR),
    ):
        if group:
            figure.add_scatter(**_marks(name, group, symbol, color))
    figure.update_layout(
        height=400,
        margin={**MARGIN, "t": 36, "r": 24},
        dragmode=False,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )
    costs = [r.cost for r in runs]
    wide = min(costs) > 0 and max(costs) / min(costs) > SPAN
    figure.update_xaxes(
        title="US dollars per 1,000 items" + (" (logarithmic)" if wide else ""),
        type="log" if wide else "linear",
        rangemode="normal" if wide else "tozero",
        tickprefix="$",
        tickvals=_ticks(min(costs), max(costs)) if wide else None,
        fixedrange=True,
    )
    figure.update_yaxes(title="Accuracy", tickformat=".0%", fixedrange=True, automargin=True)
    return figure


def _ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten around a range.

    >>> _ticks(1.6, 12)
    [1, 2, 5, 10, 20]
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    ticks = [step * 10**power for power in powers for step in (1, 2, 5)]
    return [tick for tick in ticks if low / 2 <= tick <= high * 2]


def _marks(name: str, runs: Sequence[Priced], symbol: str, color: str) -> dict[str, Any]:
    return {
        "x": [r.cost for r in runs],
        "y": [r.value for r in runs],
        "error_y": whiskers(
            [(r.value, r.low, r.high) for r in runs], color, thickness=1.5, width=4
        ),
        "mode": "markers+text",
        "name": name,
        "marker": {"size": 12, "symbol": symbol, "color": color, "line": {"width": 2}},
        "text": [plain(r.name, 22) for r in runs],
        "textposition": "bottom right",
        "cliponaxis": False,
        "hovertext": [f"{plain(r.name, 80)}: {r.value:.1%}, ${r.cost:.4g}" for r in runs],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
