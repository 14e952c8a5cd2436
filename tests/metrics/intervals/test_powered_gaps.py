"""How far two systems are apart, from judges on all answers and people on some."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.metrics.intervals.powered_gaps import powered_gap

# 60 tasks, two answers each, judges who follow the truth loosely; 25 of each side labelled.
_rng = np.random.default_rng(7)
N, LABELLED = 60, 25
TRUE = _rng.random((N, 2)).round(3)
SAID = np.clip(0.5 * TRUE + 0.4 * _rng.random((N, 2)), 0, 1).round(3)
DRAWN = np.zeros((N, 2), np.bool_)
for _side in range(2):
    DRAWN[_rng.choice(N, LABELLED, replace=False), _side] = True
PARTS = np.tile([-1.0, 1.0], (N, 1))
TASKS = np.repeat(np.arange(N), 2)
KNOWN = np.where(DRAWN, TRUE, np.nan)


def test_labels_of_everything_give_the_paired_t_test() -> None:
    found = powered_gap(SAID.ravel(), TRUE.ravel(), np.zeros(2 * N), PARTS.ravel(), TASKS)
    oracle = stats.ttest_rel(TRUE[:, 1], TRUE[:, 0])
    ends = oracle.confidence_interval(0.95)
    assert found.mean[:3] == pytest.approx(
        ((TRUE[:, 1] - TRUE[:, 0]).mean(), ends.low, ends.high), rel=1e-9
    )
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.raw == pytest.approx((SAID[:, 1] - SAID[:, 0]).mean())


@pytest.mark.parametrize("listen", [0.0, 0.6, 1.0])
def test_the_gap_is_that_of_a_second_derivation(listen: float) -> None:
    found = powered_gap(
        SAID.ravel(), KNOWN.ravel(), np.zeros(2 * N), PARTS.ravel(), TASKS, listen=listen
    )
    # Each side by itself: lambda times the judges' mean, and what they were off by where drawn.
    sides = [
        listen * SAID[:, s].mean() + (TRUE[:, s] - listen * SAID[:, s])[DRAWN[:, s]].mean()
        for s in range(2)
    ]
    assert found.mean.value == pytest.approx(sides[1] - sides[0])
    # Task by task: judges' gap, the mean that judges are off by, and of a labelled answer what it
    # is off by beyond that mean, as often as it stands for one.
    square, more, of_labels = np.zeros(N), 0.0, list[float]()
    for s, sign in ((0, -1), (1, 1)):
        off = TRUE[:, s] - listen * SAID[:, s]
        mean = off[DRAWN[:, s]].mean()
        square += sign * (listen * SAID[:, s] + mean)
        square += sign * DRAWN[:, s] * (off - mean) * N / LABELLED
        # n - 1 in place of n, for what was not looked at.
        sample = off[DRAWN[:, s]]
        more += N * (N - LABELLED) / LABELLED * (sample.var(ddof=1) - sample.var()) / N**2
        of_labels.append(N * (N - LABELLED) / LABELLED * sample.var(ddof=1) / N**2)
    whole = square.var(ddof=1) / N + more
    error = np.sqrt(whole)
    assert found.mean.high is not None
    assert found.mean.value is not None
    # Two groups of 25 random labels, and what 60 tasks differ by (Satterthwaite 1946).
    rest = whole - sum(of_labels)
    degrees = whole**2 / (sum(one**2 for one in of_labels) / 24 + rest**2 / 59)
    reach = stats.t.ppf(0.975, min(59, degrees)) * error
    assert found.mean.high - found.mean.value == pytest.approx(reach)


def test_lambda_makes_the_variance_least_and_the_interval_narrower() -> None:
    def width(listen: float | None) -> float:
        found = powered_gap(
            SAID.ravel(), KNOWN.ravel(), np.zeros(2 * N), PARTS.ravel(), TASKS, listen=listen
        )
        assert found.mean.low is not None
        assert found.mean.high is not None
        return found.mean.high - found.mean.low

    # What labels make of the variance is widened by 48 / 47 (1 + 1 / 47), 4% of it at most.
    fitted = width(None) / np.sqrt(48 / 47 * 48 / 47)
    assert all(fitted <= width(listen) + 1e-3 for listen in np.linspace(0, 1, 11))
    assert width(None) < width(0.0)


def test_few_labels_do_not_call_one_of_two_equal_systems_better_too_often() -> None:
    # 200 tasks, judges favour the second by .15, 20 labels of shares. With the plain variance of
    # what labels are off by, the fitted lambda found a gap in 6.5% to 8% (bench/corrected.py).
    rng, found = np.random.default_rng(3), 0
    tasks, parts = np.repeat(np.arange(200), 2), np.tile([-1.0, 1.0], 200)
    for _ in range(700):
        true = np.repeat(rng.normal(0.45, 0.12, 200), 2)
        said = 0.6 * true + np.tile([0.2, 0.35], 200) + rng.normal(0, 0.1, 400)
        known = np.full(400, np.nan)
        drawn = np.concatenate([side + 2 * rng.choice(200, 10, replace=False) for side in (0, 1)])
        known[drawn] = true[drawn]
        one = powered_gap(said, known, np.zeros(400), parts, tasks)
        found += (one.p or 0.0) < 0.05
    # 5% of 700 is 35, give or take 5.8.
    assert found <= 46


def test_answers_that_are_all_decided_bring_no_doubt_of_labels() -> None:
    # Both say the same on 80 of 100 items (known to be no gap, stratum -1); of the others 12 of 20
    # are labelled, 9 of them better by the second.
    apart = np.arange(100) < 20
    more = np.where(apart, np.nan, 0.0)
    more[:12] = [1.0] * 9 + [-1.0] * 3
    stratum = np.where(apart, 0, -1)
    found = powered_gap(np.zeros(100), more, stratum, np.ones(100), np.arange(100))
    # .2 * (9 - 3) / 12
    assert found.mean.value == pytest.approx(0.1)
    assert found.listened == 0.0


@pytest.mark.parametrize(
    ("labelled", "reason"),
    [
        (4, "Only 8 cells were drawn at random; 10 are needed"),
        ((20, 4), "Of a group of cells only 4 are labelled; 5 of each are needed."),
    ],
)
def test_too_few_labels_give_no_gap(labelled: int | tuple[int, int], reason: str) -> None:
    each = (labelled, labelled) if isinstance(labelled, int) else labelled
    known = np.column_stack([np.where(np.arange(N) < n, TRUE[:, 0], np.nan) for n in each])
    found = powered_gap(SAID.ravel(), known.ravel(), np.zeros(2 * N), PARTS.ravel(), TASKS)
    assert (found.mean.value, found.p) == (None, None)
    assert reason in found.mean.reason


def test_one_task_and_columns_that_do_not_fit_are_refused() -> None:
    assert "two tasks" in powered_gap([1.0], [1.0], [0], [1.0], [0]).mean.reason
    with pytest.raises(ValueError, match="per cell"):
        powered_gap([1.0], [1.0, 0.0], [0], [1.0], [0])
