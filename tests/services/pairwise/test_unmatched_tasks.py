"""Systems whose answers share no task are ranked by their mean scores, and that is said."""

from __future__ import annotations

import pytest

from core.blocks.terminal import terminal_text
from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.metrics.agreement.ratings import State
from core.services.agreement.rating_tables import gather_ratings
from core.services.agreement.ratings import Rated, RatedAnswer, Rater
from core.services.reports.rank_report import pointwise_report

RUBRIC = Rubric(criteria=(Criterion(name="right", requirement="Is it right?"),))
MET, UNMET = 0, 1


def rated(marks: dict[str, dict[str, list[int]]]) -> Rated:
    """``marks[judge][system]``: one answer of the judge per item of the system."""
    first = next(iter(marks.values()))
    items = [
        Item(id=f"{system}{n}", submission="x", prompt="the same for all", system=system)
        for system, given in first.items()
        for n in range(len(given))
    ]
    answers = [
        RatedAnswer(f"{system}{n}", "right", Rater(judge, "llm"), option, State.ANSWERED)
        for judge, of in marks.items()
        for system, given in of.items()
        for n, option in enumerate(given)
    ]
    return gather_ratings(RUBRIC, items, answers)


def test_a_systems_score_is_the_mean_over_its_items_of_the_judges_mean() -> None:
    # a: items (1 + 1) / 2, (0 + 1) / 2, 0 -> (1 + .5 + 0) / 3 = .5; b: 0, 0, 0.
    marks = {
        "j": {"a": [MET, UNMET, UNMET], "b": [UNMET] * 3},
        "k": {"a": [MET, MET, UNMET], "b": [UNMET] * 3},
    }
    report, sections = pointwise_report(rated(marks), None, (), {}, resamples=200)
    assert report["matched"] is False
    one, other = report["standings"]
    assert (one["system"], one["rank"], one["score"]["value"]) == ("a", 1, pytest.approx(0.5))
    assert (other["system"], other["rank"], other["score"]["value"]) == ("b", 2, 0.0)
    # Welch: error = sqrt(var(1, .5, 0) / 3 + 0) = sqrt(.25 / 3) = .289; z(1 - .05 / 2) = 1.96:
    # .5 < 1.96 * .289 = .566, so nobody is known to be better.
    assert (one["range"], other["range"]) == ("1-2", "1-2")
    assert report["judges"]["j"]["scores"] == {"a": pytest.approx(1 / 3), "b": 0.0}
    assert report["judges"]["j"]["ranks"] == {"a": 1.0, "b": 2.0}
    assert "may lie in the items" in terminal_text(sections)


def test_what_is_larger_than_chance_is_told_apart() -> None:
    # .75 against .05 on 20 items: error sqrt(.1974 / 20 + .05 / 20) = .111; .7 > 1.96 * .111.
    marks = {"j": {"a": [MET] * 15 + [UNMET] * 5, "b": [MET] + [UNMET] * 19}}
    report, _ = pointwise_report(rated(marks), None, (), {})
    standings = report["standings"]
    assert [s["range"] for s in standings] == ["1", "2"]


def test_a_judge_does_not_rank_its_own_answers() -> None:
    marks = {"a": {"a": [MET, MET], "b": [UNMET, MET]}, "j": {"a": [UNMET, MET], "b": [MET, MET]}}
    report, _ = pointwise_report(rated(marks), None, ("self",), {})
    scores = {s["system"]: s["score"]["value"] for s in report["standings"]}
    assert scores == {"a": 0.5, "b": 0.75}  # a by j alone; b: (0 + 1) / 2 and (1 + 1) / 2
    assert report["judges"]["a"]["scores"] == {"a": None, "b": 0.5}


def test_one_system_alone_is_refused() -> None:
    with pytest.raises(InputError, match="at least two systems"):
        pointwise_report(rated({"j": {"a": [MET, UNMET]}}), None, (), {})
