"""Who is severe, in words and as data."""

from __future__ import annotations

import numpy as np
import pytest

from core.metrics.estimate import Estimate
from core.services.rating_models.rater_table import RatedQuestion, RaterTable
from core.services.rating_models.severity import (
    FairScore,
    fair_rows,
    severity_data,
    severity_study,
    severity_summary,
)

_rng = np.random.default_rng(2)
N = 80
QUALITY = _rng.normal(0, 1.2, N)
#: Points that each rater gives more than the quality has; Sue's answers are her own.
LEANS = {"Ann": -0.9, "Ben": 0.0, "Cem": 0.0, "Dot": 0.9}


def levels() -> np.ndarray:  # type: ignore[type-arg]
    place = QUALITY[:, None] + np.array(list(LEANS.values())) + _rng.normal(0, 0.6, (N, 4))
    return np.clip(np.round(place + 2), 0, 4).astype(np.int64)


RATED = levels()
RISING = (0.0, 0.25, 0.5, 0.75, 1.0)


def table(rated: np.ndarray = RATED, values: tuple[float, ...] = RISING) -> RaterTable:  # type: ignore[type-arg]
    items = tuple(f"i{at}" for at in range(N))
    names = (*LEANS, *(["Sue"] if rated.shape[1] > 4 else []))
    return RaterTable(items, names, (RatedQuestion("tone", values, rated),))


def test_strict_and_mild_raters_are_named_with_what_they_give() -> None:
    found = severity_study(table())
    names = [name for name, _ in found.raters]
    assert (names[0], names[-1]) == ("Ann", "Dot")
    said = severity_summary(found)
    assert said.startswith("Ann is stricter than the average rater and gives ")
    assert "% of the scale less for the same work; Dot is milder" in said
    shift = dict(found.raters)["Dot"].shift.value
    # Everybody rated everything, so that it is nearly how far plain means are apart.
    assert shift == pytest.approx((RATED[:, 3].mean() - RATED.mean()) / 4, abs=0.02)


def test_levels_listed_from_the_best_give_the_same() -> None:
    turned = severity_study(table(4 - RATED, RISING[::-1]))
    assert [name for name, _ in turned.raters] == [
        name for name, _ in severity_study(table()).raters
    ]


def test_an_item_that_only_strict_raters_saw_is_put_right() -> None:
    some = RATED.copy()
    some[:40, 1:] = -1  # Ann alone
    found = {one.item: one for one in severity_study(table(some)).items}
    gained = [(found[f"i{at}"].fair.value or 0) - (found[f"i{at}"].mean or 0) for at in range(40)]
    assert np.mean(gained) > 0.05
    fair = found["i0"].fair
    assert (found["i0"].raters, fair.n) == (1, 1)
    assert (fair.low or 0) < (fair.value or 0) < (fair.high or 0)


def test_every_item_has_a_fair_score_in_json_and_in_rows_or_the_reason_why_not() -> None:
    some = np.concatenate([RATED[:-1], np.full((1, 4), -1)])
    two = table(some)
    two = two._replace(questions=(*two.questions, two.questions[0]._replace(name="logic")))
    told = severity_data(two)
    assert list(told["criteria"]) == ["tone", "logic"]
    first, last = told["overall"]["fair"]["i0"], told["overall"]["fair"][f"i{N - 1}"]
    # Two criteria, four raters; what they gave, as a share of four steps.
    assert (first["raters"], first["n"]) == (4, 8)
    assert first["mean"] == pytest.approx(RATED[0].mean() / 4)
    assert first["fair_ci"][0] < first["fair"] < first["fair_ci"][1]
    why = "None of these raters rated it."
    assert (last["fair"], last["undefined"]) == (None, {"fair": why, "mean": why})
    rows = list(fair_rows(two))
    assert [len([r for r in rows if r["criterion"] == name]) for name in ("", "logic")] == [N, N]
    assert rows[0] == {
        "item_id": "i0", "criterion": "", "fair": first["fair"], "low": first["fair_ci"][0],
        "high": first["fair_ci"][1], "level": 0.95, "mean": first["mean"], "raters": 4, "n": 8,
        "remark": "",
    }  # fmt: skip
    assert (rows[N - 1]["fair"], rows[N - 1]["remark"]) == (None, why)
    # Wider where the interval shall hold more often.
    sure = next(iter(fair_rows(two, 0.99)))
    assert sure["low"] < rows[0]["low"]
    assert sure["level"] == 0.99


def test_without_a_model_every_row_says_why() -> None:
    alone = table(RATED[:, :1])._replace(raters=("Ann",))
    assert {row["remark"] for row in fair_rows(alone)} == {"Severity takes two raters or more."}
    assert (
        severity_data(alone)["overall"]["undefined"]["fair"] == "Severity takes two raters or more."
    )


def test_a_rater_who_goes_by_something_else_is_odd() -> None:
    noise = _rng.integers(0, 5, (N, 1))
    found = severity_study(table(np.concatenate([RATED, noise], axis=1)))
    assert "Sue answers in ways that the others' ratings do not explain." in severity_summary(found)
    told = severity_data(table(np.concatenate([RATED, noise], axis=1)))["overall"]["raters"]
    assert told["Sue"]["odd"] is True
    assert told["Ann"]["shift"] < 0 < told["Ann"]["severity"]


def test_of_very_many_items_a_part_is_drawn_that_is_always_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.services.rating_models.severity.MOST_ITEMS", 50)
    found = severity_study(table())
    assert {one.ratings for _, one in found.raters} == {50}
    assert found == severity_study(table())
    # Every item has its fair score all the same.
    assert len(found.items) == N
    assert all(one.fair.n == 4 for one in found.items)
    whole = table()
    part = whole.drawn_items(50, "severity")
    assert [whole.items.index(item) for item in part.items] == sorted(
        whole.items.index(item) for item in part.items
    )
    at = whole.items.index(part.items[7])
    assert (part.questions[0].levels[7] == RATED[at]).all()


def test_without_levels_in_order_or_raters_it_says_why() -> None:
    assert "No criterion has levels with an order." in severity_summary(
        severity_study(table()._replace(questions=()))
    )
    one = table(RATED[:, :1])._replace(raters=("Ann",))
    assert "takes two raters or more" in severity_summary(severity_study(one))
    # Answers to the same question again are the same rater's.
    again = table(RATED[:, :2])._replace(raters=("Ann|0", "Ann|1"))
    assert "takes two raters or more" in severity_study(again).reason


@pytest.mark.parametrize(
    ("low", "high", "mean", "sure"),
    [
        (0.3, 0.7, 0.4, False),
        (0.3, 0.7, 0.2, True),
        (0.3, 0.7, 0.8, True),
        (None, None, 0.4, False),
        # A fair score never reaches the end of the scale: shown as "to 1.00", it holds 1.
        (0.57, 0.998, 1.0, False),
    ],
)
def test_a_score_is_surely_changed_where_its_interval_leaves_out_what_raters_gave(
    low: float | None, high: float | None, mean: float, sure: bool
) -> None:
    assert FairScore("i0", Estimate(0.5, low, high, n=3), mean, 3).surely_changed is sure


def test_no_score_is_surely_changed_where_no_rater_is_surely_strict() -> None:
    moved = FairScore("i0", Estimate(0.5, 0.4, 0.6, n=3), 0.2, 3)
    found = severity_study(table())._replace(items=(moved,))
    assert found.surely_changed == (moved,)
    # Scores are still drawn towards what items are on the whole, and not by severity.
    alike = tuple((name, one._replace(surely=0)) for name, one in found.raters)
    assert found._replace(raters=alike).surely_changed == ()


def test_raters_who_are_not_surely_apart_stay_in_the_order_in_which_they_are_listed() -> None:
    """Four raters alike: an order by estimates would be one of chance. Nobody is named, either."""
    alike = np.clip(np.round(QUALITY[:, None] + 2 + _rng.normal(0, 0.6, (N, 4))), 0, 4)
    found = severity_study(table(alike.astype(np.int64)))
    shifts = [one.shift.value for _, one in found.raters]
    assert [name for name, _ in found.raters] == list(LEANS)
    assert shifts != sorted(shifts, key=lambda value: value or 0.0)
    assert severity_summary(found).startswith("No rater is significantly stricter or milder")
