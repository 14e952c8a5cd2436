"""What a plan of labels promises, by hand."""

from __future__ import annotations

import pytest
from scipy import stats

from core.metrics.intervals.planning import detection_power, smallest_detectable_gap


def test_power_is_that_of_the_first_of_all_tests_that_are_corrected_together() -> None:
    # Holm (1979): of 10 pairs the smallest p must be below .05 / 10.
    z = stats.norm.ppf(1 - 0.05 / 10 / 2)
    assert detection_power(0.3, 0.1, 10) == pytest.approx(stats.norm.cdf(3 - z), abs=1e-6)
    assert smallest_detectable_gap(0.1, 10) == pytest.approx(0.1 * (z + stats.norm.ppf(0.8)))
    assert detection_power(0.3, 0.1, 10) < detection_power(0.3, 0.1)
