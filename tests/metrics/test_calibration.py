"""Calibration against scikit-learn, a slow recount, and tables worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from core.metrics.calibration import (
    NO_ANSWER,
    NO_CHANCES,
    AnswerKinds,
    calibration,
    confidence_bins,
    sure_answers,
)
from core.metrics.intervals.draws import resample_patterns

Floats = np.ndarray


def made(n: int, k: int, seed: int, heat: float = 1.0) -> tuple[Floats, Floats, Floats, Floats]:
    """How sure, chances, level given and true level of ``n`` answers that a model with too much
    (or, below 1, too little) certainty would give.
    """
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 1.5
    real = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(k, p=row) for row in real])
    said = np.exp(scores * heat) / np.exp(scores * heat).sum(axis=1, keepdims=True)
    rated = said.argmax(axis=1)
    return said.max(axis=1), said, rated, truth


def recounted(sure: Floats, right: Floats) -> float:
    """The calibration error of Guo et al. (2017), equation 3, an answer at a time."""
    total = 0.0
    for b in range(1, 11):
        inside = [
            (c, r)
            for c, r in zip(sure, right, strict=True)
            if (b - 1) / 10 < c <= b / 10 or (b == 1 and c == 0)
        ]
        if inside:
            accuracy = sum(r for _, r in inside) / len(inside)
            mean = sum(c for c, _ in inside) / len(inside)
            total += len(inside) / len(sure) * abs(accuracy - mean)
    return total


@pytest.mark.parametrize(("k", "heat"), [(2, 1.0), (2, 3.0), (4, 0.5), (5, 2.0)])
def test_both_figures_are_those_of_an_independent_count(k: int, heat: float) -> None:
    sure, chances, rated, truth = made(300, k, seed=k, heat=heat)
    found = calibration(sure_answers(sure, chances, rated, truth))
    assert found.ece.value == pytest.approx(recounted(sure, rated == truth), abs=1e-9)
    expected = brier_score_loss(truth, chances, labels=range(k), scale_by_half=False)
    assert found.brier.value == pytest.approx(expected, abs=1e-9)
    assert found.right.value == pytest.approx((rated == truth).mean())
    assert found.sure == pytest.approx(sure.mean())


def test_with_two_levels_being_sure_is_enough_for_the_brier_score() -> None:
    sure, _, rated, truth = made(100, 2, seed=9)
    found = calibration(sure_answers(sure, np.full((100, 2), np.nan), rated, truth))
    # scikit-learn halves it for two classes, as is usual there.
    first = np.where(rated == 1, sure, 1 - sure)
    assert found.brier.value == pytest.approx(2 * brier_score_loss(truth == 1, first), abs=1e-9)


def test_a_table_worked_by_hand() -> None:
    # .75 twice, right and wrong: |.5 - .75| on 2 of 4. .95 twice, both right: |1 - .95| on 2 of 4.
    sure, rated, truth = np.array([0.75, 0.75, 0.95, 0.95]), np.array([0, 0, 1, 2]), [0, 1, 1, 2]
    answers = sure_answers(sure, np.full((4, 3), np.nan), rated, np.array(truth))
    found = calibration(answers)
    assert found.ece.value == pytest.approx(0.25 / 2 + 0.05 / 2)
    assert (found.brier.value, found.brier.reason) == (None, NO_CHANCES)
    assert [(b.low, b.high, b.sure, b.right.value) for b in found.bins if b.right.n] == [
        (0.7, 0.8, 0.75, 0.5),
        (0.9, 1.0, pytest.approx(0.95), 1.0),
    ]
    assert [b.right.n for b in found.bins] == [0, 0, 0, 0, 0, 0, 0, 2, 0, 2]


def test_chances_are_made_whole_and_answers_without_stay_out_of_the_brier_score_only() -> None:
    chances = np.array([[0.4, 0.2, 0.2], [np.nan] * 3])
    found = calibration(
        sure_answers(np.array([0.4, 0.9]), chances, np.array([0, 0]), np.array([0, 1]))
    )
    # .5, .25, .25 where the first is true: .25 + .0625 + .0625
    assert (found.brier.value, found.brier.n) == (pytest.approx(0.375), 1)
    # (.4 right, bin 4; .9 wrong, bin 9): (.6 + .9) / 2
    assert (found.ece.value, found.ece.n) == (pytest.approx(0.75), 2)


def test_what_has_no_reference_or_no_certainty_is_no_answer() -> None:
    sure = np.array([0.5, 0.5, np.nan])
    rated, truth = np.array([-2, 0, 0]), np.array([0, -1, 0])
    answers = sure_answers(sure, np.full((3, 2), np.nan), rated, truth)
    assert answers.of_item.tolist() == [-1, -1, -1]
    found = calibration(answers)
    assert (found.ece.value, found.ece.reason, found.sure) == (None, NO_ANSWER, None)
    assert found.right.value is None


def test_edges_belong_to_the_bin_below() -> None:
    assert confidence_bins(np.arange(11) / 10).tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def drawn(answers: AnswerKinds, seed: int) -> Floats:
    return resample_patterns(answers.times, 400, np.random.default_rng(seed))


def test_the_interval_of_the_brier_score_holds_the_truth_about_as_often_as_it_says() -> None:
    # The Brier score expected of these answers, from many; 100 samples of 150.
    truth = calibration(sure_answers(*made(40_000, 3, seed=0, heat=2.0))).brier.value
    assert truth is not None
    hits = 0
    for seed in range(1, 101):
        answers = sure_answers(*made(150, 3, seed=seed, heat=2.0))
        brier = calibration(answers, drawn(answers, seed)).brier
        assert brier.low is not None
        assert brier.high is not None
        hits += brier.low <= truth <= brier.high
    # Binomial(100, .95): 99.9% lie within 87 and 100.
    assert 87 <= hits <= 100


def test_one_answer_has_figures_and_no_interval() -> None:
    answers = sure_answers(np.array([0.8]), np.full((1, 2), np.nan), np.array([0]), np.array([0]))
    found = calibration(answers, drawn(answers, 1))
    assert found.ece.value == pytest.approx(0.2)
    assert (found.ece.low, found.ece.reason[:9]) == (None, "One item ")


def test_the_interval_of_a_perfect_raters_error_reaches_down_to_nothing() -> None:
    # Right exactly as often as sure: the true error is 0. The bootstrap alone gave an interval
    # without 0 for 60 of 60 such samples. Chance makes more than the bound in one of twenty:
    # of 60, 8 or more in less than 1%.
    missed = 0
    for seed in range(1, 61):
        answers = sure_answers(*made(150, 3, seed=seed))
        found = calibration(answers, drawn(answers, seed))
        assert found.by_chance is not None
        assert found.ece.value is not None
        assert (found.ece.low == 0) == (found.ece.value <= found.by_chance)
        missed += found.ece.low != 0
    assert missed < 8


def test_an_error_beyond_chance_keeps_its_lower_end() -> None:
    answers = sure_answers(*made(400, 3, seed=1, heat=4.0))
    found = calibration(answers, drawn(answers, 1))
    assert found.ece.value is not None
    assert found.by_chance is not None
    assert found.ece.value > 2 * found.by_chance
    assert found.ece.low is not None
    assert found.ece.low > 0
