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
_EDGE, _CHOSEN = "rgba(255,255,255,.85)", "#D55E00"
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


def confusion_cells(
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    sides: tuple[str, str],
    chosen: tuple[int, int] | None = None,
) -> Any:
    """A confusion matrix as a heat map: colour is the share of the row, text the count.

    ``sides`` says what rows and columns are. A cell's ``customdata`` is its ``(row, column)``.
    Cells are bars of length 1, since plotly lets bars be clicked, and a heat map's cells not.
    """
    sums = [sum(row) or 1 for row in counts]
    shares = [[n / whole for n in row] for row, whole in zip(counts, sums, strict=True)]
    texts = [[f"{n:,}" for n in row] for row in counts]
    figure = _cells(shares, texts)
    if chosen is not None:
        row, column = chosen
        figure.add_shape(
            type="rect",
            x0=column + 0.01,
            x1=column + 0.99,
            y0=row - 0.48,
            y1=row + 0.48,
            line={"color": _CHOSEN, "width": 4},
        )
    _name_cells(figure, rows, columns)
    figure.update_xaxes(title=_plain(sides[1]))
    figure.update_yaxes(title=_plain(sides[0]))
    return figure


def agreement_cells(names: Sequence[str], values: Sequence[Sequence[float | None]]) -> Any:
    """How far every two raters agree, as a heat map of coefficients up to 1; below 0 is as 0."""
    shares = [[None if v is None else max(0.0, v) for v in row] for row in values]
    texts = [["undefined" if v is None else _coefficient(v) for v in row] for row in values]
    figure = _cells(shares, texts)
    _name_cells(figure, names, names)
    return figure


def _cells(
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    for column in range(len(shares[0])):
        at = [(row, column) for row in range(len(shares))]
        colors = [_ABSTAINED if (s := shares[r][column]) is None else _shade(s) for r, _ in at]
        figure.add_bar(
            y=[row for row, _ in at],
            x=[1] * len(at),
            orientation="h",
            width=1,
            marker={
                "color": colors,
                "line": {"color": _EDGE, "width": 1},
            },
            text=[texts[row][column] for row, _ in at],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": [_ink(color) for color in colors], "size": 15},
            customdata=at,
            hovertemplate="%{text}<extra></extra>",
        )
    return figure


def _coefficient(value: float) -> str:
    """A coefficient as the pages write it.

    >>> _coefficient(-0.254), _coefficient(1.0)
    ('−.25', '1.00')
    """
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")


def _name_cells(figure: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    figure.update_layout(
        barmode="stack",
        bargap=0,
        height=96 + 56 * len(rows),
        margin=_MARGIN,
        showlegend=False,
        dragmode=False,
    )
    figure.update_xaxes(
        range=[0, len(columns)],
        tickvals=[at + 0.5 for at in range(len(columns))],
        ticktext=[_plain(name, 24) for name in columns],
        # Level where there is room; else slanted so that the last ones do not leave the picture.
        tickangle=0 if len(columns) <= 3 else -35,
        ticklabeloverflow="allow",
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5],
        tickvals=list(range(len(rows))),
        ticktext=[_plain(name, 24) for name in rows],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )


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
