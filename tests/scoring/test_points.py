"""The base of a score: sums, signs, abstentions (DESIGN section 4, "Score of an item")."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.scoring import score_item
from tests.scoring.made import answers, binary, options, rubric


@pytest.mark.parametrize(
    ("weights", "given", "score", "raw"),
    [
        # raw 10 + 0 - 15 = -5; -5 / 15 is below 0, so 0.
        ((10, 5, -15), "MUM", 0.0, -5.0),
        # raw 10 + 5 + 0 = 15 of 15 positive.
        ((10, 5, -15), "MMU", 1.0, 15.0),
        # raw 10 - 3 = 7 of 20: the penalty is not in the denominator.
        ((10, 10, -3), "MUM", 0.35, 7.0),
        # Only penalties: 1 + raw / 15.
        ((-10, -5), "UU", 1.0, 0.0),
        ((-10, -5), "MU", 1 / 3, -10.0),
        ((-10, -5), "MM", 0.0, -15.0),
        # Zero weights count, and say nothing.
        ((0, 0), "MU", 0.0, 0.0),
        ((0, -4), "MU", 1.0, 0.0),
    ],
)
def test_the_score_is_the_weighted_sum_over_the_positive_weights(
    weights: tuple[float, ...], given: str, score: float, raw: float
) -> None:
    result = score_item(binary(*weights), answers(given))
    assert result.score == pytest.approx(score, abs=1e-12)
    assert result.raw == raw


@pytest.mark.parametrize("strategy", ["zero", "partial", "fail"])
def test_an_item_without_any_verdict_has_no_score_under_any_strategy(strategy: str) -> None:
    result = score_item(binary(10, -5, scoring={"abstention": strategy}), {})
    assert (result.score, result.raw) == (None, None)
    assert (result.trace.low, result.trace.high, result.trace.basis) == (None, None, "none")
    assert not result.trace.complete


def test_an_item_where_everything_abstained_has_no_score_under_skip() -> None:
    result = score_item(binary(10, -5), answers("AA"))
    assert (result.score, result.raw, result.trace.complete) == (None, None, False)


# One criterion of weight 20 is MET, the other abstains. Three options worth .2, .4, .6 beside MET
# and UNMET, because FAIL takes the worst option and not 0. Score, then raw:
#   +10 zero:    20 / 30;               20
#   +10 partial: (20 + .5 * 10) / 30;   25
#   +10 fail:    binary 20 / 30, else (20 + .2 * 10) / 30 = 22 / 30
#   -10 fail:    binary (20 - 10) / 20, else (20 - .6 * 10) / 20 = 14 / 20
@pytest.mark.parametrize(
    ("weight", "strategy", "of_binary", "of_levels"),
    [
        (10, "skip", (1.0, 20), (1.0, 20)),
        (10, "zero", (2 / 3, 20), (2 / 3, 20)),
        (10, "partial", (25 / 30, 25), (25 / 30, 25)),
        (10, "fail", (2 / 3, 20), (22 / 30, 22)),
        (-10, "skip", (1.0, 20), (1.0, 20)),
        (-10, "zero", (1.0, 20), (1.0, 20)),
        (-10, "partial", (1.0, 20), (1.0, 20)),
        (-10, "fail", (0.5, 10), (0.7, 14)),
    ],
)
@pytest.mark.parametrize("scale", ["binary", "ordinal", "nominal"])
def test_every_abstention_strategy_holds_for_both_signs_and_all_scales(
    scale: str,
    weight: float,
    strategy: str,
    of_binary: tuple[float, float],
    of_levels: tuple[float, float],
) -> None:
    second = {"weight": weight, "scale": scale}
    if scale != "binary":
        second["options"] = options(0.2, 0.4, 0.6)
    made = rubric([{"weight": 20}, second], scoring={"abstention": strategy})
    given = {"c0": 0, "c1": made.criteria[1].na_index}
    score, raw = of_binary if scale == "binary" else of_levels
    result = score_item(made, given)
    assert result.score == pytest.approx(score, abs=1e-12)
    assert result.raw == pytest.approx(raw, abs=1e-12)
    assert score_item(made, {"c0": 0, "c1": None}) == result


def test_a_penalty_of_zero_does_not_read_as_minus_zero() -> None:
    assert str(score_item(binary(-10), answers("U")).raw) == "0.0"


def test_a_criterion_without_a_verdict_leaves_both_sides_and_marks_the_score() -> None:
    made = binary(10, 30, scoring={"abstention": "fail", "min_coverage": 0.25})
    # Under FAIL an abstention would give 10 / 40; no verdict gives 10 / 10.
    result = score_item(made, answers("M-"))
    assert (result.score, result.trace.possible, result.trace.complete) == (1.0, 10.0, False)
    assert [(p.missing, p.counted) for p in result.trace.criteria] == [(False, True), (True, False)]
    assert score_item(made, answers("MA")).score == 0.25


def test_without_positive_criteria_left_the_rubric_is_one_of_penalties_and_says_so() -> None:
    # Skipping the only rewarded criterion leaves -4 of -8: 1 - 4/8.
    # 8 of 18 were assessed.
    made = binary(10, -4, -4, scoring={"min_coverage": 0.4})
    trace = score_item(made, answers("AMU")).trace
    assert (trace.total, trace.basis, trace.possible) == (0.5, "negative", 8.0)


def test_raw_points_are_neither_divided_nor_clamped() -> None:
    result = score_item(binary(10, -30, scoring={"normalize": False}), answers("MM"))
    assert (result.score, result.raw, result.trace.base) == (-20.0, -20.0, -20.0)
    assert score_item(binary(10, -30), answers("MM")).score == 0.0


def test_the_order_of_the_criteria_cannot_change_a_score() -> None:
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in floating point unless sums are exact.
    there = score_item(binary(0.1, 0.2, 0.3, 0.7), answers("MMMU")).score
    assert there == score_item(binary(0.7, 0.3, 0.2, 0.1), answers("UMMM")).score


def test_weights_whose_sum_would_overflow_are_refused() -> None:
    with pytest.raises(InputError, match="weight"):
        binary(1e308, 1e308)
    # The largest that is allowed still adds up.
    assert score_item(binary(1e100, 1e100), answers("MU")).score == 0.5


def test_a_what_if_on_a_copy_is_scored_by_its_own_options_and_weights() -> None:
    # pydantic copies cached properties along; a copy must not answer with the original's values.
    made = binary(10, 10)
    assert score_item(made, answers("MU")).score == 0.5
    first = made.criteria[0]
    turned = first.model_copy(update={"options": first.options[::-1], "weight": 30.0})
    copy = made.model_copy(update={"criteria": (turned, made.criteria[1])})
    assert score_item(copy, answers("MM")).score == 0.25
    assert (copy.max_points, copy.criterion("c0")) == (40.0, turned)
