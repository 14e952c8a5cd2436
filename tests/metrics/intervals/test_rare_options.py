"""Intervals of figures that a rare option decides hold the truth, or are withheld with the reason.

Nominal 95% (issue 12, A8). The truth is the figure of the exact table of chances; the smaller
simulations here take their tables from bench/coverage.py, which measures more of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.coverage import skewed, skewed_levels
from core.cli.reports_as_text import metrics_as_text
from core.metrics.agreement.accuracy import f1_macro
from core.metrics.agreement.kappa import kappa_unweighted
from core.metrics.agreement.ratings import patterns
from core.metrics.agreement.reliability import alpha_nominal
from core.metrics.intervals.draws import resample_patterns
from core.services.agreement.group_figures import DrawnSums, group_figures
from core.services.agreement.pair_figures import pair_figures

SIMULATIONS, RESAMPLES = 100, 250
NAMES = {"cohen_kappa": kappa_unweighted, "f1_macro": f1_macro}


def _measured(table: np.ndarray, rng: np.random.Generator) -> dict[str, Any]:
    k = len(table)
    drawn = resample_patterns(table.ravel(), RESAMPLES, rng).reshape(k, k, -1)
    labels = [str(level) for level in range(k)]
    return pair_figures(table * 1.0, drawn, labels, ordered=True, positive=0)


@pytest.mark.parametrize(("share", "n"), [(0.9, 30), (0.97, 50)])
@pytest.mark.parametrize("errors", [(0.04, 0.3), (0.1, 0.9)], ids=["good", "misses the rare one"])
def test_intervals_of_two_levels_hold_where_one_is_rare(
    share: float, n: int, errors: tuple[float, float]
) -> None:
    """At least 88 of 100: three standard errors (2.2 points) below 95 are 88.5."""
    rng = np.random.default_rng(1)
    joint = skewed(share, *errors)
    truth = {name: float(measure.many(joint * 1e9)) for name, measure in NAMES.items()}
    held, given = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
    for _ in range(SIMULATIONS):
        found = _measured(rng.multinomial(n, joint.ravel()).reshape(2, 2), rng)
        for name in NAMES:
            if found[name] is not None:
                low, high = found["ci"][name]
                given[name] += 1
                held[name] += low <= truth[name] <= high
    assert all(held[name] / given[name] >= 0.88 for name in NAMES), (held, given)


def test_alpha_of_three_judges_holds_where_one_option_is_rare() -> None:
    """Three judges of the same errors, 95 of 100 items alike."""
    rng = np.random.default_rng(2)
    draw = lambda n: (  # noqa: E731
        rng.random((n, 3)) < np.where(rng.random(n) < 0.95, 0.02, 0.6)[:, None]
    ).astype(np.int64)
    rows, times, _ = patterns(draw(100_000))
    truth = alpha_nominal(rows, 2, times).value
    held = given = 0
    for _ in range(SIMULATIONS):
        rows, times, _ = patterns(draw(40))
        drawn = resample_patterns(times, RESAMPLES, rng)
        found = group_figures(rows, times, DrawnSums(times, drawn), 2, ordered=True)
        if found["krippendorff_alpha_nominal"] is not None:
            given += 1
            low, high = found["ci"]["krippendorff_alpha_nominal"]
            held += low <= truth <= high
    assert held / given >= 0.88, (held, given)


def test_with_more_levels_a_rare_option_withholds_the_mean_over_levels_and_says_why() -> None:
    """Five levels, 80% on top, 50 items: macro F1 held the truth 44 to 70 times in 100."""
    rng = np.random.default_rng(3)
    table = rng.multinomial(50, skewed_levels().ravel()).reshape(5, 5)
    found = _measured(table, rng)

    rarest = int(table.sum(axis=1).min())
    assert found["ci"]["f1_macro"] is None
    assert f"nly {rarest} item" in found["undefined"]["ci.f1_macro"] or rarest == 0
    assert "an interval needs 5 of each" in found["undefined"]["ci.f1_macro"]
    assert found["ci"]["accuracy"] is not None


def test_kappa_is_withheld_where_fewer_than_five_items_are_off_the_commonest_option() -> None:
    table = np.diag([46, 2, 1]) + np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    found = _measured(table, np.random.default_rng(4))

    assert found["ci"]["cohen_kappa"] is None
    assert found["undefined"]["ci.cohen_kappa"] == (
        "Only 3 items are off the most common option; an interval needs 5."
    )
    assert _measured(table + np.diag([0, 2, 1]), np.random.default_rng(4))["ci"]["cohen_kappa"]


def test_a_figure_lies_in_its_own_interval_even_where_all_answers_agree() -> None:
    found = _measured(np.diag([27, 3]), np.random.default_rng(5))

    low, high = found["ci"]["cohen_kappa"]
    assert found["cohen_kappa"] == high == 1.0
    assert low < 0.9


def test_equal_counts_have_equal_intervals_whatever_was_drawn_before() -> None:
    one, other = (
        _measured(np.array([[24, 2], [1, 3]]), np.random.default_rng(seed)) for seed in (6, 7)
    )
    assert one["ci"]["cohen_kappa"] == other["ci"]["cohen_kappa"]


def test_the_text_of_metrics_says_why_an_interval_is_missing() -> None:
    found = _measured(np.diag([46, 2, 1]), np.random.default_rng(8))
    pair = {"vs_gold": found}
    criterion = {
        "scale": "ordinal",
        "levels": ["a", "b", "c"],
        "groups": {},
        "raters": {"J": pair},
        "panel": {},
    }
    text = metrics_as_text({"criteria": {"c": criterion}, "score": {"raters": {}, "panel": {}}})

    assert "interval of kappa, interval of quadratic kappa: Only 3 items are off" in text
    assert "interval of macro F1: Only 1 item has the rarest option" in text
