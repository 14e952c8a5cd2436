"""Scores of two raters beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.figures.base import BAR, CHOSEN, MARGIN, QUIET, coefficient, plain


def bland_altman(
    points: Sequence[tuple[float, float, int]],
    bias: float | None,
    limits: tuple[float | None, float | None],
    sides: tuple[str, str],
) -> Any:
    """Differences against means of scores, with the bias and the limits of agreement.

    ``points`` are (reference, rated, items); larger dots stand for more items. After Bland and
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
                "color": BAR,
                "opacity": 0.6,
            },
            customdata=[(x, y, count) for x, y, count in points],
            hovertemplate="reference %{customdata[0]:.2f}, rater %{customdata[1]:.2f}: "
            "%{customdata[2]} items<extra></extra>",
        )
    )
    lines = (("bias", bias, "solid", CHOSEN), ("limit", limits[0], "dash", QUIET))
    for name, at, dash, color in (*lines, ("limit", limits[1], "dash", QUIET)):
        if at is not None:
            figure.add_hline(
                y=at,
                line_dash=dash,
                line_color=color,
                annotation_text=f"{name} {coefficient(at)}",
                annotation_position="top right",
            )
    figure.update_layout(height=380, margin=MARGIN, dragmode=False, showlegend=False)
    figure.update_xaxes(title="Mean of both scores", range=[-0.03, 1.03], fixedrange=True)
    figure.update_yaxes(
        title=f"{plain(sides[1], 24)} − {plain(sides[0], 24)}", fixedrange=True, zeroline=True
    )
    return figure
