"""People among the raters: their majority, each of them, and how near judges come to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats.folder import read_folder
from core.formats.votes.imported import VoteBundle
from core.formats.votes.vote_tables import read_votes
from core.services.agreement import (
    calibration,
    confusion,
    load_ratings,
    rater_pairs,
    rating_sheet,
    reliability,
)
from core.services.agreement.load_ratings import run_ratings
from core.services.agreement.metrics_report import metrics_source
from core.services.agreement.rating_sheet import Sheet
from core.services.agreement.ratings import (
    ABSTAINED,
    LABELS,
    NOT_ASKED,
    PANEL,
    PEOPLE,
    TIED,
    CriterionRatings,
    majority_column,
)
from core.services.imports.vote_import import bring_in
from core.store.store import Store
from tests.new_store import new_store
from tests.pages.graded import graded
from tests.places import SHARED

ANN, BEN, CAT, LLM = "person:ann", "person:ben", "person:cat", "judge:llm"


def made(
    people: dict[str, list[int]], judge: list[int] | None = None, labels: list[int] | None = None
) -> Sheet:
    """People and one judge on one binary criterion."""
    n = len(next(iter(people.values())))
    columns = {name: np.array(levels) for name, levels in people.items()}
    columns[PEOPLE] = majority_column(np.column_stack(list(people.values())), 2)
    columns[LABELS] = np.array(labels) if labels else np.full(n, NOT_ASKED)
    columns[PANEL] = np.array(judge) if judge else columns[PEOPLE]
    if judge:
        columns[LLM] = np.array(judge)
    asked = CriterionRatings("c", "binary", ("MET", "UNMET"), columns, "c", (0, 1))
    items = tuple(f"i{at}" for at in range(n))
    judges = (LLM,) if judge else ()
    members = frozenset(judges or people)
    return Sheet(items, judges, (asked,), tuple(people), whole=n, members=members)


THREE = {ANN: [0, 0, 1, 1, 0], BEN: [0, 1, 1, 0, 0], CAT: [0, 0, 1, 0, 1]}


def test_with_people_and_a_judge_their_majority_is_the_reference_and_labels_come_before() -> None:
    sheet = made(THREE, [0, 0, 1, 0, 1])

    assert sheet.references == (PEOPLE, PANEL, ANN, BEN, CAT, LLM)
    assert sheet.raters(PEOPLE) == (PANEL, LLM, ANN, BEN, CAT)
    assert made(THREE, [0] * 5, [0] * 5).references[:2] == (LABELS, PEOPLE)


def test_people_alone_are_a_panel_and_nobody_meets_verdicts_with_an_own_answer() -> None:
    sheet = made(THREE, labels=[0] * 5)

    assert sheet.references == (LABELS, PEOPLE, PANEL, ANN, BEN, CAT)
    assert sheet.raters(LABELS)[:2] == (PANEL, PEOPLE)
    # The majority of people and the panel are made of the same answers.
    assert sheet.raters(PEOPLE) == (ANN, BEN, CAT)
    assert sheet.raters(ANN) == (PANEL, PEOPLE, BEN, CAT)
    # Against the panel a person meets what most of the others said: as against the majority.
    (panel,) = rater_pairs.compare_pair(sheet, PANEL, ANN)
    (people,) = rater_pairs.compare_pair(sheet, PEOPLE, ANN)
    assert panel == people


def test_a_judge_alone_is_not_compared_with_its_own_panel() -> None:
    sheet = made(THREE, [0, 0, 1, 0, 1])

    assert PANEL not in sheet.raters(LLM)
    assert LLM not in sheet.raters(PANEL)


def test_a_judge_meets_the_majority_of_all_and_a_person_that_of_the_others() -> None:
    sheet = made(THREE, [0, 0, 1, 0, 1])

    # Majorities: 0 0 1 0 0; the judge differs on the last: 4 of 5.
    (line,) = rater_pairs.compare_pair(sheet, PEOPLE, LLM)
    assert (line.n, line.tied, line.accuracy.value) == (5, 0, pytest.approx(0.8))
    # ann against ben and cat, who agree on items 0, 2, 3 (0, 1, 0) and tie on 1 and 4:
    # ann says 0, 1, 1 there, so 2 of 3 are the same.
    (line,) = rater_pairs.compare_pair(sheet, PEOPLE, ANN)
    assert (line.n, line.tied, line.accuracy.value) == (3, 2, pytest.approx(2 / 3))


def test_a_tied_majority_is_left_out_and_counted() -> None:
    sheet = made({ANN: [0, 0, 1], BEN: [0, 1, ABSTAINED]}, [0, 1, 1])

    (line,) = rater_pairs.compare_pair(sheet, PEOPLE, LLM)
    close = rater_pairs.pair_details(sheet, "c", PEOPLE, LLM)

    # Item 1 is a tie; on item 2 ann alone decides.
    assert (line.n, line.tied) == (2, 1)
    assert (close.n, close.tied, close.abstained) == (2, 1, 0)
    assert sheet.criteria[0].columns[PEOPLE].tolist() == [0, TIED, 1]


def test_the_ceiling_is_what_people_reach_with_the_others() -> None:
    sheet = made(THREE, [0, 0, 1, 0, 1])

    by_name, means, ties = reliability.closeness_to_majority(sheet, "c")

    # ann with the others: table [[1, 1], [0, 1]] on 3 items, po 2/3, pe (2*1 + 1*2)/9 = 4/9,
    # kappa (2/3 - 4/9) / (5/9) = .4. ben: ann and cat agree on 0, 1, 2 (0, 0, 1), ben says 0, 1, 1:
    # .4 as well. cat: ann and ben agree on 0, 2, 4 (0, 1, 0), cat says 0, 1, 1: .4.
    assert [by_name[one].value for one in (ANN, BEN, CAT)] == pytest.approx([0.4] * 3)
    assert means["human"].value == pytest.approx(0.4)
    # The judge: table [[3, 1], [0, 1]], po .8, pe (4*3 + 1*2)/25 = .56, kappa .24/.44.
    assert means["llm"].value == pytest.approx(0.24 / 0.44)
    assert (by_name[LLM].n, ties) == (5, 0)


def test_alpha_is_of_people_or_of_judges_and_says_who_is_missing() -> None:
    sheet = made(THREE, [0, 0, 1, 0, 1])

    (people,) = reliability.alphas_of_kind(sheet, "human")
    (judges,) = reliability.alphas_of_kind(sheet, "llm")

    # 15 ratings, 9 of 0 and 6 of 1; items 1, 3, 4 have two pairs of three that differ, i.e. 4 of 6
    # ordered pairs each, weighted 1/2: Do = 3 * 4 / 2 / 15 = .4; De = 2 * 9 * 6 / (15 * 14).
    assert people.value == pytest.approx(1 - 0.4 / (108 / 210))
    assert (judges.value, judges.reason) == (None, "There is only one judge.")
    assert reliability.alphas_of_kind(made(THREE), "llm")[0].reason == "There are no judges."


def test_answers_are_put_together_by_kind() -> None:
    found = confusion.spread_of_groups(made(THREE, [0, 0, 1, 0, ABSTAINED]), "c")

    assert found == {"human": ((9, 6), 0), PANEL: ((3, 1), 1), "llm": ((3, 1), 1)}


RATINGS = st.lists(
    st.tuples(*[st.sampled_from([0, 1, ABSTAINED, NOT_ASKED])] * 3), min_size=1, max_size=25
)


@given(RATINGS)
def test_every_pair_of_the_matrix_is_the_kappa_of_that_pair(
    rows: list[tuple[int, int, int]],
) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    sheet = made(dict(zip((ANN, BEN, CAT), columns, strict=True)))

    found = reliability.kappa_matrix(sheet, "c", (ANN, BEN, CAT))

    for a, one in enumerate((ANN, BEN, CAT)):
        for b, other in enumerate((ANN, BEN, CAT)):
            (line,) = (
                rater_pairs.compare_pair(sheet, one, other, resamples=20) if a != b else [None]
            )
            if line is not None:
                cell = found[a][b]
                assert (cell.value, cell.n) == (pytest.approx(line.kappa.value), line.n)


def test_columns_of_a_run_are_those_that_its_ratings_give(tmp_path: Path) -> None:
    store = new_store(tmp_path / "studio.db")
    run = graded(store)

    fast, slow = (
        load_ratings.sheet_of_run(store, run),
        load_ratings.sheet_of_ratings(run_ratings(store, run)),
    )

    store.close()
    assert (fast.items, fast.judges, fast.traits) == (slow.items, slow.judges, slow.traits)
    for one, other in zip(fast.criteria, slow.criteria, strict=True):
        assert (one.name, one.labels, one.options) == (other.name, other.labels, other.options)
        assert one.columns.keys() == other.columns.keys()
        for name, levels in one.columns.items():
            assert levels.tolist() == other.columns[name].tolist(), (one.name, name)


@pytest.mark.parametrize(("name", "criterion"), [("llm_rubric_synth", ""), ("mohler", "")])
def test_imported_people_and_judges_agree_as_the_folder_says(
    name: str, criterion: str, tmp_path: Path
) -> None:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not beside the repository (../shared/data)")
    store = new_store(tmp_path / "studio.db")
    sheet = load_ratings.sheet_of_run(store, brought_in(store, folder))
    report = metrics_source(lambda: store, str(folder))["criteria"]
    store.close()
    wanted = criterion or sheet.criteria[0].name
    line_of = {one.name: at for at, one in enumerate(sheet.criteria)}
    for rater in (*sheet.judges[:3], *sheet.people):
        expected = report[wanted]["raters"][rating_sheet.name_of(rater)]["vs_human_majority"]
        line = rater_pairs.compare_pair(sheet, PEOPLE, rater, resamples=20)[line_of[wanted]]
        assert line.n == expected["n"]
        assert line.accuracy.value == pytest.approx(expected["accuracy"])
        assert line.kappa.value == pytest.approx(expected["kappa_quadratic"])
    alpha = reliability.alphas_of_kind(sheet, "human", resamples=20)[line_of[wanted]]
    group = report[wanted]["groups"]["human"]
    assert alpha.value == pytest.approx(group["krippendorff_alpha_ordinal"])


def brought_in(store: Store, folder: Path) -> int:
    """The run of a folder's votes."""
    rubric, dataset = read_folder(folder)
    votes = read_votes(folder, rubric.value, dataset.value.items).value
    bundle = VoteBundle(folder.name, "folder", rubric.value, dataset.value, votes)
    run = bring_in(store, bundle).run
    assert run is not None
    return run


def test_raters_are_ranked_by_their_kappa_with_a_reference_each_with_its_interval() -> None:
    sheet = made(THREE, [0, 0, 1, 0, 1])

    ranks, means = reliability.raters_by_agreement(sheet, "c", PEOPLE)

    # The judge meets the majority of all with .24/.44, people that of the others with .4 each (see
    # the ceiling); against the majority the ceiling's figures are the same.
    first, *others = ranks
    assert first == LLM
    assert ranks[LLM].value == pytest.approx(0.24 / 0.44)
    assert {*others} == {ANN, BEN, CAT}
    assert ranks == reliability.closeness_to_majority(sheet, "c")[0]
    assert means["human"].value == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("passes", "needed", "says"),
    [
        # Who passes with a smaller epsilon passes with a larger one.
        ((True, True, False), 40, "people if they are experts or trained people, but not if they "),
        ((True, False, False), 40, "people if they are experts, but not cheaper people (it may "),
        ((False, False, False), 90, "If they are experts it would from about 90 items on."),
        ((False, False, False), None, "may not stand in for one of these people, whoever they are"),
    ],
)
def test_for_whom_a_judge_may_stand_in_is_said_by_what_they_cost(
    passes: tuple[bool, ...], needed: int | None, says: str
) -> None:
    kinds = {
        kind: {"passes": one, "winning_rate": 0.75 if one else 0.25, "items_needed": needed}
        for kind, one in zip(("expert", "skilled", "crowd"), passes, strict=True)
    }
    said = calibration.stand_in_words("J", {"advantage": 0.8, "people": 4, **kinds})
    assert says in said
    beats = "3 of 4" if passes[0] else "1 of 4"
    assert f"it surely keeps up with {beats} of them, and at least half are needed" in said
    assert "nearer on 80% of the items" in said


def test_a_judge_may_stand_in_for_people_who_say_what_it_says() -> None:
    # The judge always says what Ann and Cat say; Ben differs on every fourth of 40 items, so that
    # the judge is ahead of him by a quarter and level with the other two.
    same = [0, 1] * 20
    ben = [1 - one if at % 4 == 0 else one for at, one in enumerate(same)]
    sheet = made({ANN: same, BEN: ben, CAT: same}, same)
    found = calibration.stand_in_test(sheet, LLM, 0.2)
    assert [one.gap.value for one in found.annotators] == [0.0, 0.25, 0.0]
    assert (found.winning_rate.value, found.passes) == (1.0, True)
    # With one criterion all of them together are that one.
    assert calibration.stand_in_test(sheet, LLM, 0.2, "c") == found
    told = calibration.alt_test_data(sheet)
    assert told is not None
    assert told["epsilon"] == {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
    assert list(told["overall"]["raters"]) == ["llm"]
    assert told["overall"]["panel"] == told["overall"]["raters"]["llm"]
    assert told["criteria"]["c"]["raters"]["llm"]["advantage"] == 1.0
    assert told["criteria"]["c"]["raters"]["llm"]["crowd"] == {
        "winning_rate": 1.0,
        "passes": True,
        "items_needed": 30,
    }
    assert told["overall"]["raters"]["llm"]["annotators"]["ben"]["person"] == 0.75
    assert told["in_words"] == (
        "llm may stand in for one of these people, whoever they are: it surely keeps up with 3 of "
        "3 of them, and at least half are needed. To keep up is to be as near to what the others "
        "say as that person is, or to fall behind on less than 10% of the items. It is as near as "
        "a person or nearer on 100% of the items."
    )
    few = calibration.alt_test_data(made(THREE, [0, 0, 1, 0, 1]))
    assert few is not None
    assert few["overall"]["raters"]["llm"]["advantage"] is None
    assert "the third has 5." in few["overall"]["raters"]["llm"]["undefined"]["advantage"]
    assert few["overall"]["raters"]["llm"]["skilled"]["passes"] is None
    assert few["in_words"].startswith("Whether llm may stand in for a person is unknown: ")
    assert few["in_words"].endswith("the third has 5.")
    assert calibration.alt_test_data(made(THREE)) is None
