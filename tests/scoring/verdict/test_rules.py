"""The rules, one example each, and their ties (DESIGN section 4, "Verdict")."""

from __future__ import annotations

import pytest

from core.domain.panel import Rules
from core.domain.votes import Verdict
from core.errors import InputError
from core.scoring.verdict import Ballot, settle
from tests.scoring.verdict.made import ballots, criterion, settled

MET, UNMET, AWAY = 0, 1, 2
LEVELS = (0, 0.25, 0.5, 1)


@pytest.mark.parametrize(
    ("rule", "votes", "weights", "option"),
    [
        ("majority", [MET, MET, UNMET], [1, 1, 5], MET),  # heads, not weights
        ("weighted", [MET, MET, UNMET], [1, 1, 5], UNMET),
        ("unanimous", [MET, MET, UNMET], [9, 9, 1], UNMET),
        ("unanimous", [MET, AWAY, MET], [1, 1, 1], MET),  # the abstention is set aside
        ("any", [UNMET, UNMET, MET], [9, 9, 1], MET),
        ("any", [UNMET, AWAY, UNMET], [1, 1, 1], UNMET),
    ],
)
def test_binary_rules(rule: str, votes: list[int], weights: list[float], option: int) -> None:
    made = criterion(aggregation=rule)
    assert settled(made, votes, weights).option == option


@pytest.mark.parametrize("rule", ["unanimous", "any"])
def test_unanimous_and_any_mean_the_same_for_a_penalty(rule: str) -> None:
    # MET iff no UNMET, MET iff some MET: neither looks at the sign of the weight.
    wanted = UNMET if rule == "unanimous" else MET
    assert settled(criterion(weight=-5, aggregation=rule), [MET, UNMET]).option == wanted


@pytest.mark.parametrize(("weight", "option"), [(10, UNMET), (0, UNMET), (-10, MET)])
def test_a_binary_tie_goes_against_the_submission(weight: float, option: int) -> None:
    for rule in ("majority", "weighted"):
        verdict = settled(criterion(weight=weight, aggregation=rule), [MET, UNMET])
        assert (verdict.option, verdict.tie) == (option, True)


def test_binary_options_listed_the_other_way_round_mean_the_same() -> None:
    listed = [{"label": "UNMET", "value": 0}, {"label": "MET", "value": 1}]
    made = criterion(options=listed, aggregation="unanimous")
    assert settled(made, [1, 1, 0]).value == 0.0
    assert settled(criterion(options=listed, aggregation="any"), [0, 0, 1]).value == 1.0


@pytest.mark.parametrize(
    ("rule", "votes", "weights", "continuous", "option"),
    [
        # (0 + .25 + 1) / 3 = .41667, nearest .5
        ("mean", [0, 1, 3], [1, 1, 1], 1.25 / 3, 2),
        # (0 + .5) / 2 = .25: an option that nobody chose
        ("mean", [0, 2], [1, 1], 0.25, 1),
        ("median", [0, 1, 3], [1, 1, 1], 0.25, 1),
        # the median of four is the middle of .25 and 1: .625, nearest .5
        ("median", [0, 1, 3, 3], [1, 1, 1, 1], 0.625, 2),
        # (1*0 + 2*1 + 1*.25) / 4 = .5625
        ("weighted_mean", [0, 3, 1], [1, 2, 1], 0.5625, 2),
        ("mode", [0, 3, 3], [1, 1, 1], None, 3),
        ("min", [2, 1, 3], [1, 1, 1], None, 1),
        ("max", [2, 1, 3], [1, 1, 1], None, 3),
    ],
)
def test_ordinal_rules(
    rule: str, votes: list[int], weights: list[float], continuous: float | None, option: int
) -> None:
    verdict = settled(criterion("ordinal", LEVELS, aggregation=rule), votes, weights)
    assert (verdict.option, verdict.value) == (option, LEVELS[option])
    assert verdict.continuous == (continuous if continuous is None else pytest.approx(continuous))


def test_judges_who_agree_leave_their_value_as_the_mean() -> None:
    assert settled(criterion("ordinal", LEVELS), [1, 1]).continuous == 0.25
    assert settled(criterion("ordinal", LEVELS, aggregation="mode"), [1, 1]).continuous is None


@pytest.mark.parametrize(("weight", "option"), [(10, 0), (-10, 1)])
def test_a_mean_between_two_options_goes_to_the_worse_one(weight: float, option: int) -> None:
    # (0 + .25) / 2 = .125 lies between them.
    verdict = settled(criterion("ordinal", LEVELS, weight=weight), [0, 1])
    assert (verdict.option, verdict.continuous, verdict.tie) == (option, 0.125, True)


def test_a_mean_that_rounding_moved_off_the_middle_is_still_a_tie() -> None:
    # The middle of .1 and .4 is .25; in floating point (.1 + .4) / 2 - .1 is not .4 - (.1 + .4) / 2
    assert (0.1 + 0.4) / 2 - 0.1 != 0.4 - (0.1 + 0.4) / 2
    for weight, option in ((10, 0), (-10, 1)):
        made = criterion("ordinal", (0.1, 0.4), weight=weight)
        assert settled(made, [0, 1]).option == option


@pytest.mark.parametrize(("weight", "option"), [(10, 1), (-10, 3)])
def test_a_tied_mode_goes_to_the_worse_option(weight: float, option: int) -> None:
    made = criterion("ordinal", LEVELS, weight=weight, aggregation="mode")
    assert settled(made, [3, 1, 1, 3, 0]).option == option


def test_a_tie_of_equal_values_takes_the_lowest_index() -> None:
    made = criterion("nominal", (0.5, 0.5, 1))
    assert settled(made, [1, 0]).option == 0
    assert settled(criterion("ordinal", (0.5, 0.5, 1), aggregation="min"), [2, 1, 0]).option == 0


#: Fail, Pass and Distinction, of which two are worth the same.
GRADES = (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("rule", "votes", "option", "agreement", "tie"),
    [
        # The mean .75 is as near to Pass as to Distinction, and nobody said Pass: 3 of 4 votes.
        ("mean", [2, 2, 2, 0], 2, 0.75, False),
        ("median", [2, 2, 2, 0], 2, 0.75, False),
        ("weighted_mean", [2, 2, 2, 0], 2, 0.75, False),
        ("soft_mean", [2, 2, 2, 0], 2, 0.75, False),
        # Both have votes: the one with more of them.
        ("mean", [2, 2, 1, 0], 2, 0.5, False),
        ("max", [2, 2, 1, 0], 2, 0.5, False),
        # As many votes each: the lowest index, and that is a tie.
        ("mean", [2, 1], 1, 0.5, True),
        ("max", [2, 1, 0], 1, 1 / 3, True),
    ],
)
def test_of_options_of_equal_value_the_one_with_most_votes_is_taken(
    rule: str, votes: list[int], option: int, agreement: float, tie: bool
) -> None:
    verdict = settled(criterion("ordinal", GRADES, aggregation=rule), votes)
    assert (verdict.option, verdict.tie) == (option, tie)
    assert verdict.agreement == pytest.approx(agreement)


def test_the_worse_value_still_wins_a_tie_before_votes_are_counted() -> None:
    # (0 + 1 + 1 + 0) / 4 = .5 lies between 0 and 1; Distinction has as many votes as Fail.
    assert settled(criterion("ordinal", GRADES), [0, 2, 2, 0]).option == 0
    penalty = settled(criterion("ordinal", GRADES, weight=-10), [0, 2, 2, 0])
    assert (penalty.option, penalty.tie) == (2, True)


def test_equal_shares_of_weight_and_equal_values_go_to_the_option_with_more_votes() -> None:
    # One vote of weight 2 for Pass, two of weight 1 for Distinction.
    made = criterion("nominal", GRADES, aggregation="weighted_mode")
    verdict = settled(made, [1, 2, 2], [2.0, 1.0, 1.0])
    assert (verdict.option, verdict.tie) == (2, False)


def test_nominal_mode_counts_heads_and_weighted_mode_weights() -> None:
    votes, weights = [0, 0, 2], [1.0, 1.0, 3.0]
    assert settled(criterion("nominal", (0, 0, 1)), votes, weights).option == 0
    weighted = criterion("nominal", (0, 0, 1), aggregation="weighted_mode")
    assert settled(weighted, votes, weights).option == 2


def test_weights_that_sum_to_the_same_are_tied_whatever_their_rounding() -> None:
    # .1 + .2 is not .3 in floating point; the tie goes to the lower value.
    made = criterion("nominal", (1, 0), aggregation="weighted_mode")
    verdict = settled(made, [0, 0, 1], [0.1, 0.2, 0.3])
    assert (verdict.option, verdict.tie) == (1, True)
    # The same for weights of another size: shares are compared, not sums.
    tiny = settled(made, [0, 0, 1], [1e-12, 2e-12, 6e-12])
    assert (tiny.option, tiny.tie) == (1, False)


def test_nominal_unanimous_turns_disagreement_into_an_abstention() -> None:
    made = criterion("nominal", (0, 0.5, 1), aggregation="unanimous")
    verdict = settled(made, [1, 2, 2])
    assert (verdict.option, verdict.abstained, verdict.value) == (3, True, None)
    # Votes were cast and none of them is for the verdict.
    assert (verdict.agreement, verdict.votes, verdict.warning) == (0.0, 3, "")
    assert settled(made, [2, 2, 3]).option == 2


def test_nominal_unanimous_without_an_abstention_takes_the_mode_and_warns() -> None:
    made = criterion("nominal", (0, 0.5, 1), aggregation="unanimous", forced_choice=True)
    verdict = settled(made, [1, 2, 2])
    assert (verdict.option, verdict.abstained) == (2, False)
    assert "may not abstain" in verdict.warning
    assert settled(made, [2, 2]).warning == ""


def test_a_criterion_overrides_the_rule_of_the_panel() -> None:
    rules = Rules(binary="any", ordinal="max", nominal="weighted_mode")
    plain, own = criterion(), criterion(aggregation="unanimous")
    votes = [UNMET, MET, UNMET]
    by_panel = settle(plain, ballots(plain, votes), rules)
    by_itself = settle(own, ballots(own, votes), rules)
    assert by_panel is not None
    assert by_itself is not None
    assert (by_panel.rule, by_panel.option) == ("any", MET)
    assert (by_itself.rule, by_itself.option) == ("unanimous", UNMET)


# A vote may say how likely each option was: ``soft_mean`` takes it at its mean (Liu et al. 2023).
# LEVELS are 0, .25, .5 and 1; the fifth choice is the added abstention.

SOFT = criterion("ordinal", LEVELS, aggregation="soft_mean")


def soft(*votes: tuple[int, tuple[float, ...] | None]) -> Verdict:
    verdict = settle(
        SOFT, [Ballot(option, False, 1.0, "", chances) for option, chances in votes], Rules()
    )
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("votes", "continuous", "option"),
    [
        # .1 * 0 + .2 * .25 + .3 * .5 + .4 * 1 = .6: nearer to .5 than to the option voted for.
        ([(3, (0.1, 0.2, 0.3, 0.4, 0.0))], 0.6, 2),
        # As told, with .4 on other replies: (.1 * .25 + .2 * .5 + .3 * 1) / .6, which is 17/24.
        ([(3, (0.0, 0.1, 0.2, 0.3, 0.0))], 17 / 24, 2),
        # The abstention has no value: .25 / .8 and .5 * .55 / .8.
        ([(2, (0.0, 0.25, 0.55, 0.0, 0.2))], (0.25 * 0.25 + 0.5 * 0.55) / 0.8, 2),
        # A vote without chances is its option: (.6 + 1) / 2.
        ([(3, (0.1, 0.2, 0.3, 0.4, 0.0)), (3, None)], 0.8, 3),
        # All chances on abstaining say nothing of a level: the vote's own option stands.
        ([(1, (0.0, 0.0, 0.0, 0.0, 1.0))], 0.25, 1),
        ([(0, None), (1, None), (3, None)], 1.25 / 3, 2),
    ],
)
def test_the_soft_mean_takes_every_vote_at_the_mean_of_its_chances(
    votes: list[tuple[int, tuple[float, ...] | None]], continuous: float, option: int
) -> None:
    verdict = soft(*votes)
    assert verdict.continuous == pytest.approx(continuous)
    assert (verdict.option, verdict.value) == (option, LEVELS[option])


def test_other_rules_do_not_see_the_chances() -> None:
    made = criterion("ordinal", LEVELS)
    verdict = settle(made, [Ballot(3, False, 1.0, "", (0.9, 0.1, 0.0, 0.0, 0.0))], Rules())
    assert verdict is not None
    assert (verdict.option, verdict.continuous) == (3, 1.0)


def test_agreement_counts_heads_also_where_the_mean_leaves_them() -> None:
    # Both voted for the highest option, and the verdict is the one below: nobody is for it.
    verdict = soft(*[(3, (0.1, 0.2, 0.3, 0.4, 0.0))] * 2)
    assert (verdict.option, verdict.agreement) == (2, 0.0)
    assert (verdict.margin, verdict.entropy) == (1.0, 0.0)


def test_the_soft_mean_is_for_ordinal_criteria_only() -> None:
    with pytest.raises(InputError, match="soft_mean"):
        criterion("nominal", LEVELS, aggregation="soft_mean")
