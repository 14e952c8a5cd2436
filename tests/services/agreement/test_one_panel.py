"""What the panel is, and what it measures, is the same wherever it is told (issue 12, A10).

Three kinds of run: judged here and partly settled by people; imported, with judges who tie; and
imported with nobody but people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.services.agreement import load_ratings, rater_pairs, score_agreement
from core.services.agreement.metrics_report import metrics_source
from core.services.agreement.ratings import LABELS, MAJORITY, PANEL, PEOPLE
from core.services.reports.run_report import report_run
from core.store.store import Store
from tests.new_store import new_store
from tests.pages.agreement.test_views import PEOPLE as ONLY_PEOPLE
from tests.pages.agreement.test_views import imported
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET

FOUR = {"one": "imported", "two": "imported", "three": "imported", "four": "imported"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


def settled(store: Store) -> int:
    """Eight items, of which people settled the first six: half of them against the votes."""
    run = reviewed.graded(store)
    ada = reviewed.sit(store, "Ada")
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    for n in range(2, 6):
        reviewed.settle(store, ada, queue, f"i{n}", MET if n % 2 else UNMET)
    return run.id


def measured(store: Store, run: int) -> dict[str, Any]:
    return metrics_source(lambda: store, str(run), None, 1000, 0)


def told(store: Store, run: int, rater: str) -> dict[str, tuple[int, float | None, float | None]]:
    """On the Agreement page: items, accuracy and kappa against the labels by criterion."""
    lines = rater_pairs.compare_pair(load_ratings.sheet_of_run(store, run), LABELS, rater)
    return {line.name: (line.n, line.accuracy.value, line.kappa.value) for line in lines}


def reported(store: Store, run: int) -> dict[str, tuple[int, float | None, float | None]]:
    """The same in the report."""
    lines = report_run(store, run, created="then").criteria
    return {line.name: (line.labelled, line.accuracy.value, line.kappa.value) for line in lines}


def in_json(pairs: dict[str, Any], scales: dict[str, str]) -> dict[str, Any]:
    kappa = {"ordinal": "kappa_quadratic"}
    return {
        name: (pair["n"], pair["accuracy"], pair[kappa.get(scales[name], "cohen_kappa")])
        for name, pair in pairs.items()
    }


@pytest.mark.parametrize("make", [settled, lambda store: imported(store, FOUR, labelled=True)])
def test_the_panel_has_one_accuracy_on_page_report_and_command_line(store: Store, make) -> None:  # type: ignore[no-untyped-def]
    run = make(store)
    criteria = measured(store, run)["criteria"]
    scales = {name: found["scale"] for name, found in criteria.items()}
    wanted = in_json({n: found["panel"]["vs_gold"] for n, found in criteria.items()}, scales)

    assert told(store, run, PANEL) == wanted
    assert {n: one for n, one in reported(store, run).items() if one[0]} == {
        n: one for n, one in wanted.items() if one[0]
    }


def test_the_panels_scores_are_compared_alike_on_page_and_command_line(store: Store) -> None:
    run = settled(store)
    sheet = load_ratings.sheet_of_run(store, run)

    found = score_agreement.score_pair(
        score_agreement.scores_of(store, run, sheet), sheet, LABELS, PANEL
    )

    wanted = measured(store, run)["score"]["panel"]["vs_gold"]
    assert found.n == wanted["n"] > 0
    assert found.figures["bias"].value == wanted["bias"]


def test_people_alone_are_a_panel_and_no_reference_for_it(store: Store) -> None:
    run = imported(store, ONLY_PEOPLE, labelled=True)
    sheet, criteria = load_ratings.sheet_of_run(store, run), measured(store, run)["criteria"]

    assert sheet.raters(LABELS)[:2] == (PANEL, PEOPLE)
    assert PANEL not in sheet.raters(PEOPLE)
    scales = {name: found["scale"] for name, found in criteria.items()}
    wanted = in_json({n: found["panel"]["vs_gold"] for n, found in criteria.items()}, scales)
    assert wanted["Tone"][0] == 60
    assert told(store, run, PANEL) == wanted
    assert reported(store, run)["Tone"] == wanted["Tone"]
    # The majority of people is a second, named rater, which ties leave out.
    majority = in_json(
        {n: found["groups"]["human"]["majority"]["vs_gold"] for n, found in criteria.items()},
        scales,
    )
    assert told(store, run, PEOPLE) == majority
    assert {one["panel"]["vs_human_majority"]["n"] for one in criteria.values()} == {0}


def test_a_mean_that_is_not_what_most_said_has_a_rater_beside_it(store: Store) -> None:
    """Of four judges on an ordinal criterion the verdict is the mean; most may say otherwise."""
    run = imported(store, FOUR, labelled=True)
    sheet = load_ratings.sheet_of_run(store, run)
    found = measured(store, run)["criteria"]["Tone"]

    assert found["panel"]["vs_gold"]["n"] == 60
    (line,) = [
        one for one in rater_pairs.compare_pair(sheet, LABELS, MAJORITY) if one.name == "Tone"
    ]
    pair = found["raters"]["majority where there is one"]["vs_gold"]
    assert (line.n, line.accuracy.value) == (pair["n"], pair["accuracy"])
    assert line.accuracy.value != found["panel"]["vs_gold"]["accuracy"]
