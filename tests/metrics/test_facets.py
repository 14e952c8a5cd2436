"""Severity apart from quality: against a likelihood worked out otherwise, and by its meaning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from bench import severity
from core.metrics.facets import SEVERITY, SPREAD, STEP, Facets, facets, fair_scores

_rng = np.random.default_rng(5)
ITEMS, TRUE = 120, np.array([-0.9, 0.0, 0.9])
STEPS = np.array([-1.0, 0.0, 1.0])


def chances(place: float, steps: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    sums = np.r_[0.0, np.cumsum(place - steps)]
    grown = np.exp(sums - sums.max())
    return np.asarray(grown / grown.sum())


def made() -> np.ndarray:  # type: ignore[type-arg]
    quality = _rng.normal(0, 1.2, ITEMS)
    return np.array(
        [[_rng.choice(4, p=chances(q - s, STEPS)) for s in TRUE] for q in quality], np.int64
    )


RATED = made()
FOUND = facets([RATED], [4])


def log_likelihood(found: Facets, severity: np.ndarray, rated: np.ndarray) -> float:  # type: ignore[type-arg]
    """With every item's quality integrated out on a fine grid (Simpson's rule)."""
    grid = np.linspace(-8, 8, 2001) * found.spread
    given = [np.array([chances(q - s, found.steps[0]) for q in grid]) for s in severity]
    density = stats.norm.pdf(grid, 0, found.spread)
    each = np.prod([given[at][:, rated[:, at]].T for at in range(3)], axis=0)
    return float(np.log(integrate.simpson(each * density, x=grid, axis=1)).sum())


def test_severities_are_where_the_likelihood_is_largest() -> None:
    severity = np.array([one.logits.value for one in FOUND.raters], np.float64)
    # Steps are told for an average rater, so severities are about their own mean. The priors are
    # wide: sd 2 of severities, 5 of steps.
    best = log_likelihood(FOUND, severity, RATED)
    for at in range(3):
        for step in (-0.05, 0.05):
            moved = severity.copy()
            moved[at] += step
            assert log_likelihood(FOUND, moved, RATED) < best + 0.02
    assert (SEVERITY, STEP, SPREAD) == (2.0, 5.0, 2.0)


def test_planted_severities_lie_in_their_intervals() -> None:
    for one, true in zip(FOUND.raters, TRUE, strict=True):
        low, high = one.logits.low, one.logits.high
        assert low is not None
        assert high is not None
        assert low <= true <= high
    lenient, middle, strict = FOUND.raters
    assert (lenient.shift.value or 0) > 0.1
    assert abs(middle.shift.value or 0) < 0.06
    assert (strict.shift.value or 0) < -0.1
    assert not any(one.odd for one in FOUND.raters)


def test_items_are_scored_as_an_average_rater_would() -> None:
    # Of two items with the same answers, one was seen by the lenient rater, one by the strict one.
    sparse = np.concatenate([RATED, [[2, 2, -1], [-1, 2, 2]]])
    fair = fair_scores(facets([sparse], [4]), [sparse], [4])
    assert fair[-1, 0] > fair[-2, 0] + 0.05
    assert fair[-1, 1] < fair[-1, 0] < fair[-1, 2]
    unrated = np.concatenate([RATED, [[-1, -1, -1]]])
    assert np.isnan(fair_scores(FOUND, [unrated], [4])[-1]).all()
    # Items that the model was not fitted on are scored by it, too.
    assert fair_scores(FOUND, [RATED[:5]], [4]) == pytest.approx(
        fair_scores(FOUND, [RATED], [4])[:5]
    )


def test_a_fair_score_is_the_mean_of_what_an_average_rater_would_give_by_quadrature() -> None:
    ratings = RATED[3]
    sure = {"limit": 200, "epsabs": 1e-10}

    def likely(z: float) -> float:
        each = [
            chances(FOUND.spread * z - (one.logits.value or 0.0), FOUND.steps[0])[level]
            for one, level in zip(FOUND.raters, ratings, strict=True)
        ]
        return float(stats.norm.pdf(z) * np.prod(each))

    def given(z: float) -> float:
        return float(chances(FOUND.spread * z, FOUND.steps[0]) @ np.arange(4) / 3)

    whole, _ = integrate.quad(likely, -6, 6, **sure)
    mean, _ = integrate.quad(lambda z: likely(z) * given(z), -6, 6, **sure)
    assert fair_scores(FOUND, [ratings[None]], [4])[0, 0] == pytest.approx(mean / whole, abs=1e-5)


def test_many_ratings_tell_an_item_closely() -> None:
    # Thirty raters, ten as each of the three: far narrower than what few tell.
    many = np.tile(RATED, (1, 10))
    fair = fair_scores(facets([many], [4]), [many], [4])
    assert (fair[:, 1] < fair[:, 0]).all()
    assert (fair[:, 0] < fair[:, 2]).all()
    few = fair_scores(FOUND, [RATED], [4])
    inside = (few[:, 0] > 0.2) & (few[:, 0] < 0.8)
    wide, narrow = (np.median((one[:, 2] - one[:, 1])[inside]) for one in (few, fair))
    # Ten times as many ratings: by the root of ten, and less, as few lean on all items.
    assert 2.0 < wide / narrow < 4.0


def test_who_answers_at_random_is_odd() -> None:
    twice = np.concatenate([RATED, made()])
    noise = _rng.integers(0, 4, (2 * ITEMS, 1))
    found = facets([np.concatenate([twice, noise], axis=1)], [4])
    assert [one.odd for one in found.raters] == [False, False, False, True]


def test_criteria_with_other_levels_share_severities() -> None:
    yes = (RATED >= 2).astype(np.int64)
    found = facets([RATED, yes], [4, 2])
    assert [len(one) for one in found.steps] == [3, 1]
    assert found.raters[0].ratings == 2 * ITEMS
    assert (found.raters[0].logits.value or 0) < (found.raters[2].logits.value or 0)


@pytest.mark.parametrize(
    ("rated", "reason"),
    [
        (RATED[:, :1], "Severity takes two raters or more."),
        (RATED[:9], "9 of at least 10 items were rated by two raters or more."),
        (np.where(np.eye(3, dtype=bool)[np.arange(ITEMS) % 3], RATED, -1), "0 of at least 10"),
    ],
)
def test_too_little_gives_no_severity(rated: np.ndarray, reason: str) -> None:  # type: ignore[type-arg]
    assert reason in facets([rated], [4]).reason


def test_of_equal_raters_hardly_ever_is_one_called_strict_or_mild() -> None:
    """Ten equal raters, three an item, 50 items: 40 seeded sets (issue 29, C11). At most 5 in 100
    sets may call one so; by single intervals 31 in 100 did, of these forty 14.
    """
    generator = np.random.default_rng(29)
    called = 0
    for _ in range(40):
        rated = severity.answers(generator, generator.normal(0, 1.2, 50), np.zeros(10))
        called += any(one.surely for one in facets([rated], [5]).raters)
    assert called <= 4


def test_two_raters_who_differ_the_same_way_on_few_items_are_not_told_apart() -> None:
    """Of ten yes-or-no items two differ, both the same way: two of two is chance one time in two,
    and a spread taken from these two alone would be next to nothing.
    """
    rated = np.array([[1, 1]] * 4 + [[0, 0]] * 4 + [[1, 0]] * 2)
    found = facets([rated], [2])
    assert [one.surely for one in found.raters] == [0, 0]
    assert all(one.logits.low < 0 < one.logits.high for one in found.raters)  # type: ignore[operator]
