"""Means over all items from judges for all and people for some."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from core.metrics.estimate import Estimate
from core.metrics.intervals.sampling import powered_mean

# 200 items, 30 labelled at random; made once with this seed, and so given to ppi-python.
_rng = np.random.default_rng(11)
SAID = _rng.random(200).round(3)
TRUE = np.clip(SAID * 0.6 + 0.3 * _rng.random(200), 0, 1).round(3)
DRAWN = np.zeros(200, np.bool_)
DRAWN[_rng.choice(200, 30, replace=False)] = True
#: ppi-python 0.2.3: lambda, ppi_mean_pointestimate, ppi_mean_ci(alpha=0.05).
ORACLE = [
    (0.0, 0.4150000000000001, (0.33770355495963766, 0.4922964450403625)),
    (0.5, 0.422825, (0.38250198501531363, 0.4631480149846864)),
    (1.0, 0.43065000000000003, (0.3650033617356199, 0.49629663826438014)),
]


def ends(mean: Estimate) -> tuple[float, float, float]:
    assert mean.value is not None
    assert mean.low is not None
    assert mean.high is not None
    return mean.value, mean.low, mean.high


@pytest.mark.parametrize(("listen", "point", "interval"), ORACLE)
def test_estimates_are_those_of_ppi_python(
    listen: float, point: float, interval: tuple[float, float]
) -> None:
    value, low, high = ends(powered_mean(SAID, TRUE[DRAWN], DRAWN, listen=listen).mean)
    assert value == pytest.approx(point)
    # Theirs adds the variance of the judges' mean, for items drawn from an endless supply, uses
    # the normal quantile and divides by n; ours leaves out what was labelled (1 - n/N), takes t
    # with 29 degrees (2.0452) and n - 1.
    theirs = ((interval[1] - interval[0]) / 2 / 1.959963985) ** 2 - listen**2 * SAID.var() / 200
    assert (high - low) / 2 / 2.0452296 == pytest.approx(
        (theirs * (1 - 30 / 200) * 30 / 29) ** 0.5, rel=1e-6
    )


def test_the_best_lambda_is_the_regression_of_truth_on_judges() -> None:
    found = powered_mean(SAID, TRUE[DRAWN], DRAWN)
    table = np.cov(SAID[DRAWN], TRUE[DRAWN])
    assert found.listened == pytest.approx(table[0, 1] / table[0, 0])
    # ppi-python's own choice differs by the factor of an endless supply: 0.42459.
    assert ends(found.mean)[0] == pytest.approx(0.42459, abs=2e-3)
    narrow, wide = ends(found.mean), ends(found.labels)
    assert narrow[2] - narrow[1] < wide[2] - wide[1]


def test_judges_that_say_nothing_are_not_listened_to() -> None:
    found = powered_mean(np.full(200, 0.9), TRUE[DRAWN], DRAWN)
    assert found.listened == 0.0
    assert found.raw == pytest.approx(0.9)
    assert ends(found.mean)[0] == pytest.approx(TRUE[DRAWN].mean())


def test_a_queue_labelled_whole_and_an_audit_stand_for_all() -> None:
    # 40 hard items, all labelled, all wrong; of 160 easy ones 16 labelled, 14 right.
    stratum = np.repeat([0, 1], [40, 160])
    labelled = np.r_[np.ones(40, bool), np.arange(160) % 10 == 0]
    values = np.r_[np.zeros(40), np.ones(14), np.zeros(2)]
    value, low, high = ends(powered_mean(np.zeros(200), values, labelled, stratum).mean)
    # 0.2 * 0 + 0.8 * 14/16
    assert value == pytest.approx(0.7)
    # s^2 with four values at half a point from the mean: (16 * .875 * .125 + 1) / 19; t with 14
    # degrees (16 labels less a stratum and lambda).
    square = (16 * 0.875 * 0.125 + 1) / 19
    reach = 2.1447867 * (0.8**2 * 0.9 * square / 16) ** 0.5
    assert (low, high) == pytest.approx((0.7 - reach, 0.7 + reach))


def test_audits_that_are_all_right_leave_room_for_doubt() -> None:
    _, low, high = ends(powered_mean(np.ones(100), np.ones(20), np.arange(100) < 20).mean)
    assert low < 0.95
    assert high == 1.0


@pytest.mark.parametrize(
    ("labelled", "reason"),
    [
        (range(9), "Only 9 items were drawn at random; 10 are needed"),
        ([*range(12), 35], "Of a group of 10 items only 1 is labelled"),
        (range(12), "Of a group of 10 items none is labelled"),
    ],
)
def test_too_little_gives_no_headline(labelled: Sequence[int], reason: str) -> None:
    known = np.isin(np.arange(40), labelled)
    stratum = np.repeat([0, 1], [30, 10])
    found = powered_mean(np.zeros(40), np.ones(len(labelled)), known, stratum)
    assert found.mean.value is None
    assert reason in found.mean.reason


def test_items_that_are_all_labelled_leave_nothing_to_guess() -> None:
    value, low, high = ends(powered_mean([0.2, 0.9, 0.4], [0.0, 1.0, 1.0], [True] * 3).mean)
    assert (value, low, high) == pytest.approx((2 / 3,) * 3)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="one value per label"):
        powered_mean([0.5, 0.5], [1.0, 1.0], [True, False])


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    # 300 items right in 70%, judges that know something; 600 draws of 40. 95% +- 2.5 standard
    # errors (0.9 points) is 92.8 to 97.2.
    rng = np.random.default_rng(4)
    true = (rng.random(300) < 0.7).astype(float)
    said = np.clip(0.4 * true + 0.5 * rng.random(300), 0, 1)
    held = 0
    for _ in range(600):
        audit = np.zeros(300, np.bool_)
        audit[rng.choice(300, 40, replace=False)] = True
        _, low, high = ends(powered_mean(said, true[audit], audit).mean)
        held += low <= true.mean() <= high
    assert 0.928 <= held / 600 <= 0.972


def test_few_labels_that_carry_the_variance_give_few_degrees() -> None:
    # Of 40 doubtful cells 3 are labelled, of 60 others 40: what the doubtful are off by is known
    # from 3 of them. Nobody is listened to, so that degrees are those of both variances.
    said, of = np.zeros(100), np.repeat([0, 1], [60, 40])
    labelled = np.zeros(100, np.bool_)
    labelled[[*range(40), 60, 61, 62]] = True
    values = np.concatenate([np.tile([0.5, 0.51], 20), [0.1, 0.5, 0.9]])
    found = powered_mean(said, values, labelled, of, listen=0.0).mean
    first, second = np.var(values[:40], ddof=1), np.var(values[40:], ddof=1)
    parts = [0.6**2 * (1 - 40 / 60) * first / 40, 0.4**2 * (1 - 3 / 40) * second / 3]
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / 39 + parts[1] ** 2 / 2)
    assert degrees == pytest.approx(2, abs=0.01)
    reach = stats.t.ppf(0.975, degrees) * np.sqrt(sum(parts))
    assert found.value is not None
    assert found.low == pytest.approx(max(0.0, found.value - reach))
    assert found.high == pytest.approx(min(1.0, found.value + reach))
