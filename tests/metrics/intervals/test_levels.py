"""Every interval follows the level that is asked for, and nothing that is decided does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from core.metrics.agreement.alt_test import alt_test, wins
from core.metrics.calibration import calibration, sure_answers
from core.metrics.estimate import Confidence, Estimate, Interval
from core.metrics.facets import facets
from core.metrics.intervals.hit_rates import corrected_share
from core.metrics.intervals.means import mean_of
from core.metrics.intervals.powered_gaps import powered_gap
from core.metrics.intervals.sampling import mean_of_selected, powered_mean
from core.metrics.ranking.bradley_terry import strengths_by_group
from core.metrics.ranking.contests import contest_table
from core.metrics.ranking.elo import elo_ratings, length_controlled_strengths
from core.metrics.variance_components import ITEM, JUDGE, variance_components

_rng = np.random.default_rng(7)
N = 120
SAID, TRUE = _rng.random(N), _rng.random(N)
SEEN = _rng.random(N) < 0.4
RATED = np.clip(np.round(_rng.normal(2, 1, (N, 1)) + _rng.normal(0, 0.7, (N, 4))), 0, 4).astype(int)
YES = (_rng.random(N) < 0.5).astype(float)
RIGHT = np.where(_rng.random(N) < 0.85, YES, 1 - YES)
FIRST, SECOND = np.zeros(N, np.int64), np.ones(N, np.int64)
WON = (_rng.random(N) < 0.6).astype(float)
LONG = _rng.integers(50, 200, (N, 2))


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def sure(level: float) -> Estimate:
    answers = sure_answers(SAID, np.full((N, 2), np.nan), YES.astype(int), RIGHT.astype(int))
    drawn = rng().multinomial(N, answers.times / N, size=300).T.astype(float)
    return calibration(answers, drawn, confidence=Confidence(level)).ece


def controlled(level: float) -> Interval:
    items = np.arange(N)
    found = length_controlled_strengths(
        items, FIRST, SECOND, WON, LONG, systems=2, rng=rng(), level=level
    )
    assert not isinstance(found, str)
    return found.intervals[0]


def joined(level: float) -> Interval:
    table = contest_table(np.arange(N), FIRST, SECOND, WON, systems=2, n_items=N)
    return strengths_by_group(table, rng(), resamples=300, level=level)[0].intervals[0]


def gap(level: float) -> Estimate:
    values = np.where(SEEN, TRUE, np.nan)
    parts, tasks = np.tile([-1.0, 1.0], N // 2), np.repeat(np.arange(N // 2), 2)
    return powered_gap(SAID, values, np.zeros(N), parts, tasks, level=level).mean


MADE: dict[str, Callable[[float], Estimate | Interval]] = {
    "mean": lambda level: mean_of(TRUE, resamples=300, confidence=Confidence(level)),
    "weighted": lambda level: mean_of_selected(TRUE, np.full(N, 2.0), SEEN, level),
    "powered mean": lambda level: powered_mean(SAID, TRUE[SEEN], SEEN, level=level).mean,
    "powered gap": gap,
    "hit rates": lambda level: corrected_share(
        RIGHT, np.where(SEEN, YES, np.nan), np.ones(N), level
    ).share,
    "variance": lambda level: variance_components(
        RATED.ravel(),
        {ITEM: np.repeat(np.arange(N), 4), JUDGE: np.tile(np.arange(4), N)},
        level,
    ).variances[(ITEM,)],
    "severity": lambda level: facets([RATED], [5], level).raters[0].shift,
    "stand in": lambda level: alt_test(
        wins(RATED[:, 0], RATED[:, 1:], 5, ordered=True), 0.2, level
    ).annotators[0].gap,
    "calibration": sure,
    "strength": joined,
    "elo": lambda level: elo_ratings(
        np.arange(N), FIRST, SECOND, WON, systems=2, rng=rng(), level=level
    )[0],
    "at equal length": controlled,
}  # fmt: skip


def width(of: Estimate | Interval) -> float:
    assert of.low is not None
    assert of.high is not None
    return of.high - of.low


@pytest.mark.parametrize("name", MADE)
def test_an_interval_is_the_wider_the_surer_it_shall_be(name: str) -> None:
    made = MADE[name]
    narrow, usual, wide = (width(made(level)) for level in (0.8, 0.95, 0.99))
    assert narrow < usual < wide


@pytest.mark.parametrize(
    ("name", "degrees"),
    [
        # Random labels less one group and lambda.
        ("powered mean", int(SEEN.sum()) - 2),
        ("stand in", N - 1),
        # Normal.
        ("severity", 10**9),
    ],
)
def test_it_is_wider_by_the_ratio_of_quantiles(name: str, degrees: int) -> None:
    made = MADE[name]
    ratio = stats.t.ppf(0.9, degrees) / stats.t.ppf(0.975, degrees)
    assert width(made(0.8)) / width(made(0.95)) == pytest.approx(ratio, rel=1e-6)


def test_who_is_strict_odd_better_or_beaten_does_not_hang_on_the_level() -> None:
    told = [
        [(r.surely, r.odd) for r in facets([RATED], [5], level).raters]
        for level in (0.5, 0.95, 0.999)
    ]
    assert told[0] == told[1] == told[2]
    table = contest_table(np.arange(N), FIRST, SECOND, WON, systems=2, n_items=N)
    better = [
        strengths_by_group(table, rng(), resamples=300, level=at)[0].better for at in (0.5, 0.999)
    ]
    assert (better[0] == better[1]).all()
    judged = wins(RATED[:, 0], RATED[:, 1:], 5, ordered=True)
    tests = [alt_test(judged, 0.2, level) for level in (0.5, 0.999)]
    assert tests[0].winning_rate == tests[1].winning_rate
