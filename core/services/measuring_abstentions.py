"""Who would not say: coverage of a rater, and whether two raters abstain alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.metrics.agreement import kappa_unweighted, percent_agreement
from core.metrics.bootstrap import Interval, intervals
from core.metrics.figure import Figure
from core.metrics.measure import Array, ratio, tally
from core.metrics.pairwise import pair_cells
from core.services.measuring_figures import rendered
from core.services.rated_matrix import ABSTAINED, NOT_ASKED, Levels


def abstention_figures(
    reference: Levels, rated: Levels, times: Array, draws: Array | None
) -> dict[str, Any]:
    """Coverage where the reference has a level, and agreement on whether to abstain.

    Levels are coded (``RatedCriterion.coded``); ``times`` of shape (patterns,) and ``draws`` of
    shape (patterns, resamples) say how many items have a pattern. Failures count against coverage
    and are no opinion on whether to abstain.
    """
    answered = np.where((reference >= 0) & (rated != NOT_ASKED), np.where(rated >= 0, 1, 0), -1)
    together = pair_cells(_abstained(reference), _abstained(rated), 2)
    # Fifteen kinds of items at most, so that leaving one out stays cheap.
    kind = (answered + 1) * 5 + together + 1
    asked, cells = np.repeat(np.arange(-1, 2), 5), np.tile(np.arange(-1, 4), 3)
    times = tally(kind, 15, times[:, None])[:, 0]

    def counts(weights: Array) -> tuple[Array, Array]:
        return tally(asked, 2, weights), tally(cells, 4, weights).reshape(2, 2, -1)

    def bundle(weights: Array) -> dict[str, Array]:
        answers, alike = counts(weights)
        return {
            "coverage": ratio(answers[1], answers.sum(axis=0)),
            "agreement": percent_agreement.many(alike),
            "kappa": kappa_unweighted.many(alike),
        }

    answers, alike = (table[..., 0] for table in counts(times[:, None]))
    n = int(answers.sum())
    figures = {
        "coverage": Figure.defined(answers[1] / n, n)
        if n
        else Figure.undefined("The reference has no level where the rater was asked."),
        "agreement": percent_agreement(alike),
        "kappa": kappa_unweighted(alike),
    }
    ci: dict[str, Interval] = {}
    if draws is not None and (n or alike.sum()):
        ci = intervals(bundle, tally(kind, 15, draws), times, n=max(n, int(alike.sum())))
    return {"n": int(alike.sum()), **rendered(figures, ci)}


def _abstained(levels: Levels) -> Levels:
    """0 answered, 1 abstained, -1 neither."""
    return np.where(levels >= 0, 0, np.where(levels == ABSTAINED, 1, -1))
