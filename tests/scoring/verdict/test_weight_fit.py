"""Cells settled by a rule that was fitted on labelled items."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.domain.weight_fit import Weights, weights_as_shares
from core.errors import InputError
from core.scoring.verdict import Ballot, log_weights, settle
from tests.scoring.verdict.made import criterion

MET, UNMET = 0, 1


def coin(accuracy: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """A judge right with this chance, whatever the truth."""
    right, wrong = log(accuracy), log(1 - accuracy)
    return (right, wrong), (wrong, right)


def test_one_good_judge_outvotes_two_poor_ones() -> None:
    weights = Weights(
        prior=(log(0.5), log(0.5)), judges={"good": coin(0.9), "a": coin(0.6), "b": coin(0.6)}
    )
    cast = [
        Ballot(MET, False, 1.0, "good"),
        Ballot(UNMET, False, 1.0, "a"),
        Ballot(UNMET, False, 1.0, "b"),
    ]
    verdict = settle(criterion(), cast, Rules(), weights=weights)
    assert verdict is not None
    assert (verdict.option, verdict.rule, verdict.tie) == (MET, "calibrated", False)
    # Heads, as for every rule.
    assert verdict.agreement == pytest.approx(1 / 3)
    # Odds 9/1 * (4/6)^2 = 4, so 4/5.
    logs = log_weights(criterion(), cast, weights)
    assert logs is not None
    assert weights_as_shares(tuple(logs.values())) == pytest.approx((0.8, 0.2))


def test_votes_of_one_judge_count_as_their_mean() -> None:
    weights = Weights(prior=(0.0, 0.0), judges={"a": coin(0.9)})
    twice = [Ballot(MET, False, 1.0, "a"), Ballot(MET, False, 1.0, "a")]
    assert log_weights(criterion(), twice, weights) == log_weights(criterion(), twice[:1], weights)


def test_judges_nobody_knows_fall_back_to_the_most_frequent_option_and_say_so() -> None:
    cast = [Ballot(MET, False, 1.0, "new"), Ballot(UNMET, False, 1.0, "other")]
    verdict = settle(
        criterion(), cast, Rules(), weights=Weights(prior=(5.0, 0.0), judges={"a": coin(0.9)})
    )
    assert verdict is not None
    assert (verdict.option, verdict.tie) == (UNMET, True)
    assert "Nothing is known of these judges" in verdict.warning


def test_a_panel_that_agrees_is_taken_at_its_word() -> None:
    backwards = Weights(prior=(0.0, 0.0), judges={"a": coin(0.1), "b": coin(0.1)})
    cast = [Ballot(MET, False, 1.0, "a"), Ballot(MET, False, 1.0, "b")]
    verdict = settle(criterion(), cast, Rules(), weights=backwards)
    assert verdict is not None
    assert (verdict.option, verdict.rule) == (MET, "calibrated")


def test_the_rule_cannot_be_chosen_by_its_name() -> None:
    with pytest.raises(InputError, match="fitted on labelled items first"):
        build_model(Rules, {"nominal": "calibrated"}, "set of rules")
    with pytest.raises(InputError, match="fitted on labelled items first"):
        criterion("ordinal", (0, 1), aggregation="calibrated")


@given(
    st.sampled_from(["binary", "ordinal", "nominal"]),
    st.floats(0.51, 0.99),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abcdefg")), min_size=1, max_size=7),
    st.booleans(),
)
def test_equal_judges_settle_like_the_most_frequent_option(
    scale: str, accuracy: float, given_votes: list[tuple[int, str]], negative: bool
) -> None:
    rule = "majority" if scale == "binary" else "mode"
    values = () if scale == "binary" else (0.0, 0.5, 1.0)
    made: Criterion = criterion(scale, values, aggregation=rule, weight=-3.0 if negative else 10.0)
    k = len(made.scored)
    right, wrong = log(accuracy), log((1 - accuracy) / (k - 1))
    table = tuple(tuple(right if v == t else wrong for t in range(k)) for v in range(k))
    if right <= wrong:
        return
    votes = {judge: option % k for option, judge in given_votes}
    cast = [Ballot(option, False, 1.0, judge) for judge, option in votes.items()]
    weights = Weights(prior=(0.0,) * k, judges=dict.fromkeys("abcdefg", table))
    ours, plain = settle(made, cast, Rules(), weights=weights), settle(made, cast, Rules())
    assert ours is not None
    assert plain is not None
    assert (ours.option, ours.tie) == (plain.option, plain.tie)
