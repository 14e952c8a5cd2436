"""What a report says of a run, and what it says it cannot say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.metrics.estimate import Estimate
from core.services.agreement import load_ratings, rater_pairs, ratings
from core.services.reports import report_lines
from core.services.reports.limits import limits_of
from core.services.reports.run_report import RunReport, report_run
from core.store.store import Store
from tests.pages.graded import graded, planned
from tests.services.reports.made import MADE, decided


def said(found: RunReport, words: str) -> bool:
    return any(words in one for one in found.limits)


def test_scores_slices_and_outcomes_are_those_of_the_items(store: Store) -> None:
    found = report_run(store, decided(store), created=MADE)

    # 5 of 20 items are MET (1), the others UNMET (0): the mean is 5 / 20.
    assert found.scores.mean.value == 0.25
    assert (found.least, found.median, found.most) == (0.0, 0.0, 1.0)
    assert found.scores.outcomes["pass"] == Estimate.share(5, 20)
    assert found.scores.outcomes["fail"].hits == 15
    # Wilson for 5 of 20 at 95%: (0.25 + 1.9208/20 -+ 1.96 sqrt(...)) / (1 + 3.8415/20).
    assert found.scores.outcomes["pass"].low == pytest.approx(0.1119, abs=5e-5)
    assert found.scores.outcomes["pass"].high == pytest.approx(0.4687, abs=5e-5)
    # All five are of system x, which has 10 items.
    means = {one.name: (one.scored, one.mean.value) for one in found.systems}
    assert means == {"x": (10, 0.5), "y": (10, 0.0)}
    assert [n for *_, n in found.bins if n] == [15, 5]


def test_no_item_is_both_among_the_best_and_the_worst(store: Store) -> None:
    found = report_run(store, decided(store, 12), created=MADE)

    # Of 12 items 9 have the score 0, of which five are among the worst and two among the best.
    worst, best = ({one.id for one in ones} for ones in (found.worst, found.best))
    assert len(worst) == len(best) == 5
    assert not worst & best


def test_the_interval_of_the_mean_is_that_of_a_share(store: Store) -> None:
    mean = report_run(store, decided(store, 400), created=MADE).scores.mean

    # A quarter of 400: 0.25 -+ 1.96 sqrt(0.25 * 0.75 / 400) = 0.2076 to 0.2924.
    assert mean.low == pytest.approx(0.2076, abs=0.006)
    assert mean.high == pytest.approx(0.2924, abs=0.006)


def test_verdicts_are_compared_with_labels_beside_the_commonest_answer(store: Store) -> None:
    (line,) = report_run(store, decided(store), created=MADE).criteria

    # The judge gives exactly the labels; the most common label (UNMET) is right on 15 of 20.
    assert (line.labelled, line.accuracy.value, line.commonest.value) == (20, 1.0, 0.75)
    assert line.kappa.value == 1.0
    assert line.verdicts == (5, 15)
    assert line.alpha.value is None


def test_verdicts_that_are_worse_than_the_commonest_answer_are_called_worse(store: Store) -> None:
    whole = report_run(store, decided(store), created=MADE)
    (line,) = whole.criteria
    # 223 items: 38 right are 17% (13 to 22%), always saying the most common label 57% (127).
    worse = replace(
        line,
        labelled=223,
        accuracy=Estimate(38 / 223, 0.13, 0.22, n=223),
        commonest=Estimate(127 / 223, n=223),
    )
    # 3 of 3 labels are alike and no verdict is right: it may be chance.
    few = replace(
        line,
        name="few",
        labelled=3,
        accuracy=Estimate(0.0, 0.0, 0.71, n=3),
        commonest=Estimate(1.0),
    )
    said = limits_of(replace(whole, criteria=(worse, few)))
    assert (
        "Verdicts are less often right than always giving the most common answer would be, on "
        "short (17%, 95% interval 13% to 22%, against 57%)."
    ) in said
    assert (
        "It is not sure that verdicts are more often right than always giving the most common "
        "answer would be, on few."
    ) in said


def test_failures_and_abstentions_are_counted_apart(store: Store) -> None:
    found = report_run(store, graded(store), created=MADE)

    # The table of tests.pages.graded: 12 cells, 10 answered (2 of them abstentions), 2 no key.
    assert (found.counts.planned, found.counts.votes, found.counts.abstentions) == (12, 10, 2)
    assert found.counts.failures == {"missing_key": 2}
    assert [(r.name, r.answers, r.abstained, r.failed) for r in found.raters] == [
        ("ann", 3, 1, 2),
        ("bob", 5, 1, 0),
    ]
    # Four calls of $0.50: ann's votes.
    assert (found.counts.calls, found.counts.cost) == (4, 2.0)


def test_each_judges_own_score_follows_the_rubric(store: Store) -> None:
    raters = {r.name: r for r in report_run(store, graded(store), created=MADE).raters}

    # bob: a = (0 + 1) / 2, b = MET with Depth left out = 1, c = (0 + .5) / 2; mean 1.75 / 3.
    assert raters["bob"].mean.value == pytest.approx(1.75 / 3)
    # ann answered a and b whole: (1 + 1) / 2 = 1 and 1.
    assert (raters["ann"].scored, raters["ann"].mean.value) == (2, 1.0)


def test_limits_follow_from_the_facts(store: Store) -> None:
    found = report_run(store, decided(store), created=MADE)

    assert said(found, "Only 20 items have a score")
    assert said(found, "Only one judge voted")
    assert said(found, "asked each question once")
    assert said(found, "Labels are taken as the truth")
    # What does not hold is not said.
    for words in ("failed", "abstentions", "No item has a label", "same model", "language model"):
        assert not said(found, words)


def test_without_labels_nothing_is_said_about_being_right(store: Store) -> None:
    found = report_run(store, decided(store, 60, labelled=False), created=MADE)

    assert found.reference == ""
    assert found.criteria[0].accuracy.value is None
    assert said(found, "No item has a label.")
    assert not said(found, "Labels are taken")
    assert not said(found, "items have a score")


def test_one_item_has_a_mean_and_no_interval(store: Store) -> None:
    found = report_run(store, decided(store, 1), created=MADE)

    assert found.scores.mean.value == 1.0
    assert found.scores.mean.low is None
    assert found.scores.mean.reason == "One item alone cannot tell how far off it may be."
    assert said(found, "Only one item has a score")


def test_a_run_without_votes_has_a_report_that_says_so(store: Store) -> None:
    found = report_run(store, planned(store), created=MADE)

    assert found.scores.mean.value is None
    assert said(found, "No item has a score")
    assert said(found, "has not started: 0 of 12 planned votes")
    assert found.worst == ()


def test_a_report_is_plain_data(store: Store) -> None:
    found = report_run(store, graded(store), created=MADE)

    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["scores"]["mean"]["value"] == found.scores.mean.value
    assert again["setup"]["judges"][0]["name"] == "ann"
    assert "NO_SUCH_KEY" not in json.dumps(again["setup"])


def test_a_figure_has_the_interval_that_it_has_on_the_agreement_page(store: Store) -> None:
    run_id = graded(store)
    sheet = load_ratings.sheet_of_run(store, run_id)
    for line, there in zip(
        report_run(store, run_id).criteria,
        rater_pairs.compare_pair(sheet, ratings.LABELS, ratings.PANEL),
        strict=True,
    ):
        assert (line.name, line.accuracy, line.kappa) == (there.name, there.accuracy, there.kappa)
        # Always saying the most common answer is measured on the items that accuracy is.
        assert line.commonest.n == line.accuracy.n == line.labelled


def test_criteria_beyond_the_most_are_in_no_table_but_count_for_raters_and_labels(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = graded(store)
    full = report_run(store, run_id, created=MADE)
    monkeypatch.setattr(report_lines, "MOST_CRITERIA", 1)
    cut = report_run(store, run_id, created=MADE)

    assert ([line.name for line in cut.criteria], cut.more_criteria) == (["Clear"], 1)
    assert cut.raters == full.raters
    assert cut.reference_scores == full.reference_scores
    assert cut.labelled_items == full.labelled_items
