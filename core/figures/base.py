"""Shared parts of figures: colours, and labels escaped for plotly."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from core.blocks.palette import TEAL

#: RGB colours of the losing side, a tie, and the winning side.
LOSING, LEVEL, WINNING = (166, 97, 26), (244, 241, 234), (1, 118, 106)
#: For lines and marks in the background, visible in light and dark.
QUIET = "#8A8F94"
#: Plotly's axis formats of scores and shares, like those of `core.text.numbers`.
SCORES, SHARES = ".2f", ".0%"
MARGIN = {"l": 8, "r": 8, "t": 8, "b": 8}


def two_sided_color(value: float) -> str:
    """Return the colour of a share in [0, 1] between two sides, pale at 0.5.

    It is brown below 0.5 and green above, which colour-blind readers can tell apart.

    >>> two_sided_color(0.0), two_sided_color(0.5), two_sided_color(1.0)
    ('#A6611A', '#F4F1EA', '#01766A')
    """
    side, strength = (LOSING, 1 - 2 * value) if value < 0.5 else (WINNING, 2 * value - 1)
    mixed = (round(a + (b - a) * strength) for a, b in zip(LEVEL, side, strict=True))
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def as_label(text: str, limit: int = 40) -> str:
    """Return a label that plotly shows literally: escaped and shortened.

    >>> as_label("<b>%{x}</b>")
    '&lt;b&gt;%&#123;x}&lt;/b&gt;'
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return html.escape(cut, quote=False).replace("%{", "%&#123;")


def error_bars(
    ends: Sequence[tuple[float | None, float | None, float | None]],
    color: str = TEAL,
    *,
    thickness: float = 2,
    width: float = 5,
) -> dict[str, Any]:
    """Return the error bars of estimates (value, low, high).

    An unknown end has no bar.
    """
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else high - (value or 0) for value, _, high in ends],
        "arrayminus": [0 if low is None else (value or 0) - low for value, low, _ in ends],
        "color": color,
        "thickness": thickness,
        "width": width,
    }
