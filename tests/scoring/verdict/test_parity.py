"""Every recorded verdict of the peer is ours, too; the listed differences are counted.

The differences are those of docs/decisions/0001-agreement-leaves-out-abstentions.md. Each is
checked against our own definition, and their number is pinned, so that neither side can drift
unseen. The peer's judges a, b, c have the weights 1, 2, 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from core.domain.rubric import Criterion
from core.domain.votes import Verdict
from core.scoring import score_item
from tests.scoring.golden import golden
from tests.scoring.made import options, rubric
from tests.scoring.verdict.made import criterion, settled

WEIGHTS = (1.0, 2.0, 1.0)


def own_agreement(made: Criterion, votes: Sequence[int], verdict: Verdict) -> float | None:
    """The design's words, counted the slow way."""
    cast = [v for v in votes if made.values[v] is not None]
    return (
        cast.count(-1 if verdict.option is None else verdict.option) / len(cast) if cast else None
    )


def compare(made: Criterion, votes: Sequence[int], agreement: float, verdict: Verdict) -> str:
    """``equal``, or the name of the listed difference that the case shows."""
    assert verdict.agreement == own_agreement(made, votes, verdict)
    if verdict.agreement is None:
        assert agreement == 1.0, "the peer calls it full agreement when all abstain"
        return "all abstained"
    if verdict.agreement == pytest.approx(agreement, abs=1e-6):
        return "equal"
    assert verdict.abstentions > 0, "agreement may differ only where somebody abstained"
    return "some abstained"


def test_all_recorded_binary_verdicts_are_equal() -> None:
    code = {"MET": 0, "UNMET": 1, "CANNOT_ASSESS": 2}
    seen = Counter[str]()
    for rule, weight, words, expected, agreement in golden("binary_aggregation"):
        made = criterion(weight=weight, aggregation=rule)
        votes = [code[word] for word in words]
        verdict = settled(made, votes, WEIGHTS[: len(votes)])
        assert verdict.option == code[expected], (rule, weight, words)
        seen[compare(made, votes, agreement, verdict)] += 1
    # Per rule and weight: 9 + 27 ways to vote, 4 + 8 of them without an abstention.
    assert seen == {"equal": 96, "some abstained": 176, "all abstained": 16}


def test_all_recorded_ordinal_verdicts_are_equal() -> None:
    seen = Counter[str]()
    for rule, weight, votes, option, mean, abstained, agreement in golden("ordinal_aggregation"):
        made = criterion("ordinal", (0, 0.25, 0.5, 1), weight=weight, aggregation=rule)
        verdict = settled(made, votes, WEIGHTS[: len(votes)])
        assert (verdict.option, verdict.abstained) == (option, abstained), (rule, weight, votes)
        if abstained:
            # The peer keeps 0.0 as the mean of no values; ours is undefined.
            assert (verdict.continuous, verdict.value, mean) == (None, None, 0.0)
        else:
            kept = verdict.value if verdict.continuous is None else verdict.continuous
            assert kept == pytest.approx(mean, abs=1e-6)
        seen[compare(made, votes, agreement, verdict)] += 1
    assert seen == {"equal": 566, "some abstained": 310, "all abstained": 24}


def test_all_recorded_nominal_verdicts_are_equal() -> None:
    seen = Counter[str]()
    for rule, weight, may_abstain, votes, option, abstained, agreement in golden(
        "nominal_aggregation"
    ):
        made = criterion(
            "nominal", (0, 0, 1), weight=weight, aggregation=rule, forced_choice=not may_abstain
        )
        verdict = settled(made, votes, WEIGHTS)
        if rule == "weighted_mode" and votes == [1, 0, 1]:
            # The first two options are worth the same and have the same weight, 2 of 4: the peer
            # takes the lowest index, we take the option with two votes of three.
            assert (option, verdict.option) == (0, 1)
            seen["more votes"] += 1
            continue
        assert (verdict.option, verdict.abstained) == (option, abstained), (rule, weight, votes)
        seen[compare(made, votes, agreement, verdict)] += 1
    # May abstain: 64 ways for six, 27 without an abstention and one with nothing else.
    assert seen == {"equal": 320, "some abstained": 216, "all abstained": 6, "more votes": 4}


def test_all_recorded_items_are_settled_and_scored_alike() -> None:
    made = rubric(
        [
            {"weight": 10},
            {"weight": 5, "scale": "ordinal", "options": options(0, 0.25, 0.5, 1)},
            {"weight": 3, "scale": "nominal", "options": options(0, 0, 1)},
        ]
    )
    items = golden("metrics")["items"]
    for item in items:
        answers = dict[str, int | None]()
        for i, c in enumerate(made.criteria):
            votes = [judge[i] for judge in item["votes"]]
            # Recorded binary codes are 0 UNMET, 1 MET, 2 abstained; ours list MET first.
            own = [(1, 0, 2)[v] for v in votes] if i == 0 else votes
            answers[c.name] = settled(c, own, WEIGHTS).option
        score = score_item(made, answers).score
        assert score == pytest.approx(item["score"], abs=1e-9), item
    assert len(items) == 60
