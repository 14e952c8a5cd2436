"""Texts name the way a rater leans by the option; the sign of a level stays in JSON (issue 12, A6).

Of a binary criterion MET is level 0: always saying MET where half is UNMET is -.5 in levels.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli.reports_as_text import metrics_as_text
from core.metrics.estimate import Estimate
from core.services.agreement.rater_pairs import bias_direction
from core.text.numbers import score
from tests.services.measured import measured, written


def _votes(labels: dict[str, str], kind: str = "llm") -> list[tuple[str, str, str, str, str]]:
    return [(item, "right", "yes", kind, label) for item, label in labels.items()]


@pytest.fixture
def always_met(tmp_path: Path) -> Path:
    """A judge who says MET of all; two of three labels are UNMET (``measured.LABELS``)."""
    return written(tmp_path / "yes", _votes(dict.fromkeys("abcd", "MET")))


def test_a_judge_who_always_says_met_is_said_to_say_met_more_often(always_met: Path) -> None:
    report = measured(always_met)
    gold = report["criteria"]["right"]["raters"]["yes"]["vs_gold"]
    assert gold["bias_levels"] == pytest.approx(-2 / 3)  # the contract: MET is level 0
    text = metrics_as_text(report)
    assert "says MET more often by 0.67" in text
    assert "\u2212.67" not in text
    assert "bias in levels" not in text


def test_a_judge_who_always_says_unmet_is_said_to_say_unmet_more_often(tmp_path: Path) -> None:
    folder = written(tmp_path / "no", _votes(dict.fromkeys("abcd", "UNMET")))
    assert "says UNMET more often by 0.33" in metrics_as_text(measured(folder))


def test_the_interval_is_turned_with_the_figure(always_met: Path) -> None:
    report = measured(always_met, None, 500)
    low, high = report["criteria"]["right"]["raters"]["yes"]["vs_gold"]["ci"]["bias_levels"]
    bias = Estimate(-2 / 3, low, high)
    _, _, turned = bias_direction("bias_levels", "binary", ["MET", "UNMET"], bias)
    assert (turned.low, turned.high) == (-high, -low)
    assert turned.low < turned.value < turned.high
    assert f"by 0.67 ({score(0 - high)} to {score(0 - low)})" in metrics_as_text(report)


def test_an_ordinal_judge_leans_towards_an_option(tmp_path: Path) -> None:
    votes = [(item, "depth", "up", "llm", "high") for item in "abcd"]
    people = [(item, "depth", "ann", "human", "mid") for item in "abcd"]
    text = metrics_as_text(measured(written(tmp_path / "up", votes + people)))
    assert "leans towards high by 1.00" in text


@pytest.mark.parametrize("labels", [["MET", "UNMET"], ["UNMET", "MET"]])
def test_the_order_of_the_options_does_not_matter(labels: list[str]) -> None:
    """A quarter of the items more is called MET."""
    towards = labels.index("MET")
    bias = Estimate(0.25 if towards else -0.25)
    text, unit, size = bias_direction("bias_levels", "binary", labels, bias)
    assert (text, unit, size.value) == ("says MET more often", "as a share of the items", 0.25)
    assert bias_direction("bias_levels", "binary", labels, Estimate(0.0))[0] == "says MET as often"
