"""Votes to one verdict, options to item score: one path for judges, people, truth and imports.

``verdict`` makes one verdict of the votes on a cell. ``score_item`` is a pure function of a rubric
and the settled options. The steps, in this order:

1. base: the weighted sum of the options' values, normalised or raw (``points``); none where less
   than the rubric's ``min_coverage`` of the weight was assessed;
2. gates: first every factor of the fired gates, then the strictest of their caps (``gates``);
3. pre-checks: the strictest cap of those that found something in the text (``gates``);
4. length penalty: subtracted last, so that a long text still costs something below a cap, and
   floored at 0 when the score is normalised (``points``);
5. decision: pass, fail or review, from the gates, the pre-checks and the thresholds (``score``).

Nothing here rounds or guesses. Whatever is said to a person about a score is read from its
``Trace`` (``explanation``), never computed a second time.
"""

from core.scoring.explanation import FAMILY_WORDS, assessed_words, explain
from core.scoring.points import Texts, length_of, penalty_for
from core.scoring.score import ItemScore, MeasuredTexts, looks_at_texts, measure, score_item
from core.scoring.trace import (
    CheckMark,
    Found,
    GateMark,
    Outcome,
    ScorePart,
    Trace,
)

__all__ = [
    "FAMILY_WORDS",
    "CheckMark",
    "Found",
    "GateMark",
    "ItemScore",
    "MeasuredTexts",
    "Outcome",
    "ScorePart",
    "Texts",
    "Trace",
    "assessed_words",
    "explain",
    "length_of",
    "looks_at_texts",
    "measure",
    "penalty_for",
    "score_item",
]
