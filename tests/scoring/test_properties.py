"""What holds for every rubric and every answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.scoring import Trace, explain, score_item
from tests.scoring.made import options, rubric

weights = st.floats(-100, 100, allow_nan=False)
values = st.lists(st.floats(0, 1), min_size=2, max_size=4).map(sorted)


@st.composite
def criteria(draw: st.DrawFn) -> dict[str, Any]:
    scale = draw(st.sampled_from(["binary", "ordinal", "nominal"]))
    made: dict[str, Any] = {"scale": scale, "weight": draw(weights), "tags": ["t"]}
    if scale != "binary":
        made["options"] = options(*draw(values))
    return made


@st.composite
def gates(draw: st.DrawFn, n: int) -> dict[str, Any]:
    threshold = {draw(st.sampled_from(["below", "at_most", "above"])): draw(st.floats(0, 1))}
    subject: dict[str, Any] = {"criterion": f"c{draw(st.integers(0, n - 1))}"}
    if draw(st.booleans()):
        subject = {"tag": "t", "count_at_least": draw(st.integers(1, n))}
    effect = draw(st.sampled_from(["cap", "multiply"]))
    return {
        "name": "g",
        "when": {**subject, **threshold},
        "then": {effect: draw(st.floats(0, 1))},
        "on_missing": draw(st.sampled_from(["review", "skip", "fire"])),
    }


@st.composite
def cases(draw: st.DrawFn) -> tuple[Rubric, dict[str, int | None]]:
    """A rubric with up to three gates, and answers with abstentions and holes."""
    drawn = draw(st.lists(criteria(), min_size=1, max_size=5))
    scoring = {
        "abstention": draw(st.sampled_from(["skip", "zero", "partial", "fail"])),
        "normalize": draw(st.booleans()),
        "min_coverage": draw(st.sampled_from([0.0, 0.5, 1.0])),
    }
    made = rubric(drawn, gates=draw(st.lists(gates(len(drawn)), max_size=3)), scoring=scoring)
    given_answers: dict[str, int | None] = {}
    for criterion in made.criteria:
        if draw(st.integers(0, 5)):
            last = len(criterion.choices) - 1
            given_answers[criterion.name] = draw(st.none() | st.integers(0, last))
    return made, given_answers


@given(cases())
def test_scores_stay_in_bounds_and_gates_only_lower_them(
    case: tuple[Rubric, dict[str, int | None]],
) -> None:
    made, answers = case
    trace = score_item(made, answers).trace
    if trace.base is None:
        assert (trace.raw, trace.total, trace.low, trace.high) == (None,) * 4
        return
    assert trace.low is not None
    assert trace.total is not None
    assert trace.low <= trace.total <= trace.base
    if trace.normalized:
        assert trace.low >= 0.0
        assert trace.base <= 1.0


@given(cases(), st.randoms())
def test_gates_in_any_order_give_the_same(
    case: tuple[Rubric, dict[str, int | None]], rng: Any
) -> None:
    made, answers = case
    shuffled = list(made.gates)
    rng.shuffle(shuffled)
    there = score_item(made, answers).trace
    back = score_item(made.model_copy(update={"gates": tuple(shuffled)}), answers).trace
    assert replace(there, gates=()) == replace(back, gates=())


@given(cases())
def test_every_trace_survives_json_and_can_be_explained(
    case: tuple[Rubric, dict[str, int | None]],
) -> None:
    trace = score_item(*case).trace
    assert Trace.from_dict(json.loads(json.dumps(trace.to_dict(), allow_nan=False))) == trace
    assert all(line.endswith(".") for line in explain(trace))


@given(st.lists(criteria(), min_size=1, max_size=5))
def test_perfect_verdicts_score_one(drawn: list[dict[str, Any]]) -> None:
    # Perfect: the option worth 1 where points are rewarded, the one worth 0 where they are taken.
    for criterion in drawn:
        if criterion["scale"] != "binary":
            criterion["options"] = options(0.0, 0.5, 1.0)
    made = rubric(drawn)
    perfect = {c.name: c.values.index(1.0 if c.weight > 0 else 0.0) for c in made.criteria}
    zero_only = all(c.weight == 0 for c in made.criteria)
    assert score_item(made, perfect).score == (0.0 if zero_only else 1.0)


@given(cases(), st.floats(0, 1))
def test_raising_the_value_of_a_chosen_rewarded_option_never_lowers_raw(
    case: tuple[Rubric, dict[str, int | None]], value: float
) -> None:
    made, answers = case
    before = score_item(made, answers).raw
    for index, criterion in enumerate(made.criteria):
        chosen = answers.get(criterion.name)
        old = None if chosen is None else criterion.values[chosen]
        if chosen is None or old is None or criterion.weight <= 0 or value < old:
            continue
        opts = list(criterion.options)
        opts[chosen] = opts[chosen].model_copy(update={"value": value})
        raised = criterion.model_copy(update={"options": tuple(opts)})
        cs = (*made.criteria[:index], raised, *made.criteria[index + 1 :])
        after = score_item(made.model_copy(update={"criteria": cs}), answers).raw
        # Under FAIL another criterion cannot be touched by this: its options are its own.
        if before is None:  # too little was assessed, which a value does not change
            assert after is None
            continue
        assert after is not None
        assert after >= before
