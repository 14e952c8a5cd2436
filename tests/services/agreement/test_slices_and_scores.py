"""A part of the items, one pair closely, and scores of whole items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.metrics.agreement.scores import pair_up
from core.metrics.estimate import Confidence
from core.services.agreement import (
    confusion,
    load_ratings,
    rater_pairs,
    rating_sheet,
    score_agreement,
)
from core.services.agreement.blocks.criteria import left_out_words
from core.services.agreement.group_figures import Draws, group_figures, score_intervals
from core.services.agreement.rating_sheet import Sheet, Slice, Traits
from core.services.agreement.ratings import ABSTAINED, FAILED, LABELS, PANEL, CriterionRatings
from core.store.store import Store
from tests.pages.graded import graded

ANN, BOB = "judge:ann", "judge:bob"


def made(labels: list[int], judge: list[int], scale: str, k: int) -> Sheet:
    """One judge against labels."""
    columns = {LABELS: np.array(labels), PANEL: np.array(judge), ANN: np.array(judge)}
    asked = CriterionRatings("c", scale, tuple("wxyz"[:k]), columns, "c", tuple(range(k)))  # type: ignore[arg-type]
    traits = tuple(
        Traits("xy"[at % 2], ("long", "new") if at % 3 == 0 else ("new",), "evaluation")
        for at in range(len(labels))
    )
    items = tuple(f"i{at}" for at in range(len(labels)))
    return Sheet(items, (ANN,), (asked,), traits=traits, whole=len(labels))


SIX = made([0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0], "binary", 2)


def test_items_can_be_chosen_by_what_not_all_of_them_have() -> None:
    found = rating_sheet.slice_choices(SIX)

    # Every item is new and in evaluation, so neither is a choice.
    assert found.systems == (("x", 3), ("y", 3))
    assert found.tags == (("long", 2),)
    assert found.splits == ()
    assert found.known(Slice(("long", "gone"), ("z",), "calibration")) == Slice(("long",))


def test_a_part_has_the_answers_of_its_items_only_and_all_choices_must_fit() -> None:
    part = rating_sheet.sheet_slice(SIX, Slice(tags=("long",), systems=("x",)))

    # Long: 0 and 3; of system x: 0, 2, 4.
    assert (part.items, part.whole) == (("i0",), 6)
    assert part.criteria[0].columns[ANN].tolist() == [0]
    assert rating_sheet.sheet_slice(SIX, Slice()) is SIX
    assert rating_sheet.sheet_slice(SIX, Slice(systems=("x", "y"))).items == SIX.items


def test_the_cells_of_a_part_hold_items_of_the_part() -> None:
    part = rating_sheet.sheet_slice(SIX, Slice(systems=("y",)))

    assert confusion.items_in(SIX, "c", LABELS, ANN, 0, 1) == ("i1",)
    assert confusion.items_in(part, "c", LABELS, ANN, 0, 0) == ()
    assert confusion.items_in(part, "c", LABELS, ANN, 1, 1) == ("i3",)


def test_a_part_without_items_has_nothing_to_measure() -> None:
    part = rating_sheet.sheet_slice(SIX, Slice(split="calibration"))

    assert part.items == ()


def test_one_pair_closely_has_what_fits_the_scale_first() -> None:
    close = rater_pairs.pair_details(SIX, "c", LABELS, ANN)

    found = dict(close.first)
    # Table [[2, 1], [1, 2]]: accuracy 4/6, kappa (2/3 - 1/2) / (1/2).
    assert found["accuracy"].value == pytest.approx(2 / 3)
    assert found["cohen_kappa"].value == pytest.approx(1 / 3)
    # AC1: both sides use MET half the time, so pe = 2 * .5 * .5 = .5 (Gwet 2008).
    assert found["gwet_ac1"].value == pytest.approx(1 / 3)
    # Alpha: 12 values, 6 of each; Do = 4/12, De = 2 * 36 / 132.
    assert found["krippendorff_alpha_nominal"].value == pytest.approx(1 - (1 / 3) / (72 / 132))
    # One of three MET called UNMET, and the other way round.
    assert found["false_negative_rate"].value == pytest.approx(1 / 3)
    assert found["false_positive_rate"].value == pytest.approx(1 / 3)
    low, high = found["krippendorff_alpha_nominal"].low, found["krippendorff_alpha_nominal"].high
    assert low is not None
    assert high is not None
    assert low < 1 - (1 / 3) / (72 / 132) < high


def test_what_does_not_fit_the_scale_says_why() -> None:
    rest = dict(
        rater_pairs.pair_details(made([0, 1, 2], [0, 2, 2], "nominal", 3), "c", LABELS, ANN).rest
    )

    assert rest["kappa_quadratic"].value is None
    assert rest["kappa_quadratic"].reason == "The levels of a nominal criterion have no order."
    assert rest["gwet_ac2_quadratic"].reason == rest["kappa_quadratic"].reason


def test_what_is_left_out_of_a_pair_is_counted() -> None:
    sheet = made([0, 1, 1, 0], [0, ABSTAINED, FAILED, 1], "binary", 2)

    close = rater_pairs.pair_details(sheet, "c", LABELS, ANN)

    assert (close.n, close.abstained, close.failed, close.tied) == (2, 1, 1, 0)


def test_items_whose_label_says_that_they_cannot_be_assessed_are_counted() -> None:
    sheet = made([0, 1, ABSTAINED, ABSTAINED, ABSTAINED], [0, ABSTAINED, 1, 0, FAILED], "binary", 2)

    (line,) = rater_pairs.compare_pair(sheet, LABELS, ANN)

    # Of the three such labels the rater answered two items; those are left out beside one
    # abstention of the rater itself.
    assert (line.n, line.abstained, line.unassessed) == (1, 1, 2)
    assert left_out_words([line]) == {"c": "1 abstained, 2 cannot assess"}


def test_options_have_their_own_precision_and_recall() -> None:
    met, unmet = rater_pairs.pair_details(SIX, "c", LABELS, ANN).options

    assert (met.label, met.true, met.given) == ("w", 3, 3)
    assert (met.precision.value, met.recall.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert unmet.f1.value == pytest.approx(2 / 3)


def test_everybody_is_scored_by_the_rubric_on_items_that_are_answered_whole(store: Store) -> None:
    run = graded(store)
    sheet = load_ratings.sheet_of_run(store, run)

    scores = score_agreement.scores_of(store, run, sheet)

    # Two criteria of weight 10. bob: a UNMET and Deep: (0 + 1) / 2; b MET, Depth abstained and
    # skipped: 1; c UNMET and Some: (0 + .5) / 2. ann: a MET and Deep: 1; b 1; c was not answered.
    assert scores.columns[BOB].values.tolist() == pytest.approx([0.5, 1, 0.25])
    assert scores.columns[ANN].known.tolist() == [True, True, False]
    assert scores.columns[ANN].values[:2].tolist() == pytest.approx([1, 1])
    # Only a has both labels: MET and Some.
    assert scores.columns[LABELS].known.tolist() == [True, False, False]
    assert scores.columns[LABELS].values[0] == pytest.approx(0.75)


def test_scores_of_a_pair_have_bias_and_limits(store: Store) -> None:
    run = graded(store)
    sheet = load_ratings.sheet_of_run(store, run)
    scores = score_agreement.scores_of(store, run, sheet)

    pair = score_agreement.score_pair(scores, sheet, ANN, BOB)

    # Both on a and b: differences .5 - 1 and 1 - 1, mean -.25, sd sqrt(.125).
    assert (pair.n, pair.too_few) == (2, True)
    assert pair.figures["bias"].value == pytest.approx(-0.25)
    assert pair.figures["limit_low"].value == pytest.approx(-0.25 - 1.96 * 0.125**0.5)
    assert sorted(pair.points) == [(1.0, 0.5, 1), (1.0, 1.0, 1)]
    lines = score_agreement.score_lines(scores, sheet, ANN)
    assert list(lines) == [PANEL, BOB]
    assert lines[BOB]["bias"].value == pair.figures["bias"].value


def test_an_item_counts_by_its_verdicts_and_cannot_assess_is_one(store: Store) -> None:
    """ann and bob both have verdicts on a and b; on b both could not assess Depth. c failed."""
    run = graded(store)
    sheet = load_ratings.sheet_of_run(store, run)

    pair = score_agreement.score_pair(score_agreement.scores_of(store, run, sheet), sheet, ANN, BOB)

    assert (pair.n, pair.abstained) == (2, 1)


def test_a_score_without_anything_in_common_says_so(store: Store) -> None:
    run = graded(store)
    whole = load_ratings.sheet_of_run(store, run)
    scores = score_agreement.scores_of(store, run, whole)
    part = rating_sheet.sheet_slice(whole, Slice(systems=("y",)))

    # Item b has no label on Depth.
    pair = score_agreement.score_pair(scores, part, LABELS, BOB)

    assert (pair.n, pair.figures["bias"].value) == (0, None)
    assert pair.figures["bias"].reason == "No item has both."


@pytest.mark.parametrize("labels", [("MET", "UNMET"), ("UNMET", "MET")])
def test_false_positives_are_about_met_wherever_it_is_listed(labels: tuple[str, str]) -> None:
    """Three labels UNMET, of which one is called MET; one MET, which is missed."""
    met = labels.index("MET")
    truth, given = (
        [met if one else 1 - met for one in side] for side in ([1, 0, 0, 0], [0, 1, 0, 0])
    )
    sheet = made(truth, given, "binary", 2)
    sheet = replace(sheet, criteria=(replace(sheet.criteria[0], labels=labels),))

    found = dict(rater_pairs.pair_details(sheet, "c", LABELS, ANN).first)

    assert found["false_positive_rate"].value == pytest.approx(1 / 3)
    assert found["false_negative_rate"].value == 1.0


def test_the_interval_of_a_mean_gap_of_few_scores_is_by_t() -> None:
    """Gaps -.2, -.1, 0, .1, .2 and .3 lie evenly about .05, so scipy's plain t is wanted."""
    reference = np.array([0.5, 0.4, 0.6, 0.3, 0.5, 0.2])
    gaps = np.array([-0.2, -0.1, 0.0, 0.1, 0.2, 0.3])
    pairs = pair_up(reference, reference + gaps)
    found = score_intervals(pairs, Draws(6, 200, 0))

    wanted = stats.t.interval(0.95, 5, gaps.mean(), stats.sem(gaps))
    assert (found["bias"].low, found["bias"].high) == pytest.approx(wanted)
    assert found["mae"].low is not None
    assert found["mae"].low >= 0.0
    # Another method that is asked for is kept, as for every figure.
    asked = score_intervals(pairs, Draws(6, 200, 0, Confidence(0.95, "percentile")))
    assert asked["bias"].method == "percentile"


def test_ac2_of_a_pair_keeps_its_interval_where_one_option_prevails_as_it_does_in_metrics() -> None:
    """Gwet's coefficients are steady there; only agreement beyond chance by margins is withheld."""
    labels = [0] * 27 + [0, 1, 2]
    sheet = made(labels, [0] * 27 + [1, 1, 2], "ordinal", 3)
    close = rater_pairs.pair_details(sheet, "c", LABELS, ANN)
    found = dict((*close.first, *close.rest))
    rows = np.array([labels, [0] * 27 + [1, 1, 2]]).T
    drawn = Draws(30, rater_pairs.RESAMPLES, rater_pairs.SEED)
    group = group_figures(
        rows,
        np.ones(30, np.int64),
        drawn.sums(np.arange(30), np.ones(30, np.int64)),
        3,
        ordered=True,
    )

    ac2 = found["gwet_ac2_quadratic"]
    assert found["krippendorff_alpha_ordinal"].low is None
    assert [ac2.low, ac2.high] == pytest.approx(group["ci"]["gwet_ac2_quadratic"])


def test_a_reference_that_always_says_the_same_has_an_exact_interval_of_its_commonest_answer() -> (
    None
):
    """A share of 1 among 20: Clopper and Pearson (1934), low = 0.025 ** (1 / 20) = 0.8316."""
    close = rater_pairs.pair_details(made([0] * 20, [0, 1] * 10, "nominal", 3), "c", LABELS, ANN)
    share = dict(close.rest)["majority_share"]

    assert share.value == 1
    assert (share.low, share.high) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
