"""Which criteria can be trusted: the rule at its edges, the paragraph, one on every surface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli import main
from core.metrics.bias.effects import BOUNDS
from core.metrics.estimate import Estimate
from core.services.agreement import conclusion, load_ratings
from core.services.agreement.blocks.criteria import criteria_table
from core.services.agreement.blocks.headline import undecided_criteria
from core.services.agreement.conclusion import Conclusion, Known, labels_needed
from core.services.agreement.ratings import LABELS, PANEL
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.store.store import Store
from tests.new_store import new_store
from tests.pages.agreement.test_views import imported


def known(name: str, value: float, low: float, high: float, n: int = 100) -> Known:
    return Known(name, Estimate(value, low, high, n=n), Estimate(0.8, 0.71, 0.87, n=n), 0.6)


def test_the_bound_is_the_one_the_checks_call_hardly_agreeing() -> None:
    assert conclusion.BOUND == BOUNDS["agreement"].value == 0.4


@pytest.mark.parametrize(
    ("ends", "n", "standing"),
    [
        ((0.40, 0.70), 100, "trusted"),  # the whole interval lies from .40 up
        ((0.39, 0.70), 100, "undecided"),
        ((0.10, 0.40), 100, "undecided"),
        ((0.10, 0.39), 100, "not_trusted"),
        ((0.40, 0.70), 19, "too_few"),
        ((0.40, 0.70), 20, "trusted"),
    ],
)
def test_a_criterion_stands_by_its_whole_interval(
    ends: tuple[float, float], n: int, standing: str
) -> None:
    assert known("c", sum(ends) / 2, *ends, n=n).interval_conclusion == standing


def test_undecided_criteria_are_named_with_the_reason_of_each() -> None:
    criteria = (
        known("Wide", 0.5, 0.3, 0.7),
        known("Sure", 0.6, 0.5, 0.7),
        known("Drawn", 0.6, 0.5, 0.7),
        # Right on 80% (71 to 87%) of the answers; one answer alone is right on 75%.
        known("Common", 0.6, 0.5, 0.7)._replace(commonest=0.75),
    )
    unfair_labels = {"Drawn": ("easy cells only", False)}
    assert undecided_criteria(Conclusion(criteria, LABELS, PANEL, unfair_labels=unfair_labels)) == (
        "Undecided: Wide, kappa 0.50 (0.30 to 0.70): the interval crosses 0.40; "
        "Drawn, kappa 0.60 (0.50 to 0.70): its labels are not a fair sample; "
        "Common, kappa 0.60 (0.50 to 0.70): answers may be no more often right than the commonest "
        "one."
    )
    assert undecided_criteria(Conclusion(criteria[1:2], LABELS, PANEL)) == ""


def test_criteria_that_are_not_trusted_come_first_in_the_table_then_the_least_agreement() -> None:
    criteria = (
        known("Best", 0.9, 0.8, 0.95),
        known("Good", 0.6, 0.5, 0.7),
        Known("None", Estimate.undefined("No answers."), None),
        known("Wide", 0.65, 0.3, 0.9),
        known("Bad", 0.1, 0.0, 0.2),
    )
    table = criteria_table(criteria, Conclusion(criteria, LABELS, PANEL))
    assert [row[0].text for row in table.rows] == ["Bad", "Wide", "None", "Good", "Best"]


def test_who_is_surely_beaten_by_the_commonest_answer_is_not_trusted() -> None:
    # 30% right, at most 37%; always the most common of 200 would be right on 60%, at least on
    # 53% (Wilson): below it, whatever quadratic kappa says.
    one = Known("c", Estimate(0.6, 0.5, 0.7, n=200), Estimate(0.3, 0.24, 0.37, n=200), 0.6)

    assert one.interval_conclusion == "not_trusted"
    assert "c (right on 30%, 24% to 37%; always the most common answer: 60%)" in (
        Conclusion((one,), LABELS, PANEL).sentence
    )


def test_answers_that_are_no_better_than_the_commonest_one_are_not_trusted_for_their_order() -> (
    None
):
    # Right on 45%, at least on 39%; always the most common answer on 43%. Levels are in order.
    one = Known(
        "c", Estimate(0.7, 0.6, 0.8, n=200), Estimate(0.45, 0.39, 0.52, n=200), 0.43, ordered=True
    )

    assert one.interval_conclusion == "undecided"
    assert (
        "c (quadratic kappa 0.70, 0.60 to 0.80; right on 45%, 39% to 52%; always the "
        "most common answer on 43%)"
    ) in Conclusion((one,), LABELS, PANEL).sentence


def test_answers_that_are_more_often_wrong_than_right_are_not_trusted_for_their_order() -> None:
    # Right on 41%, significantly more than the 30% of the most common answer; levels are in order.
    one = Known(
        "c", Estimate(0.7, 0.6, 0.8, n=200), Estimate(0.41, 0.35, 0.48, n=200), 0.3, ordered=True
    )

    assert one.interval_conclusion == "undecided"
    assert labels_needed(one) is None
    assert "c (quadratic kappa 0.70, 0.60 to 0.80; right on 41%, 35% to 48%)" in (
        Conclusion((one,), LABELS, PANEL).sentence
    )


def test_more_labels_than_there_are_items_are_said_to_be_more() -> None:
    term = known("Term", 0.50, 0.35, 0.65)
    said = Conclusion((term,), LABELS, PANEL, items=300).advice
    assert "about 460 items with a label and an answer in all (there are 300 items here)" in said
    assert "here)" not in Conclusion((term,), LABELS, PANEL, items=460).advice


def test_nothing_is_trusted_by_labels_that_are_no_fair_sample() -> None:
    why = "all judges agree on 96% of cells with a label, and on 29% of the others"
    found = Conclusion(
        (known("Cause", 0.71, 0.55, 0.86),),
        LABELS,
        PANEL,
        unfair_labels={"Cause": (why, False)},
    )

    assert found.sentence.startswith(
        "Trust the panel's verdicts on none of 1 criterion. Undecided on 1: Cause (kappa 0.71"
    )
    assert f"Nothing is trusted by these labels, because they are not a fair sample: {why}." in (
        found.sentence
    )


def test_without_an_interval_nothing_is_told_and_the_reason_is_said() -> None:
    one = Known("c", Estimate.undefined("Both used a single level.", 50))

    assert one.interval_conclusion == "unknown"
    said = Conclusion((one,), LABELS, PANEL).sentence
    assert said == (
        "Trust the panel's verdicts on none of 1 criterion. No result for c: Both used a single "
        "level."
    )


def test_the_labels_that_would_decide_follow_from_the_width_of_the_interval() -> None:
    # .50 lies .10 above the bound, its interval reaches .15 down: (.15 / .10)^2 * 100 = 225 for an
    # even chance; for 80 of 100 times (2.80 / 1.96)^2 = 2.04, 460.
    assert labels_needed(known("c", 0.50, 0.35, 0.65)) == 460
    # .30 lies .10 below it, .20 up: 4 * 100 * 2.04.
    assert labels_needed(known("c", 0.30, 0.10, 0.50)) == 820
    # .41 with .16 down would take 256 times as many: no advice.
    assert labels_needed(known("c", 0.41, 0.25, 0.57)) is None
    assert labels_needed(known("c", 0.60, 0.45, 0.75)) is None


def test_the_paragraph_says_what_to_trust_why_and_what_would_help() -> None:
    found = Conclusion(
        (
            known("Cause", 0.71, 0.55, 0.86),
            known("Style", 0.12, 0.02, 0.22),
            known("Term", 0.50, 0.35, 0.65),
            known("Rare", 0.50, 0.10, 0.90, n=12),
        ),
        LABELS,
        PANEL,
    )

    assert found.sentence == (
        "Trust the panel's verdicts on 1 of 4 criteria: Cause (kappa 0.71, 0.55 to 0.86; right on "
        "80%). Do not trust them on 1: Style (kappa 0.12, 0.02 to 0.22; right on 80%). Undecided "
        "on 1: Term (kappa 0.50, 0.35 to 0.65; right on 80%). Too few items with a label and an "
        "answer to tell on 1, 20 are needed: Rare (12). Kappa is agreement with the labels "
        "beyond chance: 0 is chance, 1 perfect. Trusted: its whole 95% interval is 0.40 or "
        "higher, and answers are right significantly more often than wrong, and than always "
        "giving the most common one. Not trusted: the interval is below 0.40. Undecided: "
        "anything else. What would help: "
        "read the items on which the panel's verdicts and the labels differ for Style and say in "
        "the criterion what decides them; about 460 items with a label and an answer in all would "
        "decide Term in 80 of 100 cases, if its kappa stays as it is; at least 20 items with a "
        "label and an answer on each criterion."
    )
    data = found.as_data()
    assert (data["trusted"], data["not_trusted"], data["undecided"], data["too_few"]) == (
        ["Cause"],
        ["Style"],
        ["Term"],
        ["Rare"],
    )


def test_without_labels_judges_are_beside_each_other_and_that_is_said() -> None:
    found = conclusion.conclusion_of_alphas(["Cause"], [Estimate(0.7, 0.6, 0.8, n=60)])

    assert found.sentence.startswith(
        "There are no labels, so it is unknown which verdicts are right. Among each other, judges "
        "agree on 1 of 1 criterion: Cause (Krippendorff's alpha 0.70, 0.60 to 0.80)."
    )
    assert found.sentence.endswith("What would help: label 20 items or more, picked at random.")


def test_no_more_than_three_criteria_of_a_standing_are_named() -> None:
    ones = tuple(known(f"c{at}", 0.9 - at / 100, 0.5, 0.95) for at in range(5))

    said = Conclusion(ones, LABELS, PANEL).sentence
    assert "5 of 5 criteria, the least agreement first: c4 (kappa 0.86" in said
    assert "c2 (kappa 0.88, 0.50 to 0.95; right on 80%) and 2 more." in said
    assert "c1" not in said


@pytest.mark.parametrize("labelled", [True, False])
def test_page_report_and_metrics_say_the_same_words(tmp_path: Path, labelled: bool) -> None:
    store: Store = new_store(tmp_path / "studio.db")
    run = imported(store, {"one": "imported", "two": "imported"}, labelled=labelled)
    said = conclusion.conclusion_on(load_ratings.sheet_of_run(store, run)).sentence

    told = CliRunner().invoke(
        main, ["metrics", str(run), "--bootstrap", "1000", "--json", "--db", str(store.path)]
    )
    assert json.loads(told.stdout)["conclusion"]["sentence"] == said
    made = report_run(store, run)
    assert made.conclusion is not None
    assert made.conclusion.sentence == said
    sections = [section.title for section in report_as_paper(made).sections]
    assert sections[:2] == ["What was asked", "What came out"]
    assert "How sure that is" in sections
    store.close()
