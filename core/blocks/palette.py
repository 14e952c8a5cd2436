"""The colours of all charts: one palette for pages and files, readable on light and dark."""

from __future__ import annotations

#: The theme's accent, and its complement for the selected or compared item.
TEAL, COMPLEMENT = "#1B857E", "#D0602A"
#: The colour of abstentions and failures, which have no verdict. Charts also hatch these areas.
NO_VERDICT = "#9AA0A6"
#: Colours of points from worst to best: the five steps of a run's grid.
POINTS = ("#DE7F73", "#E6A765", "#DBC763", "#AFC870", "#67B28B")


def points(value: float) -> str:
    """Return the colour of a value in [0, 1], 0 the worst.

    >>> points(0.0), points(1.0)
    ('#DE7F73', '#67B28B')
    """
    return POINTS[round(value * (len(POINTS) - 1))]


def shade(value: float) -> str:
    """Return the colour of a share in [0, 1]: the paper's at 0, and always light enough for text.

    >>> shade(0.0), shade(1.0)
    ('rgba(27,133,126,0.00)', 'rgba(27,133,126,0.75)')
    """
    return f"rgba(27,133,126,{0.75 * value:.2f})"


def text_color(color: str) -> str:
    """Return black or white, whichever is easier to read on ``color``.

    >>> text_color("#1B857E"), text_color("#7FCFC4")
    ('#FFFFFF', '#000000')
    """
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#FFFFFF"
