"""Plotly figures from counts. Colour only repeats what the text says.

Labels that users wrote are escaped here, since plotly interprets some HTML in them. Fonts and
backgrounds come from the page's theme, light or dark.
"""

from core.figures.bars import (
    before_after,
    reliability_diagram,
    score_histogram,
    series_plot,
    verdict_bars,
)
from core.figures.estimates import (
    bland_altman,
    forest,
    frontier,
    rater_strips,
)
from core.figures.heatmaps import (
    MOST_NAMES,
    agreement_cells,
    agreement_map,
    confusion_cells,
    win_cells,
)

__all__ = [
    "MOST_NAMES",
    "agreement_cells",
    "agreement_map",
    "before_after",
    "bland_altman",
    "confusion_cells",
    "forest",
    "frontier",
    "rater_strips",
    "reliability_diagram",
    "score_histogram",
    "series_plot",
    "verdict_bars",
    "win_cells",
]
