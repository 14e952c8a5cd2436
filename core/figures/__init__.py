"""Pictures: counts in, plotly figures out. No colour carries anything that words do not.

Labels that people wrote are escaped here, since plotly reads some HTML in them. Fonts and
backgrounds come from the page's theme, light or dark.
"""

from core.figures.bars import score_histogram, verdict_bars
from core.figures.cells import agreement_cells, confusion_cells

__all__ = ["agreement_cells", "confusion_cells", "score_histogram", "verdict_bars"]
