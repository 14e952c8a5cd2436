"""Bars of verdicts are shaded by what an option earns: of a penalty, MET earns nothing."""

from __future__ import annotations

import pytest

from core.domain.rubric import Criterion, Rubric
from core.services.datasets.label_stats import stats_of
from core.services.results.browsing import VerdictCounts
from pages.datasets import labels
from pages.run import figures


@pytest.mark.parametrize(("weight", "met", "unmet"), [(5.0, 1.0, 0.0), (-5.0, 0.0, 1.0)])
def test_of_a_penalty_met_is_the_worse_verdict(weight: float, met: float, unmet: float) -> None:
    late = Criterion(name="Late", requirement="It came late.", weight=weight)

    ((_, verdicts),) = figures._bar_rows([VerdictCounts(late, (3, 1), 0)])
    assert [earned for _, _, earned, _ in verdicts] == [met, unmet, None]

    rubric = Rubric(name="R", criteria=(late,))
    (counted,), _ = stats_of({"Late": {"MET": 3, "UNMET": 1}}, 4, rubric)
    pieces = labels._bar_pieces(counted)
    assert [earned for _, _, earned, _ in pieces] == [met, unmet, None, None]
