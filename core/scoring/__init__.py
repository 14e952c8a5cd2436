"""Votes to a verdict, options to an item score: one path for judges, people, truth and imports.

``verdict`` turns the votes on a cell into a verdict. ``score_item`` is a pure function of a rubric
and the settled options. Its steps, in this order:

1. base: the weighted sum of the options' values, normalised or raw (``points``); none if less than
   the rubric's ``min_coverage`` of the weight was assessed;
2. gates: first the factors of all fired gates, then the strictest of their caps (``gates``);
3. pre-checks: the strictest cap of those with findings in the text (``gates``);
4. length penalty: subtracted last, so that a long text still loses points below a cap, and floored
   at 0 if the score is normalised (``points``);
5. decision: pass, fail or review, from the gates, the pre-checks and the thresholds (``score``).

Nothing here rounds or guesses. Explanations of a score are read from its ``Trace``
(``explanation``), never computed a second time.
"""

from core.scoring.explanation import FAMILY_WORDS, assessed_words, explain
from core.scoring.points import Texts, length_of, penalty_for
from core.scoring.score import ItemScore, MeasuredTexts, measured_texts, needs_texts, score_item
from core.scoring.trace import (
    CheckMark,
    GateMark,
    Outcome,
    PrecheckFinding,
    ScorePart,
    Trace,
)

__all__ = [
    "FAMILY_WORDS",
    "CheckMark",
    "GateMark",
    "ItemScore",
    "MeasuredTexts",
    "Outcome",
    "PrecheckFinding",
    "ScorePart",
    "Texts",
    "Trace",
    "assessed_words",
    "explain",
    "length_of",
    "measured_texts",
    "needs_texts",
    "penalty_for",
    "score_item",
]
