"""Agreement of a run's raters, and the items behind every count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.services.agreement import confusion, load_ratings, rater_pairs, reliability
from core.services.agreement.rating_sheet import Sheet
from core.services.agreement.ratings import (
    ABSTAINED,
    LABELS,
    MAJORITY,
    NOT_ASKED,
    PANEL,
    PEOPLE,
    CriterionRatings,
)
from tests.new_store import new_store
from tests.pages.graded import FIRST, graded

ANN, BOB = "judge:ann", "judge:bob"


@pytest.fixture
def sheet(tmp_path: Path) -> Iterator[Sheet]:
    """The run of `tests.pages.graded`; its table says who answered what."""
    store = new_store(tmp_path / "studio.db")
    yield load_ratings.sheet_of_run(store, graded(store))
    store.close()


def made(one: list[int], other: list[int], scale: str = "nominal", k: int = 3) -> Sheet:
    """A sheet of two judges who answered one criterion."""
    columns = {
        LABELS: np.full(len(one), NOT_ASKED),
        PANEL: np.array(one),
        ANN: np.array(one),
        BOB: np.array(other),
    }
    asked = CriterionRatings("c", scale, tuple("xyz"[:k]), columns)  # type: ignore[arg-type]
    return Sheet(tuple(f"i{at}" for at in range(len(one))), (ANN, BOB), (asked,))


def test_labels_come_first_and_the_panel_is_not_compared_with_itself(sheet: Sheet) -> None:
    assert sheet.references == (LABELS, PANEL, ANN, BOB)
    # On one item of Depth the verdict is not what most said, so their majority is a rater, too.
    assert sheet.raters(LABELS) == (PANEL, ANN, BOB, MAJORITY)
    assert sheet.raters(PANEL) == (ANN, BOB)


def test_without_labels_the_panel_comes_first_and_any_judge_can_be_a_reference() -> None:
    assert made([0], [1]).references == (PANEL, ANN, BOB)
    assert made([0], [1]).raters(ANN) == (PANEL, BOB)


def test_the_panel_is_measured_against_the_labels(sheet: Sheet) -> None:
    clear, depth = rater_pairs.compare_pair(sheet, LABELS, PANEL)

    # Clear: labels MET, MET, MET; verdicts UNMET, MET, UNMET: 1 of 3, no better than chance.
    assert (clear.n, clear.accuracy.value, clear.commonest.value) == (3, pytest.approx(1 / 3), 1)
    assert clear.kappa.value == 0
    # Depth: one label, Some; the verdict is Deep. Nobody labelled b, on which the panel abstained.
    assert (depth.n, depth.abstained, depth.accuracy.value) == (1, 0, 0)
    assert depth.weights == "quadratic"
    assert clear.too_few
    assert depth.too_few


def test_a_kappa_that_does_not_exist_says_why(sheet: Sheet) -> None:
    # ann answered a and b with MET as labelled, and had no key for c.
    clear, _ = rater_pairs.compare_pair(sheet, LABELS, ANN)

    assert (clear.n, clear.accuracy.value, clear.kappa.value) == (2, 1, None)
    assert clear.kappa.reason == "Both raters used the same single level throughout."


def test_an_accuracy_of_one_has_an_interval_that_ends_below_one() -> None:
    (line,) = rater_pairs.compare_pair(made([0, 1, 0, 1], [0, 1, 0, 1]), PANEL, BOB)

    # Wilson (1927) with t on 3 for 4 of 4: the lower end is 1 / (1 + 3.1824^2 / 4) = .2831.
    assert line.accuracy.low == pytest.approx(1 / (1 + 3.1824463**2 / 4))
    assert line.accuracy.high == 1


def test_intervals_are_the_same_every_time() -> None:
    one = made([0, 1, 2, 1, 0, 2, 1, 0], [0, 1, 1, 1, 0, 2, 2, 0])

    assert rater_pairs.compare_pair(one, PANEL, BOB) == rater_pairs.compare_pair(one, PANEL, BOB)


def test_alpha_among_judges_goes_by_the_scale(sheet: Sheet) -> None:
    clear, depth = reliability.alphas_of_kind(sheet)

    # Clear: pairs (MET, UNMET) and (MET, MET). Observed 2 of 4 ordered values disagree, Do = 1/2;
    # 3 MET and 1 UNMET: De = 2 * 3 * 1 / (4 * 3) = 1/2. So alpha is 0 (Krippendorff 2011).
    assert clear.value == pytest.approx(0)
    # Depth: only a was rated by both, and both chose Deep.
    assert depth.value is None
    assert depth.reason
    ordinal = made([0, 0, 1, 2, 2], [0, 1, 1, 2, 1], scale="ordinal")
    nominal = made([0, 0, 1, 2, 2], [0, 1, 1, 2, 1])
    assert (
        reliability.alphas_of_kind(ordinal)[0].value != reliability.alphas_of_kind(nominal)[0].value
    )


def test_one_judge_has_nobody_to_agree_with() -> None:
    sheet = made([0, 1], [0, 1])

    (alpha,) = reliability.alphas_of_kind(Sheet(sheet.items, (ANN,), sheet.criteria))

    assert (alpha.value, alpha.reason) == (None, "There is only one judge.")


def test_every_count_leads_to_its_items(sheet: Sheet) -> None:
    found = confusion.confusion(sheet, "Clear", LABELS, PANEL)

    assert (found.rows, found.columns) == (("MET", "UNMET"), ("MET", "UNMET"))
    assert found.counts == ((1, 2), (0, 0))
    assert confusion.items_in(sheet, "Clear", LABELS, PANEL, 0, 1) == (FIRST, "c")
    # On Depth the label of a is Some and the verdict Deep; b and c have no label there.
    assert confusion.items_that_differ(sheet, LABELS, PANEL, "Depth") == (FIRST,)
    assert confusion.items_that_differ(sheet, LABELS, PANEL) == (FIRST, "c")


def test_abstentions_have_a_column_of_their_own() -> None:
    sheet = made([0, 0, 1], [0, ABSTAINED, ABSTAINED], k=2)

    found = confusion.confusion(sheet, "c", PANEL, BOB)

    assert found.columns == ("x", "y", "abstained")
    assert found.counts == ((1, 0, 1), (0, 0, 1))
    assert confusion.items_in(sheet, "c", PANEL, BOB, 1, 2) == ("i2",)
    (line,) = rater_pairs.compare_pair(sheet, PANEL, BOB)
    assert (line.n, line.abstained) == (1, 2)


LEVELS = st.lists(st.tuples(st.integers(-3, 2), st.integers(-3, 2)), min_size=1, max_size=30)


@given(LEVELS)
def test_counts_and_items_always_match_and_no_item_is_in_two_cells(
    levels: list[tuple[int, int]],
) -> None:
    sheet = made([one for one, _ in levels], [other for _, other in levels])

    found = confusion.confusion(sheet, "c", PANEL, BOB)

    cells = [
        confusion.items_in(sheet, "c", PANEL, BOB, row, column)
        for row in range(len(found.rows))
        for column in range(len(found.columns))
    ]
    assert [len(cell) for cell in cells] == [n for row in found.counts for n in row]
    everything = [item for cell in cells for item in cell]
    assert len(everything) == len(set(everything))


def test_every_two_raters_are_compared_and_the_matrix_is_symmetric(sheet: Sheet) -> None:
    kappas = reliability.kappa_matrix(sheet, "Clear", (LABELS, ANN, BOB))

    # Labels and bob share a, b and c; ann and bob a and b.
    assert [kappas[0][2].n, kappas[1][2].n] == [3, 2]
    assert all(kappas[a][b] == kappas[b][a] for a in range(3) for b in range(3))


def test_answers_are_spread_over_the_options(sheet: Sheet) -> None:
    found = confusion.level_shares(sheet, "Depth")

    # ann: Deep, abstained; bob: Deep, abstained, Some. The panel: Deep, abstained, Some.
    assert found == {
        LABELS: ((0, 1, 0), 0),
        PANEL: ((0, 1, 1), 1),
        ANN: ((0, 0, 1), 1),
        BOB: ((0, 1, 1), 1),
    }


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        # x where it is y on 2 of 3 items; the other 4 of 6 are the same.
        ([0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 1, 2], "bob says x on 2 of 3 items that ann calls y"),
        ([0, 1, 2], [0, 1, 2], "bob and ann agree on all 3 items."),
        # One item each way: nothing is more common than the other.
        ([0, 1, 2], [1, 0, 2], "bob says y on 1 of 1 item that ann calls x (2 differences are as"),
        ([0, 0, 1], [0, ABSTAINED, 1], "bob abstains on 1 of 2 items that ann calls x"),
    ],
)
def test_the_matrix_says_its_finding_in_a_sentence(
    one: list[int], other: list[int], said: str
) -> None:
    found = confusion.confusion(made(one, other), "c", ANN, BOB)
    words = confusion.confusion_words(found, ANN, BOB)
    assert words.startswith(said)
    same = sum(a == b for a, b in zip(one, other, strict=True))
    assert said.endswith(".") or f"both agree on {same} of {len(one)}." in words


def test_labels_and_the_panel_are_called_as_in_a_sentence() -> None:
    table = confusion.Confusion(("MET", "UNMET"), ("MET", "UNMET"), ((30, 0), (12, 28)))
    assert confusion.confusion_words(table, LABELS, PANEL) == (
        "The panel says MET on 12 of 40 items that the labels call UNMET; both agree on 58 of 70."
    )
    assert confusion.confusion_words(table, PEOPLE, ANN).startswith(
        "ann says MET on 12 of 40 items that the majority of people calls UNMET"
    )
