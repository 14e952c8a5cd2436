"""Every recorded score of the peer is ours, too. Not one difference is allowed here."""

from __future__ import annotations

import pytest

from core.domain.gates import LengthPenalty
from core.scoring import penalty_for, score_item
from tests.scoring.golden import golden
from tests.scoring.made import answers, binary, options, rubric


def test_all_recorded_abstention_strategies_are_equal() -> None:
    compared = 0
    for case in golden("scoring"):
        first, second = case["weights"]
        given = {"c0": 0 if case["first"] == "MET" else 1, "c1": None}
        scoring = {
            "abstention": case["strategy"],
            "partial_credit": case["partial_credit"],
            "normalize": case["normalize"],
        }
        levels = {"weight": second, "scale": "ordinal", "options": options(0.2, 0.4, 0.6)}
        for key, other in (
            ("binary_cannot_assess", {"weight": second}),
            ("multi_choice_na_values_0.2_0.4_0.6", levels),
        ):
            made = rubric([{"weight": first}, other], scoring=scoring)
            assert score_item(made, given).score == pytest.approx(case[key], abs=1e-9), case
            compared += 1
    assert compared == 64


def test_all_recorded_mixed_scores_are_equal() -> None:
    cases = golden("mixed_score")
    for weights, given, score, raw in cases:
        result = score_item(binary(*weights), answers(given))
        assert (result.score, result.raw) == pytest.approx((score, raw), abs=1e-9)
    assert len(cases) == 8


def test_all_recorded_length_penalties_are_equal() -> None:
    cases = golden("length_penalty")
    for n, policy, penalty in cases:
        assert penalty_for(LengthPenalty(**policy), n) == pytest.approx(penalty, abs=1e-12)
    assert len(cases) == 21
