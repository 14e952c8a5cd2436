"""What settling a cell could change, and the order that makes of a queue."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from krippendorff import alpha

from bench.recorded import found, llmbar
from bench.review_order import SHARES, curve
from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Criterion, Rubric
from core.scoring import MeasuredTexts, score_item
from core.scoring.verdict import Ballot, settle
from core.services.queueing.queue_order import (
    VoteTally,
    WhatIf,
    disagreement_share,
    expected_disagreement,
    mixed_measures,
    option_chances,
    tally_votes,
)
from tests.scoring.verdict.made import ballots

MET, UNMET, AWAY = 0, 1, 2
FIVE = [{"label": f"L{i}", "value": i / 4} for i in range(5)]


def rubric(*criteria: dict[str, Any], **rest: Any) -> Rubric:
    named = [{"name": f"c{i}", "requirement": "r", **c} for i, c in enumerate(criteria)]
    return build_model(Rubric, {"criteria": named, **rest}, "rubric")


def votes(criterion: Criterion, *options: int | None) -> VoteTally:
    return tally_votes(criterion, ballots(criterion, options))


def test_chances_are_the_votes_and_one_vote_that_says_nothing() -> None:
    criterion = rubric({}).criteria[0]
    # (5 + 1/2) / 6 and (0 + 1/2) / 6
    assert option_chances(criterion, votes(criterion, *[MET] * 5)) == pytest.approx(
        {0: 11 / 12, 1: 1 / 12}
    )


def test_an_abstention_is_no_vote_and_without_votes_all_options_are_alike() -> None:
    criterion = rubric({"scale": "ordinal", "options": FIVE}).criteria[0]
    assert votes(criterion, None, 5).votes == 0
    assert option_chances(criterion, votes(criterion, None)) == pytest.approx(
        dict.fromkeys(range(5), 0.2)
    )


def test_weights_share_out_as_many_votes_as_there_are() -> None:
    criterion = rubric({}).criteria[0]
    cell = tally_votes(criterion, ballots(criterion, [MET, UNMET], [30, 10]))
    # Two votes, three quarters of the weight for MET: (2 * 3/4 + 1/2) / 3.
    assert option_chances(criterion, cell)[MET] == pytest.approx(2 / 3)


def test_without_pass_mark_no_outcome_flips_but_the_verdict_and_the_score_may() -> None:
    one = rubric({})
    split = votes(one.criteria[0], MET, MET, UNMET)
    # Chances 2.5/4 and 1.5/4; the score goes from 1 to 0.
    assert WhatIf(one).impact("c0", {"c0": MET}, split) == pytest.approx((0.0, 0.375))
    # Entropy: -(2/3 log2 2/3 + 1/3 log2 1/3)
    assert mixed_measures(one.criteria[0], split) == pytest.approx((0.9182958, 1 / 3))


def test_a_split_that_cannot_change_the_outcome_flips_nothing() -> None:
    two = rubric({"weight": 9}, {"weight": 1}, decision={"pass_at": 0.7})
    now = {"c0": MET, "c1": MET}
    split = votes(two.criteria[1], MET, UNMET)
    # 0.9 passes like 1.0; the score may move by 0.1 with chance 1/2.
    assert WhatIf(two).impact("c1", now, split) == pytest.approx((0.0, 0.05))
    assert WhatIf(two).impact("c0", now, split)[0] == pytest.approx(0.5)


def test_an_option_that_trips_a_gate_comes_before_a_more_mixed_cell() -> None:
    # After reference adjudication.md, section 3.2: clarity 4/8/8/4 is more mixed than accuracy
    # 4/8/8/8, but an accuracy of 4 caps the item at 4 of 10. The other dimensions, with 6 of the 9
    # points of weight, have 8.
    levels = [{"label": str(i), "value": i / 10} for i in range(11)]
    made = rubric(
        {"scale": "ordinal", "options": levels, "weight": 1},
        {"scale": "ordinal", "options": levels, "weight": 2},
        {"scale": "ordinal", "options": levels, "weight": 6},
        gates=[{"name": "g", "when": {"criterion": "c1", "at_most": "4"}, "then": {"cap": 0.4}}],
    )
    now, what_if = {"c0": 6, "c1": 7, "c2": 8}, WhatIf(made)
    clarity, accuracy = votes(made.criteria[0], 4, 8, 8, 4), votes(made.criteria[1], 4, 8, 8, 8)
    mixed = [
        mixed_measures(criterion, cell)[0] or 0.0
        for criterion, cell in zip(made.criteria, (clarity, accuracy), strict=False)
    ]
    assert mixed[0] > mixed[1]
    assert score_item(made, {**now, "c1": 4}).score == pytest.approx(0.4)
    # Now (.6 + 2 * .7 + 6 * .8) / 9 = .7556; clarity moves it by .2 / 9 at most.
    assert what_if.impact("c1", now, accuracy)[1] > what_if.impact("c0", now, clarity)[1]


def test_a_cell_without_verdict_flips_an_item_that_waits_for_it() -> None:
    made = rubric({}, decision={"pass_at": 0.5})
    nothing = votes(made.criteria[0])
    # No verdict: for review. MET passes, UNMET fails; scores 1 and 0 lie 1/2 from their mean.
    assert WhatIf(made).impact("c0", {}, nothing) == pytest.approx((1.0, 0.5))
    assert mixed_measures(made.criteria[0], nothing) == (None, None)


def test_what_is_known_better_replaces_the_votes() -> None:
    made = rubric({})
    cell = votes(made.criteria[0], UNMET, UNMET)
    _, change = WhatIf(made).impact("c0", {"c0": MET}, cell, known_chances={MET: 0.9, UNMET: 0.1})
    # The score goes from 1 to 0 with chance 0.1.
    assert change == pytest.approx(0.1)


def test_texts_count_in_what_ifs() -> None:
    penalty = {"free_budget": 0, "max_cap": 1, "penalty_at_cap": 0.25}
    made = rubric({}, scoring={"length_penalty": penalty})
    _, change = WhatIf(made).impact(
        "c0", {"c0": MET}, votes(made.criteria[0], MET), texts=MeasuredTexts(length=5)
    )
    # The score goes from 0.75 to 0 with chance 1/4.
    assert change == pytest.approx(0.75 / 4)


@pytest.mark.parametrize(("scale", "level"), [("nominal", "nominal"), ("ordinal", "interval")])
def test_spreads_average_to_one_minus_alpha(
    scale: str, level: Literal["nominal", "interval"]
) -> None:
    # Oracle: krippendorff 0.9; with three votes in every cell all weigh the same.
    criterion = rubric({"scale": scale, "options": FIVE}).criteria[0]
    rng = np.random.default_rng(5)
    base = rng.integers(0, 5, (30, 1))
    rated = np.where(rng.random((30, 3)) < 0.4, rng.integers(0, 5, (30, 3)), base)
    cells = [votes(criterion, *map(int, row)) for row in rated]
    expected = expected_disagreement(criterion, cells)
    found = [disagreement_share(criterion, cell, expected) for cell in cells]
    assert all(each is not None for each in found)
    oracle = alpha(reliability_data=rated.T.tolist(), level_of_measurement=level)
    assert 1 - np.mean([each or 0.0 for each in found]) == pytest.approx(oracle)


def test_one_vote_alone_has_no_spread_and_unanimity_none_to_compare_with() -> None:
    criterion = rubric({}).criteria[0]
    one, same = votes(criterion, MET), votes(criterion, MET, MET)
    assert disagreement_share(criterion, one, 0.5) is None
    assert expected_disagreement(criterion, [one]) is None
    assert disagreement_share(criterion, same, expected_disagreement(criterion, [same])) is None


@st.composite
def _items(draw: st.DrawFn) -> tuple[Rubric, dict[str, list[Ballot]]]:
    scales: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        [{"weight": 1}, {"scale": "ordinal", "options": FIVE}, {"weight": -3}]
    )
    criteria = draw(st.lists(scales, min_size=1, max_size=3))
    gates = [{"name": "g", "when": {"criterion": "c0", "abstained": True}, "then": {"cap": 0.2}}]
    decision = draw(st.sampled_from([None, {"pass_at": 0.5}]))
    made = rubric(*criteria, gates=gates if draw(st.booleans()) else [], decision=decision)
    cells = {
        c.name: ballots(c, draw(st.lists(st.integers(0, len(c.choices) - 1), max_size=5)))
        for c in made.criteria
    }
    return made, cells


@given(_items())
def test_impact_is_a_chance_and_a_distance(item: tuple[Rubric, dict[str, list[Ballot]]]) -> None:
    made, cells = item
    verdicts = {c.name: settle(c, cells[c.name], Rules()) for c in made.criteria}
    answers = {name: v.option for name, v in verdicts.items() if v is not None}
    now = score_item(made, answers).score
    for c in made.criteria:
        flip, change = WhatIf(made).impact(c.name, answers, tally_votes(c, cells[c.name]))
        assert 0 <= flip <= 1
        assert change >= 0
        if now is not None:
            assert change <= 1 + 1e-9


@pytest.mark.skipif(not found(), reason="../shared/data is not there")
def test_the_queue_finds_errors_before_chance_would() -> None:
    # reference/data.md F: five models, Vanilla, .680 after 20% and .833 after 50%; one draw of
    # the ties has a standard deviation of .008, so the mean of 20 is within .004 of its own mean.
    got = dict(zip(SHARES, curve(llmbar("Vanilla"), draws=20), strict=True))
    assert got[0.0] == pytest.approx(0.587, abs=5e-4)
    assert got[0.2] >= 0.680
    assert got[0.5] >= 0.833 - 0.004
    assert got[1.0] == 1.0
