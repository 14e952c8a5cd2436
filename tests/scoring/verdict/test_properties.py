"""What holds for every panel and every set of votes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.domain.panel import Rules
from core.domain.rubric import RULES, Criterion
from core.scoring.verdict import Ballot, settle
from tests.scoring.verdict.made import criterion, settled


@st.composite
def criteria(draw: st.DrawFn) -> Criterion:
    """Any scale, rule, sign, and equal values among the options."""
    scale = draw(st.sampled_from(list(RULES)))
    some = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1 / 3, 0.5, 0.7, 1.0]) | st.floats(0, 1)
    values = draw(st.lists(some, min_size=2, max_size=5).map(sorted))
    return criterion(
        scale,
        () if scale == "binary" else values,
        weight=draw(st.sampled_from([-3.0, 0.0, 10.0])),
        aggregation=draw(st.sampled_from(RULES[scale])),
        forced_choice=draw(st.booleans()),
    )


@st.composite
def panels(draw: st.DrawFn) -> tuple[Criterion, list[Ballot]]:
    made = draw(criteria())
    option = st.none() | st.integers(0, len(made.choices) - 1)
    weight = st.sampled_from([0.1, 0.2, 0.3, 1.0, 2.0]) | st.floats(1e-3, 1e3)
    cast = [
        Ballot(o, o is None or made.values[o] is None, w)
        for o, w in draw(st.lists(st.tuples(option, weight), min_size=1, max_size=7))
    ]
    return made, cast


@given(panels(), st.randoms())
def test_the_order_of_the_judges_changes_nothing(
    panel: tuple[Criterion, list[Ballot]], rng: Any
) -> None:
    made, cast = panel
    shuffled = list(cast)
    rng.shuffle(shuffled)
    assert settle(made, cast, Rules()) == settle(made, shuffled, Rules())


@given(panels(), st.integers(0, 3), st.integers(0, 9))
def test_every_measure_stays_in_bounds_and_the_counts_add_up(
    panel: tuple[Criterion, list[Ballot]], failures: int, planned: int
) -> None:
    made, cast = panel
    verdict = settle(made, cast, Rules(), failures=failures, planned=planned)
    assert verdict is not None
    measures = (verdict.agreement, verdict.entropy, verdict.margin)
    assert all(m is None for m in measures) == (verdict.votes == 0)
    assert all(m is None or 0.0 <= m <= 1.0 for m in (*measures, verdict.coverage))
    assert verdict.votes + verdict.abstentions == len(cast)
    assert verdict.continuous is None or 0.0 <= verdict.continuous <= 1.0
    assert verdict.abstained == (verdict.value is None)
    if verdict.option is not None:
        assert made.values[verdict.option] == verdict.value


@given(criteria(), st.integers(0, 9), st.integers(1, 5))
def test_identical_votes_settle_as_that_vote(made: Criterion, pick: int, judges: int) -> None:
    option = pick % len(made.choices)
    verdict = settled(made, [option] * judges)
    assert (verdict.option, verdict.value) == (option, made.values[option])
    assert (verdict.tie, verdict.warning, verdict.coverage) == (False, "", 1.0)
    assert verdict.agreement == (None if verdict.abstained else 1.0)


@given(panels())
def test_a_tie_never_helps_the_submission(panel: tuple[Criterion, list[Ballot]]) -> None:
    made, cast = panel
    verdict = settle(made, cast, Rules())
    assert verdict is not None
    if not verdict.tie or verdict.rule not in ("mode", "majority"):
        return
    votes = [b.option for b in cast if not b.abstained]
    top = max(votes.count(option) for option in votes)
    tied = [made.values[o] or 0.0 for o in votes if o is not None and votes.count(o) == top]
    assert verdict.value == (max(tied) if made.weight < 0 else min(tied))
