"""The Wilson interval against published figures."""

from __future__ import annotations

import pytest

from core.metrics.estimate import wilson


def test_newcombes_published_examples_are_met() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
    for (successes, n), bounds in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson(successes, n) == pytest.approx(bounds, abs=5e-5)


def test_it_mirrors_around_one_half() -> None:
    low, high = wilson(3, 10)

    assert wilson(7, 10) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("successes", "n"), [(1, 0), (-1, 3), (4, 3)])
def test_counts_that_make_no_share_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(successes, n)
