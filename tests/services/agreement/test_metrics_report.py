"""Measuring a folder or a run: the contract's shape, people and judges alike, what is missing."""

import math

import pytest

from core.errors import InputError
from core.metrics.estimate import Confidence
from core.services.agreement.load_ratings import folder_ratings, sheet_of_ratings
from core.services.agreement.metrics_report import METHOD
from core.services.agreement.metrics_report import metrics_report as report_of
from core.services.agreement.overall import overall_of_sheet
from core.services.agreement.ratings import LABELS
from tests.services.measured import GROUP, PAIR, VOTES, measured, written


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "answers", VOTES)


def test_the_report_has_the_keys_of_the_contract(folder):
    report = measured(folder)
    assert list(report) == ["trust", "criteria", "score", "overall", "alt_test"]
    for criterion in report["criteria"].values():
        assert set(criterion) == {"scale", "levels", "groups", "raters", "panel"}
        for group in criterion["groups"].values():
            assert GROUP <= set(group) <= GROUP | {"undefined", "majority"}
        versus = {"vs_human_majority", "vs_human_mean_level", "vs_gold"}
        assert all(set(rater) == versus for rater in criterion["raters"].values())
        assert set(criterion["panel"]) == {"vs_human_majority", "vs_gold"}
        for pair in [p for r in criterion["raters"].values() for p in r.values()]:
            assert PAIR <= set(pair) <= PAIR | {"undefined", "more"}


def test_people_are_counted_with_their_abstentions_and_failures_apart(folder):
    groups = measured(folder)["criteria"]["depth"]["groups"]
    human, judge = groups["human"], groups["llm"]
    counts = ("items", "raters", "ratings", "items_with_2plus", "abstained", "failed")
    assert [human[key] for key in counts] == [3, 2, 5, 2, 1, 0]
    assert [judge[key] for key in counts] == [3, 1, 3, 0, 1, 0]
    assert human["percent_agreement"] == 0.5  # a differs, d agrees
    assert human["label_distribution"] == {"low": 3, "mid": 1, "high": 1}
    assert measured(folder)["criteria"]["right"]["groups"]["llm"]["failed"] == 1


def test_a_judge_meets_the_unique_majority_and_the_labels(folder):
    raters = measured(folder)["criteria"]["right"]["raters"]
    # Majorities: a MET, d UNMET (b tied; the judge failed on c). Judge: MET, MET.
    major = raters["J"]["vs_human_majority"]
    assert (major["n"], major["accuracy"], major["confusion"]) == (2, 0.5, [[1, 0], [1, 0]])
    # Labels of a, b, d: MET, UNMET, UNMET; the judge says MET three times.
    gold = raters["J"]["vs_gold"]
    assert (gold["n"], gold["confusion"]) == (3, [[1, 0], [2, 0]])
    assert gold["more"]["false_positive_rate"] == 1
    assert gold["cohen_kappa"] == 0  # one side constant: nothing beyond chance
    assert gold["undefined"]["spearman"].startswith("One of the two")


def test_a_person_meets_the_others_and_not_the_own_vote(folder):
    ann = measured(folder)["criteria"]["right"]["raters"]["ann"]
    # Bob rated a MET, b MET, d UNMET; ann says MET, UNMET, UNMET.
    assert ann["vs_human_majority"]["confusion"] == [[1, 1], [0, 1]]
    assert ann["vs_human_mean_level"]["n"] == 3


def test_a_mean_level_has_distances_but_no_counts(folder):
    mean = measured(folder)["criteria"]["depth"]["raters"]["J"]["vs_human_mean_level"]
    # Means 1.5, 0, 0 of a, c, d; the judge 2, 1, 2: differences .5, 1, 2.
    assert (mean["n"], mean["bias_levels"]) == (3, pytest.approx(3.5 / 3))
    assert mean["rmse_levels"] == pytest.approx((5.25 / 3) ** 0.5)
    assert mean["confusion"] is None
    assert "not a level" in mean["undefined"]["accuracy"]


def test_scores_of_whole_items(folder):
    score = measured(folder)["score"]
    # J scores a (MET, high) 1; b (MET, abstained) 1; d (MET, high) 1; c failed on one criterion.
    # People complete: ann on all, a 1, b 0, c 0, d 0; bob a (MET, mid) 3.5/4, d 0.
    judge = score["raters"]["J"]["vs_human_mean"]
    assert judge["n"] == 3
    assert judge["bias"] == pytest.approx((1 - (1 + 3.5 / 4) / 2 + 1 + 1) / 3)
    assert score["raters"]["J"]["vs_gold"]["n"] == 1  # only a has a label for every criterion
    assert set(score["panel"]) == {"vs_human_mean", "vs_gold"}


@pytest.mark.parametrize(
    ("reference", "keys"),
    [
        ("human", {"vs_human_majority", "vs_human_mean_level"}),
        ("gold", {"vs_gold"}),
        ("ann", {"vs_reference"}),
    ],
)
def test_the_reference_can_be_chosen(folder, reference, keys):
    report = measured(folder, reference)
    assert report["reference"] == reference
    right = report["criteria"]["right"]
    assert set(right["raters"]["J"]) == keys
    assert set(right["panel"]) == keys - {"vs_human_mean_level"}
    assert ("ann" in right["raters"]) == (reference != "ann")
    of_scores = {"vs_human_mean"} if reference == "human" else keys
    assert set(report["score"]["raters"]["J"]) == of_scores


def test_an_unknown_reference_is_refused_with_the_names_there_are(folder):
    with pytest.raises(InputError, match="ann, bob, J"):
        measured(folder, "eve")


def test_intervals_stand_beside_their_figures_and_repeat_with_the_seed(folder):
    report = measured(folder, None, 200, 4)
    assert report == measured(folder, None, 200, 4)
    assert report != measured(folder, None, 200, 5)
    pair = report["criteria"]["right"]["raters"]["ann"]["vs_gold"]
    low, high = pair["ci"]["accuracy"]
    assert low <= pair["accuracy"] <= high
    assert report["bootstrap"]["resamples"] == 200


def test_a_surer_interval_is_wider_and_says_its_level_and_method(folder):
    def ends(level, method="auto"):
        report = measured(folder, bootstrap=200, confidence=Confidence(level, method))
        assert (report["bootstrap"]["level"], report["bootstrap"]["method"]) == (
            level,
            METHOD if method == "auto" else method,
        )
        pair = report["criteria"]["right"]["raters"]["J"]["vs_gold"]
        together = report["overall"]["raters"]["J"]["vs_gold"]["ci"]["accuracy"]
        score = report["score"]["raters"]["J"]["vs_human_mean"]["ci"]["mae"]
        return pair["ci"]["mae_levels"], together, score

    for method in ("auto", "percentile", "basic"):
        for narrow, wide in zip(ends(0.5, method), ends(0.99, method), strict=True):
            assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
    # The basic interval is the percentile one turned round at the figure.
    figure = measured(folder)["overall"]["raters"]["J"]["vs_gold"]["accuracy"]
    (_, plain, _), (_, turned, _) = ends(0.9, "percentile"), ends(0.9, "basic")
    assert turned == pytest.approx([2 * figure - plain[1], 2 * figure - plain[0]])


def test_how_evenly_labels_are_used_and_how_differently_scores_are_spread(folder):
    report = measured(folder)
    # People on depth: high, mid, low, low, low of three levels.
    shares = [3 / 5, 1 / 5, 1 / 5]
    expected = -sum(one * math.log(one) for one in shares) / math.log(3)
    assert report["criteria"]["depth"]["groups"]["human"]["label_entropy"] == pytest.approx(
        expected
    )
    # J against gold: items a and d have both (b and c lack an answer). MET 3 and depth of 1: a is 1
    # for both; d is labelled UNMET without depth, so a is the only one.
    score = report["score"]["raters"]["J"]["vs_gold"]
    assert (score["n"], score["emd"], score["ks"], score["ks_p"]) == (1, 0, 0, 1)


def test_all_criteria_together_are_the_same_on_the_sheet_and_in_the_report(folder):
    rated = folder_ratings(folder)
    one = overall_of_sheet(sheet_of_ratings(rated), LABELS, "judge:J", resamples=100, seed=3)
    assert one.as_data() == report_of(rated, None, 100, 3)["overall"]["raters"]["J"]["vs_gold"]
