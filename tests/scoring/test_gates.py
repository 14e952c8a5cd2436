"""Gates: which fire, what they do, and what they leave undecided (DESIGN section 4)."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from core.domain.rubric import Rubric
from core.errors import InputError
from core.scoring import ItemScore, score_item
from tests.scoring.made import answers, binary, options, rubric


def gate(when: dict[str, Any], then: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"name": "g", "when": when, "then": then, **rest}


def levels(when: dict[str, Any], **rest: Any) -> Rubric:
    """One ordinal criterion c0 worth 0, 0.25, .5, 1 and a gate that flags on ``when``."""
    criterion = {"scale": "ordinal", "options": options(0, 0.25, 0.5, 1)}
    return rubric([criterion], gates=[gate(when, {"flag": "hit"}, **rest)])


def fired(made: Rubric, option: int | None) -> bool:
    return score_item(made, {"c0": option}).trace.flags == ("hit",)


@pytest.mark.parametrize(
    ("predicate", "threshold", "hits"),
    [
        ("below", "L2", [0, 1]),
        ("below", 0.5, [0, 1]),
        ("at_most", "L2", [0, 1, 2]),
        ("at_most", 0.49, [0, 1]),
        ("above", "L1", [2, 3]),
        ("above", 0.5, [3]),
        ("at_least", "l2", [2, 3]),  # case does not count
        ("at_least", 0.51, [3]),
        ("is", "L1", [1]),
        ("in", ["L0", "L3"], [0, 3]),
        ("abstained", False, [0, 1, 2, 3]),
        ("abstained", True, []),
    ],
)
def test_a_predicate_fires_on_exactly_its_options(
    predicate: str, threshold: Any, hits: list[int]
) -> None:
    made = levels({"criterion": "c0", predicate: threshold})
    assert [option for option in range(4) if fired(made, option)] == hits


@pytest.mark.parametrize(
    ("predicate", "value", "threshold", "hit"),
    [
        # 0.1 + 0.2 is 0.30000000000000004: the same level as 0.3, neither above nor below it.
        ("above", 0.1 + 0.2, 0.3, False),
        ("at_most", 0.1 + 0.2, 0.3, True),
        ("below", 0.3, 0.1 + 0.2, False),
        ("at_least", 0.3, 0.1 + 0.2, True),
    ],
)
def test_a_threshold_that_is_an_option_value_is_not_missed_by_rounding(
    predicate: str, value: float, threshold: float, hit: bool
) -> None:
    made = rubric(
        [{"scale": "ordinal", "options": options(0, value)}],
        gates=[gate({"criterion": "c0", predicate: threshold}, {"flag": "hit"})],
    )
    assert fired(made, 1) == hit


ABSTENTIONS = [{"label": "Bad", "value": 0}, {"label": "Good", "value": 1}]
ABSTENTIONS += [{"label": "Illegible", "na": True}, {"label": "N/A", "na": True}]


@pytest.mark.parametrize(
    ("when", "state"),
    [
        ({"abstained": True}, "fired"),
        ({"abstained": False}, "clear"),
        ({"is": "N/A"}, "fired"),
        ({"is": "Illegible"}, "clear"),  # another abstention is known not to be this one
        ({"is": "Bad"}, "indeterminate"),
        ({"in": ["Bad", "N/A"]}, "fired"),
        ({"in": ["Bad", "Illegible"]}, "indeterminate"),
        ({"below": 0.5}, "indeterminate"),
        ({"at_least": "Good"}, "indeterminate"),
    ],
)
def test_an_abstention_decides_only_the_gates_that_name_abstentions(
    when: dict[str, Any], state: str
) -> None:
    made = rubric(
        [{"scale": "nominal", "options": ABSTENTIONS}],
        gates=[gate({"criterion": "c0", **when}, {"flag": "hit"})],
    )
    assert score_item(made, {"c0": 3}).trace.gates[0].state == state
    # An abstention outside the options counts as the first of them: Illegible.
    outside = {"fired": "clear", "clear": "fired"}.get(state, state)
    if "is" in when:
        assert score_item(made, {"c0": None}).trace.gates[0].state == outside
    # Without any verdict even an abstention is unknown.
    assert score_item(made, {}).trace.gates[0].state == "indeterminate"


def capped(weights: tuple[float, ...], *gates: dict[str, Any], **rest: Any) -> Rubric:
    return binary(*weights, gates=list(gates), **rest)


UNMET_0 = {"criterion": "c0", "is": "UNMET"}


def test_the_strictest_cap_wins_and_is_kept_in_the_trace() -> None:
    made = capped(
        (10, 90),
        gate(UNMET_0, {"cap": 0.7}, name="mild"),
        gate(UNMET_0, {"cap": 0.4}, name="hard"),
    )
    trace = score_item(made, answers("UM")).trace
    # Base 90 / 100.
    assert (trace.base, trace.cap, trace.total) == (0.9, 0.4, 0.4)
    assert [(m.name, m.state, m.binding) for m in trace.gates] == [
        ("mild", "fired", False),
        ("hard", "fired", True),
    ]


def test_a_cap_never_raises_a_score() -> None:
    made = capped((90, 10), gate(UNMET_0, {"cap": 0.7}))
    trace = score_item(made, answers("UM")).trace
    assert (trace.total, trace.gates[0].state, trace.gates[0].binding) == (0.1, "fired", False)


def test_factors_multiply_before_the_cap_and_the_length_penalty_comes_last() -> None:
    made = capped(
        (20, 80),
        gate(UNMET_0, {"multiply": 0.5}),
        gate(UNMET_0, {"multiply": 0.9}),
        gate(UNMET_0, {"cap": 0.3}),
        scoring={"length_penalty": {"free_budget": 1, "max_cap": 2, "penalty_at_cap": 0.1}},
    )
    # 0.8 * 0.5 * 0.9 = 0.36, capped at 0.3, less 0.1.
    trace = score_item(made, answers("UM"), texts=9).trace
    assert trace.factor == pytest.approx(0.45, abs=1e-12)
    assert (trace.base, trace.gated) == (0.8, 0.3)
    assert trace.total == pytest.approx(0.2, abs=1e-12)


def test_the_order_of_gates_does_not_matter() -> None:
    thens: list[dict[str, Any]] = [
        {"multiply": 0.7, "flag": "b"},
        {"multiply": 0.1},
        {"multiply": 0.3},
        {"cap": 0.9, "flag": "a"},
    ]
    gates = [gate(UNMET_0, then, name=str(i)) for i, then in enumerate(thens)]
    seen = set()
    for order in permutations(gates):
        result = score_item(capped((10, 90), *order), answers("UM"))
        trace = result.trace
        seen.add((result.score, trace.low, trace.high, trace.factor, trace.cap, trace.flags))
    assert len(seen) == 1
    assert next(iter(seen))[-1] == ("a", "b")


def test_verdicts_and_flags_leave_the_score_alone() -> None:
    made = capped(
        (10, 10),
        gate(UNMET_0, {"verdict": "fail"}),
        gate({"criterion": "c1", "is": "MET"}, {"verdict": "review", "flag": "odd"}),
    )
    trace = score_item(made, answers("UM")).trace
    assert (trace.total, trace.fail, trace.review, trace.flags) == (0.5, True, True, ("odd",))
    quiet = score_item(made, answers("MU")).trace
    assert (quiet.fail, quiet.review, quiet.flags) == (False, False, ())


@pytest.mark.parametrize("given", ["AM", "-M"])
@pytest.mark.parametrize(
    ("on_missing", "expected"),
    [
        # (score, low, high, review, state): c0 is left out, so the base is 1.0. It was not
        # assessed, so a person must look whatever the gate does.
        ("review", (1.0, 0.4, 1.0, True, "indeterminate")),
        ("skip", (1.0, 1.0, 1.0, True, "clear")),
        ("fire", (0.4, 0.4, 0.4, True, "fired")),
    ],
)
def test_a_gate_without_its_verdict_gives_an_interval_unless_it_says_otherwise(
    given: str, on_missing: str, expected: tuple[object, ...]
) -> None:
    made = capped((10, 90), gate(UNMET_0, {"cap": 0.4, "verdict": "fail"}, on_missing=on_missing))
    trace = score_item(made, answers(given)).trace
    mark = trace.gates[0]
    assert (trace.total, trace.low, trace.high, trace.review, mark.state) == expected
    assert mark.assumed == (on_missing != "review")
    # What is not known to hold fails nobody.
    assert trace.fail == (on_missing == "fire")


def test_an_undecided_gate_that_could_not_bite_still_calls_for_review() -> None:
    made = capped((10, 90), gate(UNMET_0, {"cap": 0.4}))
    trace = score_item(made, answers("AU")).trace
    assert (trace.low, trace.high, trace.review) == (0.0, 0.0, True)


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ("UUM", "fired"),
        ("UMM", "clear"),
        ("UAM", "indeterminate"),  # one, perhaps two
        ("UAA", "indeterminate"),
        ("MAM", "clear"),  # one at most
        ("UU-", "fired"),  # two already, whatever the third is
        ("-UM", "indeterminate"),
    ],
)
def test_a_count_over_a_tag_is_undecided_only_while_it_could_go_either_way(
    given: str, state: str
) -> None:
    made = rubric(
        [{"tags": ["critical"]}] * 3 + [{"name": "other"}],
        gates=[gate({"tag": "critical", "is": "UNMET", "count_at_least": 2}, {"flag": "hit"})],
    )
    assert score_item(made, answers(given)).trace.gates[0].state == state


def test_a_label_that_a_tagged_criterion_lacks_never_holds_for_it() -> None:
    made = rubric(
        [{"tags": ["t"]}, {"tags": ["t"], "scale": "ordinal", "options": options(0, 1)}],
        gates=[
            gate({"tag": "t", "is": "UNMET", "count_at_least": 1}, {"flag": "unmet"}),
            gate({"tag": "t", "below": "L1", "count_at_least": 1}, {"flag": "low"}),
        ],
    )
    # c1 abstained, but neither UNMET nor "below L1" of c0 can be meant for it.
    states = [m.state for m in score_item(made, {"c0": 0, "c1": 2}).trace.gates]
    assert states == ["clear", "indeterminate"]
    assert score_item(made, {"c0": 1, "c1": 1}).trace.flags == ("unmet",)


RAW = {"normalize": False}


@pytest.mark.parametrize(
    ("weights", "given", "then", "score"),
    [
        # 50 possible points: a cap of 0.7 is 35 points, a factor of 0.5 halves 40.
        ((10, 40), "UM", {"cap": 0.7}, 35.0),
        ((10, 40), "UM", {"multiply": 0.5}, 20.0),
        # Below zero already: a factor would raise it, so it does nothing; 10 - 30 = -20.
        ((-30, 10), "MM", {"multiply": 0.5}, -20.0),
        ((-30, 10), "MM", {"cap": 0.0}, -20.0),
        # Only penalties: from -10 to 0. A cap of 0.7 is 0.3 of the way down; half of the 0.6
        # that is left after losing 4 is 0.3, which is -7.
        ((-4, -6), "UU", {"cap": 0.7}, -3.0),
        ((-4, -6), "MU", {"multiply": 0.5}, -7.0),
        ((0, 0), "MM", {"cap": 0.0}, 0.0),
    ],
)
def test_on_raw_points_caps_and_factors_act_on_the_possible_points(
    weights: tuple[float, ...], given: str, then: dict[str, Any], score: float
) -> None:
    label = {"M": "MET", "U": "UNMET"}[given[0]]
    made = capped(weights, gate({"criterion": "c0", "is": label}, then), scoring=RAW)
    assert score_item(made, answers(given)).score == pytest.approx(score, abs=1e-12)


def test_gates_on_an_item_with_nothing_to_score_still_decide_its_outcome() -> None:
    made = capped(
        (10, 10),
        gate({"criterion": "c0", "abstained": True}, {"cap": 0.2, "verdict": "fail", "flag": "x"}),
    )
    result: ItemScore = score_item(made, answers("AA"))
    assert (result.score, result.trace.low, result.trace.high) == (None, None, None)
    assert (result.trace.fail, result.trace.flags) == (True, ("x",))


def test_a_gate_that_compares_with_an_abstention_is_refused() -> None:
    with pytest.raises(InputError, match="is an abstention and has no value"):
        levels({"criterion": "c0", "below": "Cannot assess"})
