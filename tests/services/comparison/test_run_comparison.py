"""Two runs compared: expected numbers are worked out beside them.

Options: MET 0, UNMET 1, abstention 2 of `clear`; Cold 0, Fair 1, Warm 2, abstention 3 of `tone`.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_rel

from core.blocks.terminal import terminal_text
from core.domain.dataset import Item, Label
from core.domain.panel import Asking, Panel
from core.domain.rubric import Option, Rubric
from core.errors import InputError
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import kappa_quadratic
from core.metrics.estimate import Estimate
from core.metrics.intervals.bootstrap import mcnemar_exact
from core.services.comparison.comparison_blocks import comparison_sections, difference_table
from core.services.comparison.differences import FigureDelta
from core.services.comparison.paired_runs import match_items
from core.services.comparison.run_comparison import compare_runs, comparison_data, run_number
from core.services.results import run_columns
from core.store.store import Store
from tests.services.comparison.world import CLEAR, ONE, TONE, TWO, dataset, run_with

LABELS = {"clear": ["MET"] * 6 + ["UNMET"] * 2, "tone": ["Cold", "Fair", "Warm", "Warm"] * 2}
#: Right on 4 of 8: items 0, 1, 2, 6.
WEAK = {"one": {"clear": [0, 0, 0, 1, 1, 1, 1, 0], "tone": [0, 1, 2, 1, 1, 1, 2, 2]}}
#: Right on 7 of 8: all but item 6.
STRONG = {"one": {"clear": [0, 0, 0, 0, 0, 0, 0, 1], "tone": [0, 1, 2, 2, 0, 1, 2, 2]}}


def both(store: Store) -> tuple[int, int]:
    data = dataset(LABELS)
    return run_with(store, data, WEAK, name="weak"), run_with(store, data, STRONG, name="strong")


def test_accuracy_moves_as_counted_and_mcnemar_sees_who_is_right_alone(store: Store) -> None:
    clear = compare_runs(store, *both(store)).deltas.criteria[0]

    # Right alone: the first run on item 6; the second on 3, 4, 5 and 7.
    assert (clear.only_first, clear.only_second) == (1, 4)
    assert clear.accuracy.first.value == 4 / 8
    assert clear.accuracy.second.value == 7 / 8
    assert clear.accuracy.difference.value == 3 / 8
    # 2 * P(Binomial(5, 1/2) <= 1) = 2 * (1 + 5) / 32.
    assert clear.accuracy.p.value == pytest.approx(12 / 32)
    assert clear.accuracy.test == "mcnemar"
    assert (clear.decided, clear.same) == (8, 3)


def test_one_reason_for_no_interval_is_said_once_beside_criteria_without_labels(
    store: Store,
) -> None:
    data = dataset({"clear": LABELS["clear"]})
    twice = run_with(store, data, WEAK), run_with(store, data, WEAK)

    table = difference_table(compare_runs(store, *twice), "accuracy")

    together, clear, tone = (row[4] for row in table.rows)
    assert (together.below, clear.below) == ("", "")
    assert tone.text == "undefined"
    assert table.note.count("All items give the same difference") == 1


def test_bars_of_differences_share_an_axis_as_wide_as_the_widest_interval(store: Store) -> None:
    table = difference_table(compare_runs(store, *both(store)), "accuracy")

    bars = [row[4].reach for row in table.rows if row[4].reach]
    ends = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    assert {bar.mark for bar in bars} == {0.5}
    # One of them reaches an end of the axis, none goes past it.
    assert max(abs(end - 0.5) for end in ends) == pytest.approx(0.5)
    # clear is 3/8 apart, and all stand to each other as their differences do.
    deltas = compare_runs(store, *both(store)).deltas
    clear, tone = (one.accuracy.difference.value for one in deltas.criteria)
    assert (bars[1].value - 0.5) * tone == pytest.approx((bars[2].value - 0.5) * clear)


def test_kappa_follows_the_scale_and_is_that_of_the_metric(store: Store) -> None:
    tone = compare_runs(store, *both(store)).deltas.criteria[1]
    gold = [0, 1, 2, 2] * 2

    expected = [kappa_quadratic(confusion(gold, run["one"]["tone"], 3)) for run in (WEAK, STRONG)]
    assert tone.kappa.first.value == expected[0].value
    assert tone.kappa.second.value == expected[1].value == 1.0


def test_holm_corrects_over_the_criteria_that_have_a_test(store: Store) -> None:
    clear, tone = compare_runs(store, *both(store)).deltas.criteria

    # tone: the second run alone is right on 3 and 4, p = 2 * 1/4. Smallest of two: 2 * .375;
    # the other may not fall below it.
    assert tone.accuracy.p.value == 0.5
    assert clear.accuracy.p_holm == pytest.approx(0.75)
    assert tone.accuracy.p_holm == pytest.approx(0.75)


def test_the_mean_score_and_all_cells_are_paired_over_items(store: Store) -> None:
    found = compare_runs(store, *both(store)).deltas

    # Weights are equal, so an item's score is the mean of MET and the tone's value. Sums of MET:
    # 4 and 7; of tone: 0 + .5 + 1 + .5 + .5 + .5 + 1 + 1 = 5 and 0 + .5 + 1 + 1 twice = 5.
    assert found.score.first.value == pytest.approx((4 + 5) / 16)
    assert found.score.second.value == pytest.approx((7 + 5) / 16)
    # Cells that are right: 4 + 6 of 16, and 7 + 8.
    assert found.accuracy.difference.value == pytest.approx(5 / 16)
    assert found.accuracy.n == 16


def test_of_few_items_the_difference_of_scores_is_the_paired_t_test_whatever_the_seed(
    store: Store,
) -> None:
    runs = both(store)
    one, other = (compare_runs(store, *runs, seed=s).deltas.score for s in (1, 2))
    columns = [run_columns.score_columns(store, store.runs.get(run)).score for run in runs]
    wanted = ttest_rel(columns[1], columns[0])

    assert one == other
    assert one.test == "t"
    assert one.p.value == pytest.approx(wanted.pvalue)
    ends = wanted.confidence_interval(0.95)
    assert (one.difference.low, one.difference.high) == pytest.approx((ends.low, ends.high))


def test_a_run_and_its_copy_differ_in_nothing(store: Store) -> None:
    data = dataset(LABELS)
    found = compare_runs(store, run_with(store, data, WEAK), run_with(store, data, WEAK))

    assert found.changed == ()
    assert found.flips == ()
    for delta in (found.deltas.score, found.deltas.criteria[0].accuracy):
        assert delta.difference.value == 0
        assert delta.p.value is None
        assert delta.difference.low is None
    assert "All items give the same difference" in found.deltas.score.difference.reason
    assert "right on the same items" in found.deltas.criteria[0].accuracy.p.reason


def test_flips_name_their_items_and_what_they_are_worth(store: Store) -> None:
    found = compare_runs(store, *both(store)).flips

    # clear: UNMET to MET on 3, 4, 5 (labelled MET: mended) and 6 (labelled UNMET: broken).
    assert found[0][:4] == ("clear", "UNMET", "MET", ("i3", "i4", "i5", "i6"))
    assert (found[0].mended, found[0].broken, found[0].up) == (3, 1, -1)
    assert found[1][:4] == ("clear", "MET", "UNMET", ("i7",))
    assert [f[:4] for f in found[2:]] == [
        ("tone", "Fair", "Cold", ("i4",)),
        ("tone", "Fair", "Warm", ("i3",)),
    ]


def test_an_abstention_is_a_flip_and_no_cell_of_accuracy(store: Store) -> None:
    data = dataset({"clear": ["MET", "MET", "UNMET"]})
    first = run_with(store, data, {"one": {"clear": [0, 1, 1]}})
    second = run_with(store, data, {"one": {"clear": [0, 2, None]}})

    found = compare_runs(store, first, second)

    assert [(f.before, f.after, f.items) for f in found.flips] == [
        ("UNMET", "abstained", ("i1",)),
        ("UNMET", "no verdict", ("i2",)),
    ]
    assert found.deltas.criteria[0].accuracy.n == 1


def test_judges_agreement_needs_two_judges_in_both(store: Store) -> None:
    data = dataset(LABELS)
    panel = {"one": WEAK["one"], "two": STRONG["one"]}
    single = run_with(store, data, WEAK)
    pair = run_with(store, data, panel, judges=(ONE, TWO))
    twins = run_with(store, data, {"one": WEAK["one"], "two": WEAK["one"]}, judges=(ONE, TWO))

    assert compare_runs(store, single, pair).deltas.criteria[0].agreement.difference.reason == (
        "One of the runs has a single judge."
    )
    moved = compare_runs(store, pair, twins).deltas.criteria[0].agreement
    # Alpha (nominal): of 16 values 11 are MET, 5 UNMET; 5 of 8 pairs differ, so
    # 1 - (5 * 2 / 16) / (2 * 11 * 5 / (16 * 15)) = 1 - .625 / .45833; a twin agrees: 1.
    assert moved.first.value == pytest.approx(1 - 0.625 / (110 / 240))
    assert moved.second.value == 1.0


def test_items_are_matched_by_id_and_reworded_ones_are_left_out(store: Store) -> None:
    labels = {"clear": ["MET", "MET", "MET"]}
    first = run_with(store, dataset(labels, ["a", "b", "c"]), {"one": {"clear": [0, 1, 1]}})
    second = run_with(
        store,
        dataset({"clear": ["MET", "UNMET", "MET"]}, ["a", "b", "new"]),
        {"one": {"clear": [0, 1, 0]}},
        items=["i0", "i1", "i2"],
    )

    found = compare_runs(store, first, second)

    assert found.match.both == ("i0", "i1")
    assert found.match.reworded == ("i2",)
    assert found.match.relabelled == ("i1",)
    # Under the second run's labels both are right on both.
    assert found.deltas.criteria[0].accuracy.first.value == 1.0


def test_nothing_in_common_is_refused_with_the_reason(store: Store) -> None:
    data = dataset({"clear": ["MET", "MET"]})
    one = run_with(store, data, {"one": {"clear": [0, 0]}}, items=["i0"])
    other = run_with(store, data, {"one": {"clear": [0, 0]}}, items=["i1"])

    with pytest.raises(InputError, match="have no item in common"):
        compare_runs(store, one, other)
    with pytest.raises(InputError, match="Name two different runs"):
        compare_runs(store, one, one)


def test_a_criterion_whose_options_changed_is_said_to_be_apart(store: Store) -> None:
    data = dataset(LABELS)
    options = (*TONE.options[:2], Option(label="Hot", value=1.0))
    changed = Rubric(
        name="Replies",
        criteria=(
            CLEAR.model_copy(update={"weight": 5.0, "requirement": "Very clear."}),
            TONE.model_copy(update={"options": options}),
        ),
    )
    first = run_with(store, data, WEAK)
    second = run_with(store, data, STRONG, rubric=changed)

    found = compare_runs(store, first, second)

    assert [one.name for one in found.deltas.criteria] == ["clear"]
    assert found.apart == {"tone": "Its options were Cold, Fair, Warm and are Cold, Fair, Hot."}
    said = {(c.what, c.before, c.after) for c in found.changed}
    assert ("clear: requirement", "It is clear.", "Very clear.") in said
    assert ("clear: weight", "10", "5") in said
    only_tone = Rubric(name="T", criteria=(changed.criteria[1],))
    third = run_with(store, data, {"one": {"tone": [0] * 8}}, rubric=only_tone)
    with pytest.raises(InputError, match="no criterion that can be compared"):
        compare_runs(store, first, third)


def test_what_changed_in_the_panel_is_named(store: Store) -> None:
    data = dataset(LABELS)
    first = run_with(store, data, WEAK, seed=1)
    judges = (ONE.model_copy(update={"temperature": 0.5}), TWO)
    panel = Panel(judges=judges, asking=Asking(few_shot=3))
    second = run_with(
        store, data, {**STRONG, "two": WEAK["one"]}, panel=panel, seed=2, versions={"prompt": "9"}
    )

    said = {(c.area, c.what, c.before, c.after) for c in compare_runs(store, first, second).changed}

    assert said == {
        ("panel", "one: temperature", None, "0.5"),
        ("panel", "two: judge", None, "m"),
        ("panel", "few shot", "0", "3"),
        ("run", "seed", "1", "2"),
        ("run", "version of prompt", None, "9"),
    }


def test_the_report_is_json_and_the_text_says_the_same(store: Store) -> None:
    found = compare_runs(store, *both(store))
    report = json.loads(json.dumps(comparison_data(found), allow_nan=False))

    assert report["criteria"]["clear"]["accuracy"]["difference"] == 3 / 8
    assert report["criteria"]["tone"]["kappa"]["weights"] == "quadratic"
    assert report["items"]["both"] == 8
    assert report["bootstrap"]["resamples"] == 1000
    assert report["criteria"]["clear"]["agreement"]["undefined"]["difference"]
    text = terminal_text(comparison_sections(found))
    rows = [line.split() for line in text.splitlines()]
    assert ["clear", "8", "(few)", "50.0%", "87.5%", "+37.5", "points"] in [row[:7] for row in rows]
    # Four verdicts went from UNMET to MET: three are right now, one was right before.
    assert ["clear", "UNMET", "MET", "4", "3", "1", "i3,", "i4,", "i5,", "..."] in rows


def test_one_comparison_has_one_p_and_a_corrected_one_is_called_so(store: Store) -> None:
    # Accuracy on the one labelled criterion is that of all cells: McNemar's .375, once.
    data = dataset({"clear": LABELS["clear"]})
    found = compare_runs(store, run_with(store, data, WEAK), run_with(store, data, STRONG))
    assert found.deltas.accuracy.p.value == pytest.approx(12 / 32)
    text = terminal_text(comparison_sections(found))
    ends = [line.split()[-2:] for line in text.splitlines()]
    assert ["0.375", "–"] in ends  # all criteria together
    assert ["0.375", "0.375"] in ends
    # Of two criteria it is .75 by Holm (above), in the column that says so.
    text = terminal_text(comparison_sections(compare_runs(store, *both(store))))
    assert ["0.375", "0.750"] in [line.split()[-2:] for line in text.splitlines()]


def test_without_resamples_there_are_numbers_and_no_intervals(store: Store) -> None:
    found = compare_runs(store, *both(store), bootstrap=0)

    assert found.deltas.score.difference.value is not None
    assert found.deltas.score.difference.reason == "No resamples were asked for."
    assert "bootstrap" not in comparison_data(found)


def test_a_word_that_is_no_run_says_how_to_make_one() -> None:
    assert run_number("12") == 12
    with pytest.raises(InputError, match="rubric-studio import"):
        run_number("folder")


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_exact_binomial_test(b: int, c: int) -> None:
    found = mcnemar_exact(b, c)
    if b + c == 0:
        assert found.value is None
    else:
        # SciPy's two-sided binomial test is the same for a symmetric distribution.
        assert found.value == pytest.approx(binomtest(b, b + c, 0.5).pvalue)


def test_a_real_difference_is_found_and_chance_is_not(store: Store) -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, 300)

    def answers(right: float) -> list[int]:
        return [int(one) for one in np.where(rng.random(300) < right, gold, 1 - gold)]

    data = dataset({"clear": ["MET" if g == 0 else "UNMET" for g in gold]})
    weak, same, strong = (
        run_with(store, data, {"one": {"clear": answers(right)}}) for right in (0.6, 0.6, 0.9)
    )

    found = compare_runs(store, weak, strong).deltas.criteria[0]
    assert found.accuracy.difference.low is not None
    assert found.accuracy.difference.low > 0.1
    assert (found.accuracy.p.value or 1) < 1e-6
    assert (compare_runs(store, weak, same).deltas.criteria[0].accuracy.p.value or 0) > 0.05


def test_what_is_significant_is_decided_by_the_corrected_p() -> None:
    # .019 is below .05 alone; of three criteria Holm makes it .057 (3 x .019).
    none = Estimate.undefined("not needed")
    alone = FigureDelta(none, none, Estimate(0.1, 0.01, 0.2), Estimate.defined(0.019, 9))

    assert alone.significant
    assert not replace(alone, p_holm=0.057).significant
    assert not replace(alone, p=none).significant


def test_a_label_that_only_the_second_run_has_is_not_another_one() -> None:
    """Labelling 199 more items was said as "with another label in B: 199"."""
    first, second = (
        tuple(Item(id=f"i{at}", submission="x", labels=labels[at]) for at in range(3))
        for labels in (
            ({"c": Label(label="MET")}, {}, {"c": Label(label="MET")}),
            ({"c": Label(label="MET")}, {"c": Label(label="MET")}, {"c": Label(label="UNMET")}),
        )
    )

    assert match_items(first, second).relabelled == ("i2",)
