"""Plots of estimates with intervals: dots, run differences, two raters' scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

from core.blocks.palette import COMPLEMENT, TEAL
from core.figures.base import MARGIN, QUIET, SCORES, SHARES, as_label, error_bars
from core.metrics.estimate import Estimate
from core.text.numbers import cost, percent, score

#: Offsets across a strip, which keep equal dots from hiding each other.
_PLACES = (0.0, 0.12, -0.12, 0.24, -0.24, 0.06, -0.06, 0.18, -0.18)


def forest(
    estimates: Sequence[tuple[str, Estimate]],
    axis: str,
    baseline: str = "",
    baselines: Sequence[float | None] = (),
    chosen: str = "",
    *,
    full_scale: bool = True,
) -> Any:
    """Return a dot with its interval per named estimate, and an open diamond for its baseline.

    With ``full_scale`` the axis reaches to 1, otherwise as far as the dots do.

    Rows without a value say so. ``baselines`` are in the order of the estimates. A dot's
    ``customdata`` is its name. ``chosen`` gets a ring.
    """
    import plotly.graph_objects as go

    rows = [row for row, (_, estimate) in enumerate(estimates) if estimate.value is not None]
    names, drawn = zip(*(estimates[row] for row in rows), strict=True) if rows else ((), ())
    figure = go.Figure()
    marks = {row: baselines[row] for row in rows if baselines and baselines[row] is not None}
    if marks:
        figure.add_scatter(
            x=list(marks.values()),
            y=list(marks),
            mode="markers",
            name=baseline,
            marker={"symbol": "diamond-open", "size": 11, "color": QUIET, "line": {"width": 2}},
            hovertemplate=f"{as_label(baseline)}: %{{x:{SCORES}}}<extra></extra>",
        )
    figure.add_scatter(
        x=[estimate.value for estimate in drawn],
        y=rows,
        error_x=error_bars([estimate[:3] for estimate in drawn]),
        mode="markers",
        name=axis,
        marker={
            "size": 12,
            "color": TEAL,
            "line": {
                "width": [3 if name == chosen else 0 for name in names],
                "color": COMPLEMENT,
            },
        },
        customdata=list(names),
        hovertext=[
            _hover_text(name, estimate) for name, estimate in zip(names, drawn, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    for row, (_, estimate) in enumerate(estimates):
        if estimate.value is None:
            figure.add_annotation(
                x=0, y=row, text="undefined", showarrow=False, xanchor="left", font_color=QUIET
            )
    _name_rows(figure, [name for name, _ in estimates], axis)
    low = min([0.0, *(estimate.low for estimate in drawn if estimate.low is not None)])
    if full_scale:
        figure.update_xaxes(range=[low - 0.02, 1.02])
    else:
        figure.update_xaxes(rangemode="tozero")
    return figure


def _hover_text(name: str, estimate: Estimate) -> str:
    shown = estimate.words(score)
    return f"{as_label(name)}: {shown.value} ({shown.below}), {estimate.n:,} items"


def rater_strips(
    groups: Sequence[tuple[str, Sequence[tuple[str, float]], float | None]],
    axis: str,
    chosen: str = "",
) -> Any:
    """Return one strip of dots per kind of raters, with a line at each mean.

    A group has the kind's name, each rater's name and value, and their mean or ``None``.
    A dot's ``customdata`` is ``(strip, place)`` among the values given. ``chosen`` gets a ring.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for row, (_, raters, mean) in enumerate(groups):
        figure.add_scatter(
            x=[value for _, value in raters],
            y=[row + _PLACES[at % len(_PLACES)] for at in range(len(raters))],
            mode="markers",
            marker={
                "size": 10,
                "color": TEAL,
                "opacity": 0.75,
                "line": {
                    "width": [3 if name == chosen else 1 for name, _ in raters],
                    "color": [
                        COMPLEMENT if name == chosen else "rgba(255,255,255,.7)"
                        for name, _ in raters
                    ],
                },
            },
            customdata=[(row, at) for at in range(len(raters))],
            hovertext=[f"{as_label(name)}: {score(v)}" for name, v in raters],
            hovertemplate="%{hovertext}<extra></extra>",
        )
        if mean is not None:
            figure.add_shape(
                type="line",
                x0=mean,
                x1=mean,
                y0=row - 0.38,
                y1=row + 0.38,
                line={"color": COMPLEMENT, "width": 3},
            )
    _name_rows(figure, [name for name, *_ in groups], axis, height=74)
    figure.update_layout(showlegend=False)
    values = [value for _, raters, _ in groups for _, value in raters]
    figure.update_xaxes(range=[min([0.0, *values]) - 0.04, 1.02])
    return figure


def _name_rows(figure: Any, names: Sequence[str], axis: str, height: int = 36) -> None:
    figure.update_layout(
        height=86 + height * len(names),
        margin=MARGIN,
        dragmode=False,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )
    figure.update_xaxes(title=as_label(axis), tickformat=SCORES, fixedrange=True, zeroline=True)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[as_label(name, 30) for name in names],
        range=[len(names) - 0.5, -0.5],
        fixedrange=True,
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


#: Costs that span more than this factor get a logarithmic axis.
SPAN = 20


def frontier(runs: Mapping[str, tuple[float, Estimate]], efficient: Collection[str]) -> Any:
    """Return accuracy against the cost of 1,000 items (US dollars), by the names of runs.

    A line joins the diamonds of the ``efficient`` ones.
    The cost axis is logarithmic if costs span more than a factor of twenty.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    best = sorted(efficient, key=lambda name: runs[name][0])
    figure.add_scatter(
        x=[runs[name][0] for name in best],
        y=[runs[name][1].value for name in best],
        mode="lines",
        line={"color": COMPLEMENT, "width": 2, "shape": "hv", "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    inefficient = [name for name in runs if name not in efficient]
    for name, group, symbol, color in (
        ("efficient", best, "diamond", COMPLEMENT),
        ("another run is as good for less", inefficient, "circle-open", TEAL),
    ):
        if group:
            figure.add_scatter(
                **_run_marks({run: runs[run] for run in group}, symbol, color), name=name
            )
    figure.update_layout(
        height=400,
        margin={**MARGIN, "t": 36, "r": 24},
        dragmode=False,
        hovermode="closest",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
    )
    costs = [price for price, _ in runs.values()]
    wide = min(costs) > 0 and max(costs) / min(costs) > SPAN
    figure.update_xaxes(
        title="US dollars per 1,000 items" + (" (logarithmic)" if wide else ""),
        type="log" if wide else "linear",
        rangemode="normal" if wide else "tozero",
        tickprefix="$",
        tickvals=_axis_ticks(min(costs), max(costs)) if wide else None,
        fixedrange=True,
    )
    figure.update_yaxes(title="Accuracy", tickformat=SHARES, fixedrange=True, automargin=True)
    return figure


def _axis_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten around a range.

    >>> _axis_ticks(1.6, 12)
    [1, 2, 5, 10, 20]
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    ticks = [step * 10**power for power in powers for step in (1, 2, 5)]
    return [tick for tick in ticks if low / 2 <= tick <= high * 2]


def _run_marks(
    runs: Mapping[str, tuple[float, Estimate]], symbol: str, color: str
) -> dict[str, Any]:
    ends = [(accuracy.value, accuracy.low, accuracy.high) for _, accuracy in runs.values()]
    return {
        "x": [price for price, _ in runs.values()],
        "y": [value for value, *_ in ends],
        "error_y": error_bars(ends, color, thickness=1.5, width=4),
        "mode": "markers+text",
        "marker": {"size": 12, "symbol": symbol, "color": color, "line": {"width": 2}},
        "text": [as_label(name, 22) for name in runs],
        "textposition": "bottom right",
        "cliponaxis": False,
        "hovertext": [
            f"{as_label(name, 80)}: {percent(accuracy.value, 1)}, {cost(price)}"
            for name, (price, accuracy) in runs.items()
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def bland_altman(
    points: Sequence[tuple[float, float, int]],
    bias: float | None,
    limits: tuple[float | None, float | None],
    sides: tuple[str, str],
) -> Any:
    """Plot differences against means of scores, with bias and limits of agreement.

    ``points`` are (reference, rated, items). Larger dots stand for more items. After Bland and
    Altman (1986).
    """
    import plotly.graph_objects as go

    most = max((count for *_, count in points), default=1)
    figure = go.Figure(
        go.Scatter(
            x=[(x + y) / 2 for x, y, _ in points],
            y=[y - x for x, y, _ in points],
            mode="markers",
            marker={
                "size": [5 + 13 * (count / most) ** 0.5 for *_, count in points],
                "color": TEAL,
                "opacity": 0.6,
            },
            customdata=[(x, y, count) for x, y, count in points],
            hovertemplate="reference %{customdata[0]:.2f}, rater %{customdata[1]:.2f}: "
            "%{customdata[2]} items<extra></extra>",
        )
    )
    lines = (("bias", bias, "solid", COMPLEMENT), ("limit", limits[0], "dash", QUIET))
    for name, at, dash, color in (*lines, ("limit", limits[1], "dash", QUIET)):
        if at is not None:
            figure.add_hline(
                y=at,
                line_dash=dash,
                line_color=color,
                annotation_text=f"{name} {score(at)}",
                annotation_position="top right",
            )
    figure.update_layout(height=380, margin=MARGIN, dragmode=False, showlegend=False)
    figure.update_xaxes(
        title="Mean of both scores", range=[-0.03, 1.03], tickformat=SCORES, fixedrange=True
    )
    figure.update_yaxes(
        title=f"{as_label(sides[1], 24)} − {as_label(sides[0], 24)}",
        tickformat=SCORES,
        fixedrange=True,
        zeroline=True,
    )
    return figure
