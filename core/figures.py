"""Pictures: counts in, plotly figures out. No colour carries anything that words do not.

Labels that people wrote are escaped here, since plotly reads some HTML in them. Fonts and
backgrounds come from the page's theme, light or dark.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

#: From Cividis (Nuñez, Anderton and Renslow 2018), worst to best; ends clear of both backgrounds.
_STEPS = ("#3B496C", "#575D6D", "#707173", "#8A8779", "#A69D75", "#C3B369", "#E1CC55")
_BAR = "#3E7CB1"
_ABSTAINED = "#9AA0A6"
_MARGIN = {"l": 8, "r": 8, "t": 8, "b": 8}


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
            marker={"color": _BAR},
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
        height=260, margin={**_MARGIN, "t": 28}, bargap=0, showlegend=False, dragmode=False
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
            color = _ABSTAINED if value is None else _shade(value)
            share = count / total
            words = _plain(label)
            figure.add_bar(
                y=[_plain(name)],
                x=[share],
                orientation="h",
                marker={"color": color, "line": {"color": "rgba(255,255,255,.85)", "width": 1}},
                text=[f"{words} {share:.0%}"],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": _ink(color)},
                customdata=[(name, -1 if option is None else option)],
                hovertemplate=f"{words}: {count} of {total} items<extra></extra>",
            )
    figure.update_layout(
        barmode="stack",
        height=70 + 34 * len(rows),
        margin={**_MARGIN, "r": 28},
        showlegend=False,
        dragmode=False,
        bargap=0.25,
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    figure.update_xaxes(tickformat=".0%", range=[0, 1], dtick=0.25, fixedrange=True)
    figure.update_yaxes(fixedrange=True, automargin=True)
    return figure


def _shade(value: float) -> str:
    return _STEPS[round(value * (len(_STEPS) - 1))]


def _ink(color: str) -> str:
    """Black or white, whichever is easier to read on ``color``.

    >>> _ink("#3B496C"), _ink("#E1CC55")
    ('#FFFFFF', '#000000')
    """
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#FFFFFF"


def _plain(text: str, limit: int = 40) -> str:
    """A label that plotly shows as it is: no tags, nothing filled in on hover, not too long.

    >>> _plain("<b>%{x}</b>")
    '&lt;b&gt;%&#123;x}&lt;/b&gt;'
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return html.escape(cut, quote=False).replace("%{", "%&#123;")
