"""Pictures: counts in, plotly figures out. No colour carries anything that words do not.

Labels that people wrote are escaped here, since plotly reads some HTML in them. Fonts and
backgrounds come from the page's theme, light or dark.
"""

from core.figures.bars import before_after, score_histogram, verdict_bars
from core.figures.cells import agreement_cells, confusion_cells, win_cells
from core.figures.comparing import DifferenceDot, Priced, differences, frontier
from core.figures.dots import Dot, Strip, forest, strips
from core.figures.maps import MOST_NAMES, agreement_map
from core.figures.plates import Series, series_plot
from core.figures.scatter import bland_altman

__all__ = [
    "MOST_NAMES",
    "DifferenceDot",
    "Dot",
    "Priced",
    "Series",
    "Strip",
    "agreement_cells",
    "agreement_map",
    "before_after",
    "bland_altman",
    "confusion_cells",
    "differences",
    "forest",
    "frontier",
    "score_histogram",
    "series_plot",
    "strips",
    "verdict_bars",
    "win_cells",
]
