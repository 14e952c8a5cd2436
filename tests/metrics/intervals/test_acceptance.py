"""From which confidence on verdicts may be accepted unseen."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from core.metrics.intervals.acceptance import (
    START,
    acceptance,
    fewest_labels,
    share_of_rest,
    share_so_far,
    upper_bound,
)
from core.metrics.intervals.finite import KnownLabels, upper_bound_of_rest


def test_bounds_are_those_of_the_exact_tests() -> None:
    # Clopper-Pearson: at the bound, 3 or fewer of 50 have exactly the chance delta.
    bound = upper_bound(3, 50)
    assert binom.cdf(3, 50, bound) == pytest.approx(0.05)
    # 2 of 20 wrong, 30 left: the largest number left that 5% do not rule out.
    left = round(upper_bound_of_rest(2, 20, 30) * 30)
    assert hypergeom.cdf(2, 50, 2 + left, 20) > 0.05
    assert hypergeom.cdf(2, 50, 2 + left + 1, 20) <= 0.05


def test_a_bound_of_the_rest_by_hand() -> None:
    # None of 3 drawn of 5 is wrong. Both of the 2 left wrong: C(3,3)/C(5,3) = 1/10.
    assert comb(3, 3) / comb(5, 3) == pytest.approx(0.1)
    assert upper_bound_of_rest(0, 3, 2, delta=0.11) == 0.5
    assert upper_bound_of_rest(0, 3, 2, delta=0.09) == 1.0
    assert upper_bound_of_rest(0, 3, 0) == 0.0


def test_too_few_labels_promise_nothing_and_it_says_how_many_would() -> None:
    # (1 - .1)^29 = .047 <= .05 < .9^28
    assert fewest_labels(0.1) == 29
    found = acceptance([0.9] * 20, [True] * 20, 0.1)
    assert (found.threshold, found.more, found.steps) == (None, 9, ())
    assert "29 are needed" in found.reason


def test_testing_stops_at_the_first_threshold_that_fails() -> None:
    # 50 right at .9; then 20 of which half are wrong; the 100 right ones below cannot rescue it.
    sure = [0.9] * 50 + [0.5] * 20 + [0.4] * 30
    right = [True] * 50 + [True, False] * 10 + [True] * 30
    found = acceptance(sure, right, 0.1)
    assert found.threshold == 0.9
    assert [(s.threshold, s.held) for s in found.steps] == [(0.9, True), (0.5, False)]
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 50))


def test_what_is_accepted_are_the_unseen_at_or_above_the_threshold() -> None:
    unseen = [0.9] * 300 + [0.5] * 100
    found = acceptance([0.9] * 75 + [0.5] * 25, [True] * 75 + [False] * 25, 0.1, unseen=unseen)
    assert (found.threshold, found.accepted) == (0.9, 300)
    assert found.bound == upper_bound_of_rest(0, 75, 300)


def test_thresholds_with_too_small_a_share_are_not_tried() -> None:
    # 30% lie at .9, 60% at .8 or above: testing starts there.
    found = acceptance([0.9] * 30 + [0.8] * 30 + [0.1] * 40, [True] * 60 + [False] * 40, 0.1)
    assert START == 0.4
    assert found.steps[0].threshold == 0.8


def test_more_labels_are_asked_for_only_where_they_could_help() -> None:
    near = acceptance([0.9] * 60, [True] * 56 + [False] * 4, 0.1)
    assert near.threshold is None
    assert near.more is not None
    # With that many labels and the same share wrong, the bound holds.
    n = 60 + near.more
    assert upper_bound(round(n * 4 / 60), n) <= 0.1
    assert acceptance([0.9] * 60, [True] * 50 + [False] * 10, 0.1).more is None


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": 0.1, "delta": 1.0}])
def test_levels_lie_between_0_and_1(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        acceptance([0.5], [True], **wrong)


@given(st.integers(0, 2**32), st.integers(0, 150), st.floats(0.02, 0.5), st.floats(0.02, 0.5))
def test_a_laxer_promise_never_accepts_less(seed: int, rest: int, one: float, other: float) -> None:
    rng = np.random.default_rng(seed)
    sure = rng.integers(0, 4, 150) / 4
    right = rng.random(150) < 0.6 + 0.4 * sure
    unseen = rng.integers(0, 4, rest) / 4
    strict, lax = (acceptance(sure, right, alpha, unseen=unseen) for alpha in sorted((one, other)))
    # Where the strict one starts to test follows from alpha as well, and no lower than the lax one.
    if strict.threshold is not None:
        assert lax.threshold is not None
        assert lax.threshold <= strict.threshold


def test_the_promise_is_kept_in_simulation() -> None:
    # 400 verdicts, surer ones more often right; 120 of them labelled. More than 20% of the
    # accepted are wrong in at most 5% of 400 trials; 5% + 2.5 standard errors is 7.7%.
    rng = np.random.default_rng(2)
    sure = rng.random(400).round(1)
    right = rng.random(400) < 0.65 + 0.3 * sure
    broken = 0
    for _ in range(400):
        audit = np.zeros(400, np.bool_)
        audit[rng.choice(400, 120, replace=False)] = True
        found = acceptance(sure[audit], right[audit], 0.2, unseen=sure[~audit])
        if found.threshold is not None:
            broken += bool((~right[~audit & (sure >= found.threshold)]).mean() > 0.2)
    assert broken <= 400 * 0.077


def test_what_others_settled_stays_in_the_number_that_was_drawn_from() -> None:
    # 90 of 300 drawn, 12 wrong; then 100 of the others settled, all right: 110 are left.
    drawn = [True] * 78 + [False] * 12
    found = acceptance(
        [1.0] * 90, drawn, 0.3, unseen=[1.0] * 110, known=([1.0] * 100, [True] * 100)
    )
    (step,) = found.steps
    left = round(step.bound * 110)
    # The largest number of all 300 that 5% do not rule out, less the 12.
    assert hypergeom.cdf(12, 300, 12 + left, 90) > 0.05
    assert hypergeom.cdf(12, 300, 12 + left + 1, 90) <= 0.05
    assert (step.known, found.threshold) == ((100, 0), None)
    assert "and 0 of 100 that were settled elsewhere" in found.reason
    # Had 40 of the 100 been wrong, hardly any could be left.
    more = acceptance(
        [1.0] * 90, drawn, 0.3, unseen=[1.0] * 110, known=([1.0] * 100, [False] * 40 + [True] * 60)
    )
    assert more.steps[0].bound == pytest.approx(max(0, left - 40) / 110)
    assert more.threshold == 1.0


def test_a_draw_that_is_known_to_be_unlucky_bounds_nothing() -> None:
    # None of 50 wrong of 150 rules out 9 or more (hypergeometric); yet 30 are known.
    assert hypergeom.cdf(0, 150, 9, 50) < 0.05
    assert upper_bound_of_rest(0, 50, 60, known_labels=KnownLabels(40, 30)) == 1.0
    mean = share_of_rest(50, 50, 60, known_labels=KnownLabels(40, 30))
    assert (mean.low, mean.n) == (0.0, 50)


def test_a_threshold_that_accepts_nobody_is_none() -> None:
    # All sure ones are settled; of the others half are wrong.
    found = acceptance(
        [0.9] * 40 + [0.5] * 40,
        [True] * 40 + [True, False] * 20,
        0.1,
        unseen=[0.5] * 50,
        known=([0.9] * 60, [True] * 60),
    )
    assert [step.held for step in found.steps] == [True, False]
    assert (found.threshold, found.accepted, found.bound) == (None, 0, None)
    assert "Of the 80 labels" in found.reason


def test_with_some_known_all_thresholds_are_bounded_at_once() -> None:
    # Two thresholds: each at .025. The surer one fails and does not end it.
    found = acceptance(
        [0.9] * 50 + [0.5] * 50,
        [True] * 40 + [False] * 10 + [True] * 50,
        0.2,
        unseen=[0.9] * 140 + [0.5] * 60,
        known=([0.9], [True]),
    )
    assert [(step.threshold, step.held) for step in found.steps] == [(0.9, False), (0.5, True)]
    assert found.threshold == 0.5
    assert found.bound == upper_bound_of_rest(10, 100, 200, 0.025, KnownLabels(1, 0))


@pytest.mark.parametrize("look", ["surest first", "easy first", "at random"])
def test_the_promise_is_kept_while_others_settle_a_part(look: str) -> None:
    # 300 verdicts at three confidences, half of them hard; a third labelled at random. Then others
    # settle a tenth at a time until something is accepted: ten looks at one draw, the worst case.
    # At most 5% of 60 trials are broken; 5% + 2.5 standard errors is 12%. bench/promises.py has
    # 1,000 trials a line.
    rng = np.random.default_rng(5)
    broken = 0
    for _ in range(60):
        sure, hard = rng.choice([0.6, 0.8, 1.0], 300), rng.random(300) < 0.5
        right = rng.random(300) < np.where(hard, 0.65, 0.97)
        seen = rng.random(300) < 1 / 3
        first = {"surest first": -sure, "easy first": hard, "at random": rng.random(300)}[look]
        order = np.lexsort((rng.random(300), first))
        known = np.zeros(300, np.bool_)
        for tenth in range(11):
            known[order[: tenth * 30]] = True
            others, rest = known & ~seen, ~known & ~seen
            found = acceptance(
                sure[seen],
                right[seen],
                0.2,
                unseen=sure[rest],
                known=(sure[others], right[others]),
            )
            if found.threshold is not None:
                broken += bool((~right[rest & (sure >= found.threshold)]).mean() > 0.2)
                break
    assert broken <= 60 * 0.12


def test_the_range_so_far_holds_every_interval_that_the_open_ones_may_lead_to() -> None:
    known = KnownLabels(20, 3)
    for n, right, missing in ((8, 7, 4), (15, 0, 10), (0, 0, 12)):
        low, high = share_so_far(right, n, missing, 100, known_labels=known) or (None, None)
        finals = [
            share_of_rest(right + more, n + missing, 100, known_labels=known)
            for more in range(missing + 1)
        ]
        assert low == min(one.low for one in finals if one.low is not None)
        assert high == max(one.high for one in finals if one.high is not None)
    # As with the whole draw: from ten on, and only where something is left.
    assert share_so_far(5, 5, 4, 100) is None
    assert share_so_far(5, 5, 5, 0) is None
