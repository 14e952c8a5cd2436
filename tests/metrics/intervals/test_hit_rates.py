"""Shares of yes, corrected for how often judges find and clear."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from core.metrics.intervals.hit_rates import corrected_share

# 400 cells of which judges say yes to 180; of 60 labelled, 40 are so, and judges found 32 of them;
# of the 20 that are not so they cleared 15.
SAID = np.r_[np.ones(32), np.zeros(8), np.ones(5), np.zeros(15), np.ones(143), np.zeros(197)]
TRUE = np.r_[np.ones(40), np.zeros(20), np.full(340, np.nan)]
EQUAL = np.full(400, 60 / 400)


def test_the_share_is_that_of_rogan_and_gladen() -> None:
    found = corrected_share(SAID, TRUE, EQUAL)
    assert (found.said, found.found.value, found.cleared.value) == pytest.approx((0.45, 0.8, 0.75))
    # (.45 + .75 - 1) / (.8 + .75 - 1)
    assert found.share.value == pytest.approx(0.2 / 0.55)
    assert found.share.n == 60


def test_the_interval_is_that_of_a_second_derivation() -> None:
    found = corrected_share(SAID, TRUE, EQUAL)
    z = 1.959963984540054

    def share(p: float, finds: float, clears: float) -> float:
        return (p + clears - 1) / (finds + clears - 1)

    # With two successes and failures more of the first, one of each of the rates (Lang and
    # Reiczigel 2014); the spread by the gradient, taken numerically.
    at = ((180 + z * z / 2) / (400 + z * z), 33 / 42, 16 / 22)
    worth = (400 + z * z, 42, 22)
    square = 0.0
    for place, n in enumerate(worth):
        up, down = list(at), list(at)
        up[place] += 1e-6
        down[place] -= 1e-6
        slope = (share(*up) - share(*down)) / 2e-6
        square += slope**2 * at[place] * (1 - at[place]) / n
    middle = share(*at)
    shift = (
        2 * z * z * (middle * at[1] * (1 - at[1]) / 42 - (1 - middle) * at[2] * (1 - at[2]) / 22)
    )
    reach = z * sqrt(square)
    assert found.share.low == pytest.approx(middle + shift - reach, abs=1e-6)
    assert found.share.high == pytest.approx(middle + shift + reach, abs=1e-6)


def test_labels_with_a_smaller_chance_weigh_more() -> None:
    # All 8 that judges missed were drawn with a tenth of the others' chance.
    chances = np.full(400, 1.0)
    chances[32:40] = 0.1
    found = corrected_share(SAID, TRUE, chances)
    # 32 of 32 + 8 * 10, worth (112)^2 / (32 + 800) labels.
    assert found.found.value == pytest.approx(32 / 112)
    assert found.found.n == round(112**2 / 832)


@pytest.mark.parametrize(
    ("true", "reason"),
    [
        (np.r_[np.ones(40), np.zeros(4), np.full(356, np.nan)], "40 and no to 4 of the cells"),
        (np.r_[np.tile([1.0, 0.0], 30), np.full(340, np.nan)], "do not significantly distinguish"),
    ],
)
def test_rates_that_say_too_little_give_no_share(true: np.ndarray, reason: str) -> None:  # type: ignore[type-arg]
    said = SAID if "no to 4" in reason else np.r_[np.tile([1.0, 1.0, 0.0, 0.0], 100)]
    found = corrected_share(said, true, EQUAL)
    assert found.share.value is None
    assert reason in found.share.reason
