"""The length penalty (DESIGN section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.gates import LengthPenalty
from core.scoring import Texts, length_of, penalty_for, score_item
from tests.scoring.made import answers, binary

SHORT = {"free_budget": 10, "max_cap": 20, "penalty_at_cap": 0.5, "exponent": 1.0}


@pytest.mark.parametrize(
    ("n", "exponent", "penalty"),
    [
        (0, 1.0, 0.0),
        (9, 1.0, 0.0),
        (10, 1.0, 0.0),  # the budget itself is free
        (15, 1.0, 0.25),  # half way: .5 * .5
        (15, 2.0, 0.125),  # .5 * .5^2
        (19, 2.0, 0.405),  # .5 * .9^2
        (20, 1.0, 0.5),
        (9999, 2.0, 0.5),  # no more than penalty_at_cap
    ],
)
def test_the_penalty_rises_from_the_free_budget_to_the_cap(
    n: int, exponent: float, penalty: float
) -> None:
    policy = LengthPenalty(free_budget=10, max_cap=20, exponent=exponent)
    assert penalty_for(policy, n) == pytest.approx(penalty, abs=1e-12)


def test_the_defaults_are_those_of_the_design() -> None:
    # 0.5 * (500 / 2000) ** 1.6 = 0.5 * 0.108819 (0.25 ** 1.6 = 2 ** -3.2)
    assert penalty_for(LengthPenalty(), 6500) == pytest.approx(0.5 * 2**-3.2, abs=1e-12)
    assert penalty_for(LengthPenalty(), 6000) == 0.0
    assert penalty_for(LengthPenalty(), 8000) == 0.5


@pytest.mark.parametrize(
    ("of", "count", "n"),
    [
        ("all", "words", 6),
        ("output", "words", 3),  # yes, / it / is.
        ("thinking", "words", 3),  # So / it's / -
        ("all", "tokens", 10),
        ("output", "tokens", 5),  # yes / , / it / is / .
        ("thinking", "tokens", 5),  # So / it / ' / s / -
    ],
)
def test_the_count_is_of_the_chosen_text_in_the_chosen_unit(of: Any, count: Any, n: int) -> None:
    texts = Texts(output="yes, it is.", thinking="So it's\n -")
    assert length_of(LengthPenalty(of=of, count=count), texts) == n


def test_the_penalty_is_subtracted_from_the_score_and_never_from_raw() -> None:
    made = binary(10, 10, scoring={"length_penalty": SHORT})
    # 15 words: 0.25 off the 10 / 20 = 0.5.
    result = score_item(made, answers("MU"), texts=Texts("w " * 15))
    assert (result.score, result.raw) == (0.25, 10.0)
    assert (result.trace.length, result.trace.length_penalty) == (15, 0.25)
    assert (result.trace.base, result.trace.low, result.trace.high) == (0.5, 0.25, 0.25)


def test_a_normalised_score_stops_at_zero_and_raw_points_do_not() -> None:
    policy = {"length_penalty": SHORT}
    assert score_item(binary(10, scoring=policy), answers("U"), texts=20).score == 0.0
    raw = binary(10, scoring={**policy, "normalize": False})
    assert score_item(raw, answers("U"), texts=20).score == -0.5


def test_nothing_to_score_stays_none_under_a_penalty() -> None:
    result = score_item(binary(10, scoring={"length_penalty": SHORT}), answers("A"), texts=20)
    assert (result.score, result.trace.low, result.trace.length_penalty) == (None, None, 0.5)


def test_a_penalty_without_a_text_is_refused_rather_than_left_out() -> None:
    with pytest.raises(ValueError, match="needs the texts"):
        score_item(binary(10, scoring={"length_penalty": SHORT}), answers("M"))
