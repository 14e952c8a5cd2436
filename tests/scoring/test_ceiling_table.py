"""The published table of an accuracy ceiling, reproduced with criteria and gates.

Source: ADR-016 of LLM Council, structured rubric scoring; its golden table as listed in
``reference/council.md`` 1.1. Five criteria scored 1-10 with weights 35/10/20/15/20; accuracy below
5 caps the total at 4.0, below 7 at 7.0. Here a level is an option worth level / 10, so that the
published total is ten times the normalised score.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.rubric import Rubric
from core.scoring import explain, score_item
from tests.scoring.made import rubric

NAMES = ("accuracy", "relevance", "completeness", "conciseness", "clarity")
WEIGHTS = (35, 10, 20, 15, 20)
LEVELS = [{"label": str(level), "value": level / 10} for level in range(11)]

TABLE = {
    2: (1.65, 2.00, 2.35, 2.70, 3.05, 3.40, 3.75, 4.10, 4.45, 4.80),
    5: (3.60, 3.95, 4.0, 4.0, 5.00, 5.35, 5.70, 6.05, 6.40, 6.75),
    8: (4.0, 4.0, 4.0, 4.0, 6.95, 7.0, 7.65, 8.00, 8.35, 8.70),
    9: (4.0, 4.0, 4.0, 4.0, 7.0, 7.0, 8.30, 8.65, 9.00, 9.35),
    10: (4.0, 4.0, 4.0, 4.0, 7.0, 7.0, 8.95, 9.30, 9.65, 10.0),
}


def ceiling(weights: Sequence[float] = WEIGHTS, names: Sequence[str] = NAMES) -> Rubric:
    return rubric(
        [
            {"name": name, "weight": weight, "scale": "ordinal", "options": LEVELS}
            for name, weight in zip(names, weights, strict=True)
        ],
        gates=[
            {
                "name": "accuracy floor",
                "when": {"criterion": "accuracy", "below": 0.5},
                "then": {"cap": 0.4, "reason": "Significant factual errors"},
            },
            {
                "name": "accuracy mixed",
                "when": {"criterion": "accuracy", "below": "7"},
                "then": {"cap": 0.7, "reason": "Mixed accuracy"},
            },
        ],
    )


@pytest.mark.parametrize("others", TABLE)
@pytest.mark.parametrize("accuracy", range(1, 11))
def test_the_golden_table_is_reproduced(others: int, accuracy: int) -> None:
    given = {**dict.fromkeys(NAMES, others), "accuracy": accuracy}
    score = score_item(ceiling(), given).score
    assert score is not None
    assert 10 * score == pytest.approx(TABLE[others][accuracy - 1], abs=1e-9)


@pytest.mark.parametrize(
    ("levels", "base", "total"),
    [
        ((8, 7, 9, 6, 8), 7.80, 7.80),
        ((9, 8, 8, 7, 8), 8.20, 8.20),
        ((4, 9, 9, 9, 9), 7.25, 4.0),  # .35 * 4 + .65 * 9
        ((3, 10, 9, 9, 10), 7.2, 4.0),
        ((2, 10, 8, 10, 10), 6.8, 4.0),
        ((3, 2, 2, 2, 2), 2.35, 2.35),  # a ceiling never inflates
        ((0, 0, 0, 0, 0), 0.0, 0.0),
        ((1, 1, 1, 1, 1), 1.0, 1.0),
    ],
)
def test_the_further_published_vectors_hold(
    levels: tuple[int, ...], base: float, total: float
) -> None:
    trace = score_item(ceiling(), dict(zip(NAMES, levels, strict=True))).trace
    assert trace.base is not None
    assert trace.total is not None
    assert 10 * trace.base == pytest.approx(base, abs=1e-9)
    assert 10 * trace.total == pytest.approx(total, abs=1e-9)


def test_other_weights_give_the_published_sums() -> None:
    # .6 * 10 + .4 * 5 = 8.0
    score = score_item(ceiling((6, 1, 1, 1, 1)), dict(zip(NAMES, (10, 5, 5, 5, 5), strict=True)))
    assert score.score == pytest.approx(0.80, abs=1e-12)
    # Four criteria 35/25/20/20: .35 * 7 + .25 * 9 + .2 * 9 + .2 * 8 = 8.10 (printed there as 8.0)
    four = [name for name in NAMES if name != "relevance"]
    old = ceiling((35, 25, 20, 20), four)
    assert score_item(old, dict(zip(four, (7, 9, 9, 8), strict=True))).score == pytest.approx(0.810)


def test_a_mixed_accuracy_is_explained_in_a_sentence() -> None:
    # .35 * 6 + .65 * 10 = 8.60
    trace = score_item(ceiling(), {**dict.fromkeys(NAMES, 10), "accuracy": 6}).trace
    assert explain(trace, out_of=10) == [
        "Base score 8.60: 86 of 100 points.",
        "8.60 -> 7.00: Mixed accuracy ('accuracy' is '6').",
        "Score 7.00.",
    ]


def test_ranking_can_break_ties_of_capped_items_by_the_base() -> None:
    traces = [
        score_item(ceiling(), {**dict.fromkeys(NAMES, others), "accuracy": 3}).trace
        for others in (8, 9, 10)
    ]
    assert {trace.total for trace in traces} == {0.4}
    # .35 * 3 + .65 * others = 6.25, 6.90, 7.55
    assert [trace.base for trace in traces] == pytest.approx([0.625, 0.690, 0.755])


@pytest.mark.parametrize(
    ("accuracy", "total"),
    [
        # Others 10, so the base is .35 x accuracy + 6.5; below 5 at most 4, below 7 at most 7.
        (4, 4.0),
        (4.99, 4.0),
        (5, 7.0),
        (6.99, 7.0),
        (7, 8.95),
    ],
)
def test_the_ceilings_begin_strictly_below_their_thresholds(accuracy: float, total: float) -> None:
    levels = [{"label": str(at), "value": at / 10} for at in (4, 4.99, 5, 6.99, 7)]
    whole = [{"label": "0", "value": 0}, {"label": "10", "value": 1}]
    made = rubric(
        [
            {"name": "accuracy", "weight": 35, "scale": "ordinal", "options": levels},
            {"name": "rest", "weight": 65, "scale": "ordinal", "options": whole},
        ],
        gates=[gate.model_dump(by_alias=True, exclude_none=True) for gate in ceiling().gates],
    )
    answer = made.criterion("accuracy").index_of(str(accuracy))
    score = score_item(made, {"accuracy": answer, "rest": 1}).score
    assert score == pytest.approx(total / 10)
