"""How sure a verdict is: agreement, entropy, margin, coverage; abstentions and failures."""

from __future__ import annotations

from math import log

import pytest

from core.domain.panel import Rules
from core.scoring.verdict import Ballot, settle
from tests.scoring.verdict.made import criterion, settled

MET, UNMET, AWAY = 0, 1, 2
AWAYS = [{"label": "Illegible", "na": True}, {"label": "N/A", "na": True}]


def test_agreement_leaves_out_abstentions_and_failures() -> None:
    # Two MET, one UNMET, one abstention, one failed call: 2 of 3, not 2 of 5.
    verdict = settled(criterion(), [MET, MET, UNMET, AWAY], failures=1)
    assert verdict.agreement == pytest.approx(2 / 3)
    assert (verdict.votes, verdict.abstentions, verdict.failures) == (3, 1, 1)


def test_agreement_counts_heads_also_where_weights_decide() -> None:
    verdict = settled(criterion(aggregation="weighted"), [MET, MET, UNMET], [1, 1, 5])
    assert verdict.option == UNMET
    assert verdict.agreement == pytest.approx(1 / 3)


def test_an_option_that_nobody_chose_has_agreement_zero() -> None:
    assert settled(criterion("ordinal", (0, 0.5, 1)), [0, 2]).agreement == 0.0


def test_without_a_ballot_there_is_no_verdict() -> None:
    assert settle(criterion(), [], Rules(), failures=3, planned=3) is None


def test_when_all_abstain_the_verdict_abstains_and_nothing_is_measured() -> None:
    verdict = settled(criterion(), [AWAY, None], failures=1, planned=4)
    assert (verdict.option, verdict.abstained, verdict.value) == (AWAY, True, None)
    assert (verdict.agreement, verdict.entropy, verdict.margin) == (None, None, None)
    assert verdict.continuous is None
    assert (verdict.votes, verdict.abstentions, verdict.coverage) == (0, 2, 0.5)


def test_an_abstention_outside_a_forced_choice_has_no_option() -> None:
    verdict = settled(criterion(forced_choice=True), [None])
    assert (verdict.option, verdict.abstained) == (None, True)


@pytest.mark.parametrize(("votes", "option"), [([3, 3, 2], 3), ([2, 3], 2), ([3], 3), ([None], 2)])
def test_of_several_abstentions_the_one_named_most_is_kept(
    votes: list[int | None], option: int
) -> None:
    made = criterion("nominal", (0, 1), extra=AWAYS)
    assert settled(made, votes).option == option


def test_a_ballot_marked_as_abstained_is_one_whatever_its_option() -> None:
    verdict = settle(criterion(), [Ballot(MET, True), Ballot(UNMET, False)], Rules())
    assert verdict is not None
    assert (verdict.option, verdict.votes, verdict.abstentions) == (UNMET, 1, 1)


@pytest.mark.parametrize(
    ("votes", "entropy", "margin"),
    [
        ([0, 0, 0], 0.0, 1.0),
        # Shares 2/3, 1/3 over three options: (2/3 log 3/2 + 1/3 log 3) / log 3.
        ([0, 0, 1], (2 / 3 * log(1.5) + 1 / 3 * log(3)) / log(3), 1 / 3),
        ([0, 1, 2], 1.0, 0.0),
        # Two of three options alike: log 2 / log 3.
        ([0, 1], log(2) / log(3), 0.0),
        # The abstention is not a category: as [0, 0, 1].
        ([0, 0, 1, 3], (2 / 3 * log(1.5) + 1 / 3 * log(3)) / log(3), 1 / 3),
        # .5 - .25
        ([0, 0, 1, 2], (0.5 * log(2) + 0.5 * log(4)) / log(3), 0.25),
    ],
)
def test_entropy_and_margin_come_from_the_shares(
    votes: list[int], entropy: float, margin: float
) -> None:
    verdict = settled(criterion("nominal", (0, 0.5, 1)), votes)
    assert (verdict.entropy, verdict.margin) == pytest.approx((entropy, margin), abs=1e-12)


@pytest.mark.parametrize(
    ("planned", "coverage"),
    [
        (6, 0.5),
        (None, 0.75),  # three ballots and one failure
        (2, 0.75),  # four, as more came than planned: never above 1
    ],
)
def test_coverage_is_of_the_votes_planned(planned: int | None, coverage: float) -> None:
    verdict = settled(criterion(), [MET, UNMET, AWAY], failures=1, planned=planned)
    assert verdict.coverage == coverage
