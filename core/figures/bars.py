"""Bar charts of counts, and plots of a few series over named places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from core.blocks.palette import COMPLEMENT, NO_VERDICT, TEAL, points, text_color
from core.figures.base import MARGIN, QUIET, SCORES, SHARES, as_label, error_bars
from core.metrics.estimate import Estimate
from core.text.numbers import percent, score


def score_histogram(bins: Sequence[tuple[float, float, int]], mean: float | None = None) -> Any:
    """Return a histogram of scores from ``(low, high, count)`` bins, with the mean as a line.

    A point's ``customdata`` is its bin's ``(low, high)``.
    """
    import plotly.graph_objects as go

    figure = go.Figure(
        go.Bar(
            x=[(low + high) / 2 for low, high, _ in bins],
            y=[count for _, _, count in bins],
            width=[(high - low) * 0.94 for low, high, _ in bins],
            customdata=[(low, high) for low, high, _ in bins],
            marker={"color": TEAL},
            hovertemplate="%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y} items<extra></extra>",
        )
    )
    if mean is not None:
        figure.add_vline(
            x=mean,
            line_dash="dash",
            line_color="#8A8F94",
            annotation_text=f"mean {score(mean)}",
            annotation_position="top",
        )
    figure.update_layout(
        height=260, margin={**MARGIN, "t": 28}, bargap=0, showlegend=False, dragmode=False
    )
    figure.update_xaxes(
        title="Score", range=[bins[0][0], bins[-1][1]], tickformat=SCORES, fixedrange=True
    )
    is_small = max(count for *_, count in bins) < 6
    figure.update_yaxes(
        title="Items", fixedrange=True, rangemode="tozero", dtick=1 if is_small else None
    )
    return figure


def verdict_bars(
    rows: Sequence[tuple[str, Sequence[tuple[str, int | None, float | None, int]]]],
) -> Any:
    """Return one stacked bar per criterion: the share of items by verdict.

    Each row is ``(criterion, [(label, option, earned, count), ...])``; ``earned`` is the option's
    share of the best. ``option`` and ``earned`` are ``None`` for abstentions. Every piece is
    labelled if the text fits, and its ``customdata`` is ``(criterion, option)``, with -1 for an
    abstention.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, pieces in reversed(rows):
        total = sum(count for *_, count in pieces) or 1
        for label, option, earned, count in pieces:
            if not count:
                continue
            color = NO_VERDICT if earned is None else points(earned)
            share = count / total
            text = as_label(label)
            figure.add_bar(
                y=[as_label(name)],
                x=[share],
                orientation="h",
                marker={
                    "color": color,
                    "line": {"color": "rgba(255,255,255,0.85)", "width": 1},
                    "pattern": {"shape": "/" if earned is None else "", "size": 6},
                },
                text=[f"{text} {percent(share)}"],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": text_color(color)},
                customdata=[(name, -1 if option is None else option)],
                hovertemplate=f"{text}: {count} of {total} items<extra></extra>",
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
    figure.update_xaxes(tickformat=SHARES, range=[0, 1], dtick=0.25, fixedrange=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure


def before_after(bins: Sequence[tuple[float, float, int, int]]) -> Any:
    """Return two histograms over the same ``(low, high, before, after)`` bins.

    ``before`` is drawn as filled bars and ``after`` as a stepped line, so readers can tell them
    apart without colour.
    """
    import plotly.graph_objects as go

    hover = "%{customdata[0]:.2f} to %{customdata[1]:.2f}: %{y} items"
    places = [(low, high) for low, high, *_ in bins]
    figure = go.Figure(
        go.Bar(
            name="before",
            x=[(low + high) / 2 for low, high in places],
            y=[before for *_, before, _ in bins],
            width=[(high - low) * 0.94 for low, high in places],
            customdata=places,
            marker={"color": TEAL, "opacity": 0.55},
            hovertemplate=f"{hover} before<extra></extra>",
        )
    )
    figure.add_scatter(
        name="after",
        x=[edge for pair in places for edge in pair],
        y=[after for *_, after in bins for _ in range(2)],
        mode="lines",
        customdata=[pair for pair in places for _ in range(2)],
        line={"color": COMPLEMENT, "width": 3},
        hovertemplate=f"{hover} after<extra></extra>",
    )
    figure.update_layout(
        height=250,
        margin=MARGIN,
        bargap=0,
        dragmode=False,
        legend={"orientation": "h", "y": 1.12, "x": 0},
    )
    figure.update_xaxes(
        title="Score", range=[places[0][0], places[-1][1]], tickformat=SCORES, fixedrange=True
    )
    most = max(max(before, after) for *_, before, after in bins)
    figure.update_yaxes(
        title="Items", fixedrange=True, rangemode="tozero", dtick=1 if most < 6 else None
    )
    return figure


_COLORS = (TEAL, COMPLEMENT, QUIET, "#8A6FB0")
_SYMBOLS = ("circle", "diamond", "square", "x")
_PATTERNS = ("", "/", ".", "x")


def series_plot(
    places: Sequence[str],
    series: Sequence[tuple[str, Sequence[float | None]]],
    axes: tuple[str, str],
    *,
    kind: Literal["bars", "dots", "lines"] = "bars",
    share: bool = False,
) -> Any:
    """Return series, each a name and a value per place, side by side over the same places.

    ``share`` writes the values as percentages. Series differ in colour and in pattern or symbol, so
    readers can tell them apart without colour.
    """
    import plotly.graph_objects as go

    form = SHARES if share else SCORES
    figure = go.Figure()
    for at, (name, values) in enumerate(series):
        look = at % len(_COLORS)
        shared = {
            "x": list(range(len(places))),
            "y": list(values),
            "name": as_label(name),
            "hovertext": [as_label(place, 60) for place in places],
            "hovertemplate": f"{as_label(name)}, %{{hovertext}}: %{{y:{form}}}<extra></extra>",
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
        title=as_label(axes[0]),
        tickvals=list(range(len(places))),
        ticktext=[as_label(place, 22) for place in places],
        # Plotly would drop slanted labels that reach past the plot.
        ticklabeloverflow="allow",
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(title=as_label(axes[1]), tickformat=form, fixedrange=True, zeroline=True)
    return figure


def reliability_diagram(bins: Sequence[tuple[float, Estimate]]) -> Any:
    """Return the share of correct answers against the rater's confidence.

    Each bin is (mean confidence, share with interval). Dots grow with the number of answers. On the
    diagonal, confidence and share are equal.
    """
    import plotly.graph_objects as go

    most = max((share.n for _, share in bins), default=1)
    figure = go.Figure(
        go.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line={"color": QUIET, "dash": "dash"},
            hoverinfo="skip",
        )
    )
    figure.add_scatter(
        x=[confidence for confidence, _ in bins],
        y=[share.value for _, share in bins],
        mode="markers",
        marker={"color": TEAL, "size": [8 + 14 * (share.n / most) ** 0.5 for _, share in bins]},
        error_y=error_bars([(share.value, share.low, share.high) for _, share in bins]),
        customdata=[share.n for _, share in bins],
        hovertemplate="sure %{x:.2f}, right %{y:.2f}: %{customdata} answers<extra></extra>",
    )
    figure.update_layout(height=380, margin=MARGIN, showlegend=False, dragmode=False)
    span = {"range": [-0.03, 1.03], "fixedrange": True, "tickformat": SCORES, "dtick": 0.2}
    figure.update_xaxes(title="How sure", **span)
    figure.update_yaxes(title="Share that is right", **span)
    return figure
