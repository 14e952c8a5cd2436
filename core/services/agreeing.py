"""How far raters of a run agree: the verbs of the Agreement page, by what they are about."""

from __future__ import annotations

from core.services.agreeing_cells import (
    Confusion,
    Spread,
    confusion,
    items_in,
    spread,
    spread_of_groups,
)
from core.services.agreeing_groups import Ceiling, Matrix, Standing, alphas, ceiling, kappas
from core.services.agreeing_load import sheet, sheet_of
from core.services.agreeing_pairs import RESAMPLES, Close, Line, OptionLine, closely, compare
from core.services.agreeing_scores import (
    ScoreLine,
    ScorePair,
    Scores,
    score_lines,
    score_pair,
    scores_of,
)
from core.services.agreeing_sheet import (
    FEW,
    LABELS,
    PANEL,
    PEOPLE,
    Asked,
    Estimate,
    Sheet,
    name_of,
)
from core.services.agreeing_slices import Choices, Slice, choices, sliced

__all__ = [
    "FEW",
    "LABELS",
    "PANEL",
    "PEOPLE",
    "RESAMPLES",
    "Asked",
    "Ceiling",
    "Choices",
    "Close",
    "Confusion",
    "Estimate",
    "Line",
    "Matrix",
    "OptionLine",
    "ScoreLine",
    "ScorePair",
    "Scores",
    "Sheet",
    "Slice",
    "Spread",
    "Standing",
    "alphas",
    "ceiling",
    "choices",
    "closely",
    "compare",
    "confusion",
    "items_in",
    "kappas",
    "name_of",
    "score_lines",
    "score_pair",
    "scores_of",
    "sheet",
    "sheet_of",
    "sliced",
    "spread",
    "spread_of_groups",
]
