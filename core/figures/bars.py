"""Counts as bars: scores, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.figures.base import ABSTAINED, BAR, CHOSEN, MARGIN, ink, plain, shade


def score_histogram(bins: Sequence[tuple[float, float, int]], mean: float | None = None) -> Any:
    """A histogram of scores from ``(low, high, count)`` bins, with the mean as a line.

    A point's ``customdata`` is its bin's ``(low, high)``.
    """
    import plotly.graph_objects as go

    figure = go.Figure(
        go.Bar(
            x=[(low + high) / 2 for low, high, _ in bins],
            y=[count for _, _, count in bins],
            width=[(high - low) * 0.94 for low, high, _ in bins],
            customdata=[(low, high) for low, high, _ in bins],
            marker={"color": BAR},
            hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y} items<extra></extra>",
        )
    )
    if mean is not None:
        figure.add_vline(
            x=mean,
            line_dash="dash",
            line_color="#8A8F94",
            annotation_text=f"mean {mean:.2f}",
            annotation_position="top",
        )
    figure.update_layout(
        height=260, margin={**MARGIN, "t": 28}, bargap=0, showlegend=False, dragmode=False
    )
    figure.update_xaxes(title="Score", range=[bins[0][0], bins[-1][1]], fixedrange=True)
    few = max(count for *_, count in bins) < 6
    figure.update_yaxes(
        title="Items", fixedrange=True, rangemode="tozero", dtick=1 if few else None
    )
    return figure


def verdict_bars(
    rows: Sequence[tuple[str, Sequence[tuple[str, int | None, float | None, int]]]],
) -> Any:
    """One stacked bar per criterion: the share of items by verdict.

    Each row is ``(criterion, [(label, option, value, count), ...])`` with ``option`` and ``value``
    ``None`` for abstentions. Every piece is written on, as far as it fits, and its ``customdata``
    is ``(criterion, option)``, with -1 for an abstention.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, pieces in reversed(rows):
        total = sum(count for *_, count in pieces) or 1
        for label, option, value, count in pieces:
            if not count:
                continue
            color = ABSTAINED if value is None else shade(value)
            share = count / total
            words = plain(label)
            figure.add_bar(
                y=[plain(name)],
                x=[share],
                orientation="h",
                marker={"color": color, "line": {"color": "rgba(255,255,255,.85)", "width": 1}},
                text=[f"{words} {share:.0%}"],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": ink(color)},
                customdata=[(name, -1 if option is None else option)],
                hovertemplate=f"{words}: {count} of {total} items<extra></extra>",
            )
    figure.update_layout(
        barmode="stack",
        height=70 + 34 * len(rows),
        margin={**MARGIN, "r": 28},
        showlegend=False,
        dragmode=False,
        bargap=0.25,
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    figure.update_xaxes(tickformat=".0%", range=[0, 1], dtick=0.25, fixedrange=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure


def before_after(bins: Sequence[tuple[float, float, int, int]]) -> Any:
    """Two histograms over the same ``(low, high, before, after)`` bins: bars, and an outline.

    ``before`` is drawn as filled bars, ``after`` as a stepped line, so that colour is not needed
    to tell them apart.
    """
    import plotly.graph_objects as go

    words = "%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y} items"
    places = [(low, high) for low, high, *_ in bins]
    figure = go.Figure(
        go.Bar(
            name="before",
            x=[(low + high) / 2 for low, high in places],
            y=[before for *_, before, _ in bins],
            width=[(high - low) * 0.94 for low, high in places],
            customdata=places,
            marker={"color": BAR, "opacity": 0.55},
            hovertemplate=f"{words} before<extra></extra>",
        )
    )
    figure.add_scatter(
        name="after",
        x=[edge for pair in places for edge in pair],
        y=[after for *_, after in bins for _ in range(2)],
        mode="lines",
        customdata=[pair for pair in places for _ in range(2)],
        line={"color": CHOSEN, "width": 3},
        hovertemplate=f"{words} after<extra></extra>",
    )
    figure.update_layout(
        height=250,
        margin=MARGIN,
        bargap=0,
        dragmode=False,
        legend={"orientation": "h", "y": 1.12, "x": 0},
    )
    figure.update_xaxes(title="Score", range=[places[0][0], places[-1][1]], fixedrange=True)
    most = max(max(before, after) for *_, before, after in bins)
    figure.update_yaxes(
        title="Items", fixedrange=True, rangemode="tozero", dtick=1 if most < 6 else None
    )
    return figure
